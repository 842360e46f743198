"""Delete what the store holds of models, or of some items, so that nothing of it is left in the file."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from psycheck.core.errors import BadInput, nearest
from psycheck.core.item import Item
from psycheck.core.model import Reply
from psycheck.scoring.lookup import Keys, Lookup
from psycheck.scoring.store import Store
from psycheck.scoring.stored_rows import Batch, Known

_SHORTEST_PREFIX = 4  # characters of a fingerprint that may stand for all of it


def stored_models(store: Store, name: str) -> list[Known]:
    """The models of a name, or whose fingerprint begins with it; none is an error."""
    models = store.models()
    matching = [model for model in models if model.name == name]
    # A name first: a model may be called "beef".
    if not matching and len(name) >= _SHORTEST_PREFIX:
        matching = [model for model in models if model.fingerprint.startswith(name)]

    if not matching:
        names = [model.name for model in models]
        raise BadInput(
            f"the store holds nothing of a model '{name}'",
            code="store.unknown-model",
            where=str(store.path),
            allowed=nearest(name, names),
            do="psycheck store show lists the models by name and fingerprint",
        )
    return matching


def forget_models(store: Store, models: Sequence[Known]) -> int:
    """Delete models with all their answers; returns the number of answers."""
    with store.transaction():
        forgotten = sum(store.drop_model(model) for model in models)
    store.shrink()
    return forgotten


def forget_items(store: Store, items: Sequence[Item], models: Sequence[Known] | None = None) -> int:
    """Delete the answers of models (default: all) to some items, and their vectors; returns how many."""
    hashes = store.digests(items)
    lookup = Lookup()
    lookup.add(np.arange(len(hashes)), hashes)

    forgotten = 0
    with store.transaction():
        chosen_models = store.models() if models is None else models
        for model in chosen_models:
            number = store.number_of(model)
            forgotten += _forget_answers(store, number, lookup, hashes)
        # Vectors are kept by encoder, so they go only where no model was chosen.
        if models is None:
            forgotten += store.drop_vectors(hashes)
    store.shrink()
    return forgotten


def _forget_answers(store: Store, model: int, lookup: Lookup, hashes: Keys) -> int:
    """Delete the answers of one model to the items with these hashes; returns how many."""
    forgotten = 0
    # All at once: batches are dropped and added on the way.
    for batch_id, batch in list(store.batches(model)):
        rows = lookup.find(batch.items, hashes)
        remaining = np.flatnonzero(rows < 0)
        if len(remaining) == len(batch.items):
            continue

        forgotten += len(batch.items) - len(remaining)
        store.drop(model, batch_id, first=batch_id)
        if len(remaining):
            # Answers to other items in the same batch stay: some were paid for.
            store.add(model, _part_of(batch, remaining))
    return forgotten


def _part_of(batch: Batch, rows: NDArray[np.int64]) -> Batch:
    """Some rows of a batch, with their replies where it has any."""
    replies: tuple[Reply, ...] = ()
    if batch.replies:
        replies = tuple(batch.replies[row] for row in rows.tolist())
    return Batch(
        items=batch.items[rows],
        scores=batch.scores[rows],
        read=batch.read[rows],
        replies=replies,
    )
