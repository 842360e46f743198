"""`psycheck curate`: a corpus from dumps of posts and comments."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from psycheck.cli import options as opt
from psycheck.cli.output import run_as_json
from psycheck.cli.progress import ProgressLine, print_notes

if TYPE_CHECKING:
    from psycheck.run import Run


def curate_cli(
    ctx: typer.Context,
    dumps: Annotated[list[Path], Argument(metavar="DUMP…", help="JSON lines: .zst, .gz or plain.")],
    out: opt.RunFolder = Path("runs/curated"),
    corpus: Annotated[
        Path | None, Option(metavar="FILE", help="Corpus to write: .jsonl.zst, .parquet, .jsonl or .csv.")
    ] = None,
    conditions: Annotated[
        str | None, Option(metavar="A,B", help="Conditions to look for (default: all nine).")
    ] = None,
    subreddits: Annotated[
        list[str] | None,
        Option(
            "--subreddit", metavar="NAME", help="Use only this subreddit, or the 'listed' ones; repeatable."
        ),
    ] = None,
    since: Annotated[str | None, Option(metavar="DATE", help="First day, YYYY-MM-DD.")] = None,
    until: Annotated[str | None, Option(metavar="DATE", help="Last day, YYYY-MM-DD.")] = None,
    controls: Annotated[
        bool, Option("--controls", help="Add posts of authors who never post in listed subreddits.")
    ] = False,
    control_authors: Annotated[int | None, Option(help="Number of control authors to draw.")] = None,
    control_posts: Annotated[
        int | None, Option(help="Number of control posts (default: as many as disclosing posts).")
    ] = None,
    min_words: Annotated[int | None, Option(help="Minimum words per post (75).")] = None,
    min_posts: Annotated[int | None, Option(help="Minimum number of such posts per author (10).")] = None,
    most_posts: Annotated[
        int | None, Option(help="Maximum posts per author; keeps the earliest (256).")
    ] = None,
    rank: Annotated[
        list[str] | None,
        Option(metavar="LEXICON", help="words (ours), empath or nrc; repeatable (default: words)."),
    ] = None,
    nrc: Annotated[
        Path | None, Option(metavar="FILE", help="NRC lexicon file (for research use only).")
    ] = None,
    top_k: Annotated[int | None, Option(help="Highest-ranking posts to keep (25,000; 0: all).")] = None,
    sample: Annotated[int | None, Option(help="Size of a random sample of these (default: all).")] = None,
    near: Annotated[float | None, Option(help="Overlap that makes a near-duplicate, 0 to 1 (0.8).")] = None,
    split: Annotated[
        str | None,
        Option(metavar="A:B:C", help="Shares of train, dev and test (5:1:4); A:B for train and test."),
    ] = None,
    split_by: Annotated[
        list[str] | None,
        Option(metavar="WHAT", help="author, subreddit or time; repeatable (default: author)."),
    ] = None,
    salt: Annotated[
        Path | None, Option(metavar="FILE", help="Secret for hashing authors (default: random, not kept).")
    ] = None,
    hash_ids: Annotated[bool, Option("--hash-ids", help="Hash the ids of posts as well.")] = False,
    seed: opt.Seed = None,
    json_: opt.Json = False,
) -> None:
    """Make a corpus from dumps: authors who report a diagnosis, controls, no near-duplicates, splits."""
    from psycheck.corpora.curate.settings import Curating, split_of
    from psycheck.settings.reader import read_settings
    from psycheck.verbs.curate import curate_dumps

    if not controls:
        opt.refuse(ctx, ("control_authors", "control_posts"), "a corpus without controls", "with --controls")
    if "nrc" not in (rank or ()):
        opt.refuse(ctx, ("nrc",), "a ranking without nrc", "with --rank nrc")
    values = opt.values_for(ctx, Curating)
    if conditions:
        values["conditions"] = [name.strip() for name in conditions.split(",")]
    if split:
        values["split"] = split_of(split)
    how = read_settings(Curating, values)
    with ProgressLine() as line:
        run = curate_dumps(dumps, out=out, corpus=corpus, salt=salt, how=how, progress=line)
    written = corpus or out / str(run.plan["corpus"])
    if json_:
        typer.echo(run_as_json(run, out, corpus=str(written)))
    else:
        _print(run, written, out)


def _print(run: "Run", corpus: Path, out: Path) -> None:
    from psycheck.report.curation import curating_verdict, funnels

    print_notes(run.notes)
    for table in funnels(run.findings):
        typer.echo(table.caption)
        for name, posts, authors, *_ in table.rows:
            typer.echo(f"  {name:<52} {posts:>13} posts {authors:>11} authors")
    typer.echo(curating_verdict(run.findings))
    typer.echo(f"corpus: {corpus}")
    typer.echo(f"report: {out / 'report.html'}")
