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
from psycheck.text.gender.words import GenderedWord, gendered, in_scope, paired
from psycheck.text.redact.lists import compiled
from psycheck.text.surroundings import search_before, words_before
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
    in_pairs = paired(text, words)
    tells: list[bool] = []
    for at, word in enumerate(words):
        has_gender = word.entry.gender in ("female", "male")
        tells.append(has_gender and at not in in_pairs)
    gender = _gender_of_main_person(words, whose, tells)

    takes: list[bool] = []
    unsure: list[bool] = []
    for word, owner, tells_gender in zip(words, whose, tells, strict=True):
        same_gender = word.entry.gender == gender
        is_main_persons = owner in _ORDER and same_gender
        # What shows no gender goes with the person: an edit leaves it as it is.
        takes.append(is_main_persons or not tells_gender)
        is_unclear = not gender or (owner == "unclear" and same_gender)
        unsure.append(tells_gender and is_unclear)
    return Main(takes=takes, unsure=unsure)


def _whose_words(text: str, scope: Scope) -> tuple[list[GenderedWord], list[Whose]]:
    """The gendered words in the scope, and whose each may be; words outside the scope help to tell."""
    sentence_ends = _sentence_ends(text)
    words: list[GenderedWord] = []
    whose: list[Whose] = []
    main_names: dict[str, str] = {}
    genders_of_others: set[str] = set()  # in the sentence
    sentence = 0
    before: GenderedWord | None = None
    for word in gendered(text, _EVERYTHING):
        while sentence < len(sentence_ends) and sentence_ends[sentence] <= word.start:
            sentence += 1
            genders_of_others = set()

        owner = _whose(text, word, before, main_names, genders_of_others)
        if in_scope(word, scope):
            words.append(word)
            whose.append(owner)

        names_person = word.entry.kind not in ("subject", "reflexive", "decide")
        may_be_anothers = owner in ("unclear", "other")
        # "Men scare him": he is none of them.
        if names_person and may_be_anothers and not _is_plural(word):
            genders_of_others.add(word.entry.gender)
        before = word
    return words, whose


def _sentence_ends(text: str) -> list[int]:
    """Where the sentences of a text end; the full stop of "Mr." ends none."""
    ends = []
    for stop in _FORMS["sentence"].finditer(text):
        is_abbreviation = search_before(_FORMS["short_dot"], text, stop.start(), 8)
        if not is_abbreviation:
            ends.append(stop.end())
    return ends


def _gender_of_main_person(words: list[GenderedWord], whose: list[Whose], tells: list[bool]) -> str:
    """The gender that the first word of the strongest kind of evidence shows; "" if there is none."""
    strongest = len(_ORDER)
    gender = ""
    for word, owner, tells_gender in zip(words, whose, tells, strict=True):
        if not tells_gender or owner not in _ORDER:
            continue
        rank = _ORDER.index(owner)
        if rank < strongest:
            strongest = rank
            gender = word.entry.gender
    return gender


def _whose(
    text: str,
    word: GenderedWord,
    before: GenderedWord | None,
    main_names: dict[str, str],
    genders_of_others: set[str],
) -> Whose:
    """Whose a word may be; `main_names` keeps the first name and title, which are the main person's."""
    match word.entry.kind:
        case "noun":
            return _whose_noun(text, word, before, genders_of_others)
        case "name":
            return _whose_name(text, word, before, main_names)
        case "title":
            return _whose_title(text, word, before, main_names)
        case _:
            # "Her mother says she": either may be meant.
            if word.entry.gender in genders_of_others:
                return "unclear"
            return "pronoun"


def _whose_name(
    text: str,
    word: GenderedWord,
    before: GenderedWord | None,
    main_names: dict[str, str],
) -> Whose:
    """Whose a first name is: the main person's if it is the first of the note or the same again."""
    # "her sister Mary", "a man named Tom"
    follows_noun = before is not None and before.entry.kind == "noun"
    if before and follows_noun and _FORMS["called"].fullmatch(text, before.end, word.start):
        return "other"
    first_name = main_names.setdefault("name", word.word)
    if word.word == first_name:
        return "named"
    return "other"


def _whose_title(
    text: str,
    word: GenderedWord,
    before: GenderedWord | None,
    main_names: dict[str, str],
) -> Whose:
    """Whose a title is: the main person's if its surname is the first of the note or the same again."""
    following = _FORMS["surname"].search(text, word.end)
    surname = following[0].lower() if following else ""
    # "Mr. and Ms. Smith" are two people
    follows_and = before is not None and _FORMS["and"].fullmatch(text, before.end, word.start)
    if surname in ("and", "or") or follows_and:
        return "unclear"
    first_surname = main_names.setdefault("title", surname)
    if surname == first_surname:
        return "named"
    return "other"


