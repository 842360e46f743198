"""`psycheck store`: see what is stored, and delete it."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from psycheck.cli import options as opt
from psycheck.errors import BadInput, counted

if TYPE_CHECKING:
    from psycheck.corpora.columns import Columns

app = typer.Typer(help="Show or delete stored scores.", no_args_is_help=True, rich_markup_mode=None)


@app.command("show")
@opt.verb("store show")
def show_cli(store: Path | None = None) -> None:
    """List the models whose scores, replies or vectors are stored."""
    from psycheck.scoring.store import default_store
    from psycheck.verbs.store import stored

    known = stored(store)
    typer.echo(str(store or default_store()))
    for one in known:
        replies = f", replies to {one.replies:,} of them" if one.replies else ""
        typer.echo(f"  {one.name}  {one.fingerprint[:12]}  {counted(one.items, 'text')}{replies}")


@app.command("forget")
@opt.verb("store forget", ("text", "id_", "labels", "positive", "split_column"))
def forget_cli(
    columns: "Columns",
    model: str | None = None,
    corpus: str | None = None,
    suites: list[str] | None = None,
    store: Path | None = None,
    yes: bool = False,
) -> None:
    """Delete the scores and replies of a model, or of the texts of a corpus, for good."""
    from psycheck.corpora.open import corpus_plan, open_corpus
    from psycheck.verbs.store import forget, matching

    opened = None if corpus is None else open_corpus(corpus_plan(corpus, columns, None, None))
    what = [f"model '{one.name}' ({one.fingerprint[:12]})" for one in matching(model, store)] if model else []
    of = " and ".join(what) or "every model"
    about = "all texts" if opened is None else f"the {counted(len(opened), 'text')} of '{opened.name}'"
    if (model or opened) and not (yes or _confirmed(f"Delete what is stored of {of} about {about}?")):
        raise BadInput("nothing was deleted: the answer was not yes", do="set `yes` to skip the question")
    typer.echo(f"{counted(forget(model, opened, suites=suites or (), store=store), 'stored answer')} deleted")


def _confirmed(question: str) -> bool:
    """Ask on the terminal; without one, the answer is no."""
    with suppress(typer.Abort):
        return typer.confirm(question)
    return False
