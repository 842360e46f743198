"""`psycheck curate`: a corpus from dumps of posts and comments."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from psycheck.cli import options as opt
from psycheck.cli.output import ProgressLine, print_run

if TYPE_CHECKING:
    from psycheck.run import Run


@opt.verb("curate")
def curate_cli(
    ctx: typer.Context,
    dumps: list[Path],
    out: Path = Path("runs/curated"),
    corpus: Path | None = None,
    conditions: str | None = None,
    controls: bool = False,
    rank: list[str] | None = None,
    split: str | None = None,
    salt: Path | None = None,
    hash_ids: bool = False,
    force: bool = False,
    json_: bool = False,
) -> None:
    """Make a corpus from dumps: authors who report a diagnosis, controls, no near-duplicates, splits."""
    from psycheck.corpora.curate.settings import Curating, split_of
    from psycheck.corpora.write import refuse_kind
    from psycheck.settings.reader import read_settings
    from psycheck.verbs.curate import CORPUS, curate_dumps

    if not controls:
        opt.refuse(ctx, ("control_authors", "control_posts"), "a corpus without controls", "with --controls")
    if "nrc" not in (rank or ()):
        opt.refuse(ctx, ("nrc",), "a ranking without nrc", "with --rank nrc")
    target = corpus or out / CORPUS
    refuse_kind(target)
    opt.refuse_existing(target, "--corpus" if corpus else "--out", force=force)
    values = opt.values_for(ctx, Curating)
    if conditions:
        values["conditions"] = [name.strip() for name in conditions.split(",")]
    if split:
        values["split"] = split_of(split)
    how = read_settings(Curating, values)
    with ProgressLine() as line:
        run = curate_dumps(dumps, out=out, corpus=corpus, salt=salt, how=how, progress=line)
    print_run(run, out, _lines(run, target), as_json=json_, corpus=str(target))


def _lines(run: "Run", corpus: Path) -> Iterator[str]:
    from psycheck.report.curation import curating_verdict, funnels

    for table in funnels(run.findings):
        yield table.caption
        for name, posts, authors, *_ in table.rows:
            yield f"  {name:<52} {posts:>13} posts {authors:>11} authors"
    yield curating_verdict(run.findings)
    yield f"corpus: {corpus}"
