"""`psycheck compare`: how far corpora or classes are apart, and where a corpus leaks."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from psycheck.cli import options as opt
from psycheck.cli.output import run_as_json
from psycheck.cli.progress import ProgressLine, print_notes

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


@opt.with_columns()
def compare_cli(
    ctx: typer.Context,
    columns: "Columns",
    corpora: opt.CorporaArgument,
    by: Annotated[
        list[str] | None,
        Option("--by", metavar="LABEL", help="Compare the classes of one corpus; repeatable."),
    ] = None,
    warn: Annotated[
        bool, Option("--warn", help="Look for leaks, shortcuts and doubtful labels in each corpus.")
    ] = False,
    show_texts: Annotated[
        bool, Option("--show-texts", help="Show the words behind each caution and difference.")
    ] = False,
    encoder: Annotated[
        str | None, Option(help="minilm, hf:DIR or tfidf (default: minilm, or tfidf if it is not installed).")
    ] = None,
    parts: Annotated[
        list[str] | None,
        Option("--part", help="words, vectors, adversarial or map; repeatable (default: all)."),
    ] = None,
    sample: Annotated[int | None, Option(help="Texts to encode per corpus.")] = None,
    texts: Annotated[int | None, Option(help="Texts to count and classify per corpus.")] = None,
    permutations: Annotated[int | None, Option(help="Permutations of the MMD test.")] = None,
    seed: opt.Seed = None,
    out: opt.RunFolder = Path("runs/compare"),
    split: opt.Split = None,
    json_: opt.Json = False,
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
    if json_:
        typer.echo(run_as_json(run, out))
    else:
        _print(run, out)


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


def _print(run: "Run", out: Path) -> None:
    from psycheck.report.comparison import comparison_verdict, matrices

    print_notes(run.notes)
    for table in matrices(run.findings):
        typer.echo(table.to_console() + "\n")
    for finding in run.findings:
        if finding.measure == "caution":
            typer.echo(f"caution: {finding.where['corpus']}: {finding.where['sentence']}")
            if finding.where["command"]:
                typer.echo(f"  do: {finding.where['command']}")
    typer.echo(comparison_verdict(run.findings))
    typer.echo(f"report: {out / 'report.html'}")
