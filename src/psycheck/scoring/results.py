"""Results of long computations, remembered in a store beside the scores."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from psycheck.core.arrays import FloatArray
from psycheck.scoring.store import Store


def compute_once(store: Path, key: bytes, compute: Callable[[], FloatArray]) -> FloatArray:
    """The numbers that a store file has under a key, (n,), computed and added where it lacks them.

    The key is a hash of everything that the result depends on.
    """
    with closing(Store(store)) as opened_store:
        numbers = opened_store.result(key)
        if numbers is None:
            numbers = compute()
            # Added at once: whatever is killed later, this result is not computed again.
            opened_store.add_result(key, numbers)
        return numbers
