"""Which symptoms a sentence may be about: a keyword of their descriptions occurs in it (PsySym A.2)."""

import re
from collections import Counter
from functools import lru_cache
from typing import Final

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from psycheck.llm.reply_words import words_of
from psycheck.symptoms.graph import Symptom

_SHORTEST_WORD: Final = 4
_SHORTEST_STEM: Final = 3
_MOST_SYMPTOMS: Final = 3  # a word in the descriptions of more symptoms points to none of them
_ENDING: Final = re.compile(r"(?:ing|ed|ly|s)$")
_STEM_ENDING: Final = re.compile(r"(?:(.)\1|[iey]+)$")  # snapp-ing, worri-ed, tire-d

# Names of symptoms with their descriptions: can be a key of the cache, which symptoms cannot.
Described = tuple[tuple[str, tuple[str, ...]], ...]


def symptoms_named(sentence: str, symptoms: tuple[Symptom, ...]) -> frozenset[str]:
    """The symptoms of which a description shares a keyword with the sentence."""
    described = tuple((symptom.name, symptom.descriptions) for symptom in symptoms)
    keywords_of = _keywords(described)
    stems = _stems(sentence)
    return frozenset(name for name, keywords in keywords_of.items() if keywords & stems)


@lru_cache(64)
def _keywords(described: Described) -> dict[str, frozenset[str]]:
    """The stems in the descriptions of each symptom that few other symptoms share."""
    stems_of: dict[str, set[str]] = {}
    for name, descriptions in described:
        stems_of[name] = set()
        for description in descriptions:
            stems_of[name] |= _stems(description)

    symptoms_with: Counter[str] = Counter()
    for stems in stems_of.values():
        symptoms_with.update(stems)

    common = {stem for stem, symptoms in symptoms_with.items() if symptoms > _MOST_SYMPTOMS}
    return {name: frozenset(stems - common) for name, stems in stems_of.items()}


def _stems(text: str) -> frozenset[str]:
    """The stems of the words that carry meaning."""
    long_words = [word for word in words_of(text) if len(word) >= _SHORTEST_WORD and "'" not in word]
    return frozenset(_stem(word) for word in long_words if word not in ENGLISH_STOP_WORDS)


def _stem(word: str) -> str:
    """A word without its ending: worry, worries, worried and worrying are one; a stem keeps three letters."""
    without_ending = _ENDING.sub("", word)
    if len(without_ending) < _SHORTEST_STEM:
        without_ending = word

    stem = _STEM_ENDING.sub(r"\1", without_ending)
    if len(stem) < _SHORTEST_STEM:
        return without_ending
    return stem
