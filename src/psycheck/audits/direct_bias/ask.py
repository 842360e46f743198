"""What must be encoded to measure gender bias, word by word, and how the vectors are handed back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from psycheck.audits.direct_bias.lists import CONTRAST, MARK, Gender, WordList, word_list
from psycheck.model import FloatArray


@dataclass(frozen=True, slots=True)
class Spoken:
    """A word or phrase in the sentence in which an encoder meets it."""

    word: str
    text: str
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Drawn:
    """Words for random lists: one row a target in the order of the list, or one row for all.

    `how` says in words how they were drawn.
    """

    rows: tuple[tuple[str, ...], ...]
    how: str


@dataclass(frozen=True, slots=True)
class Asked:
    """Everything that is encoded. Plain sentences (SEAT's) serve WEAT and RND, a list's own Direct Bias."""

    pairs: tuple[tuple[Spoken, Spoken], ...]
    lists: Mapping[str, WordList]
    own: Mapping[str, tuple[Spoken, ...]]
    plain: Mapping[str, tuple[Spoken, ...]]
    random: Mapping[str, tuple[tuple[Spoken, ...], ...]]
    random_plain: Mapping[str, tuple[tuple[Spoken, ...], ...]]
    female: tuple[Spoken, ...]
    male: tuple[Spoken, ...]
    contrast: tuple[Spoken, ...]

    def distinct(self) -> list[Spoken]:
        """Each word and sentence once."""
        groups = [*self.own.values(), *self.plain.values(), self.female, self.male, self.contrast]
        groups += [
            row for drawn in (self.random, self.random_plain) for rows in drawn.values() for row in rows
        ]
        return list(dict.fromkeys([s for pair in self.pairs for s in pair] + [s for g in groups for s in g]))


@dataclass(frozen=True, slots=True)
class Embedded:
    """Vectors by word and sentence; a row of NaN where the encoder knows none.

    A row of zeros points nowhere, so that its word counts as not known, too.
    """

    vectors: FloatArray = field(repr=False)
    rows: Mapping[Spoken, int] = field(repr=False)

    def of(self, spoken: Sequence[Spoken]) -> FloatArray:
        """The vectors of what was asked for, (n, d)."""
        return self.vectors[[self.rows[one] for one in spoken]] if spoken else self.vectors[:0]

    def known(self, spoken: Sequence[Spoken]) -> NDArray[np.bool_]:
        """Which of them have a direction, (n,)."""
        found: NDArray[np.bool_] = np.linalg.norm(self.of(spoken), axis=1) > 0
        return found

    def zeros(self, spoken: Sequence[Spoken]) -> tuple[Spoken, ...]:
        """Those whose vector is all zeros."""
        return tuple(one for one, row in zip(spoken, self.of(spoken), strict=True) if not row.any())

    def distinct_known(self, rows: Sequence[Sequence[Spoken]]) -> int:
        """How many different words of some rows are known."""
        words = list(dict.fromkeys(one for row in rows for one in row))
        return int(self.known(words).sum())


def embedded(spoken: Sequence[Spoken], vectors: FloatArray) -> Embedded:
    """Vectors as they came from an encoder, (n, d), made ready for looking up."""
    return Embedded(np.asarray(vectors, np.float64), {one: row for row, one in enumerate(spoken)})


def spoken(word: str, sentence: str) -> Spoken:
    """Put a word into a sentence."""
    start = sentence.index(MARK)
    return Spoken(word, sentence.replace(MARK, word), (start, start + len(word)))


def ask(gender: Gender, lists: Sequence[WordList], drawn: Mapping[str, Drawn], *, contextual: bool) -> Asked:
    """Say what must be encoded; static vectors need no sentence, so each word is asked for once."""

    def all_of(words: Sequence[str], sentence: str) -> tuple[Spoken, ...]:
        return tuple(spoken(word, sentence if contextual else MARK) for word in words)

    words = {one.name: [target.word for target in one.targets] for one in lists}
    return Asked(
        pairs=tuple(
            (all_of([she], first)[0], all_of([he], second)[0])
            for (she, he), (first, second) in zip(gender.pairs, gender.sentences, strict=True)
        ),
        lists={one.name: one for one in lists},
        own={one.name: all_of(words[one.name], one.sentence) for one in lists},
        plain={one.name: all_of(words[one.name], gender.sentence) for one in lists},
        random={one.name: tuple(all_of(row, one.sentence) for row in drawn[one.name].rows) for one in lists},
        random_plain={
            one.name: tuple(all_of(row, gender.sentence) for row in drawn[one.name].rows) for one in lists
        },
        female=all_of(gender.female, gender.sentence),
        male=all_of(gender.male, gender.sentence),
        contrast=all_of([target.word for target in word_list(CONTRAST).targets], gender.sentence),
    )
