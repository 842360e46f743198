"""How far marks show skill against a reference: agreement beyond what constant answers and guessing reach.

The score is Cohen's kappa within labels, pooled over them (Barlow et al. 1991): 100 (1 - D_o / D_e), where
D_o counts the marks that differ from the reference, and D_e those that would differ if the same numbers of
yes and no were dealt out at random, label by label. Whoever answers a label always yes, or always no, scores
0 on it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.stats import hypergeom

LUCK: Final = 0.001  # a gate is passed only by what guessing reaches more rarely
Marks = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Skill:
    """The score, 0 to 100, and the chance that the same marks, dealt out at random, agree as often.

    Where neither side holds both yes and no, there is nothing to show: all right scores 100 with a luck of 1.
    """

    score: float
    luck: float

    @property
    def is_shown(self) -> bool:
        """Whether guessing would hardly have done as well."""
        return self.luck <= LUCK


@dataclass(slots=True)
class _LabelCounts:
    """How often one label is marked, in the reference, by the annotator, and by both."""

    texts: int = 0
    expected: int = 0
    marked: int = 0
    hits: int = 0


def skill_of(pairs: Iterable[tuple[Marks, Marks]]) -> Skill:
    """The skill in pairs of an annotator's marks and the reference; labels of the reference count."""
    counts = _count_by_label(pairs)
    observed = sum(label.expected + label.marked - 2 * label.hits for label in counts.values())
    by_chance = sum(_differing_by_chance(label) for label in counts.values())

    # Nothing could differ by chance: one class alone, or no texts.
    score = 100.0 if not observed else 0.0
    if by_chance:
        score = max(0.0, 100 * (1 - observed / by_chance))
    return Skill(score=score, luck=_luck(counts))


def perfect_skill(reference: Iterable[Marks]) -> Skill:
    """The skill of whoever answers everything right: what a test can show at best."""
    return skill_of((marks, marks) for marks in reference)


def _count_by_label(
    pairs: Iterable[tuple[Marks, Marks]],
) -> dict[str, _LabelCounts]:
    counts: dict[str, _LabelCounts] = {}
    for marks, reference in pairs:
        for label, expected in reference.items():
            mark = marks.get(label, 0)
            label_counts = counts.setdefault(label, _LabelCounts())
            label_counts.texts += 1
            label_counts.expected += expected
            label_counts.marked += mark
            label_counts.hits += mark * expected
    return counts


def _differing_by_chance(label: _LabelCounts) -> float:
    """How many marks of a label would differ if the annotator's were dealt out at random."""
    marked_wrongly = label.marked * (label.texts - label.expected)
    missed = (label.texts - label.marked) * label.expected
    return (marked_wrongly + missed) / label.texts


def _luck(counts: Mapping[str, _LabelCounts]) -> float:
    """The chance of as many hits or more in all labels, each with a hypergeometric distribution."""
    distribution = np.ones(1)
    for label in counts.values():
        possible_hits = np.arange(min(label.expected, label.marked) + 1)
        of_label = hypergeom.pmf(possible_hits, label.texts, label.expected, label.marked)
        # Labels are dealt out independently: the hits of all are the sum, its chances the convolution.
        distribution = np.convolve(distribution, of_label)

    hits = sum(label.hits for label in counts.values())
    # Rounding may add up to a little over 1.
    return min(1.0, float(distribution[hits:].sum()))
