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
from typing import Final, Literal, NamedTuple

from psycheck.text.gender.scope import Scope
from psycheck.text.gender.sex_letters import PATTERNS
from psycheck.text.gender.words import Found, gendered, in_scope, mixed, runs
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
_MAIN_SUBJECTS: Final = _PATIENT | {"she", "he", "this"}
_WORD: Final = re.compile(r"[\w'’-]+")
_SENTENCE_MARK: Final = re.compile(r"[.;:!?\n]")
_LONGEST_GAP: Final = 8  # words


class Main(NamedTuple):
    """For each gendered word in the scope: whether it is the main person's, and whether nobody can say."""

    takes: list[bool]
    unsure: list[bool]


def of_main_person(text: str, scope: Scope) -> Main:
    """Which of the words that `gendered` finds in a note are the main person's."""
    words, whose = _whose_words(text, scope)

    # "he/she" names both: it tells nothing of the person, and an edit takes it as one.
    paired: set[int] = set()
    for run in runs(text, words):
        if mixed([words[at] for at in run]):
            paired.update(run)
    tells = [word.entry.gender in ("female", "male") and at not in paired for at, word in enumerate(words)]
    gender = _gender_of_main_person(words, whose, tells)

    takes: list[bool] = []
    unsure: list[bool] = []
    for word, owner, tells_gender in zip(words, whose, tells, strict=True):
        same_gender = word.entry.gender == gender
        takes.append(not tells_gender or (owner in _ORDER and same_gender))
        unclear = not gender or (owner == "unclear" and same_gender)
        unsure.append(tells_gender and unclear)
    return Main(takes=takes, unsure=unsure)


def _whose_words(text: str, scope: Scope) -> tuple[list[Found], list[Whose]]:
    """The gendered words in the scope, and whose each may be; words outside the scope help to tell."""
    sentence_ends = _sentence_ends(text)
    words: list[Found] = []
    whose: list[Whose] = []
    main_names: dict[str, str] = {}
    others: set[str] = set()  # the genders of other people in the sentence
    sentence = 0
    before: Found | None = None
    for word in gendered(text, _EVERYTHING):
        while sentence < len(sentence_ends) and sentence_ends[sentence] <= word.start:
            sentence += 1
            others = set()
        owner = _whose(text, word, before, main_names, others)
        if in_scope(word, scope):
            words.append(word)
            whose.append(owner)
        names_person = word.entry.kind not in ("subject", "reflexive", "decide")
        # "Men scare him": he is none of them.
        if names_person and owner in ("unclear", "other") and not _plural(word):
            others.add(word.entry.gender)
        before = word
    return words, whose


def _sentence_ends(text: str) -> list[int]:
    """Where the sentences of a text end; the full stop of "Mr." ends none."""
    ends = []
    for stop in _FORMS["sentence"].finditer(text):
        if not _FORMS["short_dot"].search(text, max(0, stop.start() - 8), stop.start()):
            ends.append(stop.end())
    return ends


def _gender_of_main_person(words: list[Found], whose: list[Whose], tells: list[bool]) -> str:
    """The gender that the first word of the strongest kind of evidence shows; "" if there is none."""
    strongest = len(_ORDER)
    gender = ""
    for word, owner, tells_gender in zip(words, whose, tells, strict=True):
        if tells_gender and owner in _ORDER and _ORDER.index(owner) < strongest:
            strongest = _ORDER.index(owner)
            gender = word.entry.gender
    return gender


def _whose(
    text: str, word: Found, before: Found | None, main_names: dict[str, str], others: set[str]
) -> Whose:
    """Whose a word may be; `main_names` keeps the first name and title, which are the main person's."""
    match word.entry.kind:
        case "noun":
            return _whose_noun(text, word, before, others)
        case "name":
            return _whose_name(text, word, before, main_names)
        case "title":
            return _whose_title(text, word, before, main_names)
        case _:
            return "unclear" if word.entry.gender in others else "pronoun"


def _whose_name(text: str, word: Found, before: Found | None, main_names: dict[str, str]) -> Whose:
    # "her sister Mary", "a man named Tom"
    if before and before.entry.kind == "noun" and _FORMS["called"].fullmatch(text, before.end, word.start):
        return "other"
    return "named" if main_names.setdefault("name", word.word) == word.word else "other"


