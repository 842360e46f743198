"""`psycheck bias`: whether words of depression lie nearer to one gender in an encoder's vectors."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from psycheck.cli import options as opt
from psycheck.cli.output import run_as_json
from psycheck.cli.progress import print_notes

if TYPE_CHECKING:
    from psycheck.run import Run


def bias_cli(
    ctx: typer.Context,
    encoder: Annotated[
        str, Argument(metavar="ENCODER", help="minilm, hf:DIR, or vectors:FILE (static word vectors).")
    ],
    lists: Annotated[
        list[str] | None,
        Option("--list", metavar="NAME", help="depression or anxiety; repeatable (default: both)."),
    ] = None,
    words: Annotated[
        list[Path] | None,
        Option("--words", metavar="FILE", help="Your own target words, one per line, or TOML; repeatable."),
    ] = None,
    sentence: Annotated[
        str | None, Option(help="Sentence that contains {word}, for your words; contextual encoders only.")
    ] = None,
    centring: Annotated[
        str | None, Option(help="pairs (Bolukbasi et al., the default) or differences.")
    ] = None,
    lengths: Annotated[
        str | None, Option(help="Vectors of the pairs: unit length (the default) or raw.")
    ] = None,
    random_lists: Annotated[int | None, Option(help="Number of random word lists.")] = None,
    seed: opt.Seed = None,
    out: opt.RunFolder = Path("runs/bias"),
    json_: opt.Json = False,
) -> None:
    """Measure Direct Bias: is depression closer to one gender in the vectors that you build on?"""
    from psycheck.audits.direct_bias.judge import Biasing
    from psycheck.settings.reader import read_settings
    from psycheck.verbs.bias import encoder_bias

    run = encoder_bias(
        encoder,
        lists=lists,
        words=words or (),
        sentence=sentence,
        out=out,
        how=read_settings(Biasing, opt.values_for(ctx, Biasing)),
    )
    if json_:
        typer.echo(run_as_json(run, out))
    else:
        _print(run, out)


def _print(run: "Run", out: Path) -> None:
    from psycheck.report.direct_bias import bias_sentences, bias_table, bias_verdict

    print_notes(run.notes)
    typer.echo(bias_table(run.findings).to_console())
    for finding in run.findings:
        if finding.measure == "direct_bias":
            typer.echo(f"{finding.where['list']}: words with the largest bias: {', '.join(finding.examples)}")
    for sentence in bias_sentences(run.findings):
        typer.echo(sentence)
    typer.echo(bias_verdict(run.findings))
    typer.echo(f"report: {out / 'report.html'}")
