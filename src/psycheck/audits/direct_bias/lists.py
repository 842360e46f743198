"""Word lists, the pairs that span the gender direction, and the sentences in which an encoder meets them."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from psycheck.errors import UNREADABLE, BadInput, nearest

HERE = Path(__file__).parent
SHIPPED = ("depression", "anxiety")
CONTRAST = "physical"
MARK = "{word}"
PLAIN = "This is {word}."  # the sentence of SEAT (May et al. 2019), which says nothing of its own
LONGEST = 100


@dataclass(frozen=True, slots=True)
class Target:
    """One word or phrase of a list, and the symptom that it stands for."""

    word: str
    symptom: str = ""


@dataclass(frozen=True, slots=True)
class WordList:
    """A list of target words; `sentence` is what a contextual encoder reads, with {word} in it.

    `again` holds words that stand in a second symptom, which does not count: the target kept, the one left.
    """

    name: str
    title: str
    targets: tuple[Target, ...]
    sentence: str = PLAIN
    source: str = ""
    again: tuple[tuple[Target, Target], ...] = ()


@dataclass(frozen=True, slots=True)
class Gender:
    """The definitional pairs with their sentences, the attributes of WEAT, and other words of gender."""

    pairs: tuple[tuple[str, str], ...]
    sentences: tuple[tuple[str, str], ...]
    female: tuple[str, ...]
    male: tuple[str, ...]
    sentence: str
    gendered: frozenset[str]


@dataclass(frozen=True, slots=True)
class Drawn:
    """Words for random lists; `how` says in words how they were drawn."""

    words: tuple[str, ...]
    how: str


@dataclass(frozen=True, slots=True)
class Spoken:
    """A word or phrase in the sentence in which an encoder meets it."""

    word: str
    text: str
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class AskedList:
    """A list and random words, in the list's sentence (Direct Bias) and in SEAT's plain one (WEAT, RND)."""

    listed: WordList
    own: tuple[Spoken, ...]
    plain: tuple[Spoken, ...]
    random: tuple[Spoken, ...]
    random_plain: tuple[Spoken, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """Everything that is encoded: gender pairs, lists by name, and the attributes in plain sentences."""

    pairs: tuple[tuple[Spoken, Spoken], ...]
    lists: Mapping[str, AskedList]
    female: tuple[Spoken, ...]
    male: tuple[Spoken, ...]
    contrast: tuple[Spoken, ...]

    def distinct(self) -> list[Spoken]:
        """Each word and sentence once."""
        lists = self.lists.values()
        groups = [*self.pairs, *(one.own for one in lists), *(one.plain for one in lists)]
        groups += [self.female, self.male, self.contrast]
        groups += [row for one in lists for row in (one.random, one.random_plain)]
        return list(dict.fromkeys(spoken for group in groups for spoken in group))


def word_list(name: str) -> WordList:
    """A list that is shipped, by its name."""
    if name not in SHIPPED and name != CONTRAST:
        raise BadInput(
            f"unknown word list '{name}'",
            allowed=nearest(name, SHIPPED),
            do="give a list of your own with `words=FILE`",
        )
    return read_words(HERE / "lists" / f"{name}.toml")


def read_words(path: str | Path, *, sentence: str | None = None) -> WordList:
    """A list from a text file with one word or phrase per line, or from TOML like the shipped ones.

    Repeats are left out; an empty list, or a sentence without a place for the word, is refused.
    """
    path = Path(path).expanduser()
    toml = path.suffix == ".toml"
    try:
        text = path.read_text("utf-8" if toml else "utf-8-sig")
        raw = tomllib.loads(text) if toml else _lines(text, path)
        every = [
            Target(str(word).strip(), str(group.get("symptom", "")))
            for group in raw["group"]
            for word in group["words"]
        ]
    except FileNotFoundError as error:
        raise BadInput(f"no such file: '{path}'") from error
    except UNREADABLE as error:
        raise BadInput(
            f"the word list cannot be read ({type(error).__name__})",
            where=str(path),
            allowed="TOML with [[group]] tables that hold 'words', and optionally 'symptom'"
            if toml
            else "UTF-8 text, one word or phrase per line",
        ) from error
    first = {target.word.casefold(): target for target in reversed(every) if target.word}
    targets = tuple(target for target in dict.fromkeys(every) if target in first.values())
    again = tuple(
        (kept, target)
        for target in dict.fromkeys(every)
        if target.word and (kept := first[target.word.casefold()]).symptom != target.symptom
    )
    if not targets:
        raise BadInput("the word list is empty", where=str(path), allowed="one word or phrase per line")
    name, title = (str(raw.get(key, path.stem)) for key in ("name", "title"))
    own = str(raw.get("sentence", PLAIN))
    if any(one.count(MARK) != 1 for one in (own, sentence or own)):
        raise BadInput(
            "the sentence has no place for the word",
            where=str(path),
            allowed=f"a sentence with {MARK} in it once, such as '{PLAIN}'",
        )
    return WordList(name, title, targets, sentence or own, str(raw.get("source", "")), again)


def _lines(text: str, path: Path) -> dict[str, Any]:
    """The words of a text file as in TOML; what follows a # is a comment."""
    words = [line.partition("#")[0].strip() for line in text.splitlines()]
    for number, word in enumerate(words, start=1):
        if len(word) > LONGEST:
            raise BadInput(
                "a line is too long for a word or phrase",
                where=f"{path}, line {number}",
                allowed=f"{LONGEST} characters; one word or phrase per line",
            )
    return {"title": f"Words of {path.name}", "group": [{"words": words}]}


