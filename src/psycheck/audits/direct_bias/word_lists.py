"""Word lists, the pairs that span the gender direction, and the sentences in which an encoder meets them."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from psycheck.core.errors import UNREADABLE, BadInput, nearest
from psycheck.io.toml import parse_toml

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
        groups: list[tuple[Spoken, ...]] = [
            *self.pairs,
            *(asked_list.own for asked_list in lists),
            *(asked_list.plain for asked_list in lists),
            self.female,
            self.male,
            self.contrast,
        ]
        for asked_list in lists:
            groups += [asked_list.random, asked_list.random_plain]
        return list(dict.fromkeys(chain.from_iterable(groups)))


def word_list(name: str) -> WordList:
    """A list that is shipped, by its name."""
    if name not in SHIPPED and name != CONTRAST:
        raise BadInput(
            f"unknown word list '{name}'",
            code="words.unknown-list",
            allowed=nearest(name, SHIPPED),
            do="give a list of your own with `words=FILE`",
        )
    return read_words(HERE / "lists" / f"{name}.toml")


def read_words(path: str | Path, *, sentence: str | None = None) -> WordList:
    """A list from a text file with one word or phrase per line, or from TOML like the shipped ones.

    Repeats are left out; an empty list, or a sentence without a place for the word, is refused.
    """
    path = Path(path).expanduser()
    raw, targets = _read_file(path)
    counted, repeated = _without_repeats(targets)
    if not counted:
        raise BadInput(
            "the word list is empty",
            code="words.empty",
            where=str(path),
            allowed="one word or phrase per line",
        )
    # The file's own sentence must be right, too, where the caller sets another one.
    file_sentence = str(raw.get("sentence", PLAIN))
    _refuse_without_place(file_sentence, path)
    _refuse_without_place(sentence or file_sentence, path)
    return WordList(
        name=str(raw.get("name", path.stem)),
        title=str(raw.get("title", path.stem)),
        targets=counted,
        sentence=sentence or file_sentence,
        source=str(raw.get("source", "")),
        again=repeated,
    )


def _read_file(path: Path) -> tuple[dict[str, Any], list[Target]]:
    """The content of a file of words, and all its words as they are."""
    is_toml = path.suffix == ".toml"
    allowed = "UTF-8 text, one word or phrase per line"
    if is_toml:
        allowed = "TOML with [[group]] tables that hold 'words', and optionally 'symptom'"
    try:
        # Text files of Windows programs begin with a byte order mark, which TOML does not allow.
        text = path.read_text("utf-8" if is_toml else "utf-8-sig")
        raw = parse_toml(text) if is_toml else _lines(text, path)
        targets: list[Target] = []
        for group in raw["group"]:
            symptom = str(group.get("symptom", ""))
            targets += [Target(str(word).strip(), symptom) for word in group["words"]]
    except FileNotFoundError as error:
        raise BadInput(f"no such file: '{path}'", code="words.no-file") from error
    except UNREADABLE as error:
        raise BadInput(
            f"the word list cannot be read ({type(error).__name__})",
            code="words.cannot-read",
            where=str(path),
            allowed=allowed,
        ) from error
    return raw, targets


def _without_repeats(
    targets: Sequence[Target],
) -> tuple[tuple[Target, ...], tuple[tuple[Target, Target], ...]]:
    """Each word once, with its first symptom; and the words that stand in a second one, with both targets."""
    first_of_word: dict[str, Target] = {}
    for target in targets:
        if target.word:
            first_of_word.setdefault(target.word.casefold(), target)

    repeated: list[tuple[Target, Target]] = []
    # A word of two symptoms counts for the first alone: the user should know.
    for target in dict.fromkeys(targets):
        if not target.word:
            continue
        first = first_of_word[target.word.casefold()]
        if first.symptom != target.symptom:
            repeated.append((first, target))
    return tuple(first_of_word.values()), tuple(repeated)


def _refuse_without_place(sentence: str, path: Path) -> None:
    if sentence.count(MARK) != 1:
        raise BadInput(
            "the sentence has no place for the word",
            code="words.no-place-in-sentence",
            where=str(path),
            allowed=f"a sentence with {MARK} in it once, such as '{PLAIN}'",
        )


def _lines(text: str, path: Path) -> dict[str, Any]:
    """The words of a text file as in TOML; what follows a # is a comment."""
    words = [line.partition("#")[0].strip() for line in text.splitlines()]
    for number, word in enumerate(words, start=1):
        # A line of this length is a sentence or a post: the wrong file.
        if len(word) > LONGEST:
            raise BadInput(
                "a line is too long for a word or phrase",
                code="words.long-line",
                where=f"{path}, line {number}",
                allowed=f"{LONGEST} characters; one word or phrase per line",
            )
    return {"title": f"Words of {path.name}", "group": [{"words": words}]}


