"""Whom a sentence is about: the writer or another person (PsySym, section 4.3)."""

from typing import Final

from psycheck.text.edits import straight
from psycheck.text.word_lists import read_toml
from psycheck.text.words import words_of

_PERSON: Final = read_toml("person.toml")
_WORDS: Final[dict[str, str]] = read_toml("subject.toml")
_NOUNS: Final = read_toml("gender/gender.toml")["nouns"]
_FORMS: Final[dict[str, dict[str, str]]] = _PERSON["forms"]

FIRST: Final = frozenset(word.lower() for word in _FORMS["I"].values()) | set(_WORDS["first"].split())
OTHERS: Final = frozenset(word for who in ("they", "he", "she") for word in _FORMS[who].values())
_KNOWN: Final = frozenset(f"{_NOUNS['adults']} {_NOUNS['kin']} {_WORDS['people']}".split())
PEOPLE: Final = _KNOWN - set(_WORDS["not_people"].split())
_BARE: Final = {word: word.startswith("i") for word in _PERSON["bare"]}  # "im", but "hes"
_OWNING: Final = frozenset({"my", "our"})
_BETWEEN: Final = 2  # words between "my" and the person: "my best friend", "my dear old mother"


def own(sentence: str) -> bool:
    """Whether the writer is the subject: first-person pronouns are no fewer than mentions of other people.

    "my" before a person ("my best friend") belongs to that mention and does not count as a first person, so
    that "my sister cannot sleep" is about the sister.
    """
    words = [word.partition("'")[0] for word in words_of(straight(sentence).lower())]
    first = others = 0
    for at, word in enumerate(words):
        mine = _BARE.get(word)
        if mine is False or word in OTHERS or word in PEOPLE:
            others += 1
        elif word in _OWNING and not PEOPLE.isdisjoint(words[at + 1 : at + 2 + _BETWEEN]):
            continue
        elif mine or word in FIRST:
            first += 1
    return first >= others
