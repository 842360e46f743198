"""Pairs of pronouns that name alternatives ("he/she", "his or her"), and the role that each plays."""

from typing import Final, NamedTuple

from psycheck.text.word_lists import patterns, read_toml

_DATA: Final = read_toml("person.toml")
_ROLES: Final[dict[str, str]] = _DATA["roles"]
_FORMS: Final = patterns(_DATA["patterns"])


class PronounPair(NamedTuple):
    """Where a pair such as he/she stands, and the role it plays; "" where it names forms of one pronoun."""

    start: int
    end: int
    role: str


def pronoun_pairs(text: str) -> list[PronounPair]:
    """The pairs of pronouns in a text: "he/she", "his or her", "(s)he", "she/her"."""
    # A glance at the marks that join a pair is faster than the pattern.
    if not any(mark in text for mark in ("/", " or ", ")")):
        return []
    pairs = []
    for match in _FORMS["pair"].finditer(text):
        first, joint, second = match.groups()
        # "(s)he" and "s/he" match without parts.
        role = "subject" if first is None else _role_of_pair(first.lower(), second.lower())
        if role or joint == "/":
            pairs.append(PronounPair(start=match.start(), end=match.end(), role=role))
    return pairs


def _role_of_pair(first: str, second: str) -> str:
    """The role of a pair, by the member that shows it: "him/her" is an object; "" for "she/her"."""
    if first == second:
        return ""
    roles = {_ROLES[first], _ROLES[second]}
    if len(roles) == 1:
        role = roles.pop()
        return "possessive" if role == "decide" else role
    if "decide" not in roles:
        return ""

    shown = (roles - {"decide"}).pop()
    if shown == "possessive":
        return shown
    # "his/hers" are pronouns and "him/her" objects; "her/hers" and "him/his" name forms of one pronoun.
    if shown == "pronoun" and "his" in (first, second):
        return shown
    if shown == "object" and "her" in (first, second):
        return shown
    return ""
