"""`psycheck curate`: a corpus from dumps of posts and comments."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from psycheck.cli.belonging import refuse
from psycheck.cli.output import run_as_json

if TYPE_CHECKING:
    from psycheck.run import Run


def curate_cli(
    ctx: typer.Context,
    dumps: Annotated[list[Path], typer.Argument(metavar="DUMP…", help="JSON lines: .zst, .gz or plain.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the run.")] = Path("runs/curated"),
    corpus: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Corpus to write: .jsonl.zst, .parquet, .jsonl or .csv."),
    ] = None,
    conditions: Annotated[
        str | None, typer.Option(metavar="A,B", help="Conditions to look for (default: all nine).")
    ] = None,
    subreddit: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Take disclosures and posts from here; 'listed'; repeatable."),
    ] = None,
    since: Annotated[str | None, typer.Option(metavar="DATE", help="First day, YYYY-MM-DD.")] = None,
    until: Annotated[str | None, typer.Option(metavar="DATE", help="Last day, YYYY-MM-DD.")] = None,
    controls: Annotated[
        bool, typer.Option("--controls", help="Add posts of authors who never post in listed subreddits.")
    ] = False,
    control_authors: Annotated[int | None, typer.Option(help="Control authors that are drawn.")] = None,
    control_posts: Annotated[
        int | None, typer.Option(help="Control posts (default: as many as of disclosing authors).")
    ] = None,
    min_words: Annotated[int | None, typer.Option(help="Shortest post, in words (75).")] = None,
    min_posts: Annotated[int | None, typer.Option(help="Fewest such posts an author (10).")] = None,
    most_posts: Annotated[int | None, typer.Option(help="Most posts an author, the earliest (256).")] = None,
    rank: Annotated[
        list[str] | None,
        typer.Option(metavar="LEXICON", help="words (ours), empath or nrc; repeatable (default: words)."),
    ] = None,
    nrc: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The NRC lexicon, which is for research only.")
    ] = None,
    top_k: Annotated[int | None, typer.Option(help="Posts that rank highest (25,000; 0: all).")] = None,
    sample: Annotated[int | None, typer.Option(help="Random sample of these (default: all).")] = None,
    near: Annotated[float | None, typer.Option(help="Overlap of near-duplicates, 0 to 1 (0.8).")] = None,
    split: Annotated[
        str | None,
        typer.Option(metavar="A:B:C", help="Shares of train, dev and test (5:1:4); A:B is train and test."),
    ] = None,
    split_by: Annotated[
        list[str] | None,
        typer.Option(metavar="WHAT", help="author, subreddit, time; repeatable (default: author)."),
    ] = None,
    salt: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Secret for the hashes of authors (default: thrown away)."),
    ] = None,
    hash_ids: Annotated[bool, typer.Option("--hash-ids", help="Hash the posts' ids as well.")] = False,
    seed: Annotated[int | None, typer.Option(help="Seed of samples and splits.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the findings for a program.")] = False,
) -> None:
    """Make a corpus from dumps: authors who report a diagnosis, controls, no near-duplicates, splits."""
    from psycheck.cli.progress import ProgressLine
    from psycheck.corpora.curate.settings import Curating, split_of
    from psycheck.verbs.curate import curate_dumps

    if not controls:
        refuse(ctx, ("control_authors", "control_posts"), "a corpus without controls", "with --controls")
    if "nrc" not in (rank or ()):
        refuse(ctx, ("nrc",), "a ranking without nrc", "with --rank nrc")
    given: dict[str, Any] = {
        "conditions": tuple(name.strip() for name in conditions.split(",")) if conditions else None,
        "subreddits": tuple(subreddit) if subreddit else None,
        "since": since,
        "until": until,
        "controls": controls,
        "control_authors": control_authors,
        "control_posts": control_posts,
        "min_words": min_words,
        "min_posts": min_posts,
        "most_posts": most_posts,
        "rank": tuple(rank) if rank else None,
        "nrc": nrc,
        "top_k": top_k,
        "sample": sample,
        "near": near,
        "split": split_of(split) if split else None,
        "split_by": tuple(split_by) if split_by else None,
        "hash_ids": hash_ids,
        "seed": seed,
    }
    how = Curating(**{key: value for key, value in given.items() if value is not None})
    with ProgressLine() as line:
        run = curate_dumps(dumps, out=out, corpus=corpus, salt=salt, how=how, progress=line)
    _print(run, corpus or out / str(run.plan["corpus"]), out, json_)


def _print(run: "Run", corpus: Path, out: Path, as_json: bool) -> None:
    if as_json:
        typer.echo(run_as_json(run, out, corpus=str(corpus)))
        return
    from psycheck.report.curation import curating_verdict, funnels

    for note in run.notes:
        typer.echo(f"note: {note}", err=True)
    for table in funnels(run.findings):
        typer.echo(table.caption)
        for name, posts, authors, *_ in table.rows:
            typer.echo(f"  {name:<52} {posts:>13} posts {authors:>11} authors")
    typer.echo(curating_verdict(run.findings))
    typer.echo(f"corpus: {corpus}")
    typer.echo(f"report: {out / 'report.html'}")
