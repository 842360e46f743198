"""Which symptoms a sentence may be about: a keyword of their descriptions occurs in it (PsySym A.2)."""

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from psycheck.knowledge.graph import Symptom
from psycheck.knowledge.words import words_of

_SHORTEST: Final = 4
_MOST_SYMPTOMS: Final = 3  # a word in the descriptions of more symptoms points to none of them
_ENDING: Final = re.compile(r"(?:ing|ed|ly|s)$")
_REST: Final = re.compile(r"(?:(.)\1|[iey]+)$")  # snapp-ing, worri-ed, tire-d


def symptoms_named(sentence: str, symptoms: tuple[Symptom, ...]) -> frozenset[str]:
    """The symptoms of which a description shares a keyword with the sentence."""
    found = _stems(sentence)
    return frozenset(name for name, keywords in _keywords(symptoms).items() if keywords & found)


def _stems(text: str) -> frozenset[str]:
    known = (word for word in words_of(text) if len(word) >= _SHORTEST and "'" not in word)
    return frozenset(_stem(word) for word in known if word not in ENGLISH_STOP_WORDS)


def _stem(word: str) -> str:
    """A word without its ending: worry, worries, worried and worrying are one; a stem keeps three letters."""
    cut = _ENDING.sub("", word)
    cut = cut if len(cut) >= _SHORTEST - 1 else word
    rest = _REST.sub(r"\1", cut)
    return rest if len(rest) >= _SHORTEST - 1 else cut


def _keywords(symptoms: tuple[Symptom, ...]) -> dict[str, frozenset[str]]:
    return _told_apart(tuple((one.name, one.descriptions) for one in symptoms))


@lru_cache(64)
def _told_apart(described: tuple[tuple[str, tuple[str, ...]], ...]) -> dict[str, frozenset[str]]:
    own = {name: _union(map(_stems, descriptions)) for name, descriptions in described}
    shared = Counter(stem for stems in own.values() for stem in stems)
    return {name: frozenset(s for s in stems if shared[s] <= _MOST_SYMPTOMS) for name, stems in own.items()}


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*sets)
