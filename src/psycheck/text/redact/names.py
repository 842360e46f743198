"""Names of persons and places in a text, in order and without overlap.

person_names.py and place_names.py say how names are recognised. In a headline, where most words are
capitalised, only what is known counts.
"""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Final

from psycheck.text.redact import person_names as persons
from psycheck.text.redact import place_names as places
from psycheck.text.redact.capitals import (
    BOTH,
    FORMS,
    SURE,
    Found,
    headline,
    name_end,
    unknown,
    word_before,
)
from psycheck.text.redact.lists import CAPITALS, NAMES, words_of

_HASHTAG: Final = re.compile(r"(?<![\w#&/])#(\w{2,100})")
_TAG_PARTS: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W\dA-Za-z_]+")
_LATIN: Final = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
# Letters from Greek on, with the marks that some scripts write between them; up to three words.
_LETTERS: Final = r"[\u0370-\u1cff\u1f00-\u1fff\u3040-\ud7ff\uf900-\ufaff]"
_OTHER: Final = re.compile(rf"(?<!\w){_LETTERS}+(?:[ \t·・-]{_LETTERS}+){{0,2}}")
_HAN_SURNAMES: Final = words_of("scripts", "han_surnames")
_LONGEST_HAN: Final = 4


def named(text: str) -> list[Found]:
    """Where names of persons and places stand."""
    loud = headline(text)
    first = FORMS["capital"].search(text)
    searches = [persons.introduced(text, loud)]
    if first is not None:
        if not loud:
            searches.append(places.placed(text))
        searches += [persons.titled(text, loud), _listed(text, first.start(), loud)]
    if not text.isascii():
        searches.append(_other_scripts(text))
    if "#" in text:
        searches.append(_hashtags(text))
    searches += [places.lower_case(text), persons.lower_case(text)]
    found: list[Found] = []
    taken = bytearray(len(text))
    for one in chain.from_iterable(searches):
        if not any(taken[one.start : one.end]):
            taken[one.start : one.end] = b"\1" * (one.end - one.start)
            found.append(one)
    return sorted(found)


def _listed(text: str, start: int, loud: bool) -> Iterator[Found]:
    """Capitalised words one by one: those of the lists, and unknown ones by their place in the sentence."""
    at = 0
    for found in FORMS["capital"].finditer(text, start):
        if found.start() < at:
            continue
        word = found[0]
        # Right behind a name another may begin, as at the beginning of a sentence.
        follows = 0 < at < found.start() and text[at : found.start()].isspace()
        # "Edinburgh Postnatal Depression Scale", "Charles Bonnet Syndrome".
        if FORMS["named_term"].match(text, found.end()):
            continue
        if word in places.FIRST_OF_PLACE and (end := places.known_place(text, found)):
            at = end
            yield Found(found.start(), at, "PLACE")
        elif word not in SURE and FORMS["field_term"].match(text, found.end()):
            continue
        elif word.isupper():
            if len(word) > 3 and word.title() in SURE and word not in CAPITALS:
                yield Found(*found.span(), "NAME")
        elif word in SURE or (word in BOTH and not loud and persons.ambiguous(text, found)):
            at = name_end(text, found.end())
            yield Found(found.start(), at, "NAME")
        elif loud or word in BOTH:
            continue
        elif places.compass(text, found) or (unknown(word) and persons.strange(text, found, follows)):
            at = name_end(text, found.end())
            if places.kind_before(text, found) == "PLACE" or places.compass(text, found):
                at = places.with_region(text, at)
                yield Found(found.start(), at, "PLACE")
            else:
                yield Found(found.start(), at, "NAME")


def _hashtags(text: str) -> Iterator[Found]:
    """Hashtags that are a place or hold a name: "#Brighton", "#RIPKevin", "#JusticeForLoek"."""
    for found in _HASHTAG.finditer(text):
        parts = _TAG_PARTS.findall(found[1])
        heads = {"".join(parts[:i]).lower() for i in range(1, len(parts))}
        titled = not heads.isdisjoint(NAMES["tag_heads"]) and unknown(parts[-1])
        if found[1].lower() in places.TAGS:
            yield Found(*found.span(), "PLACE")
        elif titled or any(part in SURE for part in parts) or found[1] in persons.CLEAR_LOWER:
            yield Found(*found.span(), "NAME")


def _other_scripts(text: str) -> Iterator[Found]:
    """Names in letters that are not Latin, in a text that mostly is.

    A capital inside a sentence tells where a script has capitals, a common surname where a name is a few
    signs long; in any script a name may be announced as in English: "my name is", "my sister", "told".
    """
    found = list(_OTHER.finditer(text))
    if not found or len(_LATIN.findall(text)) <= sum(len(one[0]) for one in found):
        return
    for one in found:
        word, marks = word_before(text, one.start())
        letters = one[0]
        capital = letters[0] != letters[0].lower() and letters != letters.upper()
        han = letters[0] in _HAN_SURNAMES and 1 < len(letters) <= _LONGEST_HAN
        inside = capital and word != "" and marks in ("", ",", "(")
        if inside or han or persons.announces(word, marks) or persons.acts(text, one.end()):
            place = places.kind_before(text, one) == "PLACE"
            yield Found(*one.span(), "PLACE" if place else "NAME")
