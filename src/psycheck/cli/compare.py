"""`psycheck compare`: how far corpora or classes are apart, and where a corpus leaks."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from psycheck.cli import options as opt
from psycheck.cli.belonging import refuse
from psycheck.cli.output import run_as_json

if TYPE_CHECKING:
    from psycheck.run import Run

# Which parts of a comparison an option is for.
BELONGS = {
    "encoder": ("vectors", "map"),
    "sample": ("vectors", "map"),
    "texts": ("words", "adversarial"),
    "permutations": ("vectors",),
}
SHOWS = ("words", "adversarial")


def compare_cli(
    ctx: typer.Context,
    corpora: Annotated[
        list[str], typer.Argument(metavar="CORPUS…", help="Files, NAME=FILE, demo:NAME or KNOWN:PATH.")
    ],
    by: Annotated[
        list[str] | None,
        typer.Option("--by", metavar="LABEL", help="Compare the classes of one corpus; repeatable."),
    ] = None,
    warn: Annotated[
        bool, typer.Option("--warn", help="Look for leaks, shortcuts and doubtful labels in each corpus.")
    ] = False,
    show_texts: Annotated[
        bool,
        typer.Option(
            "--show-texts", help="Name the words of cautions and between corpora, whatever they are."
        ),
    ] = False,
    encoder: Annotated[
        str | None,
        typer.Option(help="minilm, hf:DIR or tfidf (default: minilm, or tfidf where it is not installed)."),
    ] = None,
    parts: Annotated[
        list[str] | None,
        typer.Option("--part", help="words, vectors, adversarial, map; repeatable (default: all)."),
    ] = None,
    sample: Annotated[int | None, typer.Option(help="Texts a corpus that are encoded.")] = None,
    texts: Annotated[int | None, typer.Option(help="Texts a corpus that are counted and told apart.")] = None,
    permutations: Annotated[int | None, typer.Option(help="Permutations of the MMD test.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of samples and permutations.")] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the run.")] = Path("runs/compare"),
    text: opt.Text = None,
    id_: opt.Id = None,
    labels: opt.Labels = None,
    positive: opt.Positive = None,
    author: opt.Author = None,
    time: opt.Time = None,
    split_column: opt.SplitColumn = None,
    split: opt.Split = None,
    groups: opt.Groups = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the findings for a program.")] = False,
) -> None:
    """Say how far corpora, or the classes of one, are apart, and with --warn where a corpus leaks."""
    from psycheck.cli.progress import ProgressLine
    from psycheck.corpora.distances import Comparing
    from psycheck.corpora.open import corpus_plans
    from psycheck.verbs.compare import compare_corpora

    columns = opt.columns_of(text, id_, labels, positive, author, time, split_column, groups)
    given: dict[str, Any] = {
        "parts": tuple(parts) if parts else None,
        "sample": sample,
        "texts": texts,
        "permutations": permutations,
        "seed": seed,
    }
    how = Comparing(**{key: value for key, value in given.items() if value is not None})
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
    """Refuse options of parts of a comparison that is not made."""
    asked = f"compare --part {' --part '.join(parts)}" if parts else "compare of one corpus without --by"
    if not parts:
        refuse(ctx, ("parts",), asked, "with two corpora, or with --by LABEL")
    for option, own in BELONGS.items():
        if not set(own) & set(parts):
            refuse(ctx, (option,), asked, f"with --part {' or '.join(own)}")
    if not warn and not set(SHOWS) & set(parts):
        refuse(ctx, ("show_texts",), asked, f"with --warn, or with --part {' or '.join(SHOWS)}")


def _print(run: "Run", out: Path) -> None:
    from psycheck.report.comparison import comparison_verdict, matrices

    for note in run.notes:
        typer.echo(f"note: {note}", err=True)
    for table in matrices(run.findings):
        typer.echo(table.to_console() + "\n")
    for finding in run.findings:
        if finding.measure == "caution":
            typer.echo(f"caution: {finding.where['corpus']}: {finding.where['sentence']}")
            if finding.where["command"]:
                typer.echo(f"  do: {finding.where['command']}")
    typer.echo(comparison_verdict(run.findings))
    typer.echo(f"report: {out / 'report.html'}")