@cache
def gender() -> Gender:
    """The pairs of Bolukbasi et al. (2016), female first, and what belongs to them."""
    raw = tomllib.loads((HERE / "gender.toml").read_text("utf-8"))
    pairs, sentences = (
        tuple((pair[key][0], pair[key][1]) for pair in raw["pairs"]) for key in ("words", "sentences")
    )
    paired = {word.casefold() for pair in pairs for word in pair}
    gendered = frozenset(paired | {*raw["female"], *raw["male"], *raw["gendered"]})
    return Gender(pairs, sentences, tuple(raw["female"]), tuple(raw["male"]), raw["sentence"], gendered)


@cache
def common_words() -> tuple[str, ...]:
    """Ordinary words, commonest first, for random lists."""
    lines = (HERE / "common_words.txt").read_text("utf-8").splitlines()
    return tuple(word for line in lines if not line.startswith("#") for word in line.split())


def spoken(word: str, sentence: str) -> Spoken:
    """Put a word into a sentence."""
    start = sentence.index(MARK)
    return Spoken(word, sentence.replace(MARK, word), (start, start + len(word)))


def ask(gender: Gender, lists: Sequence[WordList], drawn: Mapping[str, Drawn], *, contextual: bool) -> Asked:
    """Say what must be encoded; static vectors need no sentence, so each word is asked for once."""

    def all_of(words: Sequence[str], sentence: str) -> tuple[Spoken, ...]:
        return tuple(spoken(word, sentence if contextual else MARK) for word in words)

    def in_sentences(one: WordList) -> AskedList:
        every = [target.word for target in one.targets], drawn[one.name].words
        sentences = one.sentence, gender.sentence
        return AskedList(one, *(all_of(words, sentence) for words in every for sentence in sentences))

    return Asked(
        pairs=tuple(
            (all_of([she], first)[0], all_of([he], second)[0])
            for (she, he), (first, second) in zip(gender.pairs, gender.sentences, strict=True)
        ),
        lists={one.name: in_sentences(one) for one in lists},
        female=all_of(gender.female, gender.sentence),
        male=all_of(gender.male, gender.sentence),
        contrast=all_of([target.word for target in word_list(CONTRAST).targets], gender.sentence),
    )
