"""Texts about one gender with their swapped and neutral wordings."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np

from psycheck import Corpus
from psycheck.core.errors import BadInput
from psycheck.statistics.classification import BoolArray, IntArray, gold
from psycheck.text.gender.edits import Scope, gender_of, names_besides, neutralise, swap

T = TypeVar("T")
How = Literal["they", "remove"]
FEMALE = "female"
MALE = "male"
_OPPOSITE = {FEMALE: MALE, MALE: FEMALE}
# What a column of genders may say; anything else is not given.
_RECORDED = {
    **dict.fromkeys(("f", "female", "woman", "women", "girl"), FEMALE),
    **dict.fromkeys(("m", "male", "man", "men", "boy"), MALE),
}
CELLS = ("female positive", "female negative", "male positive", "male negative")


@dataclass(frozen=True, slots=True)
class Gendered:
    """The texts of a corpus that can be swapped completely, row by row.

    `female` is true for texts about a woman, `marks` for texts annotated 1, both (n,); `owners` are
    the authors, or the ids where nobody is known; `parts` the splits. `left_out` counts the others by reason,
    `undecided` holds the ids of those whose gendered words could not all be decided. `besides` counts the
    texts in which nouns or titles that are not edited name a gender, too. `paired` (n,) is false where the
    record names the gender and no word of the text does: such a text is trained on, and makes no test pair.
    `recorded` counts the texts whose gender is that of the record, `contradicted` those of them whose words
    name the other one alone.
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
    paired: BoolArray
    besides: int = 0
    recorded: int = 0
    contradicted: int = 0

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def cells(self) -> IntArray:
        """Which of `CELLS` each text is in, (n,)."""
        male = (~self.female).astype(np.intp)
        negative = (~self.marks).astype(np.intp)
        cells: IntArray = 2 * male + negative
        return cells

    def wordings(self, rows: IntArray) -> tuple[list[str], list[str]]:
        """The texts of rows worded about a woman, and worded about a man."""
        as_female = []
        as_male = []
        for row in rows:
            original, swapped = self.texts[row], self.swapped[row]
            as_female.append(original if self.female[row] else swapped)
            as_male.append(swapped if self.female[row] else original)
        return as_female, as_male

    def error(self, code: str, what: str, allowed: str = "", do: str = "") -> BadInput:
        """An error about these texts."""
        return BadInput(
            what,
            code=code,
            where=f"corpus '{self.corpus}', label '{self.label}'",
            allowed=allowed,
            do=do,
        )


def label_of(corpus: Corpus, requested: str | None = None) -> str:
    """The label to study: the requested one, the only one, or depression."""
    labels = corpus.labels
    if requested is not None:
        corpus.targets([requested])  # raises an error that lists the labels where this one is missing
        return requested
    if len(labels) == 1:
        return labels[0]
    if "depression" in labels:
        return "depression"

    if labels:
        raise BadInput(
            f"corpus '{corpus.name}' has {len(labels)} labels",
            code="corpus.several-labels",
            allowed=", ".join(labels),
            do="name one: `labels=COLUMN`",
        )
    raise BadInput(
        f"corpus '{corpus.name}' has no label",
        code="corpus.no-labels",
        do="name the column of the annotation: `labels=COLUMN`",
    )


@dataclass(frozen=True, slots=True)
class _Wordings:
    """A text that can be swapped: its row in the corpus, its gender and its other wordings.

    `named` is what its words name, `recorded` whether the gender is that of the record.
    """

    row: int
    gender: str
    named: str
    recorded: bool
    swapped: str
    neutral: str