@cache
def gender() -> Gender:
    """The pairs of Bolukbasi et al. (2016), female first, and what belongs to them."""
    raw = tomllib.loads((HERE / "gender.toml").read_text("utf-8"))
    pairs: list[tuple[str, str]] = []
    sentences: list[tuple[str, str]] = []
    paired_words: set[str] = set()
    for pair in raw["pairs"]:
        she, he = pair["words"]
        her_sentence, his_sentence = pair["sentences"]
        pairs.append((she, he))
        sentences.append((her_sentence, his_sentence))
        paired_words |= {she.casefold(), he.casefold()}

    # No random word may be one of these: it would have a gender by itself.
    gendered = paired_words | {*raw["female"], *raw["male"], *raw["gendered"]}
    return Gender(
        pairs=tuple(pairs),
        sentences=tuple(sentences),
        female=tuple(raw["female"]),
        male=tuple(raw["male"]),
        sentence=raw["sentence"],
        gendered=frozenset(gendered),
    )


@cache
def common_words() -> tuple[str, ...]:
    """Ordinary words, commonest first, for random lists."""
    words: list[str] = []
    for line in (HERE / "common_words.txt").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            words += line.split()
    return tuple(words)


def spoken(word: str, sentence: str) -> Spoken:
    """Put a word into a sentence."""
    start = sentence.index(MARK)
    return Spoken(word, sentence.replace(MARK, word), (start, start + len(word)))


def ask(
    gender: Gender,
    lists: Sequence[WordList],
    drawn: Mapping[str, Drawn],
    *,
    contextual: bool,
) -> Asked:
    """Say what must be encoded; static vectors need no sentence, so each word is asked for once."""

    # The mark alone is a sentence that is nothing but the word.
    def in_sentence(words: Sequence[str], sentence: str) -> tuple[Spoken, ...]:
        return tuple(spoken(word, sentence if contextual else MARK) for word in words)

    def asked_list(words: WordList) -> AskedList:
        targets = [target.word for target in words.targets]
        random_words = drawn[words.name].words
        return AskedList(
            listed=words,
            own=in_sentence(targets, words.sentence),
            plain=in_sentence(targets, gender.sentence),
            random=in_sentence(random_words, words.sentence),
            random_plain=in_sentence(random_words, gender.sentence),
        )

    pairs: list[tuple[Spoken, Spoken]] = []
    for (she, he), (her_sentence, his_sentence) in zip(gender.pairs, gender.sentences, strict=True):
        (spoken_she,) = in_sentence([she], her_sentence)
        (spoken_he,) = in_sentence([he], his_sentence)
        pairs.append((spoken_she, spoken_he))

    contrast = [target.word for target in word_list(CONTRAST).targets]
    return Asked(
        pairs=tuple(pairs),
        lists={words.name: asked_list(words) for words in lists},
        female=in_sentence(gender.female, gender.sentence),
        male=in_sentence(gender.male, gender.sentence),
        contrast=in_sentence(contrast, gender.sentence),
    )
