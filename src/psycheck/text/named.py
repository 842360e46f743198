"""Names of persons and places in a text, found by lists of names and by where they stand.

A capital is not enough: "Will" and "May" are names and words. A first name that is no other word counts
wherever it is capitalised; one that is counts where a person is spoken of; an unknown word counts after a
title, a kinship ("my sister …"), "my name is", "told", "I live in" and the like. In a headline, where most
words are capitalised, only what is known counts.
"""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Final, Literal, NamedTuple

from psycheck.text.lists import FIRST_NAMES, OWN, ROLES, any_of, headed, words_of

_BOTH: Final = words_of("names", "both")
_SURE: Final = FIRST_NAMES - _BOTH
_SURE_LOWER: Final = frozenset(name.lower() for name in _SURE if len(name) > 2)
_TITLES: Final = words_of("names", "titles")
_STOP: Final = words_of("names", "stop")
_NO_NAME: Final = _STOP | _TITLES | words_of("names", "harmless")
_STOP_ENDINGS: Final = tuple(words_of("names", "stop_endings"))
_NOT_CALLED: Final = words_of("names", "not_called")
_NOT_AFTER: Final = words_of("names", "not_after")
_DOING: Final = words_of("names", "doing")
_PERSON_BEFORE: Final = words_of("names", "person_before")
_WEAK_BEFORE: Final = words_of("names", "weak_before")
_MONTHS: Final = frozenset({"May", "April", "June", "August"})
_KNOWN: Final = words_of("places", "known")
_PLACE_BOTH: Final = words_of("places", "both")
_FIRST_OF_PLACE: Final = frozenset(place.split()[0] for place in _KNOWN | _PLACE_BOTH)
_PLACE_BEFORE: Final = words_of("places", "preposition")
_COMPASS: Final = words_of("places", "compass")
_KINDS: Final = words_of("places", "kinds")
_STATES: Final = words_of("places", "states")

# One capitalised name, also O'Brien, McDonald and Anne-Marie; never all capitals.
_UPPER, _LOWER = r"[A-ZÀ-ÖØ-ÞĀĆČĐĒĘĞİŁŃŌŐŚŞŠŪŹŻŽ]", r"[^\W\d_A-Z]"
_ONE: Final = rf"(?:[A-Z]['’])?{_UPPER}{_LOWER}+(?:[A-Z]{_LOWER}+)?(?:-{_UPPER}?{_LOWER}+)?"
_ANY: Final = rf"({_ONE}|[a-z]{{3,}})(?!\w)"
_CAPITAL: Final = re.compile(rf"(?<![\w@#/'’.-])(?:{_ONE}|[A-Z]{{2,}})(?!\w)")
_NEXT: Final = re.compile(
    rf"(?:[ \t]+[A-Z]\.)?[ \t]+(?:(?:van|von|de|der|la|di|al|el|bin)[ \t]+)*({_ONE})(?!\w)"
)
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")

_TITLED: Final = re.compile(rf"(?<!\w)(?:{any_of(_TITLES)})\b\.?\s+(?:[A-Z]\.\s?)?({_ONE})(?!\w)")
_ROLE: Final = re.compile(rf"{OWN}\s+(?:[a-z-]+\s+)?{ROLES},?\s+{_ANY}")
_CALLED_WORDS: Final = headed(("i am called", "im called", "i'm called", "i’m called", "i go by"))
_CALLED: Final = re.compile(
    rf"(?:{OWN}\s+(?i:(?:(?:full|real|first|last)\s+)?name(?:\s+is|\s+was|['’]?s))|{_CALLED_WORDS})"
    rf"\s+({_ONE}|[a-z]{{2,}})(?![\w'’])"
)
_SELF_WORDS: Final = headed(
    (
        "i am",
        "i'm",
        "i’m",
        "im",
        "this is",
        "call me",
        "calls me",
        "named",
        "named her",
        "named him",
        "called",
    )
)
_SELF: Final = re.compile(rf"({_SELF_WORDS})\s+{_ANY}")
_HERE_IS: Final = re.compile(rf"(?:^|[,.!?]\s{{0,3}})({_ONE}|[a-z]{{3,}})\s+here(?!\w)")
_SIGNED: Final = re.compile(
    r"(?:^|[\n.!?,]\s?)(?i:love|thanks(?:\s+for\s+\w+)?|thank\s+you|regards|best\s+wishes|signed|cheers"
    rf"|sincerely|yours(?:\s+truly)?|hugs|xoxo)\s?[,\n-]{{1,3}}\s?({_ONE})\W{{0,9}}\Z"
)
_MISSED: Final = re.compile(rf"{headed(_PERSON_BEFORE - _WEAK_BEFORE)}\s+([a-z]{{4,}})(?!\w)")
# "\ue000" is what has been found already: "[NAME] and Ravi".
_AND: Final = re.compile(rf"(?<=\ue000)\s+and\s+({_ONE})(?!\w)")

