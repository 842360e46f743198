"""Whether a model still gives the scores that the store holds.

The fingerprint of a user's code cannot cover everything that the code reads. So a few stored scores are
computed anew before the others are trusted, for models that ask for it (`Capabilities.recheck`).
"""

import warnings
from collections.abc import Sequence
from functools import partial

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.core.errors import PsycheckError, PsycheckWarning, counted
from psycheck.core.item import Item, sizes_of
from psycheck.core.model import Model
from psycheck.scoring.remembered import RememberedScores, reason_of
from psycheck.scoring.retries import Sleep, patiently
from psycheck.scoring.tally import Tally
from psycheck.scoring.task import batch_size_of, in_batches

_RECHECKED = 8  # stored items of all sizes whose scores are computed anew
_SAME = 1e-4  # scores that differ by less are the same: padding and threads move the last digits
_RESTLESS = 4  # times its own variation: a model that never gives the same score twice may be that far off


def changed_since_stored(
    model: Model, view: RememberedScores, stored: Sequence[Item], tally: Tally, sleep: Sleep
) -> bool:
    """Compute a few stored scores anew; if they changed, drop all that is stored and return True."""
    sample = of_all_sizes(stored, _RECHECKED)
    try:
        gap = _gap_beyond_variation(model, view, sample, sleep)
    except (PsycheckError, KeyboardInterrupt, MemoryError):
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a user's model may raise anything
        _warn(f"model '{model.name}': its stored scores could not be checked: {reason_of(error)}")
        return False

    tally.checked += len(sample)
    if gap == 0:
        return False

    dropped = view.forget()
    tally.dropped += dropped
    _warn(
        f"model '{model.name}' gives other scores than before (by up to {min(gap, 1.0):.2g}): "
        f"{counted(dropped, 'stored score')} dropped, every text is scored again"
    )
    return True


def of_all_sizes(items: Sequence[Item], most: int) -> list[Item]:
    """A few items, always the same, from the shortest to the longest."""
    by_size = np.argsort(sizes_of(items), kind="stable")
    places = np.unique(np.linspace(0, len(items) - 1, most).astype(np.int64))
    return [items[place] for place in by_size[places].tolist()]


def _gap_beyond_variation(
    model: Model, view: RememberedScores, sample: Sequence[Item], sleep: Sleep
) -> float:
    """How far the stored scores are off, 0.0 where the model itself varies about as much."""
    scores = _computed_anew(model, sample, sleep)
    gap = _largest_gap(scores, view.of(sample))
    if gap <= _SAME:
        return 0.0

    # Only now: most models give the same scores twice, and need not be asked twice.
    variation = _largest_gap(scores, _computed_anew(model, sample, sleep))
    return gap if gap > _RESTLESS * variation else 0.0


def _computed_anew(model: Model, items: Sequence[Item], sleep: Sleep) -> FloatArray:
    """The scores of items, (n, k), without the store."""
    parts = []
    for batch in in_batches(items, batch_size_of(model)):
        scores = patiently(partial(model.score, batch), model.name, sleep)
        parts.append(scores)
    return np.concatenate(parts)


def _largest_gap(scores: FloatArray, stored: FloatArray) -> float:
    """The largest difference of scores, (n, k); infinite where only one is NaN."""
    gaps = np.abs(scores - stored)
    is_unanswered = np.isnan(scores) & np.isnan(stored)
    gaps[is_unanswered] = 0.0
    gaps[np.isnan(gaps)] = np.inf
    return float(gaps.max())


def _warn(note: str) -> None:
    warnings.warn(note, PsycheckWarning, stacklevel=3)
