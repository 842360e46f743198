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
_PHRASE_END: Final = re.compile(r"[,;:!?…*~()\"”]|\.\.|['’]s?\b")


def lower_case(text: str) -> Iterator[Found]:
    """Places of the list that are written small, after "in", "from" and the like."""
    for match in _FORMS["lower_place"].finditer(text):
        words = match[1].split()
        for count in range(len(words), 0, -1):
            place = " ".join(words[:count])
            if place in _KNOWN_LOWER:
                yield Found(match.start(1), match.start(1) + len(place), "PLACE")
                break


def placed(text: str) -> Iterator[Found]:
    """Places by the words around them: "University of …", "Lake …", "I live in …"."""
    # A glance at the text spares most of them the slower patterns.
    if " of " in text or any(kind in text for kind in _KINDS):
        yield from _institutions(text)
    if any(sign in text for sign in PLACES["water"]):
        yield from _waters(text)
    yield from _workplaces(text)
    yield from _homes(text)


def _institutions(text: str) -> Iterator[Found]:
    """Institutions by their kind: "Harbor View Clinic", "University of …"."""
    for match in _FORMS["house"].finditer(text):
        start = _proper(text, match.start(), match.end())
        if start < match.end():
            yield Found(start, with_region(text, match.end()), "PLACE")


def _waters(text: str) -> Iterator[Found]:
    """Lakes, rivers and the like, if their name is not everyday English."""
    for match in _FORMS["water"].finditer(text):
        names = FORMS["word"].findall(match[0])[1:]
        if any(map(unknown, names)):
            yield Found(match.start(), match.end(), "PLACE")


def _workplaces(text: str) -> Iterator[Found]:
    """Where somebody works or studies: "I work at …"."""
    for match in _FORMS["working"].finditer(text):
        if FORMS["field_term"].match(text, match.start(1) - 1):
            continue
        words = FORMS["word"].findall(match[1])
        harmless = any(word in CAPITALS or word in TITLES for word in words)
        has_long_name = len(words) > 1 and not harmless
        if has_long_name or any(map(unknown, words)):
            yield Found(match.start(1), with_region(text, match.end(1)), "PLACE")


def _homes(text: str) -> Iterator[Found]:
    """Where somebody lives or moves: "I live in …", "moved to …"."""
    for match in _FORMS["living"].finditer(text):
        all_words = match[1].split()
        words = list(all_words)
        # "moved to Swindon Hoping for more": everyday English at the end is not part of it.
        while words and not may_be_name(words[-1]) and words[-1] not in _COMPASS:
            words.pop()
        if not words or not _begins_place(words):
            continue
        if len(words) == len(all_words):
            end = match.end(1)
        else:
            end = text.index(words[-1], match.start(1)) + len(words[-1])
        yield Found(match.start(1), with_region(text, end), "PLACE")


def _begins_place(words: list[str]) -> bool:
    """True if words may name a place; a first name alone is rather a person."""
    may_begin = unknown(words[0]) or words[0] in _COMPASS
    return may_begin and (words[0] not in SURE or len(words) > 1)


def _proper(text: str, start: int, end: int) -> int:
    """Where the name of an institution begins, without words that open the sentence; `end` if nowhere."""
    matches = list(FORMS["word"].finditer(text, start, end))
    words = [match[0] for match in matches]
    # "The Harbor Clinic", at the start of a sentence, begins with its second word.
    opens_sentence = word_before(text, start)[0] == ""
    first = 1 if len(words) > 1 and opens_sentence and _is_no_name(words[0]) else 0
    name = words[first:]
    if not name or (len(name) == 1 and name[0] in _KINDS):
        return end

    # "Harbor View Clinic": two words of everyday English make a name when they stand before a kind.
    is_name = len(name) > 2 or " of " in text[start:end] or any(map(_is_proper, name))
    return matches[first].start() if is_name else end


def _is_no_name(word: str) -> bool:
    """True for a word of everyday English that is neither a first name nor a kind of institution."""
    return everyday(word) and word not in BOTH and word not in _KINDS


def _is_proper(word: str) -> bool:
    """True if a word before the kind of an institution may be its name; it may well be that of a film."""
    if word in _KINDS or (everyday(word) and word not in BOTH):
        return False
    return word not in CAPITALS or word in TITLES_OF_WORKS


def known_place(text: str, found: re.Match[str]) -> int:
    """Where a place of the lists that begins here ends; 0 if there is none."""
    start = found.start()
    four_words = _FORMS["four"].match(text, start)
    if four_words is None:
        return 0
    words = _PHRASE_END.split(four_words[0])[0].split()
    for count in range(len(words), 0, -1):
        written = " ".join(words[:count])
        place = written if written in _LISTED else written.rstrip(".")
        if place not in _LISTED:
            continue
        announced = kind_before(text, found)
        region_end = start + len(place)
        is_sure = _is_sure(place, announced)
        if is_sure or announced == "PLACE" or with_region(text, region_end) > region_end:
            return _end_of_place(text, start, place)
    return 0


def _is_sure(place: str, announced: str) -> bool:
    """True if a place of the lists is one whatever stands around it; "Paris" after "told" is a person."""
    if place not in _KNOWN or place in BOTH:
        return False
    return place not in PLACES["rather"] or announced != "NAME"


def _end_of_place(text: str, start: int, place: str) -> int:
    """Where a place ends in the text, which may have more white space, with its state and country."""
    end = start
    for word in place.split():  # "Wagga Wagga"
        end = text.find(word, end) + len(word)
    state = _FORMS["state_after"].match(text, end)
    return with_region(text, state.end() if state else end)


def with_region(text: str, at: int) -> int:
    """Where a place ends that is followed by its country or state: "Leeds, UK"."""
    region = _FORMS["region"].match(text, at)
    return region.end() if region and region[1] in _REGIONS else at


def kind_before(text: str, found: re.Match[str]) -> Literal["NAME", "PLACE", ""]:
    """What the word before announces: "in" a place, "told" a person, "from" either."""
    start = found.start()
    word, marks = word_before(text, start)
    head = text[max(0, start - 40) : start]
    if word.lower() in ("uh", "um", "the"):
        head = head.rstrip()[: -len(word)]
        word, marks = word_before(text, start - len(word) - 1)
    if marks or not word:
        return ""
    word = word.lower()
    if word in ("from", "to"):
        return "PLACE" if _is_origin_or_goal(found[0], word, head) else "NAME"
    if word in PLACES["preposition"]:
        return "PLACE"
    return "NAME" if word in NAMES["person_before"] else ""


def _is_origin_or_goal(name: str, preposition: str, head: str) -> bool:
    """True if a name after "from" or "to" is a place: "moved to", "I'm from"; but "a letter from"."""
    if name in PLACES["rather"] or (name in PLACES["both"] and name not in SURE):
        return True
    if preposition == "from":
        return _FORMS["origin"].search(head.removesuffix("from ")) is not None
    return _FORMS["travel"].search(head) is not None


def compass(text: str, found: re.Match[str]) -> bool:
    """True if "New", "South" and the like stand before another capitalised word that may be a name."""
    if found[0] not in _COMPASS:
        return False
    following = FORMS["next"].match(text, found.end())
    return following is not None and unknown(following[1])
