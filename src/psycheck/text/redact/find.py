"""Personal data in a text, found by pattern and replaced by what kind it was.

Patterns find what has a form (mails, phones, dates) and names that stand where names stand; they do not know
who is meant. docs/how-to/clean-and-redact.md says what they miss, with figures.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Literal, NamedTuple, get_args

from psycheck.text.redact.capitals import BLOT as _BLOT
from psycheck.text.redact.lists import OWN, ROLES, any_of, headed, words_of
from psycheck.text.redact.names import named

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


_PLACEHOLDER: Final = re.compile(rf"\[(?:{'|'.join(KINDS)})\]")
Search = Callable[[str], Iterator[tuple[int, int, Kind]]]


_DIGIT: Final = re.compile(r"\d")
_DOMAIN: Final = r"(?:com|org|net|edu|gov|info|io|co\.uk|org\.uk|ac\.uk)"
_SHORT: Final = any_of(words_of("links", "short"))
_PATHS: Final = rf"(?:{_SHORT}|[a-z0-9-]{{1,63}}\.(?:{any_of(words_of('links', 'with_path'))}))"
_TAIL: Final = rf"[^\s<>{_BLOT}]*[^\s<>{_BLOT}.,;:!?'\"”’)\]}}]"
_LINKS: Final = re.compile(
    rf"(?:https?://|(?<!\w)www\.){_TAIL}|(?<![\w@.-])(?:[a-z0-9-]{{1,63}}\.){{1,9}}{_DOMAIN}"
    rf"(?![.-]*\w|@)(?:/{_TAIL})?|(?<![\w@.-])(?:[a-z0-9-]{{1,63}}\.){{0,3}}{_PATHS}/{_TAIL}",
    re.I,
)
_LINK_SIGNS: Final = (
    *("://", "www.", ".com", ".org", ".net", ".edu", ".gov", ".info", ".io", ".uk"),
    *(f"{site}/" for site in words_of("links", "short")),
    *(f".{end}/" for end in words_of("links", "with_path")),
)
_EMAILS: Final = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}(?:@|\s?[(\[](?:at|AT)[)\]]\s?)[\w-]+(?:(?:\.|\s?[(\[](?:dot|DOT)[)\]]\s?)[\w-]+)+"
)
# "jane dot doe at gmail dot com"; "jane.doe at gmail.com" where the first part is no word.
_MAIL_ENDS: Final = any_of(words_of("links", "mail_ends"))
_DOT, _AT = r"[ \t]{1,3}dot[ \t]{1,3}", r"[ \t]{1,3}at[ \t]{1,3}"
_SPELLED: Final = re.compile(
    rf"(?<![\w.+-])[a-z0-9_+-]{{1,64}}(?:{_DOT}[a-z0-9_-]{{1,64}}){{0,3}}{_AT}"
    rf"[a-z0-9-]{{1,63}}(?:{_DOT}[a-z0-9-]{{1,63}}){{0,2}}{_DOT}(?:{_MAIL_ENDS})(?!\w)"
    rf"|(?<![\w.+-])(?=[a-z+-]{{0,64}}[\d._])[\w.+-]{{1,64}}{_AT}"
    rf"(?:{any_of(words_of('links', 'mail_hosts'))})\.(?:{_MAIL_ENDS})(?!\w)",
    re.I,
)
# "@user" is what other tools leave where they took a handle out.
_USERS: Final = re.compile(
    r"(?<![\w@./])(?:(?:@(?!users?\b|mention\b)\w(?:[\w.-]*\w)?)+|/?u/[\w-]{3,})", re.I
)
_NETWORKS: Final = words_of("handles", "before")
_HANDLES: Final = re.compile(
    rf"{headed(_NETWORKS)}(?:\s+(?:me|us))?(?:\s+(?:at|on))?(?:\s*(?:is|:|=|-)\s*|\s+)"
    r"(?=[a-z.]{0,30}[\d_])([a-z_][\w.]{2,30}(?:#\d{4})?)"
    r"|(?<![\w#])([a-z_][\w.]{2,30}#\d{4})(?!\w)",
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
# "12 Mar 87", but not "12 March 20 people came".
_SHORT_YEAR: Final = (
    rf"['’]?\d\d(?![\w:%/-]|[.,]\d|[ \t]+(?!(?:{any_of(words_of('dates', 'after_year'))})(?!\w))[a-z])"
)
_DATES: Final = re.compile(
    rf"(?<![\w/.-])(?:{_YEAR}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}([-/.])\d{{1,2}}\1(?:{_YEAR}|\d\d))(?![\w/-]|\.\d)"
    rf"|(?<![\w.,])\d{{1,2}}(?:{_NTH})?(?:\s+of)?[\s-]+{_MONTH}(?:,?[\s-]+(?:{_YEAR}|{_SHORT_YEAR}))?(?![\w])"
    rf"|(?<!\w){_MONTH}\s+\d{{1,2}}(?:{_NTH})?(?:,?\s+{_YEAR})?(?![\w%:/]|[.,]\d)"
    rf"|(?<!\w){_MONTH}(?:,|\s+of)?\s+(?:{_YEAR}|['’]\d\d)(?!\w)"
    rf"|(?<!\w)(?:may|march)\s+\d{{1,2}}{_NTH}(?:,?\s+{_YEAR})?(?!\w)|(?<!\w)\d{{1,2}}{_NTH}(?:\s+of)?\s+(?:may|march)\b"
    rf"|(?<=[Bb]orn in )(?:{_YEAR})(?!\w)"
)
# "on 3/14": a day and a month without a year are a date only where one is announced; 28/30 is a score.
_DAYS: Final = re.compile(
    r"\b(?:on|since|until|till|by|dated|admitted|discharged|seen|visit|dob|d\.o\.b\.?|from)\s?:?\s+(?:on\s+)?"
    r"((?:0?[1-9]|1[0-2])[/.](?:0?[1-9]|[12]\d|3[01])|(?:0?[1-9]|[12]\d|3[01])[/.](?:0?[1-9]|1[0-2]))(?![\w/%]|\.\d|\s*mg)",
    re.I,
)
_IDS: Final = re.compile(
    rf"\b(?:{any_of(words_of('ids', 'before'))})\.?\s*(?:is|was|:|#|=|no\.?)?\s*(?:is\s+)?#?"
    r"((?-i:[A-Z]{1,4}\s(?=\d))?(?=[A-Z/-]{0,12}\d)[A-Z\d](?:[A-Z\d/-]|\s(?=\d)){2,}[A-Z\d]"
    r"(?-i:\s[A-D](?!\w))?)",
    re.I,
)
_SORT_CODES: Final = re.compile(r"\bsort\s?code\s*(?:is|no\.?|:)?\s*:?\s*(\d\d([- ]?)\d\d\2\d\d)(?!\w)", re.I)
_IBANS: Final = re.compile(
    r"(?<![\w.-])(?:[A-Z]{2}\d{2}(?:\s?[A-Z\d]{4}){2,7}(?:\s?[A-Z\d]{1,3})?|[a-z]{2}\d{2}[a-z]{0,4}\d{8,26})(?![\w-]|\.\d)"
)
_HEX: Final = r"[0-9a-f]{1,4}"
# An address of the internet, of four numbers or of up to eight in hexadecimal; a version is neither.
_ADDRESSES_OF_HOSTS: Final = re.compile(
    r"(?<![\w.-])(?<!version )(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\w-]|\.\d)"
    rf"|(?<![\w:])(?=[a-f:]{{0,40}}\d)(?:(?:{_HEX}:){{7}}{_HEX}"
    rf"|{_HEX}(?::{_HEX}){{0,6}}::(?:{_HEX}(?::{_HEX}){{0,6}})?)(?![\w:])",
    re.I,
)
_NUMBERS: Final = re.compile(
    r"(?<![\w.-])(?:\d{3}-\d{2}-\d{4}|\d{4}([ -])\d{4}\1\d{4}\1\d{1,4}"
    r"|[A-Z]{2}\s?\d{2}\s?\d{2}\s?\d{2}\s?[A-D]"
    r"|\d{8,9}|[1-9]\d{10,})(?![\w-]|\.\d)"
)
_EXTENSION: Final = r"(?:[ \t]?[,;]?[ \t]?(?:(?i:extension|extn\.?|ext\.?)[ \t]?:?[ \t]?|[xX])\d{1,6})?"
_PHONES: Final = re.compile(
    r"(?<![\w.+-])(?:\+\d(?:[\s.()-]{0,2}\d){7,14}|00[1-9](?:[\s.()/-]{0,2}\d){8,13}|0\d{2,4}\s?/\s?\d{5,9}"
    r"|(?:\+?1[\s.-])?(?:\(\d{3}\)\s?|\d{3}[\s.-])\d{3}[\s.-]\d{4}"
    r"|0\d{2,4}[\s-]\d{3,4}[\s-]?\d{3,4}|0\d{4}\s\d{5,6}|\(0\d{2,4}\)\s?\d{3,4}\s?\d{3,4}|0\d{9,10}|\d{3}[-.]\d{2}(?!00\b)\d{2}|1?\d{10})"
    rf"{_EXTENSION}(?![\w-]|\.\d)"
)
# Whatever has digits enough where a call is spoken of.
_CALLS: Final = re.compile(
    r"\b(?:call|calls|phone|phoned|ring|text|texted|tel|telefon|telephone|mobile|mob|cell|fax|whatsapp|reach\s+(?:me|us|her|him|them)"
    r"|number\s+is|number)(?:\s+(?:me|us|her|him|them))?(?:\s+(?:on|at|is|no|number))?\s*[.:]{0,2}\s*"
    rf"(\(?\+?\d(?:[\s.()/-]{{0,2}}\d){{6,14}}{_EXTENSION})(?![\w-]|\.\d)",
    re.I,
)

_TENS: Final = "twenty|thirty|forty|fourty|fifty|sixty|seventy|eighty|ninety"
_SAID: Final = (
    rf"(?:(?:{_TENS})(?:[\s-](?:one|two|three|four|five|six|seven|eight|nine))?|eleven|twelve"
    r"|(?:thir|four|fif|six|seven|eigh|nine)teen)"
)
_NUMBER: Final = rf"(?:1[01]\d|\d{{1,2}}|{_SAID})"
_SMALL: Final = "two|three|four|five|six|seven|eight|nine|ten"
_OLD: Final = re.compile(
    rf"(?<![\w.,/])(?:(?:{_NUMBER}|{_SMALL})[\s-]?(?:years?|yrs?|yr)[\s-]?(?:olds?|of[\s-]age)"
    rf"|{_NUMBER}[\s-]?(?:y\.?o\.?|y/o|yrs?\s?old)(?!\w))"
    rf"|(?<![\w.,/])(?:\d{{1,2}}{_NTH}|(?:twen|thir|for|fif|six|seven|eigh|nine)tieth)(?=\s+birthday)",
    re.I,
)
_SEX: Final = re.compile(
    r"(?<![\w.,$£€/:-])(?:[1-9]\d\s?/?\s?(?:F|M|NB|FTM|MTF|FtM|MtF)|(?:F|M|NB)\s?/?\s?[1-9]\d)(?![\w°/:%-]|\.\d)"
    r"|(?<=[(\[])(?:[FMfm],\s?[1-9]\d|[1-9]\d,\s?[FMfm])(?=[)\],])"
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
_FILLER: Final = (
    r"(?:(?:only|just|now|about|almost|nearly|already|barely|like|uh|um|maybe|around|over),?\s+)*"
)
# "I'm 5'4": feet and inches.
_NO_UNIT: Final = (
    rf"(?![\w%/:°$]|['’′]\s?(?:\d|tall)|[.,-]\w|\s*(?:{any_of(words_of('ages', 'units'))})(?!\w))"
)
_AGES: Final = re.compile(
    rf"(?:{headed(_AGE_WORDS)}|{OWN}\s+(?:[a-z]+\s+)?{ROLES}s?\s+(?:is|was|are|were|turned|turns)|{_BLOT}\s+(?:is|was|turned|turns))"
    rf"\s+{_FILLER}({_NUMBER}){_NO_UNIT}",
    re.I,
)
# "when I was nine": a small number is an age where the clause ends or goes on without a noun.
_CLAUSE: Final = r"(?=\s*(?:[.,;!?)]|$|(?:and|when|then|now|but|so|or|at|i|he|she|we|my|they|years?)\b))"
_YOUNG: Final = re.compile(
    rf"(?:{headed(_AGE_WORDS)}|{OWN}\s+(?:[a-z]+\s+)?{ROLES}s?\s+(?:is|was|are|were|turned)|{_BLOT}\s+(?:is|was|turned))"
    rf"\s+{_FILLER}({_SMALL}){_CLAUSE}",
    re.I,
)
# "are four and six": a second age after the first, which is blotted out by then.
_AND_AGE: Final = re.compile(rf"(?:\bare|\bwere)\s+{_BLOT}+\s+and\s+({_NUMBER}|{_SMALL}){_CLAUSE}", re.I)
# From thirteen on "at 43" is no hour.
_AT_AGE: Final = re.compile(
    rf"\bat\s+(1[3-9]|[2-9]\d|{_SAID})(?=,?\s+(?:i|he|she|we|they|my|his|her)\b(?!\s*['’]?m\b))", re.I
)
_AFTER_NAME: Final = re.compile(rf"(?<={_BLOT})\s?[,(]\s?([1-9]\d?)(?=\s?[,.)]|$)")
_AFTER_ROLE: Final = re.compile(rf"\b{ROLES}\s?\(\s?([1-9]\d?)\s?\)")
_CAP: Final = r"[A-Z][\w'’.-]{0,40}"
_STREETS: Final = any_of(words_of("places", "streets"))
_STATES: Final = any_of(words_of("places", "states"))
_ROOM: Final = r"(?:Apt|Apartment|Suite|Flat|Unit)\.?\s+#?\w{1,5}"
_ADDRESSES: Final = re.compile(
    rf"(?<!\w)P\.?\s?O\.?\s?Box\s+\d+(?:,\s+{_CAP}(?:\s{_CAP}){{0,2}})?(?:,\s+(?:{_STATES})\s+\d{{5}})?|"
    rf"(?<![\w.,])(?:{_ROOM},?\s+)?\d{{1,5}}[A-Za-z]?,?\s+(?:{_CAP}\s+){{1,3}}(?:{_STREETS})(?!\w)(?:,?\s+{_ROOM})?"
    r"|(?<!\w)(?:GIR\s?0AA|[A-Z]{1,2}\d[A-Z\d]?\s\d[A-Z]{2})(?!\w)"
    rf"|(?<!\w)(?:{_CAP}(?:\s{_CAP}){{0,2}},\s*)?(?:{_STATES})\s+\d{{5}}(?:-\d{{4}})?(?!\w)"
)
# "51.5074, -0.1278", "40.7128° N, 74.0060° W"; two shares ("0.6931, 0.5012") are none.
_COORDINATES: Final = re.compile(
    r"(?<![\w.,-])(?!0\.\d{1,12},\s?0\.)[-+−]?\d{1,2}\.(?:\d{4,12}\s?°?|\d{1,12}\s?°)\s?[NS]?\s?[,;/]?\s?"
    r"[-+−]?\d{1,3}\.(?:\d{4,12}(?:\s?°)?|\d{1,12}\s?°)(?:\s?[EW]\b)?(?![\w.-]*\d)"
)
_ZIP: Final = re.compile(r"\bzip(?:\s?code)?\s*(?:is|:)?\s*(\d{5}(?:-\d{4})?)(?!\w)", re.I)


def _search(
    kind: Kind, pattern: re.Pattern[str], needs: Callable[[str], object], group: int | None = 0
) -> Search:
    """A search for a group of a pattern (None: the one that matched) in texts that hold what it needs."""

    def search(text: str) -> Iterator[tuple[int, int, Kind]]:
        if needs(text):
            for found in pattern.finditer(text):
                yield *found.span(found.lastindex or 0 if group is None else group), kind

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
    _search("EMAIL", _SPELLED, _holds(" at ")),
    _search("LINK", _LINKS, _holds(*_LINK_SIGNS)),
    _search("USER", _USERS, _holds("@", "u/")),
    _search("USER", _HANDLES, _holds("#", *_NETWORKS), None),
    _search("PLACE", _COORDINATES, _DIGIT.search),
    _search("NUMBER", _SORT_CODES, _holds("code"), 1),
    _search("NUMBER", _IBANS, _DIGIT.search),
    _search("NUMBER", _ADDRESSES_OF_HOSTS, _DIGIT.search),
    _search("DATE", _DATES, _DIGIT.search),
    _search("DATE", _DAYS, _DIGIT.search, 1),
    _search("NUMBER", _IDS, _DIGIT.search, 1),
    _search("NUMBER", _NUMBERS, _DIGIT.search),
    _search("PHONE", _PHONES, _DIGIT.search),
    _search("PHONE", _CALLS, _DIGIT.search, 1),
    _search("PLACE", _ADDRESSES, _DIGIT.search),
    _search("PLACE", _ZIP, _holds("zip"), 1),
    _search("AGE", _OLD, _holds("old", "yo", "y/o", "y.o", "of age", "birthday")),
    _search("AGE", _SEX, _DIGIT.search),
    _search("AGE", _AGES, lambda _: True, 1),
    _search("AGE", _YOUNG, lambda _: True, 1),
    _search("AGE", _AND_AGE, _holds("are ", "were "), 1),
    _search("AGE", _AT_AGE, _holds("at "), 1),
    _search("AGE", _AFTER_NAME, _DIGIT.search, 1),
    _search("AGE", _AFTER_ROLE, _DIGIT.search, 1),
    lambda text: ((found.start, found.end, found.kind) for found in named(text)),
)
