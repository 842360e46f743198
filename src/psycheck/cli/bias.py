"""`psycheck bias`: whether words of depression lie nearer to one gender in an encoder's vectors."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from psycheck.cli import options as opt
from psycheck.cli.output import print_run

if TYPE_CHECKING:
    from psycheck.run import Run


@opt.verb("bias")
def bias_cli(
    ctx: typer.Context,
    encoder: str,
    lists: list[str] | None = None,
    words: list[Path] | None = None,
    sentence: str | None = None,
    out: Path = Path("runs/bias"),
    json_: bool = False,
) -> None:
    """Measure Direct Bias: is depression closer to one gender in the vectors that you build on?"""
    from psycheck.audits.direct_bias.judge import Biasing
    from psycheck.settings.reader import read_settings
    from psycheck.verbs.bias import encoder_bias

    how = read_settings(Biasing, opt.values_for(ctx, Biasing))
    run = encoder_bias(encoder, lists=lists, words=words or (), sentence=sentence, out=out, how=how)
    print_run(run, out, _lines(run), as_json=json_)


def _lines(run: "Run") -> Iterator[str]:
    from psycheck.report.direct_bias import bias_sentences, bias_table, bias_verdict

    yield bias_table(run.findings).to_console()
    for finding in run.findings:
        if finding.measure == "direct_bias":
            yield f"{finding.where['list']}: words with the largest bias: {', '.join(finding.examples)}"
    yield from bias_sentences(run.findings)
    yield bias_verdict(run.findings)