_PLACE: Final = rf"{_ONE}(?:[ \t]+{_ONE}){{0,2}}"
_LIVING: Final = re.compile(rf"{headed(words_of('places', 'live'))}\s+(?:the\s+)?({_PLACE})(?!\w)")
_WATER: Final = re.compile(rf"(?<!\w)(?:{any_of(words_of('places', 'water'))})\b\.?\s+{_PLACE}(?!\w)")
_HOUSE: Final = re.compile(
    rf"(?<!\w)(?:(?:St\.?\s+)?{_ONE}(?:['’]s)?\s+){{1,4}}(?:{any_of(_KINDS)})(?!\w)(?:\s+(?:Center|Centre|School))?"
    rf"|(?<!\w)(?:University|College|City|Town|Village|Bank)\s+of\s+{_PLACE}"
)
_REGION: Final = re.compile(rf",\s*({_ONE}|[A-Z]{{2,3}})(?!\w)")
_ORIGIN: Final = re.compile(
    r"(?i:\b(?:am|['’]?m|are|['’]?re|is|['’]s|was|come|comes|came|moved|commute|drive)(?:\s+originally)?\s+)$"
)
_TRAVEL: Final = re.compile(
    r"(?i:\b(?:mov|fl[ey]|drove|drive|went|go|trip|travel|back|commut)\w*\s+(?:back\s+)?to\s+)$"
)
_THREE: Final = re.compile(r"\S+(?:[ \t]+\S+){0,2}")


class Named(NamedTuple):
    """Where a name stands, and whether of a person or of a place."""

    start: int
    end: int
    kind: Literal["NAME", "PLACE"]


def named(text: str) -> list[Named]:
    """Where names of persons and places stand, in order and without overlap."""
    headline = _headline(text)
    first = _CAPITAL.search(text)
    searches = [_introduced(text, headline)]
    if first is not None:
        searches.append(_titled(text))
        if not headline:
            searches.append(_placed(text))
        searches.append(_listed(text, first.start(), headline))
    found: list[Named] = []
    taken = bytearray(len(text))
    for one in chain.from_iterable(searches):
        if not any(taken[one.start : one.end]):
            taken[one.start : one.end] = b"\1" * (one.end - one.start)
            found.append(one)
    return sorted(found)


def _introduced(text: str, headline: bool) -> Iterator[Named]:
    """Names that are announced: "my name is …", "I'm …", "my sister …", or at the end of a letter."""
    low = text.lower()
    for found in _CALLED.finditer(text) if "name" in low or "called" in low or "go by" in low else ():
        if found[1].lower() not in _NOT_CALLED:
            yield _name(text, found, 1)
    for found in (*_ROLE.finditer(text), *_HERE_IS.finditer(text), *_MISSED.finditer(text)):
        word = found[1]
        known = word in _SURE_LOWER if word.islower() else word in _SURE
        if known or (found.re is _ROLE and word[0].isupper() and not headline and word not in _STOP):
            yield _name(text, found, 1)
    for found in _SELF.finditer(text):
        word = found[2]
        if word.islower():
            known = word in _SURE_LOWER
        elif word in _SURE:
            known = True
        else:
            unknown = not found[1].lower().startswith("this") and _unknown(word)
            known = not headline and word != "Christian" and (word in _BOTH or unknown)
        if known:
            yield _name(text, found, 2)
    for found in _SIGNED.finditer(text):
        if found[1] not in _STOP:
            yield _name(text, found, 1)


def _titled(text: str) -> Iterator[Named]:
    for found in _TITLED.finditer(text):
        if found[1] not in _STOP:
            yield _name(text, found, 1)
    for found in _AND.finditer(text):
        if _unknown(found[1]):
            yield _name(text, found, 1)


def _placed(text: str) -> Iterator[Named]:
    """Places by what stands around them: "University of …", "Lake …", "I live in …"."""
    houses = _HOUSE.finditer(text) if any(kind in text for kind in _KINDS) or " of " in text else ()
    for found in houses:
        start = found.start()
        while (word := _WORD.match(text, start)) and word[0] in _STOP:
            start = word.end() + 1
        if word is not None and word[0] not in _KINDS and start < found.end():
            yield Named(start, found.end(), "PLACE")
    for found in _WATER.finditer(text):
        yield Named(*found.span(), "PLACE")
    for found in _LIVING.finditer(text):
        first = found[1].split()[0]
        if _unknown(first) and first not in _SURE:
            yield Named(found.start(1), _with_region(text, found.end(1)), "PLACE")


def _listed(text: str, start: int, headline: bool) -> Iterator[Named]:
    """Capitalised words one by one: those of the lists, and unknown ones where the word before tells."""
    at = 0
    for found in _CAPITAL.finditer(text, start):
        if found.start() < at:
            continue
        word = found[0]
        if word in _FIRST_OF_PLACE and (end := _known_place(text, found)):
            at = end
            yield Named(found.start(), at, "PLACE")
        elif word.isupper():
            if len(word) > 3 and word.title() in _SURE:
                yield Named(*found.span(), "NAME")
        elif word in _SURE or (word in _BOTH and not headline and _person(text, found)):
            at = _name_end(text, found.end())
            yield Named(found.start(), at, "NAME")
        elif (
            not headline
            and word not in _BOTH
            and _strange(text, found)
            and (kind := _unknown_kind(text, found))
        ):
            at = _name_end(text, found.end())
            yield Named(found.start(), _with_region(text, at) if kind == "PLACE" else at, kind)


