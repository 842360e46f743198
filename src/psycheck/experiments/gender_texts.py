"""Texts about one gender with their swapped and neutral wordings, and the draw of train and test."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from psycheck.corpus import Corpus
from psycheck.errors import BadInput
from psycheck.measures.classification import BoolArray, IntArray, gold
from psycheck.text.gender.edits import Scope, gender_of, names_besides, neutralise, swap
from psycheck.train.grids import FOLDS

Balance = Literal["both", "class", "none"]
How = Literal["they", "remove"]
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
    def place(self) -> str:
        """Where an error is: the corpus and the label."""
        return f"corpus '{self.corpus}', label '{self.label}'"

    @property
    def cells(self) -> IntArray:
        """Which of `CELLS` each text is in, (n,)."""
        out: IntArray = 2 * (~self.female).astype(np.intp) + (~self.marks).astype(np.intp)
        return out

    def wordings(self, rows: IntArray) -> tuple[list[str], list[str]]:
        """The texts of rows worded about a woman, and worded about a man."""
        both = [(self.texts[i], self.swapped[i]) for i in rows]
        sides = [pair if self.female[i] else pair[::-1] for pair, i in zip(both, rows, strict=True)]
        return [side[0] for side in sides], [side[1] for side in sides]


@dataclass(frozen=True, slots=True)
class Cut:
    """Rows to train on and rows to test on.

    `shared` test rows were dropped because their author is in train, `beyond` because of --pairs.
    """

    train: IntArray
    test: IntArray
    shared: int = 0
    beyond: int = 0


def label_of(corpus: Corpus, wanted: str | None = None) -> str:
    """The label to study: the wanted one, the only one, or depression."""
    if wanted is not None:
        corpus.targets([wanted])  # raises an error that lists the labels where this one is missing
        return wanted
    if not corpus.labels:
        raise BadInput(
            f"corpus '{corpus.name}' has no label", do="name the column of the annotation: --label COLUMN"
        )
    if len(corpus.labels) == 1:
        return corpus.labels[0]
    if "depression" in corpus.labels:
        return "depression"
    raise BadInput(
        f"corpus '{corpus.name}' has {len(corpus.labels)} labels",
        allowed=", ".join(corpus.labels),
        do="name one: --label COLUMN",
    )


def gendered_texts(corpus: Corpus, label: str, scope: Scope, how: How = "they") -> Gendered:
    """Select the annotated texts of one gender that can be swapped and neutralised completely, each once.

    With an undecided word the pair would be half swapped, so the text is left out and listed by id.
    A text whose swapped wording is another text of the corpus is the same text twice.
    """
    swapping, neutralising = swap(scope), neutralise(scope, how)
    targets = corpus.targets([label])[:, 0]
    authors = _column(corpus, "author")
    splits = _column(corpus, "split")
    left_out: Counter[str] = Counter()
    undecided: list[str] = []
    met: set[str] = set()
    rows: list[tuple[int, str, str, bool]] = []
    for i, (id_, text) in enumerate(zip(corpus.ids, corpus.texts, strict=True)):
        gender = gender_of(text, scope)
        if np.isnan(targets[i]):
            left_out["not annotated"] += 1
        elif gender == "none":
            left_out["no gendered word"] += 1
        elif gender == "both":
            left_out["both genders"] += 1
        else:
            twin, neutral = swapping(text), neutralising(text)
            if twin.undecided or neutral.undecided or gender_of(twin.text, scope) != _other(gender):
                left_out["undecided gendered word"] += 1
                undecided.append(id_)
            elif text in met:
                left_out["same text twice"] += 1
            else:
                met |= {text, twin.text}
                rows.append((i, twin.text, neutral.text, gender == FEMALE))
    at = [row[0] for row in rows]
    texts, ids = corpus.texts, corpus.ids
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
        parts=[splits[i] for i in at],
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
    _check_texts(texts)
    split = "test" in texts.parts
    is_test = np.array([part == "test" for part in texts.parts], bool)
    pool = np.flatnonzero(~is_test)
    train = _drawn(texts, pool, balance, each, seed, half=not split)
    learned = {texts.owners[i] for i in train}
    rest = np.flatnonzero(is_test) if split else np.setdiff1d(np.arange(len(texts)), train)
    test = np.array([i for i in rest if texts.owners[i] not in learned], np.intp)
    positive = int(texts.marks[test].sum())
    if not 0 < positive < len(test):
        raise BadInput(
            f"{len(test)} texts remain for the test, {positive} of them positive",
            where=texts.place,
            allowed="texts of both classes",
            do="train on fewer (--each), or use a corpus with a test split",
        )
    return Cut(train, test, len(rest) - len(test))


def _drawn(
    texts: Gendered, pool: IntArray, balance: Balance, each: int | None, seed: int, *, half: bool
) -> IntArray:
    """Training rows from the pool, sorted: equally many of each balanced group."""
    random = np.random.default_rng(seed)
    cells = texts.cells[pool]
    groups = {"both": cells, "class": cells % 2, "none": cells}[balance]
    members = [random.permutation(pool[groups == k]) for k in range(2 if balance == "class" else 4)]
    usable = [len(rows) // 2 if half else len(rows) for rows in members]
    if balance != "none":
        most = min(usable)
        wanted = most if each is None else each * (2 if balance == "class" else 1)
        if wanted > most or most < FOLDS:
            least = int(np.argmin(usable))
            name = CELLS[least] if balance == "both" else ("positive", "negative")[least]
            kept = " (half of them are kept for the test)" if half else ""
            each_most = most // (2 if balance == "class" else 1)
            ways = [f"draw fewer (--each {each_most})"] * (each is not None and each_most >= FOLDS)
            ways += ["balance less (--balance class)"] * (balance == "both")
            raise BadInput(
                f"too few texts to train on: {len(members[least])} are {name}{kept}",
                where=texts.place,
                allowed=f"{FOLDS} or more, and at least --each",
                do=", or ".join(["add such texts", *ways]),
            )
        usable = [wanted] * len(members)
    elif each is not None:
        usable = [min(size, each) for size in usable]
    drawn = [rows[:size] for rows, size in zip(members, usable, strict=True)]
    train = np.sort(np.concatenate(drawn)).astype(np.intp)
    marks = texts.marks[train]
    if min(int(marks.sum()), int((~marks).sum())) < FOLDS:
        raise BadInput(
            f"too few texts to train on: {int(marks.sum())} positive, {int((~marks).sum())} negative",
            where=texts.place,
            allowed=f"{FOLDS} or more of each class",
        )
    return train


def _check_texts(texts: Gendered) -> None:
    if not len(texts):
        reasons = ", ".join(f"{n} {why}" for why, n in texts.left_out.items()) or "it is empty"
        raise BadInput(
            f"no text names exactly one gender: {reasons}",
            where=texts.place,
            allowed="texts in the third person with he or she",
            do="swap more than pronouns (--swap nouns,titles,names) or use another corpus",
        )
    positive = int(texts.marks.sum())
    if positive in (0, len(texts)):
        raise BadInput(
            f"one class only: {positive} of {len(texts)} gendered texts are positive",
            where=texts.place,
            allowed="texts of both classes",
        )


def _column(corpus: Corpus, name: str) -> Sequence[str]:
    if name not in corpus.table.columns:
        return [""] * len(corpus)
    return corpus.table[name].fill_null("").to_list()


def _other(gender: str) -> str:
    return MALE if gender == FEMALE else FEMALE
