"""What an engine is handed: scoring with one model, where answers go, and what is counted meanwhile."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from psycheck.core.model import Model, capabilities_of
from psycheck.scoring.limits import NO_LIMITS, Allowance, Limits
from psycheck.scoring.remembered import RememberedScores
from psycheck.scoring.retries import Sleep
from psycheck.scoring.tally import Tally

Batched = TypeVar("Batched")

BATCH = 1024  # items per batch for a model that does not say what it prefers


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringTask:
    """Scoring with one model: where its answers go, and what is counted and reported meanwhile.

    `spec` is what another process opens the same model by (`psycheck.models.opening.open_model`), "" for an
    object that exists in this process only. `allowance` is what may still be sent to models that reply in
    words, `limits` what such models may be sent that others rest on; `report` is called after each batch.
    """

    model: Model
    spec: str
    view: RememberedScores
    tally: Tally
    allowance: Allowance
    sleep: Sleep
    report: Callable[[], None]
    limits: Limits = NO_LIMITS

    @property
    def batch_size(self) -> int:
        """How many items the model likes at once."""
        return batch_size_of(self.model)


def batch_size_of(model: Model) -> int:
    """How many items a model likes at once."""
    return capabilities_of(model).batch or BATCH


def in_batches(items: Sequence[Batched], size: int) -> Iterator[Sequence[Batched]]:
    """The items in batches of at most `size`, in order."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
