"""Whom a sentence is about: the writer or another person (PsySym, section 4.3)."""

from typing import Final

from psycheck.text.edits import straight
from psycheck.text.word_lists import read_toml
from psycheck.text.words import words_of

_PERSON: Final = read_toml("person.toml")
_WORDS: Final[dict[str, str]] = read_toml("subject.toml")
_NOUNS: Final = read_toml("gender/gender.toml")["nouns"]
_FORMS: Final[dict[str, dict[str, str]]] = _PERSON["forms"]

_FIRST_FORMS: Final = frozenset(word.lower() for word in _FORMS["I"].values())
FIRST: Final = _FIRST_FORMS | set(_WORDS["first"].split())
OTHERS: Final = frozenset().union(*(_FORMS[pronoun].values() for pronoun in ("they", "he", "she")))
_LISTED_PEOPLE: Final = " ".join((_NOUNS["adults"], _NOUNS["kin"], _WORDS["people"]))
PEOPLE: Final = frozenset(_LISTED_PEOPLE.split()) - set(_WORDS["not_people"].split())
# Whether a pronoun without its apostrophe is of the first person: "im" is, "hes" is not.
_IS_FIRST_WHEN_BARE: Final = {word: word.startswith("i") for word in _PERSON["bare"]}
_OWNING: Final = frozenset({"my", "our"})
_BETWEEN: Final = 2  # words between "my" and the person: "my best friend", "my dear old mother"
_SUBJECT: Final = 3  # words at the start among which the subject of a sentence without a first person stands


def own(sentence: str) -> bool:
    """Whether the writer is the subject: first-person pronouns are no fewer than mentions of other people.

    "my" before a person ("my best friend") belongs to that mention and does not count as a first person, so
    that "my sister cannot sleep" is about the sister. People leave out "I": without any first person, others
    count at the start, or twice ("texted my ex again" is about the writer).
    """
    words = _words_without_endings(sentence)
    firsts = 0
    mentions = []  # the places of other people
    for place, word in enumerate(words):
        if _is_other_person(word):
            mentions.append(place)
        elif _belongs_to_person(words, place):
            continue
        elif word in FIRST or _IS_FIRST_WHEN_BARE.get(word):
            firsts += 1

    if firsts == 0:
        if not mentions:
            return True
        # "It was hard, he says that he can't sleep": two mentions are no accident.
        is_single = len(mentions) == 1
        return is_single and mentions[0] >= _SUBJECT
    return firsts >= len(mentions)


def _words_without_endings(sentence: str) -> list[str]:
    """The words of a sentence in lower case, each up to its apostrophe: "I'm" and "I've" are "i"."""
    lower = straight(sentence).lower()
    return [word.partition("'")[0] for word in words_of(lower)]


def _is_other_person(word: str) -> bool:
    """Whether a word is a pronoun or a noun of another person, or a pronoun run together: "hes"."""
    if word in OTHERS or word in PEOPLE:
        return True
    # None for words that are not pronouns.
    return _IS_FIRST_WHEN_BARE.get(word) is False


def _belongs_to_person(words: list[str], place: int) -> bool:
    """Whether the word at this place owns a person: "my" in "my best friend"."""
    if words[place] not in _OWNING:
        return False
    following = words[place + 1 : place + 2 + _BETWEEN]
    return not PEOPLE.isdisjoint(following)
