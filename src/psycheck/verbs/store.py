"""What the store holds, and how to delete it."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from psycheck.audits.behaviour import Behaviour
from psycheck.audits.fairness import Fairness
from psycheck.audits.suite import read_suite, shipped_suites
from psycheck.corpora.open import CorpusLike, open_corpora
from psycheck.errors import BadInput
from psycheck.model import Audit
from psycheck.scoring.forget import forget_items, forget_models, stored_models
from psycheck.scoring.store import Known, Store, default_store


def stored(store: Path | None = None) -> list[Known]:
    """The models and encoders that the store holds answers of."""
    with closing(_existing(store)) as kept:
        return [*kept.models(), *kept.encoders()]


def matching(model: str, store: Path | None = None) -> list[Known]:
    """The models of a name, or of a fingerprint that begins with it."""
    with closing(_existing(store)) as kept:
        return stored_models(kept, model)


def forget(
    model: str | None = None,
    corpus: CorpusLike | None = None,
    *,
    suites: Sequence[str] = (),
    store: Path | None = None,
) -> int:
    """Delete the scores and replies of a model, of the texts of a corpus, or of both; returns how many.

    With a corpus, the edits of its texts by the shipped suites, the fairness audit and `suites` go too.
    """
    if model is None and corpus is None:
        raise BadInput("neither a model nor a corpus is named", do="name what to forget: `model` or `corpus`")
    with closing(_existing(store)) as kept:
        models = None if model is None else stored_models(kept, model)
        if corpus is None:
            return forget_models(kept, models or ())
        (opened,) = open_corpora(corpus)
        audits: list[Audit] = [Fairness()]
        audits += [Behaviour(read_suite(name), variants="each") for name in (*shipped_suites(), *suites)]
        texts = dict.fromkeys(text for audit in audits for text in audit.ask(opened))
        return forget_items(kept, list(texts), models)


def _existing(store: Path | None) -> Store:
    """Open a store, and make none."""
    path = store or default_store()
    if not path.exists():
        raise BadInput("there is no score store", where=str(path), do="name another `store`")
    return Store(path)
