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


_SUBJECT: Final = 3  # words at the start among which the subject of a sentence without a first person stands


def own(sentence: str) -> bool:
    """Whether the writer is the subject: first-person pronouns are no fewer than mentions of other people.

    "my" before a person ("my best friend") belongs to that mention and does not count as a first person, so
    that "my sister cannot sleep" is about the sister. People leave out "I": without any first person, others
    count only at the start ("texted my ex again" is about the writer).
    """
    words = [word.partition("'")[0] for word in words_of(straight(sentence).lower())]
    first = 0
    mentions = []  # the places of other people
    for place, word in enumerate(words):
        is_first = _BARE.get(word)
        if is_first is False or word in OTHERS or word in PEOPLE:
            mentions.append(place)
        elif word in _OWNING and not PEOPLE.isdisjoint(words[place + 1 : place + 2 + _BETWEEN]):
            continue
        elif is_first or word in FIRST:
            first += 1
    if first == 0:
        return not mentions or mentions[0] >= _SUBJECT
    return first >= len(mentions)
