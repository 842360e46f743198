"""`psycheck store`: see what is stored, and delete it."""

from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from psycheck.commands import options as opt
from psycheck.core.errors import BadInput, counted

if TYPE_CHECKING:
    from psycheck.core.audit import Audit
    from psycheck.core.corpus import Corpus
    from psycheck.core.item import Item
    from psycheck.corpora.columns import Columns
    from psycheck.corpora.opening import CorpusLike
    from psycheck.scoring.store import Store
    from psycheck.scoring.stored_rows import Known

app = typer.Typer(help="Show or delete stored scores.", no_args_is_help=True, rich_markup_mode=None)
_FINGERPRINT_SHOWN = 12  # characters


@app.command("show")
@opt.verb("store show")
def show_cli(store: Path | None = None) -> None:
    """List the models whose scores, replies or vectors are stored."""
    from psycheck.scoring.store import default_store

    stored_models = stored(store)
    typer.echo(str(store or default_store()))
    for model in stored_models:
        replies = f", replies to {model.replies:,} of them" if model.replies else ""
        texts = counted(model.items, "text")
        typer.echo(f"  {model.name}  {model.fingerprint[:_FINGERPRINT_SHOWN]}  {texts}{replies}")


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
    from psycheck.corpora.opening import corpus_plan, open_corpus

    opened = None if corpus is None else open_corpus(corpus_plan(corpus, columns, None, None))
    # With neither, `forget` below refuses; there is nothing to ask about.
    if model or opened:
        question = _question(matching(model, store) if model else (), opened)
        if not (yes or _confirmed(question)):
            raise BadInput(
                "nothing was deleted: the answer was not yes",
                code="store.not-confirmed",
                do="set `yes` to skip the question",
            )
    deleted = forget(model, opened, suites=suites or (), store=store)
    typer.echo(f"{counted(deleted, 'stored answer')} deleted")


def _question(models: "Sequence[Known]", corpus: "Corpus | None") -> str:
    """What is asked before anything is deleted."""
    names = [f"model '{model.name}' ({model.fingerprint[:_FINGERPRINT_SHOWN]})" for model in models]
    of_models = " and ".join(names) or "every model"
    if corpus is None:
        return f"Delete what is stored of {of_models} about all texts?"
    return (
        f"Delete what is stored of {of_models} about the {counted(len(corpus), 'text')} of '{corpus.name}'?"
    )


def _confirmed(question: str) -> bool:
    """Ask on the terminal; without one, the answer is no."""
    # `confirm` aborts at the end of the input, as in a script.
    with suppress(typer.Abort):
        return typer.confirm(question, err=True)
    return False


def stored(store: Path | None = None) -> "list[Known]":
    """The models and encoders that the store holds answers of."""
    with closing(_open_existing(store)) as opened:
        return [*opened.models(), *opened.encoders()]


def matching(model: str, store: Path | None = None) -> "list[Known]":
    """The models of a name, or of a fingerprint that begins with it."""
    from psycheck.scoring.forget import stored_models

    with closing(_open_existing(store)) as opened:
        return stored_models(opened, model)


def forget(
    model: str | None = None,
    corpus: "CorpusLike | None" = None,
    *,
    suites: Sequence[str] = (),
    store: Path | None = None,
) -> int:
    """Delete the scores and replies of a model, of the texts of a corpus, or of both; returns how many.

    With a corpus, the edits of its texts by the shipped suites, the fairness audit and `suites` go too.
    """
    from psycheck.scoring.forget import forget_items, forget_models, stored_models

    if model is None and corpus is None:
        raise BadInput(
            "neither a model nor a corpus is named",
            code="store.nothing-named",
            do="name what to forget: `model` or `corpus`",
        )
    with closing(_open_existing(store)) as opened:
        models = None if model is None else stored_models(opened, model)
        if corpus is None:
            return forget_models(opened, models or ())
        return forget_items(opened, _texts_and_edits(corpus, suites), models)


def _texts_and_edits(corpus: "CorpusLike", suites: Sequence[str]) -> "list[Item]":
    """Every text that an audit of this corpus may have asked a model about, each once."""
    from psycheck.audits.behaviour import Behaviour
    from psycheck.audits.fairness import Fairness
    from psycheck.audits.suite import read_suite, shipped_suites
    from psycheck.corpora.opening import open_corpora

    (opened,) = open_corpora(corpus)
    audits: list[Audit] = [Fairness()]
    # "each" asks about all sentences of a check, and so about every text that "one" may have chosen.
    for name in (*shipped_suites(), *suites):
        audits.append(Behaviour(read_suite(name), variants="each"))

    texts = (text for audit in audits for text in audit.ask(opened))
    return list(dict.fromkeys(texts))


def _open_existing(store: Path | None) -> "Store":
    """Open a store, and make none."""
    from psycheck.scoring.store import Store, default_store

    # Opening makes the file; a misspelled path would look like an empty store.
    path = store or default_store()
    if not path.exists():
        raise BadInput(
            "there is no score store",
            code="store.not-found",
            where=str(path),
            do="name another `store`",
        )
    return Store(path)
