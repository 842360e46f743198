"""F and M for a person's sex in a note: "34yo F", "(34M)", "Sex: F".

A letter counts only with an age or a label "sex" or "gender" beside it. Elsewhere F and M are grades,
degrees, initials, millions or a part of "F/u" and "M-F".
"""

from collections.abc import Iterator
from typing import Final

from psycheck.text.redact.lists import any_of, compiled
from psycheck.text.word_lists import read_toml

_SEX: Final[dict[str, str]] = read_toml("gender/gender.toml")["sex"]
PATTERNS: Final = read_toml("gender/patterns.toml")
_WORDS: Final = {
    "races": any_of(_SEX["races"].split()),
    "between": any_of(_SEX["between"].replace("\n", "").split("|")),
    "persons": any_of(read_toml("gender/they_verbs.toml")["persons"].split()),
}
_FORMS: Final = compiled(PATTERNS["sex_letters"], PATTERNS["parts"] | _WORDS)
_WINDOW: Final = 72
_OLDEST_GLUED: Final = 94  # From 95 on, "98F" is a temperature.


def sex_letters(text: str) -> Iterator[tuple[int, int]]:
    """The spans of letters for a person's sex, with a joined letter for the race: "WF"."""
    for found in _FORMS["leading"].finditer(text):
        start, end = found.span()
        # Somebody who is named or speaks: "I (F25)", "I'm F25".
        before = _FORMS["aged_person"].search(text, max(0, start - _WINDOW), start)
        led = before and (before[0].endswith(" ") or _FORMS["aged_ends"].match(text, end))
        if led or (text[end] == "/" and found[0].isupper()):
            yield start, end
    for found in _FORMS["letter"].finditer(text):
        start, end = found.span()
        race = _FORMS["race"].search(text, max(0, start - 3), start)
        if race is None:
            continue
        start = race.start()
        left = max(0, start - _WINDOW)
        if _FORMS["before"].search(text, left, start) or (
            not race[0] and (_glued(text, left, start, end) or _is_one(text, left, start, end))
        ):
            yield start, end


def _glued(text: str, left: int, start: int, end: int) -> bool:
    """Whether a letter is joined to an age: "34F", "34/M"; "34m" is a length, unless in brackets."""
    age = _FORMS["glued"].search(text, left, start)
    if age is None or int(age[1]) > _OLDEST_GLUED:
        return False
    slash = "/" in text[age.end(1) : start]
    bracket = _FORMS["bracket"].search(text, left, start) is not None and text[end : end + 1] in (")", "]")
    if not slash and text[start - 1].isspace():
        spaced = _FORMS["spaced"].search(text, left, start) and _FORMS["described"].match(text, end)
        return text[start].isupper() and (bracket or spaced is not None)
    before = _FORMS["word_before"].search(text, left, start)
    behind = _FORMS["word_behind"].match(text, end)
    if before and before[1].lower() in _SEX["no_age_before"].split():
        return False
    if behind and behind[1].lower() in _SEX["no_person_behind"].split():
        return False
    posts = behind is not None and behind[1].lower() in _SEX["poster_behind"].split()
    return bracket or posts or text[start].isupper()


def _is_one(text: str, left: int, start: int, end: int) -> bool:
    """Whether a letter describes the patient, or of somebody with their age: "Pt is a F", "F, 34"."""
    if not text[start].isupper():
        return False
    is_a = _FORMS["is_a"].search(text, left, start)
    if _FORMS["age_behind"].match(text, end):
        return is_a is not None or _FORMS["head"].search(text, left, start) is not None
    return is_a is not None and is_a[1] is not None and _FORMS["ends"].match(text, end) is not None
