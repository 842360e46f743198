"""Texts about one gender with their swapped and neutral wordings, and the draws of train and test."""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from psycheck.corpus import Corpus
from psycheck.errors import BadInput
from psycheck.measures.classification import BoolArray, IntArray, gold
from psycheck.report.studies.gender import AUGMENTED, NEUTRAL, ORIGINAL, SWAPPED
from psycheck.text.gender.edits import Scope, gender_of, names_besides, neutralise, swap
from psycheck.train.grids import FOLDS, cut_folds

Balance = Literal["both", "class", "none"]
How = Literal["they", "remove"]
Folds = NDArray[np.int64]
FEMALE, MALE = "female", "male"
CELLS = ("female positive", "female negative", "male positive", "male negative")


@dataclass(frozen=True, slots=True)
class Gendered:
    """The texts of a corpus that can be swapped completely, row by row.

    `female` is true for texts about a woman, `marks` for texts annotated 1, both (n,); `owners` are
    the authors, or the ids where nobody is known; `parts` the splits. `left_out` counts the others by reason,
    `undecided` holds the ids of those whose gendered words could not all be decided. `besides` counts the
    texts in which nouns or titles that are not edited name a gender, too.
    """

    corpus: str
    label: str
    ids: list[str]
    texts: list[str]
    swapped: list[str]
    neutral: list[str]
    female: BoolArray
    marks: BoolArray
    owners: list[str]
    parts: list[str]
    left_out: dict[str, int]
    undecided: tuple[str, ...]
    besides: int = 0

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def cells(self) -> IntArray:
        """Which of `CELLS` each text is in, (n,)."""
        out: IntArray = 2 * (~self.female).astype(np.intp) + (~self.marks).astype(np.intp)
        return out

    def wordings(self, rows: IntArray) -> tuple[list[str], list[str]]:
        """The texts of rows worded about a woman, and worded about a man."""
        both = [(self.texts[i], self.swapped[i])[:: 1 if self.female[i] else -1] for i in rows]
        return [female for female, _ in both], [male for _, male in both]

    def error(self, what: str, allowed: str = "", do: str = "") -> BadInput:
        """An error about these texts."""
        return BadInput(what, where=f"corpus '{self.corpus}', label '{self.label}'", allowed=allowed, do=do)


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
    folds: Folds
    as_female: list[str]
    as_male: list[str]

    def of(self, experiment: str) -> tuple[list[str], BoolArray, Folds]:
        """The texts of an experiment, their marks and their folds (gender bias, section 2.2)."""
        texts, rows = self.texts, self.cut.train
        wordings = {
            ORIGINAL: [texts.texts],
            SWAPPED: [texts.swapped],
            NEUTRAL: [texts.neutral],
            AUGMENTED: [texts.texts, texts.swapped],
        }[experiment]
        times = len(wordings)
        return (
            [wording[i] for wording in wordings for i in rows],
            np.tile(texts.marks[rows], times),
            np.tile(self.folds, times),
        )

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Both wordings of every test text."""
        return list(zip(self.as_female, self.as_male, strict=True))

    def every_text(self) -> list[str]:
        """All wordings, each of which needs a vector."""
        return [*self.of(AUGMENTED)[0], *self.of(NEUTRAL)[0], *self.as_female, *self.as_male]


def label_of(corpus: Corpus, wanted: str | None = None) -> str:
    """The label to study: the wanted one, the only one, or depression."""
    labels = corpus.labels
    if wanted is not None:
        corpus.targets([wanted])  # raises an error that lists the labels where this one is missing
        return wanted
    if len(labels) == 1 or "depression" in labels:
        return labels[0] if len(labels) == 1 else "depression"
    if labels:
        what, do = f"has {len(labels)} labels", "name one: `labels=COLUMN`"
    else:
        what, do = "has no label", "name the column of the annotation: `labels=COLUMN`"
    raise BadInput(f"corpus '{corpus.name}' {what}", allowed=", ".join(labels), do=do)


def gendered_texts(corpus: Corpus, label: str, scope: Scope, how: How = "they") -> Gendered:
    """Select the annotated texts of one gender that can be swapped and neutralised completely, each once.

    With an undecided word the pair would be half swapped, so the text is left out and listed by id.
    A text whose swapped wording is another text of the corpus is the same text twice.
    """
    swapping, neutralising = swap(scope), neutralise(scope, how)
    targets, texts, ids = corpus.targets([label])[:, 0], corpus.texts, corpus.ids
    authors, splits = corpus.strings("author"), corpus.strings("split")
    left_out: Counter[str] = Counter()
    undecided: list[str] = []
    met: set[str] = set()
    rows: list[tuple[int, str, str, bool]] = []
    for i, text in enumerate(texts):
        gender = gender_of(text, scope)
        if np.isnan(targets[i]) or targets[i] == 0.5:
            left_out["not annotated" if np.isnan(targets[i]) else "undecided annotation"] += 1
        elif gender not in (FEMALE, MALE):
            left_out["no gendered word" if gender == "none" else "both genders"] += 1
        else:
            twin, neutral = swapping(text), neutralising(text)
            other = MALE if gender == FEMALE else FEMALE
            if twin.undecided or neutral.undecided or gender_of(twin.text, scope) != other:
                left_out["undecided gendered word"] += 1
                undecided.append(ids[i])
            elif text in met:
                left_out["same text twice"] += 1
            else:
                met |= {text, twin.text}
                rows.append((i, twin.text, neutral.text, gender == FEMALE))
    at = [row[0] for row in rows]
    return Gendered(
        corpus=corpus.name,
        label=label,
        ids=[ids[i] for i in at],
        texts=[texts[i] for i in at],
        swapped=[row[1] for row in rows],
        neutral=[row[2] for row in rows],
        female=np.array([row[3] for row in rows], bool),
        marks=gold(targets[at]),
        owners=[f"author {authors[i]}" if authors[i] else f"id {ids[i]}" for i in at],
        parts=[splits[i] or "" for i in at],
        left_out=dict(left_out),
        undecided=tuple(undecided),
        besides=sum(names_besides(texts[i], scope) for i in at),
    )


def cut(texts: Gendered, *, balance: Balance = "both", each: int | None = None, seed: int = 0) -> Cut:
    """Draw the training rows by seed; the rest, or the test split where there is one, is the test.

    With `balance` "both", draw `each` rows of every class and gender (the paper: 90), with "class" twice as
    many of every class regardless of gender, with "none" at most `each` of every class and gender. Without
    `each`, draw as many as possible; half are kept for the test where the corpus has no test split. Test
    rows of authors in train are dropped.
    """
    if balance not in get_args(Balance):
        raise BadInput(f"balance = '{balance}'", allowed=", ".join(get_args(Balance)))
    if each is not None and each < FOLDS:
        raise BadInput(f"each = {each}", allowed=f"{FOLDS} or more: one per fold")
    if not len(texts):
        reasons = ", ".join(f"{n} {why}" for why, n in texts.left_out.items()) or "it is empty"
        raise texts.error(
            f"no text names exactly one gender: {reasons}",
            "texts in the third person with he or she",
            "swap more than pronouns (`swap=nouns,titles,names`) or use another corpus",
        )
    if (positive := int(texts.marks.sum())) in (0, len(texts)):
        what = f"one class only: {positive} of {len(texts)} gendered texts are positive"
        raise texts.error(what, "texts of both classes")
    is_test = np.array([part == "test" for part in texts.parts], bool)
    train = _drawn(texts, is_test, balance, each, seed)
    learned = {texts.owners[i] for i in train}
    rest = np.flatnonzero(is_test) if is_test.any() else np.setdiff1d(np.arange(len(texts)), train)
    test = np.array([i for i in rest if texts.owners[i] not in learned], np.intp)
    if not 0 < (positive := int(texts.marks[test].sum())) < len(test):
        raise texts.error(
            f"{len(test)} texts remain for the test, {positive} of them positive",
            "texts of both classes",
            "train on fewer (`each`), or use a corpus with a test split",
        )
    return Cut(train, test, len(rest) - len(test))


def _drawn(texts: Gendered, is_test: BoolArray, balance: Balance, each: int | None, seed: int) -> IntArray:
    """Training rows outside the test split, sorted: equally many of each balanced group."""
    random = np.random.default_rng(seed)
    pool, half = np.flatnonzero(~is_test), not is_test.any()
    names, times = (CELLS, 1) if balance != "class" else (("positive", "negative"), 2)
    groups = texts.cells[pool] % len(names)
    members = [random.permutation(pool[groups == k]) for k in range(len(names))]
    usable = [len(rows) // 2 if half else len(rows) for rows in members]
    if balance != "none":
        most = min(usable)
        wanted = most if each is None else each * times
        if wanted > most or most < FOLDS:
            least = int(np.argmin(usable))
            kept = " (half of them are kept for the test)" if half else ""
            ways = [f"draw fewer (`each={most // times}`)"] * (each is not None and most // times >= FOLDS)
            ways += ["balance less (`balance=class`)"] * (balance == "both")
            raise texts.error(
                f"too few texts to train on: {len(members[least])} are {names[least]}{kept}",
                f"{FOLDS} or more, and at least `each`",
                ", or ".join(["add such texts", *ways]),
            )
        usable = [wanted] * len(members)
    elif each is not None:
        usable = [min(size, each) for size in usable]
    drawn = [rows[:size] for rows, size in zip(members, usable, strict=True)]
    train = np.sort(np.concatenate(drawn)).astype(np.intp)
    positive = int(texts.marks[train].sum())
    negative = len(train) - positive
    if min(positive, negative) < FOLDS:
        what = f"too few texts to train on: {positive} positive, {negative} negative"
        raise texts.error(what, f"{FOLDS} or more of each class")
    return train


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


def training_of(texts: Gendered, cut: Cut, seed: int) -> Training:
    """Cut the training rows into folds by author; both classes must be on both sides of each."""
    marks, owners = texts.marks[cut.train], [texts.owners[i] for i in cut.train]
    if len(set(owners)) >= FOLDS:
        folds = cut_folds(texts.cells[cut.train].astype(np.int64), owners, seed=seed)
        sides = [marks[side] for k in range(FOLDS) for side in (folds == k, folds != k)]
        if all(0 < int(side.sum()) < len(side) for side in sides):
            return Training(texts, cut, seed, folds, *texts.wordings(cut.test))
    raise texts.error(
        f"{len(set(owners))} authors are too few to cut {FOLDS} folds with both classes in each",
        do="train on more texts, or omit the author column if authors do not matter",
    )
