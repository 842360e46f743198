"""The four training sets of one draw, and the test pairs that they share."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from psycheck.errors import BadInput
from psycheck.experiments.gender_texts import Cut, Gendered
from psycheck.measures.classification import BoolArray, IntArray
from psycheck.report.studies.gender import AUGMENTED, NEUTRAL, ORIGINAL, SWAPPED
from psycheck.train.grids import FOLDS, cut_folds

Folds = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Training:
    """Training texts in three wordings with their marks and folds, and test texts about a woman and a man.

    The folds are the same for all four experiments, and the two wordings of a text are in one fold: a search
    that trained on one and tested on the other would choose what memorises texts.
    """

    original: list[str]
    swapped: list[str]
    neutral: list[str]
    marks: BoolArray
    folds: Folds
    test: IntArray
    as_female: list[str]
    as_male: list[str]

    def of(self, experiment: str) -> tuple[list[str], BoolArray, Folds]:
        """The texts of an experiment, their marks and their folds (gender bias, section 2.2)."""
        if experiment == AUGMENTED:
            twice = np.concatenate([self.marks, self.marks]), np.concatenate([self.folds, self.folds])
            return self.original + self.swapped, *twice
        texts = {ORIGINAL: self.original, SWAPPED: self.swapped, NEUTRAL: self.neutral}[experiment]
        return texts, self.marks, self.folds

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Both wordings of every test text."""
        return list(zip(self.as_female, self.as_male, strict=True))

    def every_text(self) -> Iterator[str]:
        """All wordings, each of which needs a vector."""
        for texts in (self.original, self.swapped, self.neutral, self.as_female, self.as_male):
            yield from texts


def training_of(texts: Gendered, cut: Cut, seed: int) -> Training:
    """Gather the wordings of one draw."""
    as_female, as_male = texts.wordings(cut.test)
    rows = cut.train
    return Training(
        original=[texts.texts[i] for i in rows],
        swapped=[texts.swapped[i] for i in rows],
        neutral=[texts.neutral[i] for i in rows],
        marks=texts.marks[rows],
        folds=_folds(texts, rows, seed),
        test=cut.test,
        as_female=as_female,
        as_male=as_male,
    )


def _folds(texts: Gendered, rows: IntArray, seed: int) -> Folds:
    """Folds by author; both classes must be on both sides of each."""
    marks, owners = texts.marks[rows], [texts.owners[i] for i in rows]
    if len(set(owners)) >= FOLDS:
        folds = cut_folds(texts.cells[rows].astype(np.int64), owners, seed=seed)
        sides = [marks[side] for k in range(FOLDS) for side in (folds == k, folds != k)]
        if all(0 < int(side.sum()) < len(side) for side in sides):
            return folds
    raise BadInput(
        f"{len(set(owners))} authors are too few to cut {FOLDS} folds with both classes in each",
        where=texts.place,
        do="train on more texts, or omit the author column if authors do not matter",
    )


def fewer(texts: Gendered, cut: Cut, pairs: int | None, seed: int) -> Cut:
    """The cut with at most `pairs` test pairs, drawn by seed; the rarer class is reduced last."""
    if pairs is None or len(cut.test) <= pairs:
        return cut
    random = np.random.default_rng(seed)
    marks = texts.marks[cut.test]
    rare, common = sorted((cut.test[marks], cut.test[~marks]), key=len)
    few = min(len(rare), pairs // 2)
    kept = [random.permutation(rare)[:few], random.permutation(common)[: pairs - few]]
    test = np.sort(np.concatenate(kept)).astype(np.intp)
    return replace(cut, test=test, beyond=len(cut.test) - len(test))
