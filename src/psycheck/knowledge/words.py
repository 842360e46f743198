"""What the words of a reply mean: yes, no, or nothing that can be read."""

import re
import tomllib
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

WORDS: Final[dict[str, Any]] = tomllib.loads(
    files("psycheck.knowledge").joinpath("words.toml").read_text("utf-8")
)
BOTH: Final = -1.0  # the value names both answers, as an echo of the instructions does
_LONG: Final = 2_000  # a value of more characters is not an answer
_LONG_KEY: Final = 80
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_NUMBER: Final = re.compile(r"[\s\"'“”‘’`*(.]*([01])(?:\.0+)?[\s\"'“”‘’`*).]*")
_PAUSE: Final = re.compile(r"[\s\"'*`]*[^\W_]+[*`]*\s*(?:$|[,.;:!()\[\]–—-])")


def _all(kind: str) -> frozenset[str]:
    return frozenset(word for words in WORDS["answers"][kind].values() for word in words)


_YES: Final = _all("yes")
_NO: Final = _all("no")
_LEADING: Final = {kind: frozenset(words) for kind, words in WORDS["leading"].items()}
KEYS: Final = {kind: frozenset(words) for kind, words in WORDS["keys"].items()}
NEGATIONS: Final = frozenset(WORDS["prose"]["negation"])
UNSURE: Final = frozenset((*WORDS["prose"]["hedge"], *WORDS["prose"]["contrast"]))


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, with straight apostrophes."""
    return _WORD.findall(text.casefold().replace("’", "'"))


@lru_cache(4096)  # a reply may repeat a key half a million times
def key_words(key: str) -> tuple[str, ...]:
    """The words of a key."""
    return tuple(words_of(key[:_LONG_KEY]))


def negates(word: str) -> bool:
    """True if the word denies."""
    return word in NEGATIONS or word.endswith("n't")


def meaning(value: str) -> float | None:
    """1 for yes, 0 for no, BOTH if the value names both, None if it says neither."""
    if len(value) > _LONG or "?" in value:
        return None
    if found := _NUMBER.fullmatch(value):
        return float(found[1])
    words = words_of(value)
    if not words:
        return None
    if (whole := " ".join(words)) in _YES or whole in _NO:
        return float(whole in _YES)
    first, rest = words[0], frozenset(words[1:])
    if (first in _LEADING["yes"] and rest & _LEADING["no"]) or (
        first in _LEADING["no"] and rest & _LEADING["yes"]
    ):
        return BOTH
    if rest & UNSURE or _LEADING["chat"].intersection(words[1:2]):
        return None
    paused = _PAUSE.match(value) is not None
    if first in _LEADING["yes"]:
        return 1.0 if paused and not any(map(negates, rest)) else None
    if first in _LEADING["no"]:
        return 0.0 if paused or words[1] in _LEADING["after_no"] else None
    return BOTH if {"yes", "no"} <= rest | {first} else None


@lru_cache(256)
def forms_of(label: str) -> tuple[frozenset[str], frozenset[str]]:
    """The nouns and the adjectives that name a label; a label of several words has only its own name."""
    known = WORDS["forms"].get(label.casefold(), {"noun": [], "adjective": []})
    return frozenset([*known["noun"], " ".join(words_of(label))]), frozenset(known["adjective"])


def class_meaning(value: str, label: str, *, nouns: bool) -> float | None:
    """1 or 0 if the value is the name of a class, as in "depressed" or "no depression"."""
    words = words_of(value.replace("non-", "not "))[:5]
    noun, adjective = forms_of(label)
    positive = noun | adjective if nouns else adjective
    named = " ".join(word for word in words if word not in ("clinical", "major"))
    if nouns and named in WORDS["classes"]["no"]:
        return 0.0
    if named in positive:
        return 1.0
    denied = any(named == f"{no} {word}" for no in ("no", "not") for word in noun | adjective)
    return 0.0 if denied else None


def agreed(meanings: Iterable[float | None]) -> float | None:
    """The one answer that all meanings give; None if there is none or they contradict each other.

    An echo of the instructions ("yes or no") does not count beside an answer.
    """
    distinct = set(meanings)
    if len(distinct) > 1:
        distinct.discard(BOTH)
    (one,) = distinct if len(distinct) == 1 else (None,)
    return None if one == BOTH else one


def is_answer_key(key: str) -> bool:
    """True if a key only says that an answer follows: answer, result, score …"""
    words = key_words(key)
    left = [word for word in words if word not in KEYS["filler"]]
    return len(words) <= 4 and len(left) == 1 and left[0] in KEYS["answer"] | KEYS["class"]
