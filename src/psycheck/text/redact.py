"""Personal data in a text, found by pattern and replaced by what kind it was.

Patterns find what has a form (mails, phones, dates) and names that stand where names stand; they do not know
who is meant. docs/how-to/clean-and-redact.md says what they miss, with figures.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Literal, NamedTuple, get_args

from psycheck.text.lists import OWN, ROLES, any_of, headed, words_of
from psycheck.text.named import named

Kind = Literal["EMAIL", "PHONE", "LINK", "USER", "NAME", "PLACE", "AGE", "DATE", "NUMBER"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)


class Found(NamedTuple):
    """Where personal data stand in a text, and of what kind; never what they are."""

    start: int
    end: int
    kind: Kind


class Redacted(NamedTuple):
    """A text with a placeholder for each of the personal data found in it."""

    text: str
    found: tuple[Found, ...]


def redact(text: str) -> Redacted:
    """Replace personal data by [NAME], [PHONE] and so on; a redacted text stays as it is."""
    found = find_personal(text)
    if not found:
        return Redacted(text, ())
    return Redacted(_filled(text, found, lambda one: f"[{one.kind}]"), found)


def find_personal(text: str) -> tuple[Found, ...]:
    """Where personal data stand, in order and without overlap.

    What is found is blotted out before the next search, as placeholders of an earlier redaction are, so that
    the search ends in the same place whether it is done at once or again.
    """
    left = _PLACEHOLDER.sub(lambda place: _BLOT * len(place[0]), text) if "[" in text else text
    found: list[Found] = []
    while True:
        count = len(found)
        for search in _SEARCHES:
            spans = [Found(start, end, kind) for start, end, kind in search(left) if start < end]
            if spans:
                left = _filled(left, spans, lambda one: _BLOT * (one.end - one.start))
            found += spans
        if len(found) == count:
            return tuple(sorted(found))


def _filled(text: str, found: Iterable[Found], filling: Callable[[Found], str]) -> str:
    """A text with something else where things were found, which are in order."""
    out: list[str] = []
    at = 0
    for one in found:
        out += (text[at : one.start], filling(one))
        at = one.end
    return "".join((*out, text[at:]))


_BLOT: Final = "\ue000"
_PLACEHOLDER: Final = re.compile(rf"\[(?:{'|'.join(KINDS)})\]")
Search = Callable[[str], Iterator[tuple[int, int, Kind]]]


_DIGIT: Final = re.compile(r"\d")
_DOMAIN: Final = r"(?:com|org|net|edu|gov|info|io|co\.uk|org\.uk|ac\.uk)"
_TAIL: Final = rf"[^\s<>{_BLOT}]*[^\s<>{_BLOT}.,;:!?'\"”’)\]}}]"
_LINKS: Final = re.compile(
    rf"(?:https?://|(?<!\w)www\.){_TAIL}|(?<![\w@.-])(?:[a-z0-9-]{{1,63}}\.)+{_DOMAIN}(?![\w.-]*\w|@)(?:/{_TAIL})?",
    re.I,
)
_EMAILS: Final = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}(?:@|\s?[(\[](?:at|AT)[)\]]\s?)[\w-]+(?:(?:\.|\s?[(\[](?:dot|DOT)[)\]]\s?)[\w-]+)+"
)
# "@user" is what other tools leave where they took a handle out.
_USERS: Final = re.compile(r"(?<![\w@./])(?:@(?!users?\b|mention\b)\w(?:[\w.-]*\w)?|/?u/[\w-]{3,})", re.I)
_NETWORKS: Final = (
    "insta",
    "snap",
    "discord",
    "kik",
    "telegram",
    "twitter",
    "twitch",
    "skype",
    "tiktok",
    "user",
)
_HANDLES: Final = re.compile(
    r"\b(?:insta|instagram|snap|snapchat|discord|kik|telegram|twitter|twitch|skype|tiktok|user\s?name)"
    r"\s*(?:is|:|=|-)\s*(?=[a-z.]*[\d_])([a-z_][\w.]{2,30}(?:#\d{4})?)",
    re.I,
)

_OTHER_MONTHS: Final = (
    r"Jan(?:uary)?|Feb(?:ruary)?|Apr(?:il)?|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?"
    r"|Dec(?:ember)?"
)
# "may" and "march" are words.
_MONTH: Final = rf"(?:(?i:{_OTHER_MONTHS})\b\.?|May|Mar(?:ch)?\b\.?)"
_NTH: Final = r"(?:st|nd|rd|th)"
_YEAR: Final = r"(?:19|20)\d\d"
_DATES: Final = re.compile(
    rf"(?<![\w/.-])(?:{_YEAR}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}([-/.])\d{{1,2}}\1(?:{_YEAR}|\d\d))(?![\w/-]|\.\d)"
    rf"|(?<![\w.,])\d{{1,2}}(?:{_NTH})?(?:\s+of)?[\s-]+{_MONTH}(?:,?[\s-]+{_YEAR})?(?![\w])"
    rf"|(?<!\w){_MONTH}\s+\d{{1,2}}(?:{_NTH})?(?:,?\s+{_YEAR})?(?![\w%:/]|[.,]\d)"
    rf"|(?<!\w){_MONTH}(?:,|\s+of)?\s+{_YEAR}(?!\w)"
    rf"|(?<!\w)(?:may|march)\s+\d{{1,2}}{_NTH}(?:,?\s+{_YEAR})?(?!\w)|(?<!\w)\d{{1,2}}{_NTH}(?:\s+of)?\s+(?:may|march)\b"
    rf"|(?<=[Bb]orn in )(?:{_YEAR})(?!\w)"
)
_IDS: Final = re.compile(
    rf"\b(?:{any_of(words_of('ids', 'before'))})\.?\s*(?:is|was|:|#|=|no\.?)?\s*(?:is\s+)?#?"
    r"((?=[A-Z-]*\d)[A-Z\d](?:[A-Z\d-]|\s(?=\d)){2,}[A-Z\d])",
    re.I,
)
_NUMBERS: Final = re.compile(
    r"(?<![\w.-])(?:\d{3}-\d{2}-\d{4}|\d{4}([ -])\d{4}\1\d{4}\1\d{1,4}"
    r"|[A-Z]{2}\s?\d{2}\s?\d{2}\s?\d{2}\s?[A-D]|[A-Z]{2}\d{2}(?:\s?[A-Z\d]{4}){3,7}"
    r"|\d{8,9}|[1-9]\d{10,})(?![\w-]|\.\d)"
)
_PHONES: Final = re.compile(
    r"(?<![\w.+-])(?:\+\d(?:[\s.()-]{0,2}\d){7,14}|(?:\+?1[\s.-])?(?:\(\d{3}\)\s?|\d{3}[\s.-])\d{3}[\s.-]\d{4}"
    r"|0\d{2,4}[\s-]\d{3,4}[\s-]?\d{3,4}|0\d{4}\s\d{5,6}|\(0\d{2,4}\)\s?\d{3,4}\s?\d{3,4}|0\d{9,10}|\d{3}[-.]\d{2}(?!00\b)\d{2}|1?\d{10})(?![\w-]|\.\d)"
)

_TENS: Final = "twenty|thirty|forty|fourty|fifty|sixty|seventy|eighty|ninety"
_SAID: Final = (
    rf"(?:(?:{_TENS})(?:[\s-](?:one|two|three|four|five|six|seven|eight|nine))?|eleven|twelve"
    r"|(?:thir|four|fif|six|seven|eigh|nine)teen)"
)
_NUMBER: Final = rf"(?:1[01]\d|\d{{1,2}}|{_SAID})"
_OLD: Final = re.compile(
    rf"(?<![\w.,/])(?:{_NUMBER}[\s-]?(?:years?|yrs?|yr)[\s-]?olds?|{_NUMBER}[\s-]?(?:y\.?o\.?|y/o|yrs?\s?old)(?!\w))"
    rf"|(?<![\w.,/])\d{{1,2}}{_NTH}(?=\s+birthday)",
    re.I,
)
_SEX: Final = re.compile(
    r"(?<![\w.,$£€/:-])(?:[1-9]\d\s?/?\s?(?:F|M|NB|FTM|MTF|FtM|MtF)|(?:F|M|NB)\s?/?\s?[1-9]\d)(?![\w°/:%-]|\.\d)"
    r"|(?<=[(\[])[1-9]\d\s?/?\s?[fm](?=[)\],])|(?<=[(\[])[fm]\s?/?\s?[1-9]\d(?=[)\],])|^[1-9]\d[fm](?!\w)"
)
_AGE_WORDS: Final = (
    *(
        f"{who} {does}"
        for who in ("i", "he", "she", "who", "they")
        for does in ("was", "were", "am", "is", "turned")
    ),
    *(f"{who}{s}" for who in ("he", "she", "who") for s in ("'s", "’s")),
    *(f"{will} {be}" for will in ("will", "gonna", "going to") for be in ("be", "turn")),
    *("i'm", "i’m", "im", "turned", "turning", "turns", "age", "aged", "age of", "age is", "age:"),
)
_AGES: Final = re.compile(
    rf"(?:{headed(_AGE_WORDS)}|{OWN}\s+{ROLES}\s+(?:is|was|turned|turns))"
    rf"\s+(?:(?:only|just|now|about|almost|nearly|already)\s+)?({_NUMBER})"
    rf"(?![\w%/:°$]|[.,-]\w|\s*(?:{any_of(words_of('ages', 'units'))})(?!\w))",
    re.I,
)
_AFTER_NAME: Final = re.compile(rf"(?<={_BLOT})\s?[,(]\s?([1-9]\d)(?=\s?[,.)]|$)")
_CAP: Final = r"[A-Z][\w'’.-]*"
_STREETS: Final = any_of(words_of("places", "streets"))
_STATES: Final = any_of(words_of("places", "states"))
_ROOM: Final = r"(?:Apt|Apartment|Suite|Flat|Unit)\.?\s+#?\w{1,5}"
_ADDRESSES: Final = re.compile(
    rf"(?<![\w.,])(?:{_ROOM},?\s+)?\d{{1,5}}[A-Za-z]?,?\s+(?:{_CAP}\s+){{1,3}}(?:{_STREETS})(?!\w)(?:,?\s+{_ROOM})?"
    r"|(?<!\w)(?:GIR\s?0AA|[A-Z]{1,2}\d[A-Z\d]?\s\d[A-Z]{2})(?!\w)"
    rf"|(?<!\w)(?:{_CAP}(?:\s{_CAP}){{0,2}},\s*)?(?:{_STATES})\s+\d{{5}}(?:-\d{{4}})?(?!\w)"
)
_ZIP: Final = re.compile(r"\bzip(?:\s?code)?\s*(?:is|:)?\s*(\d{5}(?:-\d{4})?)(?!\w)", re.I)


def _search(kind: Kind, pattern: re.Pattern[str], needs: Callable[[str], object], group: int = 0) -> Search:
    def search(text: str) -> Iterator[tuple[int, int, Kind]]:
        if needs(text):
            for found in pattern.finditer(text):
                yield *found.span(group), kind

    return search


def _holds(*signs: str) -> Callable[[str], bool]:
    """Whether a text holds any of some lower-case signs: much quicker than the search that needs them."""

    def needs(text: str) -> bool:
        low = text.lower()
        return any(sign in low for sign in signs)

    return needs


# What has the stricter form comes first: a date is no phone, and neither is an identifier that is announced.
_SEARCHES: Final[tuple[Search, ...]] = (
    _search("EMAIL", _EMAILS, _holds("@", "at)", "at]")),
    _search(
        "LINK", _LINKS, _holds("://", "www.", ".com", ".org", ".net", ".edu", ".gov", ".info", ".io", ".uk")
    ),
    _search("USER", _USERS, _holds("@", "u/")),
    _search("USER", _HANDLES, _holds(*_NETWORKS), 1),
    _search("DATE", _DATES, _DIGIT.search),
    _search("NUMBER", _IDS, _DIGIT.search, 1),
    _search("NUMBER", _NUMBERS, _DIGIT.search),
    _search("PHONE", _PHONES, _DIGIT.search),
    _search("PLACE", _ADDRESSES, _DIGIT.search),
    _search("PLACE", _ZIP, _holds("zip"), 1),
    _search("AGE", _OLD, _holds("old", "yo", "y/o", "y.o", "birthday")),
    _search("AGE", _SEX, _DIGIT.search),
    _search("AGE", _AGES, lambda _: True, 1),
    _search("AGE", _AFTER_NAME, _DIGIT.search, 1),
    lambda text: ((found.start, found.end, found.kind) for found in named(text)),
)
