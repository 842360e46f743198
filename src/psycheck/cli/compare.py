"""`psycheck compare`: how far corpora or classes are apart, and where a corpus leaks."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from psycheck.cli import options as opt
from psycheck.cli.output import ProgressLine, print_run

if TYPE_CHECKING:
    from psycheck.corpora.columns import Columns
    from psycheck.run import Run

# The parts of a comparison that use an option.
USED_BY = {
    "encoder": ("vectors", "map"),
    "sample": ("vectors", "map"),
    "texts": ("words", "adversarial"),
    "permutations": ("vectors",),
}
SHOWS = ("words", "adversarial")


@opt.verb("compare")
def compare_cli(
    ctx: typer.Context,
    columns: "Columns",
    corpora: list[str],
    by: list[str] | None = None,
    warn: bool = False,
    show_texts: bool = False,
    encoder: str | None = None,
    out: Path = Path("runs/compare"),
    split: str | None = None,
    json_: bool = False,
) -> None:
    """Measure how far apart corpora, or the classes of one, are; with --warn, find leaks in each."""
    from psycheck.corpora.distances import Comparing
    from psycheck.corpora.open import corpus_plans
    from psycheck.settings.reader import read_settings
    from psycheck.verbs.compare import compare_corpora

    how = read_settings(Comparing, opt.values_for(ctx, Comparing))
    _refuse_idle(ctx, how.parts if len(corpora) > 1 or by else (), warn=warn)
    with ProgressLine() as line:
        run = compare_corpora(
            corpus_plans(corpora, columns, split),
            by=by or (),
            encoder=encoder,
            warn=warn,
            show_texts=show_texts,
            out=out,
            how=how,
            progress=line,
        )
    print_run(run, out, _lines(run), as_json=json_)


def _refuse_idle(ctx: typer.Context, parts: tuple[str, ...], *, warn: bool) -> None:
    """Refuse options that the requested parts of a comparison would ignore."""
    verb = f"compare --part {' --part '.join(parts)}" if parts else "compare of one corpus without --by"
    if not parts:
        opt.refuse(ctx, ("parts",), verb, "with two corpora, or with --by LABEL")
    for option, own in USED_BY.items():
        if not set(own) & set(parts):
            opt.refuse(ctx, (option,), verb, f"with --part {' or '.join(own)}")
    if not warn and not set(SHOWS) & set(parts):
        opt.refuse(ctx, ("show_texts",), verb, f"with --warn, or with --part {' or '.join(SHOWS)}")


def _lines(run: "Run") -> Iterator[str]:
    from psycheck.report.comparison import commands, comparison_verdict, matrices

    for table in matrices(run.findings):
        yield table.to_console() + "\n"
    cautions = run.findings.where(measure="caution")
    for finding in cautions:
        yield f"caution: {finding.where['corpus']}: {finding.where['sentence']}"
    for command in commands(cautions):
        yield f"  do: {command}"
    yield comparison_verdict(run)
