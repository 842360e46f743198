"""Whose a gendered word in a clinical note is: the main person's, or another's.

The main person is the patient. Their gender is, in this order and as far as the scope has such words: that of
"a 45 year old woman", "the patient is a man" or the like; that of the first title or first name; that of the
first pronoun that does not follow another person in its sentence. Words of that gender are theirs, except

- a pronoun after a word for another person of the same gender in the same sentence ("her mother says she …"):
  it may be either's, so it is left and counted;
- words of kin and roles ("her sister", "the waitress"), which are other people, and other names and titles.

Limits. People whose word has no gender ("her therapist", "Dr Jones") are not seen: a pronoun after them is
taken for the patient's. A pronoun in a later sentence is, too ("Her sister called. She was upset."). Other
people of the other gender are left alone; but after a swap both would be of one gender, and where the note
would not come back ("her son says she …", or a "He" in a sentence of its own after "her husband"), the whole
note is left and counted.
"""

import re
from typing import Final, NamedTuple

from psycheck.text.gender_words import Found, Scope, gendered, in_scope

_EVERYTHING: Final = Scope(nouns=True, titles=True, names=True)

# What introduces the patient before "woman", "man", "female" …
_INTRODUCED: Final = re.compile(
    r"\b(?:years?[\s-]*old|y/?o|yrs?|y\.o\.?|patient|pt|this|pleasant|client|aged?)\b[^.;\n]{0,60}$", re.I
)
_SURNAME: Final = re.compile(r"[^\W_]+")
_SENTENCE: Final = re.compile(r"[.!?;]+(?=\s|$)|\n+")
_TITLE_DOT: Final = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|pt|vs|approx)$", re.I)


class Main(NamedTuple):
    """For each gendered word in the scope: whether it is the main person's, and whether nobody can say."""

    takes: list[bool]
    unsure: list[bool]


def of_main_person(text: str, scope: Scope) -> Main:
    """Which of the words that `gendered` finds in a note are the main person's."""
    sentences = _sentence_starts(text)
    others: set[str] = set()
    found: list[Found] = []
    own: list[bool] = []
    shared: list[bool] = []
    known: dict[str, str] = {}
    now, before = 0, None
    for at in gendered(text, _EVERYTHING):
        while now < len(sentences) and sentences[now] <= at.start:
            now += 1
            others = set()
        mine = _own(text, at, before, known)
        if in_scope(at, scope):
            found.append(at)
            own.append(mine)
            shared.append(at.entry.kind in ("subject", "reflexive", "decide") and at.entry.gender in others)
        if not mine:
            others.add(at.entry.gender)
        before = at
    gender = _gender(found, own, shared)
    plain = [at.entry.gender not in ("female", "male") for at in found]
    takes = [
        mine and not both and (neither or at.entry.gender == gender)
        for at, mine, both, neither in zip(found, own, shared, plain, strict=True)
    ]
    unsure = [both and at.entry.gender == gender for at, both in zip(found, shared, strict=True)]
    return Main(takes, unsure)


def _own(text: str, at: Found, before: Found | None, known: dict[str, str]) -> bool:
    """Whether a word may be the main person's; `known` keeps the first name and title, which are."""
    if at.entry.kind == "noun":
        return (
            at.entry.group == "adult"
            and _INTRODUCED.search(text, max(0, at.start - 80), at.start) is not None
        )
    if at.entry.kind == "name":
        if before and before.entry.kind == "noun" and not text[before.end : at.start].strip(" ,"):
            return False  # "her sister Mary"
        return known.setdefault("name", at.word) == at.word
    if at.entry.kind == "title":
        named = _SURNAME.search(text, at.end)
        return known.setdefault("title", named[0] if named else "") == (named[0] if named else "")
    return True


def _gender(found: list[Found], own: list[bool], shared: list[bool]) -> str:
    candidates = [at for at, mine, both in zip(found, own, shared, strict=True) if mine and not both]
    order = {"noun": 0, "title": 1, "name": 1}
    gendered = [at for at in candidates if at.entry.gender in ("female", "male")]
    return min(gendered, key=lambda at: order.get(at.entry.kind, 2)).entry.gender if gendered else ""


def _sentence_starts(text: str) -> list[int]:
    return [
        found.end()
        for found in _SENTENCE.finditer(text)
        if not _TITLE_DOT.search(text, max(0, found.start() - 8), found.start())
    ]
