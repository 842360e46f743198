"""Delete what the store holds of models, or of some items, so that nothing of it is left in the file."""

from collections.abc import Sequence

import numpy as np

from psycheck.errors import BadInput, nearest
from psycheck.model import Item
from psycheck.scoring.index import Lookup
from psycheck.scoring.store import Batch, Known, Store


def stored_models(store: Store, name: str) -> list[Known]:
    """The models of a name, or whose fingerprint begins with it; none is an error."""
    known = store.models()
    found = [one for one in known if one.name == name] or [
        one for one in known if len(name) >= 4 and one.fingerprint.startswith(name)
    ]
    if not found:
        raise BadInput(
            f"the store holds nothing of a model '{name}'",
            where=str(store.path),
            allowed=nearest(name, [one.name for one in known]),
            do="psycheck store show lists the models by name and fingerprint",
        )
    return found


def forget_models(store: Store, models: Sequence[Known]) -> int:
    """Delete models with all their answers; returns the number of answers."""
    with store.transaction():
        forgotten = sum(store.drop_model(one) for one in models)
    store.shrink()
    return forgotten


def forget_items(store: Store, items: Sequence[Item], models: Sequence[Known] | None = None) -> int:
    """Delete the answers of models (default: all) to some items, and their vectors; returns how many."""
    wanted, lookup, forgotten = store.digests(items), Lookup(), 0
    lookup.add(np.arange(len(wanted)), wanted)
    with store.transaction():
        for one in store.models() if models is None else models:
            number = store.number_of(one)
            for row, batch in list(store.batches(number)):
                kept = np.flatnonzero(lookup.find(batch.items, wanted) < 0)
                if len(kept) == len(batch.items):
                    continue
                forgotten += len(batch.items) - len(kept)
                store.drop(number, row, first=row)
                if len(kept):  # the other answers, some paid for, are kept
                    replies = tuple(batch.replies[i] for i in kept.tolist()) if batch.replies else ()
                    store.add(number, Batch(batch.items[kept], batch.scores[kept], batch.read[kept], replies))
        if models is None:
            forgotten += store.drop_vectors(wanted)
    store.shrink()
    return forgotten
