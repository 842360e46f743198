"""How well marks agree with a reference, as PsySym scores annotators (A.3)."""

from collections.abc import Iterable, Mapping
from typing import Final

BETA: Final = 2.0
Marks = Mapping[str, int]


def f_score(pairs: Iterable[tuple[Marks, Marks]], beta: float = BETA) -> float:
    """The F-beta over all marks of all items, 0 to 100, from pairs of given marks and reference.

    β = 2 puts more weight on recall. Without a positive mark on either side everything agrees: 100.
    """
    hits = 0
    missed = 0
    wrong = 0
    for marks, reference in pairs:
        for label, expected in reference.items():
            mark = marks.get(label, 0)
            if mark and expected:
                hits += 1
            elif expected:
                missed += 1
            elif mark:
                wrong += 1

    if not hits + missed + wrong:
        return 100.0
    weight = beta * beta
    return 100.0 * (1 + weight) * hits / ((1 + weight) * hits + weight * missed + wrong)