def _known_place(text: str, found: re.Match[str]) -> int:
    """Where a place of the lists that begins here ends; 0 if there is none."""
    some = _THREE.match(text, found.start())
    said = re.split(r"[,;:!?()\"”]|['’]s?\b", some[0])[0].split() if some else []
    for count in range(len(said), 0, -1):
        place = " ".join(said[:count])
        bare = place.rstrip(".")
        one = place if place in _KNOWN or place in _PLACE_BOTH else bare
        sure = one in _KNOWN and one not in _BOTH
        if sure or (one in _KNOWN | _PLACE_BOTH and _kind_before(text, found) == "PLACE"):
            at = text.find(one.split()[-1], found.start()) + len(one.split()[-1])
            return _with_region(text, at)
    return 0


def _with_region(text: str, at: int) -> int:
    """Where a place ends that is followed by its country or state: "Leeds, UK"."""
    more = _REGION.match(text, at)
    return more.end() if more and (more[1] in _KNOWN or more[1] in _STATES) else at


def _word_before(text: str, at: int) -> tuple[str, str]:
    """The word before a position, and the marks between them."""
    head = text[max(0, at - 40) : at].rstrip()
    end = len(head)
    while end and not head[end - 1].isalnum() and not head[end - 1].isspace():
        end -= 1
    start = end
    while start and (head[start - 1].isalpha() or head[start - 1] in "'’"):
        start -= 1
    return head[start:end], head[end:]


def _kind_before(text: str, found: re.Match[str]) -> Literal["NAME", "PLACE", ""]:
    """What the word before speaks of: "in" of a place, "told" of a person, "from" of either."""
    word, marks = _word_before(text, found.start())
    if marks or not word:
        return ""
    word = word.lower()
    head = text[max(0, found.start() - 40) : found.start()]
    if word in ("from", "to"):
        where = _ORIGIN.search(head.removesuffix("from ")) if word == "from" else _TRAVEL.search(head)
        return "PLACE" if where or (word == "from" and found[0] in _PLACE_BOTH) else "NAME"
    if word in _PLACE_BEFORE:
        return "PLACE"
    return "NAME" if word in _PERSON_BEFORE else ""


def _unknown_kind(text: str, found: re.Match[str]) -> Literal["NAME", "PLACE", ""]:
    kind = _kind_before(text, found)
    word, marks = _word_before(text, found.start())
    if kind == "NAME" and word.lower() in _WEAK_BEFORE:
        surname = _NEXT.match(text, found.end())
        return "NAME" if _does(text, found.end()) or (surname and _unknown(surname[1])) else ""
    if not kind and word and not marks and word[0].islower() and _does(text, found.end()):
        return "NAME"
    return kind


def _does(text: str, at: int) -> bool:
    """Whether the next word is what a person does."""
    after = _WORD.match(text, at + 1)
    return after is not None and text[at] == " " and after[0].lower() in _DOING


def _person(text: str, found: re.Match[str]) -> bool:
    """Whether an ambiguous name is of a person here: inside a sentence, or before what a person does."""
    word, marks = _word_before(text, found.start())
    joined = text.startswith((" and I ", ", my "), found.end())
    if found[0] in _MONTHS:
        strong = word.lower() in _PERSON_BEFORE - _WEAK_BEFORE
        return joined or (strong and not marks)
    if _does(text, found.end()):
        return marks != "" or word.lower() not in _NOT_AFTER
    if not word or marks not in ("", ","):
        return joined
    return joined or (not marks and word[0].islower() and word.lower() not in _NOT_AFTER)


def _name(text: str, found: re.Match[str], group: int) -> Named:
    start, end = found.span(group)
    return Named(start, _name_end(text, end) if found[group][0].isupper() else end, "NAME")


def _name_end(text: str, at: int) -> int:
    """Where a name ends that goes on with further capitalised words: a surname, or two."""
    for _ in range(2):
        more = _NEXT.match(text, at)
        if more is None or more[1] in _STOP:
            break
        at = more.end()
    return at


def _unknown(word: str) -> bool:
    """Whether a capitalised word may be a name, for all that the lists know."""
    return word not in _NO_NAME and not word.endswith(_STOP_ENDINGS)


def _strange(text: str, found: re.Match[str]) -> bool:
    """Whether a capitalised word may be a name here; "New" and "South" may where another follows."""
    return _unknown(found[0]) or (found[0] in _COMPASS and _NEXT.match(text, found.end()) is not None)


def _headline(text: str) -> bool:
    """Whether most words are capitalised, so that a capital tells nothing."""
    head = text[:400]
    if len(_CAPITAL.findall(head)) < 4:
        return False
    words = [word for word in _WORD.findall(head) if len(word) > 3]
    return len(words) >= 4 and sum(word[0].isupper() for word in words) > 0.6 * len(words)
