"""Whose a gendered word in a clinical note is: the main person's, or another's.

The main person is the patient. Their gender is, in this order and as far as the scope has such words: that of
"a 45 year old woman", "34yo F", "Sex: F", "Female, 34", "the patient is a man" or the like; that of the first
title or first name; that of the first pronoun that does not follow another person in its sentence; that of
"Young man" at the head of a note. Words of that gender are theirs, except

- a pronoun after a word for another person of the same gender in the same sentence ("her mother says she …"):
  it may be either's, so it is left and counted;
- a noun that may be theirs or another's ("The woman cried", "a mother of two"): it is left and counted;
- words of kin and roles ("her sister", "the waitress"), which are other people unless they describe the
  person ("she is a mother", "works as a waitress"), plurals, and other names and titles.

Where no gendered word in the scope is known to be the main person's, all of them are counted.

Limits. People whose word has no gender ("her therapist", "Dr Jones") are not seen: a pronoun after them is
taken for the patient's. A pronoun in a later sentence is, too ("Her sister called. She was upset."). Other
people of the other gender are left alone; but after a swap both would be of one gender, and where the note
would not come back ("her son says she …", or a "He" in a sentence of its own after "her husband"), the whole
note is left and counted.
"""

import re
from operator import itemgetter
from typing import Final, Literal, NamedTuple

from psycheck.text.gender.sex_letters import PATTERNS
from psycheck.text.gender.words import Found, Scope, gendered, in_scope, mixed, runs
from psycheck.text.redact.lists import compiled
from psycheck.text.word_lists import read_toml, word_sets

Whose = Literal["introduced", "named", "pronoun", "weak", "unclear", "other"]

_EVERYTHING: Final = Scope(nouns=True, titles=True, names=True)
# What tells the main person's gender: the first of these that there is.
_ORDER: Final[tuple[Whose, ...]] = ("introduced", "named", "pronoun", "weak")

_LISTS: Final = word_sets(read_toml("gender/gender.toml")["main_person"])
_FORMS: Final = compiled(PATTERNS["main_person"], PATTERNS["parts"])
_WINDOW: Final = 90
_PATIENT: Final = frozenset(("patient", "pt", "client"))


class Main(NamedTuple):
    """For each gendered word in the scope: whether it is the main person's, and whether nobody can say."""

    takes: list[bool]
    unsure: list[bool]


def of_main_person(text: str, scope: Scope) -> Main:
    """Which of the words that `gendered` finds in a note are the main person's."""
    sentences = [
        found.end()
        for found in _FORMS["sentence"].finditer(text)
        if not _FORMS["short_dot"].search(text, max(0, found.start() - 8), found.start())
    ]
    others: set[str] = set()
    found: list[Found] = []
    whose: list[Whose] = []
    known: dict[str, str] = {}
    now, before = 0, None
    for at in gendered(text, _EVERYTHING):
        while now < len(sentences) and sentences[now] <= at.start:
            now += 1
            others = set()
        theirs = _whose(text, at, before, known, others)
        if in_scope(at, scope):
            found.append(at)
            whose.append(theirs)
        if at.entry.kind not in ("subject", "reflexive", "decide") and theirs in ("unclear", "other"):
            others |= set() if _plural(at) else {at.entry.gender}  # "Men scare him": he is none of them
        before = at
    # "he/she" names both: it tells nothing of the person, and an edit takes it as one.
    aside = {i for run in runs(text, found) if mixed([found[i] for i in run]) for i in run}
    shown = [
        (_ORDER.index(theirs), at.entry.gender)
        for i, (at, theirs) in enumerate(zip(found, whose, strict=True))
        if i not in aside and theirs in _ORDER and at.entry.gender in ("female", "male")
    ]
    gender = min(shown, key=itemgetter(0))[1] if shown else ""
    takes: list[bool] = []
    unsure: list[bool] = []
    for i, (at, theirs) in enumerate(zip(found, whose, strict=True)):
        named = at.entry.gender in ("female", "male") and i not in aside
        takes.append(not named or (theirs in _ORDER and at.entry.gender == gender))
        unsure.append(named and (not gender or (theirs == "unclear" and at.entry.gender == gender)))
    return Main(takes, unsure)


