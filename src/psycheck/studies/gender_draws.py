"""The draws of the gender study: which texts are trained on, with which folds, and which are tested."""

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from psycheck import learner_folds
from psycheck.core.errors import BadInput
from psycheck.report.studies.gender_tables import AUGMENTED, NEUTRAL, ORIGINAL, SWAPPED
from psycheck.statistics.classification import BoolArray, IntArray
from psycheck.studies.gender_texts import CELLS, Gendered

# The paper searches by 3 folds.
FOLDS = 3
Balance = Literal["both", "class", "none"]
# The classes of the cells, in their order.
CLASSES = ("positive", "negative")


@dataclass(frozen=True, slots=True)
class Cut:
    """Rows to train on and rows to test on.

    `shared` test rows were dropped because their author is in train, `beyond` because of `pairs`.
    """

    train: IntArray
    test: IntArray
    shared: int = 0
    beyond: int = 0


@dataclass(frozen=True, slots=True)
class Training:
    """One draw: the rows to train on with their folds, and the test texts about a woman and about a man.

    The folds are the same for all four experiments, and the two wordings of a text are in one fold: a search
    that trained on one and tested on the other would choose what memorises texts.
    """

    texts: Gendered
    cut: Cut
    seed: int
    folds: IntArray
    as_female: list[str]
    as_male: list[str]

    def of(self, experiment: str) -> tuple[list[str], BoolArray, IntArray]:
        """The texts of an experiment, their marks and their folds (gender bias, section 2.2)."""
        rows = self.cut.train
        wordings = {
            ORIGINAL: [self.texts.texts],
            SWAPPED: [self.texts.swapped],
            NEUTRAL: [self.texts.neutral],
            AUGMENTED: [self.texts.texts, self.texts.swapped],
        }[experiment]

        train_texts: list[str] = []
        for wording in wordings:
            train_texts += [wording[row] for row in rows]
        marks = np.tile(self.texts.marks[rows], len(wordings))
        return train_texts, marks, np.tile(self.folds, len(wordings))

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Both wordings of every test text."""
        return list(zip(self.as_female, self.as_male, strict=True))

    def every_text(self) -> list[str]:
        """All wordings, each of which needs a vector."""
        augmented_texts, _, _ = self.of(AUGMENTED)
        neutral_texts, _, _ = self.of(NEUTRAL)
        return [*augmented_texts, *neutral_texts, *self.as_female, *self.as_male]


def cut(texts: Gendered, *, balance: Balance = "both", each: int | None = None, seed: int = 0) -> Cut:
    """Draw the training rows by seed; the rest, or the test split where there is one, is the test.

    With `balance` "both", draw `each` rows of every class and gender (the paper: 90), with "class" twice as
    many of every class regardless of gender, with "none" at most `each` of every class and gender. Without
    `each`, draw as many as possible; half are kept for the test where the corpus has no test split. Test
    rows of authors in train are dropped.
    """
    _refuse_impossible_cut(texts, balance, each)
    # Other splits are trained on: the search cuts its own folds.
    is_test = np.array([part == "test" for part in texts.parts], bool)
    train = _draw_training_rows(texts, is_test, balance, each, seed)

    remaining_rows = np.setdiff1d(np.arange(len(texts)), train)
    test_rows = np.flatnonzero(is_test) if is_test.any() else remaining_rows
    # A learner that has read an author before would do too well on the author's other texts.
    train_owners = {texts.owners[row] for row in train}
    # Without a gendered word both wordings are the same text.
    test_rows = test_rows[texts.paired[test_rows]]
    test = np.array([row for row in test_rows if texts.owners[row] not in train_owners], np.intp)

    positive = int(texts.marks[test].sum())
    if not 0 < positive < len(test):
        raise texts.error(
            "gender-study.one-class-in-test",
            f"{len(test)} texts remain for the test, {positive} of them positive",
            allowed="texts of both classes",
            do="train on fewer (`each`), or use a corpus with a test split",
        )
    return Cut(train, test, shared=len(test_rows) - len(test))


def _refuse_impossible_cut(texts: Gendered, balance: Balance, each: int | None) -> None:
    if balance not in get_args(Balance):
        raise BadInput(
            f"balance = '{balance}'",
            code="gender-study.unknown-balance",
            allowed=", ".join(get_args(Balance)),
        )
    if each is not None and each < FOLDS:
        raise BadInput(
            f"each = {each}",
            code="gender-study.too-few-each",
            allowed=f"{FOLDS} or more: one per fold",
        )
    if not len(texts):
        reasons = [f"{count} {reason}" for reason, count in texts.left_out.items()]
        raise texts.error(
            "gender-study.no-gendered-text",
            f"no text names exactly one gender: {', '.join(reasons) or 'it is empty'}",
            allowed="texts in the third person with he or she",
            do="swap more than pronouns (`swap=nouns,titles,names`) or use another corpus",
        )
    positive = int(texts.marks.sum())
    if positive in (0, len(texts)):
        raise texts.error(
            "gender-study.one-class",
            f"one class only: {positive} of {len(texts)} gendered texts are positive",
            allowed="texts of both classes",
        )


def _draw_training_rows(
    texts: Gendered,
    is_test: BoolArray,
    balance: Balance,
    each: int | None,
    seed: int,
) -> IntArray:
    """Training rows outside the test split, sorted: equally many of each balanced group."""
    random = np.random.default_rng(seed)
    pool = np.flatnonzero(~is_test)
    # Of the four cells, every second one is negative: modulo 2 they are classes.
    group_names = CLASSES if balance == "class" else CELLS
    groups = texts.cells[pool] % len(group_names)
    members = [random.permutation(pool[groups == number]) for number in range(len(group_names))]

    # Without a test split, half of the texts are kept for the test.
    share = 1 if is_test.any() else 2
    available = [len(rows) // share for rows in members]
    if balance != "none":
        members_by_name = dict(zip(group_names, members, strict=True))
        size = _equal_size(texts, balance, each, members_by_name, available)
        sizes = [size] * len(members)
    elif each is not None:
        sizes = [min(count, each) for count in available]
    else:
        sizes = available

    drawn = [rows[:size] for rows, size in zip(members, sizes, strict=True)]
    train = np.sort(np.concatenate(drawn)).astype(np.intp)

    # Each fold needs a text of each class.
    positive = int(texts.marks[train].sum())
    negative = len(train) - positive
    if min(positive, negative) < FOLDS:
        raise texts.error(
            "gender-study.too-few-texts",
            f"too few texts to train on: {positive} positive, {negative} negative",
            allowed=f"{FOLDS} or more of each class",
        )
    return train


def _equal_size(
    texts: Gendered,
    balance: Balance,
    each: int | None,
    members: dict[str, IntArray],
    available: list[int],
) -> int:
    """How many rows of each group are drawn: as many as requested, or as the smallest group has."""
    # A class has the texts of both genders.
    cells_per_group = 2 if balance == "class" else 1
    most = min(available)
    size = most if each is None else each * cells_per_group
    if size <= most and most >= FOLDS:
        return size

    smallest = list(members)[int(np.argmin(available))]
    half_kept = "" if "test" in texts.parts else " (half of them are kept for the test)"
    remedies = ["add such texts"]
    if each is not None and most // cells_per_group >= FOLDS:
        remedies.append(f"draw fewer (`each={most // cells_per_group}`)")
    if balance == "both":
        remedies.append("balance less (`balance=class`)")
    raise texts.error(
        "gender-study.too-few-texts",
        f"too few texts to train on: {len(members[smallest])} are {smallest}{half_kept}",
        allowed=f"{FOLDS} or more, and at least `each`",
        do=", or ".join(remedies),
    )


def fewer(texts: Gendered, cut: Cut, pairs: int | None, seed: int) -> Cut:
    """The cut with at most `pairs` test pairs, drawn by seed; the rarer class is reduced last."""
    if pairs is None or len(cut.test) <= pairs:
        return cut

    random = np.random.default_rng(seed)
    marks = texts.marks[cut.test]
    classes = (cut.test[marks], cut.test[~marks])
    rare_rows, common_rows = sorted(classes, key=len)
    rare_count = min(len(rare_rows), pairs // 2)
    drawn_rare = random.permutation(rare_rows)[:rare_count]
    drawn_common = random.permutation(common_rows)[: pairs - rare_count]
    test = np.sort(np.concatenate([drawn_rare, drawn_common])).astype(np.intp)
    return replace(cut, test=test, beyond=len(cut.test) - len(test))


def training_of(texts: Gendered, cut: Cut, seed: int) -> Training:
    """Cut the training rows into folds by author; both classes must be on both sides of each."""
    owners = [texts.owners[row] for row in cut.train]
    if len(set(owners)) >= FOLDS:
        # Stratified by class and gender, so that a fold is as balanced as the whole.
        cells = texts.cells[cut.train].astype(np.int64)
        folds = learner_folds(cells, owners, seed=seed)
        if _both_classes_everywhere(texts.marks[cut.train], folds):
            as_female, as_male = texts.wordings(cut.test)
            return Training(
                texts=texts,
                cut=cut,
                seed=seed,
                folds=folds,
                as_female=as_female,
                as_male=as_male,
            )
    raise texts.error(
        "gender-study.too-few-authors",
        f"{len(set(owners))} authors are too few to cut {FOLDS} folds with both classes in each",
        do="train on more texts, or omit the author column if authors do not matter",
    )


def _both_classes_everywhere(marks: BoolArray, folds: IntArray) -> bool:
    """True if each fold, and all others without it, have texts of both classes."""
    for number in range(FOLDS):
        for side in (marks[folds == number], marks[folds != number]):
            if not 0 < int(side.sum()) < len(side):
                return False
    return True