def gendered_texts(
    corpus: Corpus,
    label: str,
    scope: Scope,
    how: How = "they",
    *,
    record: str | None = None,
) -> Gendered:
    """Select the annotated texts of one gender that can be swapped and neutralised completely, each once.

    `record` names the group of the corpus that says whom a text is about; where it is empty, and without
    it, the words of the text decide. With an undecided word the pair would be half swapped, so the text is
    left out and listed by id. A text whose swapped wording is another text of the corpus is the same text
    twice.
    """
    on_record = recorded_genders(corpus, record)
    targets = corpus.targets([label])[:, 0]
    texts = corpus.texts
    ids = corpus.ids
    swap_words = swap(scope)
    neutralise_words = neutralise(scope, how)

    left_out: Counter[str] = Counter()
    undecided: list[str] = []
    earlier_texts: set[str] = set()
    selected: list[_Wordings] = []
    for row, text in enumerate(texts):
        named = gender_of(text, scope)
        recorded = on_record[row]
        gender = recorded or named
        reason = _why_unusable(float(targets[row]), gender)
        if reason:
            left_out[reason] += 1
            continue

        swapped = swap_words(text)
        neutral = neutralise_words(text)
        undecided_word = bool(swapped.undecided or neutral.undecided)
        # A text that names both genders, or none, has no opposite: there the record decides.
        half_swapped = named in _OPPOSITE and gender_of(swapped.text, scope) != _OPPOSITE[named]
        if undecided_word or half_swapped:
            left_out["undecided gendered word"] += 1
            undecided.append(ids[row])
        elif text in earlier_texts:
            left_out["same text twice"] += 1
        else:
            earlier_texts |= {text, swapped.text}
            selected.append(
                _Wordings(
                    row=row,
                    gender=gender,
                    named=named,
                    recorded=recorded is not None,
                    swapped=swapped.text,
                    neutral=neutral.text,
                )
            )

    return _gendered(corpus, label, scope, selected, dict(left_out), tuple(undecided))


def recorded_genders(corpus: Corpus, record: str | None) -> list[str | None]:
    """The gender that the record gives each text; None where it gives none."""
    if record is None:
        return [None] * len(corpus)
    if record not in corpus.groups:
        raise BadInput(
            f"corpus '{corpus.name}' has no group '{record}'",
            code="gender-study.no-record",
            allowed=", ".join(corpus.groups) or "a group column with the gender",
            do="name its column: `group=COLUMN`",
        )
    return [_RECORDED.get((value or "").strip().casefold()) for value in corpus.group(record)]


def _gendered(
    corpus: Corpus,
    label: str,
    scope: Scope,
    selected: list[_Wordings],
    left_out: dict[str, int],
    undecided: tuple[str, ...],
) -> Gendered:
    """The selected texts with what the corpus says about them."""
    rows = [wordings.row for wordings in selected]
    ids = _at(corpus.ids, rows)
    texts = _at(corpus.texts, rows)
    authors = _at(corpus.strings("author"), rows)
    genders = [wordings.gender for wordings in selected]
    named = [wordings.named for wordings in selected]
    return Gendered(
        corpus=corpus.name,
        label=label,
        ids=ids,
        texts=texts,
        swapped=[wordings.swapped for wordings in selected],
        neutral=[wordings.neutral for wordings in selected],
        female=np.array(genders) == FEMALE,
        marks=gold(corpus.targets([label])[rows, 0]),
        owners=list(map(_owner, authors, ids)),
        parts=[split or "" for split in _at(corpus.strings("split"), rows)],
        left_out=left_out,
        undecided=undecided,
        paired=np.array(named) != "none",
        besides=sum(names_besides(text, scope) for text in texts),
        recorded=sum(wordings.recorded for wordings in selected),
        contradicted=sum(map(_contradicts, genders, named)),
    )


def _at(values: Sequence[T], rows: Sequence[int]) -> list[T]:
    """The values of some rows."""
    return [values[row] for row in rows]


def _contradicts(gender: str, named: str) -> bool:
    """Whether the words of a text name the other gender alone."""
    return _OPPOSITE[gender] == named


def _owner(author: str | None, text_id: str) -> str:
    return f"author {author}" if author else f"id {text_id}"


def _why_unusable(target: float, gender: str) -> str:
    """Why a text is left out before it is edited; "" if it can be used."""
    if np.isnan(target):
        return "not annotated"
    if target == 0.5:
        return "undecided annotation"
    if gender == "none":
        return "no gendered word"
    if gender not in (FEMALE, MALE):
        return "both genders"
    return ""