def _whose(text: str, at: Found, before: Found | None, known: dict[str, str], others: set[str]) -> Whose:
    """Whose a word may be; `known` keeps the first name and title, which are the main person's."""
    if at.entry.kind == "noun":
        return _whose_noun(text, at, before, others)
    if at.entry.kind == "name":
        if before and before.entry.kind == "noun" and _FORMS["called"].fullmatch(text, before.end, at.start):
            return "other"  # "her sister Mary", "a man named Tom"
        return "named" if known.setdefault("name", at.word) == at.word else "other"
    if at.entry.kind == "title":
        follows = _FORMS["surname"].search(text, at.end)
        surname = follows[0].lower() if follows else ""
        if surname in ("and", "or") or (before and _FORMS["and"].fullmatch(text, before.end, at.start)):
            return "unclear"  # "Mr. and Ms. Smith" are two people
        return "named" if known.setdefault("title", surname) == surname else "other"
    return "unclear" if at.entry.gender in others else "pronoun"


def _whose_noun(text: str, at: Found, before: Found | None, others: set[str]) -> Whose:
    left = max(0, at.start - _WINDOW)
    if at.entry.group == "sex":
        return "other" if at.entry.gender in others else "introduced"
    adult = at.entry.group == "adult"
    if _plural(at) or _other_before(text, left, at.start):
        return "other"
    if at.entry.gender not in others:
        if adult and _introduced(text, left, at):
            return "introduced"
        described = "" if at.ending else _described(text, left, at.start, adult)
        if described:
            return "introduced" if adult and described.lower() in _PATIENT else "weak"
        if adult and before is None and not at.ending and _at_head(text, at.start):
            return "weak"
    if adult or at.word in _LISTS["states"]:
        return "unclear"
    if _FORMS["of_number"].match(text, at.end) or _FORMS["adjectives"].search(text, left, at.start):
        return "unclear"
    article = _FORMS["article"].search(text, left, at.start)
    return "unclear" if article and article[1].lower() != "the" else "other"


def _plural(at: Found) -> bool:
    noun = at.entry.neutral.removesuffix("'s").removesuffix("’s").rstrip("'’")
    return at.entry.kind == "noun" and (noun in _LISTS["plurals"] or noun.endswith("s"))


def _other_before(text: str, left: int, start: int) -> bool:
    """Whether the words before a noun make it somebody else: "her", "another", "hit by a"."""
    if _FORMS["owner"].search(text, left, start):
        return True
    words = text[left:start].lower().split()[-2:]
    if any(word in _LISTS["others_before"] for word in words):
        return True
    ahead = _FORMS["ahead"].search(text, left, start)
    return ahead is not None and ahead[1].lower() in _LISTS["beside"]


def _introduced(text: str, left: int, at: Found) -> bool:
    """Whether an age, a label or "patient" beside "woman", "man" … introduces the main person."""
    if _FORMS["labelled"].search(text, left, at.start) or _FORMS["this"].search(text, left, at.start):
        return True
    if _FORMS["patient_after"].match(text, at.end) or _FORMS["age_after"].match(text, at.end):
        return True
    ages = list(_FORMS["aged"].finditer(text, left, at.start))
    if not ages:
        return False
    age = ages[-1]
    return _plain_gap(text[age.end() : at.start]) and not _FORMS["owner"].search(
        text, max(0, age.start() - 24), age.start()
    )


def _described(text: str, left: int, start: int, adult: bool) -> str:
    """Whom a noun describes: "she" in "she is a good mother", "patient", "as"; "" if nobody."""
    found = _FORMS["described"].search(text, left, start)
    if found is None:
        return ""
    subject, comma, role, gap, patient, behind = found.groups("")
    if not _plain_gap(gap or behind):
        return ""
    if subject and subject.lower() not in ("she", "he", "this", *_PATIENT) and not adult:
        return ""  # "Mother is a nun"
    if comma:
        ahead = _FORMS["subject"].search(text, left, found.start())
        return ahead[1] if ahead else ""
    return subject or role or patient


def _plain_gap(gap: str) -> bool:
    """Whether nothing between an age or an article and a noun begins something else."""
    gap = gap.lstrip(". ")
    words = re.findall(r"[\w'’-]+", gap.lower())
    return len(words) <= 8 and not re.search(r"[.;:!?\n]", gap) and not _LISTS["others_follow"] & set(words)


def _at_head(text: str, start: int) -> bool:
    """Whether a note opens with the noun, after some adjectives: "Young man, …"."""
    head = text[: min(start, _WINDOW)]
    return start <= _WINDOW and _FORMS["head"].fullmatch(head) is not None and _plain_gap(head)