def _whose_noun(
    text: str,
    word: GenderedWord,
    before: GenderedWord | None,
    genders_of_others: set[str],
) -> Whose:
    """Whose a noun is, by what introduces it and what the words around it make of it."""
    is_like_another = word.entry.gender in genders_of_others
    if word.entry.group == "sex":
        return "other" if is_like_another else "introduced"

    left = max(0, word.start - _WINDOW)
    if _is_plural(word) or _is_somebody_else(text, left, word.start):
        return "other"
    if not is_like_another:
        owner = _main_persons_noun(text, left, word, before)
        if owner:
            return owner
    if _may_be_main_persons(text, left, word):
        return "unclear"
    return "other"


def _main_persons_noun(
    text: str,
    left: int,
    word: GenderedWord,
    before: GenderedWord | None,
) -> Whose | None:
    """How a noun shows that it is the main person's; None if it does not."""
    is_adult = word.entry.group == "adult"
    if is_adult and _introduced(text, left, word):
        return "introduced"
    # "she is a mother's girl" describes nobody.
    if word.ending:
        return None
    described = _described(text, left, word.start, is_adult=is_adult)
    if described:
        describes_patient = is_adult and described.lower() in _PATIENT
        if describes_patient:
            return "introduced"
        return "weak"
    is_first_word = before is None
    if is_adult and is_first_word and _at_head(text, word.start):
        return "weak"
    return None


def _may_be_main_persons(text: str, left: int, word: GenderedWord) -> bool:
    """True if a noun may be the main person's or another's: "the woman cried", "a mother of two"."""
    if word.entry.group == "adult" or word.word in _LISTS["states"]:
        return True
    if _FORMS["of_number"].match(text, word.end) or _FORMS["adjectives"].search(text, left, word.start):
        return True
    article = _FORMS["article"].search(text, left, word.start)
    return article is not None and article[1].lower() != "the"


def _is_plural(word: GenderedWord) -> bool:
    """True for nouns such as "men"; their neutral words ("people") show it by a list or an -s."""
    if word.entry.kind != "noun":
        return False
    neutral = word.entry.neutral
    without_possessive = neutral.removesuffix("'s").removesuffix("’s").rstrip("'’")
    return without_possessive in _LISTS["plurals"] or without_possessive.endswith("s")


def _is_somebody_else(text: str, left: int, start: int) -> bool:
    """True if the words before a noun make it somebody else: "her", "another", "hit by a"."""
    if _FORMS["owner"].search(text, left, start):
        return True
    last_two = words_before(text, start, start - left)[-2:]
    if not _LISTS["others_before"].isdisjoint(last_two):
        return True
    preposition = _FORMS["ahead"].search(text, left, start)
    if preposition is None:
        return False
    return preposition[1].lower() in _LISTS["beside"]


def _introduced(text: str, left: int, word: GenderedWord) -> bool:
    """True if an age, a label or "patient" beside "woman", "man" … introduces the main person."""
    for form in ("labelled", "this"):
        if _FORMS[form].search(text, left, word.start):
            return True
    for form in ("patient_after", "age_after"):
        if _FORMS[form].match(text, word.end):
            return True

    ages = list(_FORMS["aged"].finditer(text, left, word.start))
    if not ages:
        return False
    last_age = ages[-1]
    between = text[last_age.end() : word.start]
    if not _is_plain_gap(between):
        return False
    # "her 40 year old man" is somebody else.
    return search_before(_FORMS["owner"], text, last_age.start(), 24) is None


def _described(
    text: str,
    left: int,
    start: int,
    *,
    is_adult: bool,
) -> str:
    """Whom a noun describes: "she" in "she is a good mother", "patient", "as"; "" if nobody."""
    match = _FORMS["described"].search(text, left, start)
    if match is None:
        return ""
    subject, comma, role, gap, patient, behind = match.groups("")
    if not _is_plain_gap(gap or behind):
        return ""
    # "Mother is a nun"
    is_other_subject = subject and subject.lower() not in _MAIN_SUBJECTS
    if is_other_subject and not is_adult:
        return ""
    if not comma:
        return subject or role or patient

    # "She, a good mother": the subject stands before the comma.
    subject_before = _FORMS["subject"].search(text, left, match.start())
    if subject_before is None:
        return ""
    return subject_before[1]


def _is_plain_gap(gap: str) -> bool:
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
    return _FORMS["head"].fullmatch(head) is not None and _is_plain_gap(head)
