"""Names of persons and places in a text, in order and without overlap.

How they are told is said in person_names.py and place_names.py. In a headline, where most words are
capitalised, only what is known counts.
"""

from collections.abc import Iterator
from itertools import chain

from psycheck.text import person_names as persons
from psycheck.text import place_names as places
from psycheck.text.capitals import BOTH, CAPITAL, SURE, Named, headline, name_end, unknown
from psycheck.text.lists import CAPITALS

__all__ = ["Named", "named"]


def named(text: str) -> list[Named]:
    """Where names of persons and places stand."""
    loud = headline(text)
    first = CAPITAL.search(text)
    searches = [persons.introduced(text, loud)]
    if first is not None:
        if not loud:
            searches.append(places.placed(text))
        searches += [persons.titled(text, loud), _listed(text, first.start(), loud)]
    searches += [places.lower_case(text), persons.lower_case(text)]
    found: list[Named] = []
    taken = bytearray(len(text))
    for one in chain.from_iterable(searches):
        if not any(taken[one.start : one.end]):
            taken[one.start : one.end] = b"\1" * (one.end - one.start)
            found.append(one)
    return sorted(found)


def _listed(text: str, start: int, loud: bool) -> Iterator[Named]:
    """Capitalised words one by one: those of the lists, and unknown ones by their place in the sentence."""
    at = 0
    for found in CAPITAL.finditer(text, start):
        if found.start() < at:
            continue
        word = found[0]
        if word in places.FIRST_OF_PLACE and (end := places.known_place(text, found)):
            at = end
            yield Named(found.start(), at, "PLACE")
        elif word.isupper():
            if len(word) > 3 and word.title() in SURE and word not in CAPITALS:
                yield Named(*found.span(), "NAME")
        elif word in SURE or (word in BOTH and not loud and persons.ambiguous(text, found)):
            at = name_end(text, found.end())
            yield Named(found.start(), at, "NAME")
        elif loud or word in BOTH:
            continue
        elif places.compass(text, found) or (unknown(word) and persons.strange(text, found)):
            at = name_end(text, found.end())
            if places.kind_before(text, found) == "PLACE" or places.compass(text, found):
                at = places.with_region(text, at)
                yield Named(found.start(), at, "PLACE")
            else:
                yield Named(found.start(), at, "NAME")
