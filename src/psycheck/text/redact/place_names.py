"""Names of places, found by lists of names and by their place in a sentence."""

import re
from collections.abc import Iterator
from typing import Final, Literal

from psycheck.text.redact.lists import (
    BOTH,
    CAPITALS,
    FORMS,
    NAMES,
    PATTERNS,
    PLACE_NAMES,
    PLACES,
    SURE,
    TITLES,
    TITLES_OF_WORKS,
    Found,
    compiled,
    everyday,
    may_be_name,
    unknown,
    word_before,
)

_FORMS: Final = compiled(PATTERNS["places"])
_KINDS: Final = PLACES["kinds"]
_COMPASS: Final = PLACES["compass"]
_KNOWN: Final = PLACE_NAMES | PLACES["rather"]
_LISTED: Final = _KNOWN | PLACES["both"]
_REGIONS: Final = _KNOWN | PLACES["states"] | {"Georgia"}
FIRST_OF_PLACE: Final = frozenset(place.split()[0] for place in _LISTED)
_KNOWN_LOWER: Final = frozenset(
    place.lower() for place in _KNOWN if len(place) > 3 and place.isascii() and "." not in place
) | frozenset(PLACES["short"])
TAGS: Final = frozenset(place.replace(" ", "").replace(".", "").lower() for place in _KNOWN if len(place) > 3)


def lower_case(text: str) -> Iterator[Found]:
    """Places of the list that are written small, after "in", "from" and the like."""
    for found in _FORMS["lower_place"].finditer(text):
        words = found[1].split()
        for count in range(len(words), 0, -1):
            if " ".join(words[:count]) in _KNOWN_LOWER:
                end = found.start(1) + len(" ".join(words[:count]))
                yield Found(found.start(1), end, "PLACE")
                break


def placed(text: str) -> Iterator[Found]:
    """Places by the words around them: "University of …", "Lake …", "I live in …"."""
    possible = " of " in text or any(kind in text for kind in _KINDS)
    for found in _FORMS["house"].finditer(text) if possible else ():
        start = _proper(text, found.start(), found.end())
        if start < found.end():
            yield Found(start, with_region(text, found.end()), "PLACE")
    if any(sign in text for sign in PLACES["water"]):
        for found in _FORMS["water"].finditer(text):
            if any(unknown(word) for word in FORMS["word"].findall(found[0])[1:]):
                yield Found(*found.span(), "PLACE")
    for found in _FORMS["working"].finditer(text):
        words = FORMS["word"].findall(found[1])
        plain = len(words) > 1 and not any(word in CAPITALS or word in TITLES for word in words)
        if not FORMS["field_term"].match(text, found.start(1) - 1) and (plain or any(map(unknown, words))):
            yield Found(found.start(1), with_region(text, found.end(1)), "PLACE")
    for found in _FORMS["living"].finditer(text):
        words = found[1].split()
        # "moved to Swindon Hoping for more": everyday English at the end is not part of it.
        while words and not may_be_name(words[-1]) and words[-1] not in _COMPASS:
            words.pop()
        if words and (unknown(words[0]) or words[0] in _COMPASS) and (words[0] not in SURE or len(words) > 1):
            end = found.start(1) + len(found[1]) if len(words) == len(found[1].split()) else 0
            end = end or text.index(words[-1], found.start(1)) + len(words[-1])
            yield Found(found.start(1), with_region(text, end), "PLACE")


def _proper(text: str, start: int, end: int) -> int:
    """Where the name of an institution begins, without words that open the sentence; `end` if nowhere."""
    words = list(FORMS["word"].finditer(text, start, end))
    for i, word in enumerate(words):
        if word[0] in _KINDS and i == len(words) - 1:
            return end
        rest = [one[0] for one in words[i:]]
        opens = i == 0 and everyday(word[0]) and word_before(text, start)[0] == "" and len(rest) > 1
        if opens and word[0] not in BOTH and word[0] not in _KINDS:
            continue
        proper = [one for one in rest if one not in _KINDS and not (everyday(one) and one not in BOTH)]
        # A clinic may well bear the name of a film.
        named = (
            any(one not in CAPITALS or one in TITLES_OF_WORKS for one in proper) or " of " in text[start:end]
        )
        # "Harbor View Clinic": two words of everyday English make a name when they stand before a kind.
        return word.start() if named or len(rest) > 2 else end
    return end


def known_place(text: str, found: re.Match[str]) -> int:
    """Where a place of the lists that begins here ends; 0 if there is none."""
    some = _FORMS["four"].match(text, found.start())
    words = re.split(r"[,;:!?…*~()\"”]|\.\.|['’]s?\b", some[0])[0].split() if some else []
    for count in range(len(words), 0, -1):
        place = " ".join(words[:count])
        one = place if place in _LISTED else place.rstrip(".")
        if one not in _LISTED:
            continue
        before = kind_before(text, found)
        sure = one in _KNOWN and one not in BOTH and not (one in PLACES["rather"] and before == "NAME")
        end = found.start() + len(one)
        if sure or before == "PLACE" or with_region(text, end) > end:
            at = found.start()
            for word in one.split():  # "Wagga Wagga"
                at = text.find(word, at) + len(word)
            more = _FORMS["state_after"].match(text, at)
            return with_region(text, more.end() if more else at)
    return 0


def with_region(text: str, at: int) -> int:
    """Where a place ends that is followed by its country or state: "Leeds, UK"."""
    more = _FORMS["region"].match(text, at)
    return more.end() if more and more[1] in _REGIONS else at


def kind_before(text: str, found: re.Match[str]) -> Literal["NAME", "PLACE", ""]:
    """What the word before announces: "in" a place, "told" a person, "from" either."""
    word, marks = word_before(text, found.start())
    head = text[max(0, found.start() - 40) : found.start()]
    if word.lower() in ("uh", "um", "the"):
        head = head.rstrip()[: -len(word)]
        word, marks = word_before(text, found.start() - len(word) - 1)
    if marks or not word:
        return ""
    word = word.lower()
    if word in ("from", "to"):
        form = _FORMS["origin" if word == "from" else "travel"]
        where = form.search(head.removesuffix("from ") if word == "from" else head)
        both = found[0] in PLACES["both"] and found[0] not in SURE
        return "PLACE" if where or both or found[0] in PLACES["rather"] else "NAME"
    if word in PLACES["preposition"]:
        return "PLACE"
    return "NAME" if word in NAMES["person_before"] else ""


def compass(text: str, found: re.Match[str]) -> bool:
    """Whether "New", "South" and the like stand before another capitalised word that may be a name."""
    more = FORMS["next"].match(text, found.end()) if found[0] in _COMPASS else None
    return more is not None and unknown(more[1])
