"""What the words of a reply mean: yes, no, or nothing that can be read. The words are in reply_words.toml."""

import re
import tomllib
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from itertools import chain
from typing import Any, Final

WORDS: Final[dict[str, Any]] = tomllib.loads(
    files("psycheck.llm").joinpath("reply_words.toml").read_text("utf-8")
)
BOTH: Final = -1.0  # the value names both answers, as an echo of the instructions does

# Limits keep the time for a hostile reply linear: what is longer is read no further, or not at all.
_LONGEST_VALUE: Final = 2_000  # characters; a longer value is not an answer
_LONGEST_KEY: Final = 80
_LONGEST_CLASS: Final = 5  # words
_LONGEST_ANSWER_KEY: Final = 4
# An apostrophe belongs to its word, so that "isn't" is one negation and not "isn" and "t".
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
# Only a lone digit answers: of "1-2" or "0.8" nobody can say whether it means yes.
_ZERO_OR_ONE: Final = re.compile(r"[\s\"'“”‘’`*(.]*([01])(?:\.0+)?[\s\"'“”‘’`*).]*")
# "Yes, because …" and "**Yes** – …" answer; "yes men are …" only begins with the word.
_PAUSE_AFTER_FIRST_WORD: Final = re.compile(r"[\s\"'*`]*[^\W_]+[*`]*\s*(?:$|[,.;:!()\[\]–—-])")


def _in_every_language(answer: str) -> frozenset[str]:
    words_by_language = WORDS["answers"][answer]
    return frozenset(chain.from_iterable(words_by_language.values()))


_YES: Final = _in_every_language("yes")
_NO: Final = _in_every_language("no")
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
    return tuple(words_of(key[:_LONGEST_KEY]))


def negates(word: str) -> bool:
    """True if the word denies."""
    return word in NEGATIONS or word.endswith("n't")


def meaning(value: str) -> float | None:
    """1 for yes, 0 for no, BOTH if the value names both, None if it says neither."""
    # A question asks back, or repeats what was asked.
    if len(value) > _LONGEST_VALUE or "?" in value:
        return None

    digit = _ZERO_OR_ONE.fullmatch(value)
    if digit:
        return float(digit[1])

    words = words_of(value)
    if not words:
        return None
    phrase = " ".join(words)
    if phrase in _YES:
        return 1.0
    if phrase in _NO:
        return 0.0

    has_pause = _PAUSE_AFTER_FIRST_WORD.match(value) is not None
    return _meaning_of_longer_answer(words, paused=has_pause)


def _meaning_of_longer_answer(words: list[str], *, paused: bool) -> float | None:
    """The meaning of an answer such as "yes, because …"; `paused` if punctuation follows its first word."""
    first, *following = words
    second = words[1] if following else ""

    # Both come first: "yes or no" is an echo of the instructions, although "or" is a word of doubt.
    if _names_both(first, following):
        return BOTH
    if UNSURE.intersection(following) or second in _LEADING["chat"]:
        return None

    if first in _LEADING["yes"]:
        is_denied = any(map(negates, following))
        return 1.0 if paused and not is_denied else None
    if first in _LEADING["no"]:
        # "No signs of …" is an answer without a comma, "no one knows" is not.
        if paused or second in _LEADING["after_no"]:
            return 0.0
        return None
    if {"yes", "no"}.issubset(words):
        return BOTH
    return None


def _names_both(first: str, following: Iterable[str]) -> bool:
    """True if an answer begins with one of yes and no, and names the opposite after it."""
    if first in _LEADING["yes"]:
        return not _LEADING["no"].isdisjoint(following)
    if first in _LEADING["no"]:
        return not _LEADING["yes"].isdisjoint(following)
    return False


@lru_cache(256)
def forms_of(label: str) -> tuple[frozenset[str], frozenset[str]]:
    """The nouns and the adjectives that name a label; a label of several words has only its own name."""
    listed = WORDS["forms"].get(label.casefold(), {"noun": [], "adjective": []})
    name = " ".join(words_of(label))
    return frozenset([*listed["noun"], name]), frozenset(listed["adjective"])


@lru_cache(256)
def names_of(label: str) -> frozenset[str]:
    """Every word that names a label."""
    nouns, adjectives = forms_of(label)
    return nouns | adjectives


def class_meaning(value: str, label: str, *, nouns: bool) -> float | None:
    """1 or 0 if the value is the name of a class, as in "depressed" or "no depression".

    With `nouns`, a bare noun ("depression") is the name of a class too.
    """
    words = words_of(value.replace("non-", "not "))[:_LONGEST_CLASS]
    # "major depression" is the class "depression": the prompt names the label by one word.
    name = " ".join(word for word in words if word not in ("clinical", "major"))
    if nouns and name in WORDS["classes"]["no"]:
        return 0.0

    # "Depressed" says that somebody is; "depression" alone may be only the topic of the reply.
    _, adjectives = forms_of(label)
    class_names = names_of(label) if nouns else adjectives
    if name in class_names:
        return 1.0

    negation, _, denied_name = name.partition(" ")
    is_negated = negation in ("no", "not") and bool(denied_name)
    if is_negated and denied_name in names_of(label):
        return 0.0
    return None


def agreed(meanings: Iterable[float | None]) -> float | None:
    """The one answer that all meanings give; None if there is none or they contradict each other.

    An echo of the instructions ("yes or no") does not count beside an answer.
    """
    distinct = set(meanings)
    if len(distinct) > 1:
        distinct.discard(BOTH)
    if len(distinct) != 1:
        return None
    answer = distinct.pop()
    return None if answer == BOTH else answer


def is_answer_key(key: str) -> bool:
    """True if a key only says that an answer follows: answer, result, score …"""
    words = key_words(key)
    telling = [word for word in words if word not in KEYS["filler"]]
    # A longer key is the beginning of a sentence, which a colon happens to end.
    if len(words) > _LONGEST_ANSWER_KEY or len(telling) != 1:
        return False
    (telling_word,) = telling
    return telling_word in KEYS["answer"] or telling_word in KEYS["class"]
