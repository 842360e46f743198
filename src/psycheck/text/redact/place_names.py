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
from psycheck.text.surroundings import text_before

_FORMS: Final = compiled(PATTERNS["places"])
_KINDS: Final = PLACES["kinds"]
_COMPASS: Final = PLACES["compass"]
_KNOWN: Final = PLACE_NAMES | PLACES["rather"]
_LISTED: Final = _KNOWN | PLACES["both"]
_REGIONS: Final = _KNOWN | PLACES["states"] | {"Georgia"}
FIRST_OF_PLACE: Final = frozenset(place.split()[0] for place in _LISTED)
_LONG: Final = [place for place in _KNOWN if len(place) > 3]  # letters: shorter ones are often other words


def _lower_names() -> frozenset[str]:
    """The places that are known in lower case as well: long ones without dots, and some short ones."""
    plain_names = [place for place in _LONG if place.isascii() and "." not in place]
    return frozenset(name.lower() for name in plain_names) | PLACES["short"]


def _hashtags() -> frozenset[str]:
    """The places as they stand in hashtags: "newyork"."""
    hashtags = set()
    for place in _LONG:
        joined = place.replace(" ", "").replace(".", "")
        hashtags.add(joined.lower())
    return frozenset(hashtags)


_KNOWN_LOWER: Final = _lower_names()
TAGS: Final = _hashtags()
_PHRASE_END: Final = re.compile(r"[,;:!?…*~()\"”]|\.\.|['’]s?\b")


def lower_case(text: str) -> Iterator[Found]:
    """Places of the list that are written small, after "in", "from" and the like."""
    for match in _FORMS["lower_place"].finditer(text):
        start = match.start(1)
        words = match[1].split()
        # The longest name first: "new york" before "new".
        for count in range(len(words), 0, -1):
            place = " ".join(words[:count])
            if place in _KNOWN_LOWER:
                yield Found(start, start + len(place), "PLACE")
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
        end = match.end()
        start = _proper(text, match.start(), end)
        if start < end:
            yield Found(start, with_region(text, end), "PLACE")


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
        start, end = match.span(1)
        # Brands and titles are no proof; two other capitalised words, or an unknown one, are.
        words = FORMS["word"].findall(match[1])
        is_harmless = any(word in CAPITALS or word in TITLES for word in words)
        has_long_name = len(words) > 1 and not is_harmless
        if has_long_name or any(map(unknown, words)):
            yield Found(start, with_region(text, end), "PLACE")


def _homes(text: str) -> Iterator[Found]:
    """Where somebody lives or moves: "I live in …", "moved to …"."""
    for match in _FORMS["living"].finditer(text):
        start, end = match.span(1)
        all_words = match[1].split()
        words = list(all_words)
        # "moved to Swindon Hoping for more": everyday English at the end is not part of it.
        while words and not may_be_name(words[-1]) and words[-1] not in _COMPASS:
            words.pop()
        if not words or not _begins_place(words):
            continue
        if len(words) < len(all_words):
            last = words[-1]
            end = text.index(last, start) + len(last)
        yield Found(start, with_region(text, end), "PLACE")


def _begins_place(words: list[str]) -> bool:
    """True if words may name a place; a first name alone is rather a person."""
    may_begin = unknown(words[0]) or words[0] in _COMPASS
    return may_begin and (words[0] not in SURE or len(words) > 1)


def _proper(text: str, start: int, end: int) -> int:
    """Where the name of an institution begins, without words that open the sentence; `end` if nowhere."""
    matches = list(FORMS["word"].finditer(text, start, end))
    words = [match[0] for match in matches]
    # "The Harbor Clinic", at the start of a sentence, begins with its second word.
    preceding_word, _ = word_before(text, start)
    opens_sentence = preceding_word == ""
    first = 1 if len(words) > 1 and opens_sentence and _is_no_name(words[0]) else 0
    name = words[first:]
    is_kind_alone = len(name) == 1 and name[0] in _KINDS
    if not name or is_kind_alone:
        return end

    # "Harbor View Clinic": two words of everyday English make a name when they stand before a kind.
    is_long = len(name) > 2
    is_name = is_long or " of " in text[start:end] or any(map(_is_proper, name))
    return matches[first].start() if is_name else end


def _is_no_name(word: str) -> bool:
    """True for a word of everyday English that is neither a first name nor a kind of institution."""
    return everyday(word) and word not in BOTH and word not in _KINDS


def _is_proper(word: str) -> bool:
    """True if a word before the kind of an institution may be its name; it may well be that of a film."""
    is_only_a_word = everyday(word) and word not in BOTH
    if word in _KINDS or is_only_a_word:
        return False
    return word not in CAPITALS or word in TITLES_OF_WORKS


def known_place(text: str, match: re.Match[str]) -> int:
    """Where a place of the lists that begins here ends; 0 if there is none."""
    start = match.start()
    four_words = _FORMS["four"].match(text, start)
    if four_words is None:
        return 0
    phrase, *_ = _PHRASE_END.split(four_words[0])
    words = phrase.split()
    for count in range(len(words), 0, -1):
        written = " ".join(words[:count])
        place = written if written in _LISTED else written.rstrip(".")
        if place not in _LISTED:
            continue
        announced = kind_before(text, match)
        name_end = start + len(place)
        is_sure = _is_sure(place, announced)
        has_region = with_region(text, name_end) > name_end
        if is_sure or announced == "PLACE" or has_region:
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
    if region and region[1] in _REGIONS:
        return region.end()
    return at


def kind_before(text: str, match: re.Match[str]) -> Literal["NAME", "PLACE", ""]:
    """What the word before announces: "in" a place, "told" a person, "from" either."""
    start = match.start()
    word, marks = word_before(text, start)
    head = text_before(text, start, 40)
    # "in the Hague", "from um Leeds": what announces the name stands before these.
    if word.lower() in ("uh", "um", "the"):
        head = head.rstrip()[: -len(word)]
        word, marks = word_before(text, start - len(word) - 1)
    if marks or not word:
        return ""
    word = word.lower()
    if word in ("from", "to"):
        if _is_origin_or_goal(match[0], word, head):
            return "PLACE"
        return "NAME"
    if word in PLACES["preposition"]:
        return "PLACE"
    if word in NAMES["person_before"]:
        return "NAME"
    return ""


def _is_origin_or_goal(name: str, preposition: str, head: str) -> bool:
    """True if a name after "from" or "to" is a place: "moved to", "I'm from"; but "a letter from"."""
    if name in PLACES["rather"]:
        return True
    if name in PLACES["both"] and name not in SURE:
        return True
    if preposition == "from":
        return _FORMS["origin"].search(head.removesuffix("from ")) is not None
    return _FORMS["travel"].search(head) is not None


def compass(text: str, match: re.Match[str]) -> bool:
    """True if "New", "South" and the like stand before another capitalised word that may be a name."""
    if match[0] not in _COMPASS:
        return False
    following = FORMS["next"].match(text, match.end())
    if following is None:
        return False
    return unknown(following[1])
