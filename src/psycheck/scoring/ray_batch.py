"""What runs on an actor: the model is opened once, then batches are scored one after another."""

import pickle
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psycheck.core.arrays import FloatArray, IntArray
from psycheck.core.errors import PsycheckError
from psycheck.core.item import Item
from psycheck.core.model import Model, Windowed
from psycheck.models.opening import open_model
from psycheck.models.output import checked_scores
from psycheck.scoring.remembered import reason_of
from psycheck.scoring.retries import patiently


@dataclass(frozen=True, slots=True)
class BatchScores:
    """Scores (m, k) of the items of a batch at `rows`, and how much of each was read; why others have none.

    `read` is None where the model has no window.
    """

    rows: IntArray
    scores: FloatArray
    read: NDArray[np.int64] | None
    complaints: Counter[str] = field(default_factory=Counter)


class ScoreBatches:
    """Scores batches with a model that is opened from its spec when the actor starts."""

    def __init__(self, spec: str) -> None:
        self._model = open_model(spec)

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """The scores of the batch in a row of Ray Data."""
        items = pickle.loads(row["items"])
        scored = score_batch(self._model, items)
        return {"place": row["place"], "scores": pickle.dumps(scored)}


def score_batch(model: Model, items: Sequence[Item]) -> BatchScores:
    """Score a batch; one that fails is halved until the items at fault stand alone."""
    all_rows = np.arange(len(items))
    complaints: Counter[str] = Counter()
    parts = list(_scored_parts(model, items, all_rows, complaints))
    rows = np.concatenate([rows for rows, _ in parts]) if parts else all_rows[:0]
    scores = np.concatenate([scores for _, scores in parts]) if parts else np.empty((0, len(model.labels)))

    read = None
    if isinstance(model, Windowed):
        read = model.read([items[row] for row in rows.tolist()])
    return BatchScores(rows, scores, read, complaints)


def _scored_parts(
    model: Model, items: Sequence[Item], rows: IntArray, complaints: Counter[str]
) -> list[tuple[IntArray, FloatArray]]:
    """Rows with their scores; the reasons why others have none are counted in `complaints`."""
    chosen = [items[row] for row in rows.tolist()]
    try:
        scores = patiently(lambda: model.score(chosen), model.name)
        checked = checked_scores(scores, len(chosen), model.labels, model=model.name)
        return [(rows, checked)]
    except (PsycheckError, KeyboardInterrupt, MemoryError):
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a user's model may raise anything
        if len(rows) == 1:
            complaints[reason_of(error)] += 1
            return []

    middle = len(rows) // 2
    first_half = _scored_parts(model, items, rows[:middle], complaints)
    return first_half + _scored_parts(model, items, rows[middle:], complaints)
