"""F and M for a person's sex in a note: "34yo F", "(34M)", "Sex: F".

A letter counts only with an age or a label "sex" or "gender" beside it. Elsewhere F and M are grades,
degrees, initials, millions or a part of "F/u" and "M-F".
"""

from collections.abc import Iterator
from typing import Final

from psycheck.text.redact.lists import any_of, compiled
from psycheck.text.surroundings import character_at, search_before
from psycheck.text.word_lists import read_toml

_SEX: Final[dict[str, str]] = read_toml("gender/gender.toml")["sex"]
PATTERNS: Final = read_toml("gender/patterns.toml")
_WORDS: Final = {
    "races": any_of(_SEX["races"].split()),
    "between": any_of(_SEX["between"].replace("\n", "").split("|")),
    "persons": any_of(read_toml("gender/they_verbs.toml")["persons"].split()),
}
_FORMS: Final = compiled(PATTERNS["sex_letters"], PATTERNS["parts"] | _WORDS)
_NO_AGE_BEFORE: Final = frozenset(_SEX["no_age_before"].split())
_NO_PERSON_BEHIND: Final = frozenset(_SEX["no_person_behind"].split())
_POSTER_BEHIND: Final = frozenset(_SEX["poster_behind"].split())
_WINDOW: Final = 72
_OLDEST_GLUED: Final = 94  # From 95 on, "98F" is a temperature.


def sex_letters(text: str) -> Iterator[tuple[int, int]]:
    """The spans of letters for a person's sex, with a joined letter for the race: "WF"."""
    yield from _letters_before_ages(text)
    yield from _letters_after_ages_or_labels(text)


def _letters_before_ages(text: str) -> Iterator[tuple[int, int]]:
    """The spans of letters that lead an age: "F/34", "I (F25)"."""
    for match in _FORMS["leading"].finditer(text):
        start, end = match.span()
        before_slash = text[end] == "/" and match[0].isupper()
        if before_slash or _of_speaker(text, start, end):
            yield start, end


def _letters_after_ages_or_labels(text: str) -> Iterator[tuple[int, int]]:
    """The spans of letters that follow an age or a label: "34F", "Sex: F", "Pt is a F"."""
    for match in _FORMS["letter"].finditer(text):
        race = search_before(_FORMS["race"], text, match.start(), 3)
        if race is None:
            continue
        start = race.start()
        end = match.end()
        left = max(0, start - _WINDOW)
        is_labelled = _FORMS["before"].search(text, left, start) is not None
        # With a letter for the race it needs a label or an age that is written out: "34 year old WF".
        has_race = race[0] != ""
        if is_labelled or (not has_race and _of_person(text, left, start, end)):
            yield start, end


def _of_person(
    text: str,
    left: int,
    start: int,
    end: int,
) -> bool:
    """True if a letter tells a person's sex, by an age that it is joined to or by the words around it."""
    if _is_joined_to_age(text, left, start, end):
        return True
    return _of_patient(text, left, start, end)


def _of_speaker(text: str, start: int, end: int) -> bool:
    """True if a letter before an age is of somebody who is named or speaks: "I (F25)", "I'm F25"."""
    person = search_before(_FORMS["aged_person"], text, start, _WINDOW)
    if person is None:
        return False
    has_space = person[0].endswith(" ")
    return has_space or _FORMS["aged_ends"].match(text, end) is not None


def _is_joined_to_age(
    text: str,
    left: int,
    start: int,
    end: int,
) -> bool:
    """Whether a letter is joined to an age: "34F", "34/M"; "34m" is a length, unless in brackets."""
    age = _FORMS["glued"].search(text, left, start)
    if age is None or int(age[1]) > _OLDEST_GLUED:
        return False
    is_upper = text[start].isupper()
    in_brackets = _closes_bracket(text, left, start, end)
    has_slash = "/" in text[age.end(1) : start]
    # "34 F" needs more than a letter of an age: "34 F today" is a temperature.
    if not has_slash and text[start - 1].isspace():
        if not is_upper:
            return False
        return in_brackets or _is_described(text, left, start, end)

    before = _FORMS["word_before"].search(text, left, start)
    if before and before[1].lower() in _NO_AGE_BEFORE:
        return False
    return _may_be_person_before(text, end, shown=in_brackets or is_upper)


def _closes_bracket(
    text: str,
    left: int,
    start: int,
    end: int,
) -> bool:
    """True if the letter is the last thing in brackets: "(34F)"."""
    if character_at(text, end) not in (")", "]"):
        return False
    return _FORMS["bracket"].search(text, left, start) is not None


def _may_be_person_before(text: str, end: int, *, shown: bool) -> bool:
    """True if the word behind an age and a letter leaves it to be a person, or makes it one: "34f here"."""
    behind = _FORMS["word_behind"].match(text, end)
    word_behind = behind[1].lower() if behind else ""
    if word_behind in _NO_PERSON_BEHIND:
        return False
    return shown or word_behind in _POSTER_BEHIND


def _is_described(
    text: str,
    left: int,
    start: int,
    end: int,
) -> bool:
    """True if what surrounds an age and a letter describes a person: "Pt 34 F with …"."""
    if not _FORMS["spaced"].search(text, left, start):
        return False
    return _FORMS["described"].match(text, end) is not None


def _of_patient(
    text: str,
    left: int,
    start: int,
    end: int,
) -> bool:
    """Whether a letter describes the patient, or of somebody with their age: "Pt is a F", "F, 34"."""
    if not text[start].isupper():
        return False

    is_a = _FORMS["is_a"].search(text, left, start)
    if _FORMS["age_behind"].match(text, end):
        at_head = _FORMS["head"].search(text, left, start) is not None
        return is_a is not None or at_head

    # Without an age only "Pt is a F", at the end of a phrase, is clear.
    names_patient = is_a is not None and is_a[1] is not None
    return names_patient and _FORMS["ends"].match(text, end) is not None