def _whose_title(text: str, word: Found, before: Found | None, main_names: dict[str, str]) -> Whose:
    following = _FORMS["surname"].search(text, word.end)
    surname = following[0].lower() if following else ""
    # "Mr. and Ms. Smith" are two people
    if surname in ("and", "or") or (before and _FORMS["and"].fullmatch(text, before.end, word.start)):
        return "unclear"
    return "named" if main_names.setdefault("title", surname) == surname else "other"


def _whose_noun(text: str, word: Found, before: Found | None, others: set[str]) -> Whose:
    if word.entry.group == "sex":
        return "other" if word.entry.gender in others else "introduced"
    left = max(0, word.start - _WINDOW)
    if _plural(word) or _other_before(text, left, word.start):
        return "other"
    if word.entry.gender not in others:
        owner = _main_persons_noun(text, left, word, before)
        if owner:
            return owner
    return "unclear" if _may_be_main_persons(text, left, word) else "other"


def _main_persons_noun(text: str, left: int, word: Found, before: Found | None) -> Whose | None:
    """How a noun shows that it is the main person's; None if it does not."""
    is_adult = word.entry.group == "adult"
    if is_adult and _introduced(text, left, word):
        return "introduced"
    # "she is a mother's girl" describes nobody.
    if word.ending:
        return None
    described = _described(text, left, word.start, is_adult=is_adult)
    if described:
        return "introduced" if is_adult and described.lower() in _PATIENT else "weak"
    if is_adult and before is None and _at_head(text, word.start):
        return "weak"
    return None


def _may_be_main_persons(text: str, left: int, word: Found) -> bool:
    """True if a noun may be the main person's or another's: "the woman cried", "a mother of two"."""
    if word.entry.group == "adult" or word.word in _LISTS["states"]:
        return True
    if _FORMS["of_number"].match(text, word.end) or _FORMS["adjectives"].search(text, left, word.start):
        return True
    article = _FORMS["article"].search(text, left, word.start)
    return article is not None and article[1].lower() != "the"


def _plural(word: Found) -> bool:
    if word.entry.kind != "noun":
        return False
    noun = word.entry.neutral.removesuffix("'s").removesuffix("’s").rstrip("'’")
    return noun in _LISTS["plurals"] or noun.endswith("s")


def _other_before(text: str, left: int, start: int) -> bool:
    """True if the words before a noun make it somebody else: "her", "another", "hit by a"."""
    if _FORMS["owner"].search(text, left, start):
        return True
    words = text[left:start].lower().split()[-2:]
    if any(word in _LISTS["others_before"] for word in words):
        return True
    preposition = _FORMS["ahead"].search(text, left, start)
    return preposition is not None and preposition[1].lower() in _LISTS["beside"]


def _introduced(text: str, left: int, word: Found) -> bool:
    """True if an age, a label or "patient" beside "woman", "man" … introduces the main person."""
    if _FORMS["labelled"].search(text, left, word.start) or _FORMS["this"].search(text, left, word.start):
        return True
    if _FORMS["patient_after"].match(text, word.end) or _FORMS["age_after"].match(text, word.end):
        return True
    ages = list(_FORMS["aged"].finditer(text, left, word.start))
    if not ages:
        return False
    age = ages[-1]
    if not _plain_gap(text[age.end() : word.start]):
        return False
    # "her 40 year old man" is somebody else.
    return not _FORMS["owner"].search(text, max(0, age.start() - 24), age.start())


def _described(text: str, left: int, start: int, *, is_adult: bool) -> str:
    """Whom a noun describes: "she" in "she is a good mother", "patient", "as"; "" if nobody."""
    match = _FORMS["described"].search(text, left, start)
    if match is None:
        return ""
    subject, comma, role, gap, patient, behind = match.groups("")
    if not _plain_gap(gap or behind):
        return ""
    # "Mother is a nun"
    if subject and not is_adult and subject.lower() not in _MAIN_SUBJECTS:
        return ""
    if comma:
        subject_before = _FORMS["subject"].search(text, left, match.start())
        return subject_before[1] if subject_before else ""
    return subject or role or patient


def _plain_gap(gap: str) -> bool:
    """True if nothing between an age or an article and a noun begins something else."""
    gap = gap.lstrip(". ")
    words = _WORD.findall(gap.lower())
    if len(words) > _LONGEST_GAP or _SENTENCE_MARK.search(gap):
        return False
    return _LISTS["others_follow"].isdisjoint(words)


def _at_head(text: str, start: int) -> bool:
    """True if a note opens with the noun, after some adjectives: "Young man, …"."""
    if start > _WINDOW:
        return False
    head = text[:start]
    return _FORMS["head"].fullmatch(head) is not None and _plain_gap(head)
