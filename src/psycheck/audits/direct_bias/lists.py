"""Word lists and sentences: the shipped targets, the user's own, the pairs that span the gender direction."""

import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from psycheck.errors import BadInput, nearest

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


def word_list(name: str) -> WordList:
    """A list that is shipped, by its name."""
    if name not in SHIPPED and name != CONTRAST:
        raise BadInput(
            f"unknown word list '{name}'",
            allowed=nearest(name, SHIPPED),
            do="give a list of your own with --words FILE",
        )
    return _of_toml(HERE / "lists" / f"{name}.toml")


def read_words(path: str | Path, *, sentence: str | None = None) -> WordList:
    """The user's own list: a text file with one word or phrase per line, or TOML like the shipped ones."""
    path = Path(path).expanduser()
    if path.suffix == ".toml":
        made = _of_toml(path)
    else:
        made = WordList(path.stem, f"Words of {path.name}", tuple(_lines(path)))
    return _checked(made, sentence or made.sentence, str(path))


@cache
def gender() -> Gender:
    """The pairs of Bolukbasi et al. (2016), female first, and what belongs to them."""
    raw = tomllib.loads((HERE / "gender.toml").read_text("utf-8"))
    pairs = tuple((pair["words"][0], pair["words"][1]) for pair in raw["pairs"])
    attributes = {key: tuple(raw[key]) for key in ("female", "male")}
    spoken = {word.casefold() for pair in pairs for word in pair}
    return Gender(
        pairs,
        tuple((pair["sentences"][0], pair["sentences"][1]) for pair in raw["pairs"]),
        attributes["female"],
        attributes["male"],
        str(raw["sentence"]),
        frozenset(spoken | {*attributes["female"], *attributes["male"], *raw["gendered"]}),
    )


@cache
def common_words() -> tuple[str, ...]:
    """Ordinary words, commonest first, for random lists."""
    lines = (HERE / "common_words.txt").read_text("utf-8").splitlines()
    return tuple(word for line in lines if not line.startswith("#") for word in line.split())


def _of_toml(path: Path) -> WordList:
    with _reading(path, "TOML with [[group]] tables that hold `words`, and optionally `symptom`"):
        raw = tomllib.loads(path.read_text("utf-8"))
        targets = [
            Target(str(word).strip(), str(group.get("symptom", "")))
            for group in raw["group"]
            for word in group["words"]
        ]
    name, title = (str(raw.get(key, path.stem)) for key in ("name", "title"))
    words = WordList(name, title, tuple(targets), source=str(raw.get("source", "")))
    return _checked(words, str(raw.get("sentence", PLAIN)), str(path))


@contextmanager
def _reading(path: Path, allowed: str) -> Iterator[None]:
    """Turn what can go wrong with a file into one clear error."""
    try:
        yield
    except FileNotFoundError as error:
        raise BadInput(f"no such file: '{path}'") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        reason = type(error).__name__
        raise BadInput(
            f"the word list cannot be read ({reason})", where=str(path), allowed=allowed
        ) from error


def _lines(path: Path) -> Iterator[Target]:
    with _reading(path, "UTF-8 text, one word or phrase per line"):
        lines = path.read_text("utf-8-sig").splitlines()
    for number, line in enumerate(lines, start=1):
        word = line.partition("#")[0].strip()
        if len(word) > LONGEST:
            raise BadInput(
                "a line is too long for a word or phrase",
                where=f"{path}, line {number}",
                allowed=f"{LONGEST} characters; one word or phrase per line",
            )
        if word:
            yield Target(word)


def _checked(made: WordList, sentence: str, where: str) -> WordList:
    """The list without repeats; an empty one, or a sentence without a place for the word, is refused."""
    first = {target.word.casefold(): target for target in reversed(made.targets) if target.word}
    targets = tuple(target for target in dict.fromkeys(made.targets) if target in first.values())
    again = tuple(
        (kept, target)
        for target in dict.fromkeys(made.targets)
        if target.word and (kept := first[target.word.casefold()]).symptom != target.symptom
    )
    if not targets:
        raise BadInput("the word list is empty", where=where, allowed="one word or phrase per line")
    if sentence.count(MARK) != 1:
        raise BadInput(
            "the sentence has no place for the word",
            where=where,
            allowed=f"a sentence with {MARK} in it once, such as '{PLAIN}'",
        )
    return WordList(made.name, made.title, targets, sentence, made.source, made.again or again)
