"""What the store holds of a model's replies, for who reads a finished run."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from psycheck.core.item import Item
from psycheck.core.model import Reply
from psycheck.scoring.store import Store, default_store


def stored_replies(path: Path | None, fingerprint: str, items: Sequence[Item]) -> list[Reply | None]:
    """The reply to each item of the model with this fingerprint; None where the store holds none."""
    file = path or default_store()
    if not file.is_file():
        return [None] * len(items)

    with closing(Store(file)) as store:
        models = [model for model in store.models() if model.fingerprint == fingerprint and model.replies]
        if not models:
            return [None] * len(items)

        keys = [key.tobytes() for key in store.digests(items)]
        reply_by_key: dict[bytes, Reply | None] = dict.fromkeys(keys)
        for _, batch in store.batches(store.number_of(models[0])):
            if not batch.replies:
                continue
            for key, reply in zip(batch.items, batch.replies, strict=True):
                if key.tobytes() in reply_by_key:
                    # A later reply takes the place of an earlier one.
                    reply_by_key[key.tobytes()] = reply
        return [reply_by_key[key] for key in keys]
