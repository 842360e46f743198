"""F and M for a person's sex in a note: "34yo F", "(34M)", "Sex: F".

A letter counts only with an age or a label "sex" or "gender" beside it. Elsewhere F and M are grades,
degrees, initials, millions or a part of "F/u" and "M-F".
"""

import re
from collections.abc import Iterator
from typing import Final

from psycheck.text.redact.lists import any_of
from psycheck.text.word_lists import read_toml

_SEX: Final[dict[str, str]] = read_toml("gender/gender.toml")["sex"]

_OLD: Final = r"(?:[\s-]*(?:/\s?)?(?:old|o\b\.?)|\s+of\s+age)"
AGE: Final = (
    rf"(?<![\w.$£€])(?:\d{{1,3}}[\s-]*(?:years?{_OLD}|(?:yrs?|y)\b\.?(?:{_OLD})?|y/?o\b\.?|yrs?o\b)"
    rf"|years?[\s-]*old|yrs?\.?[\s-]*old|y/o\b\.?|y\.\s?o\b\.?|aged?:?\s*\d{{1,3}})(?!\w)"
)
"""An age with its unit: "53yo", "53 y.o.", "53 y/o", "53 yr. old", "53-year-old", "years old", "aged 53"."""
LABEL: Final = r"(?<!\w)(?:sex|gender)(?:\s+at\s+birth|\s+identity)?(?:\s*[:=–-]+\s*)"
"""What a form has before the sex: "Sex:", "Gender -"."""

_LETTER: Final = re.compile(r"[FMfm](?![\w'’&@]|[.-]\w|\s?/\s?[FMfmu]|/\w)")
_RACE: Final = re.compile(rf"(?<![^\W\d_])(?<![.'’&@#])(?:{any_of(_SEX['races'].split())})?\Z")
_BEFORE: Final = re.compile(
    rf"(?:{AGE}(?:,?\s+(?:{any_of(_SEX['between'].replace(chr(10), '').split('|'))})){{0,3}},?\s+|{LABEL})\Z",
    re.I,
)
_GLUED: Final = re.compile(r"(?:^|[^\w.$£€°/-])(\d{1,2})\s?/?\s?\Z")
_BRACKET: Final = re.compile(r"[(\[]\d{1,2}\s?/?\s?\Z")
_WORD_BEFORE: Final = re.compile(r"([a-z]+)\W{0,3}\d{1,2}\W{0,3}\Z", re.I)
_WORD_BEHIND: Final = re.compile(r"[\s-]+([a-z]+)", re.I)
_AGE_BEHIND: Final = re.compile(r"(?:\s*,\s*|\s+)(?:aged?\s*)?\d{1,3}(?!\w|\.\d|%)")
_IS_A: Final = re.compile(r"\b(pt\s+|patient\s+|client\s+)?(?:is|was)\s+an?\s+\Z", re.I)
_HEAD: Final = re.compile(r"(?:^|[\n(\[])\s*\Z")
_ENDS: Final = re.compile(r"\s*(?:[,;)]|\.(?:\s|\Z)|\Z)")
_WINDOW: Final = 72
_OLDEST_GLUED: Final = 94  # From 95 on, "98F" is a temperature.


def sex_letters(text: str) -> Iterator[tuple[int, int]]:
    """The spans of letters for a person's sex, with a joined letter for the race: "WF"."""
    for found in _LETTER.finditer(text):
        start, end = found.span()
        race = _RACE.search(text, max(0, start - 3), start)
        if race is None:
            continue
        start = race.start()
        left = max(0, start - _WINDOW)
        if _BEFORE.search(text, left, start) or (
            not race[0] and (_glued(text, left, start, end) or _is_one(text, left, start, end))
        ):
            yield start, end


def _glued(text: str, left: int, start: int, end: int) -> bool:
    """Whether a letter is joined to an age: "34F", "34/M"; "34m" is a length, unless in brackets."""
    age = _GLUED.search(text, left, start)
    if age is None or int(age[1]) > _OLDEST_GLUED:
        return False
    slash = "/" in text[age.end(1) : start]
    if not slash and text[start - 1].isspace():
        return False
    before = _WORD_BEFORE.search(text, left, start)
    behind = _WORD_BEHIND.match(text, end)
    if before and before[1].lower() in _SEX["no_age_before"].split():
        return False
    if behind and behind[1].lower() in _SEX["no_person_behind"].split():
        return False
    bracket = _BRACKET.search(text, left, start) is not None and text[end : end + 1] in (")", "]")
    return bracket or text[start].isupper()


def _is_one(text: str, left: int, start: int, end: int) -> bool:
    """Whether a letter describes the patient, or of somebody with their age: "Pt is a F", "F, 34"."""
    if text[start].isupper() and _HEAD.search(text, left, start) and _AGE_BEHIND.match(text, end):
        return True
    is_a = _IS_A.search(text, left, start)
    if is_a is None or not text[start].isupper():
        return False
    return _AGE_BEHIND.match(text, end) is not None or (is_a[1] is not None and bool(_ENDS.match(text, end)))
