"""The placebo of a gender swap: an edit of as many words and characters that leaves gender alone."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from re import Match
from typing import Final, NamedTuple

from psycheck.text.edits import (
    Change,
    Edited,
    address_spans,
    apply,
    carry_style,
    inside,
    straight,
    word_pattern,
)
from psycheck.text.word_lists import read_toml

_DATA: Final = read_toml("gender/placebo.toml")


def _wordings(table: str) -> list[tuple[str, str]]:
    """The two wordings of each line, such as "maybe | perhaps"."""
    pairs = []
    for line in table.splitlines():
        wording, _, synonym = line.partition(" | ")
        if wording:
            pairs.append((wording, synonym))
    return pairs


def _synonyms() -> dict[str, list[str]]:
    """What may replace each wording; the pairs of "both" replace each other."""
    synonyms: dict[str, list[str]] = {}
    for wording, synonym in _wordings(_DATA["first"]):
        synonyms.setdefault(wording, []).append(synonym)
    for wording, synonym in _wordings(_DATA["both"]):
        synonyms.setdefault(wording, []).append(synonym)
        synonyms.setdefault(synonym, []).append(wording)
    return synonyms


_SYNONYMS: Final = _synonyms()
_PATTERN: Final = word_pattern(_SYNONYMS)
_BLOCK: Final = 6  # swapped words whose placebos are chosen together; up to 11, so that none is left over
_NEAREST, _SPARE = 2, 6  # wordings tried for a block: so many per swapped word, and so many more
_REACH: Final = 4  # characters that the length may be off on the way
_MOST_GROWTH: Final = 4  # characters per word that rewordings can make up at best
_LONGEST_WORD: Final = 40  # characters of a swapped word


class _Chosen(NamedTuple):
    """Rewordings of a block: how far they are from the swapped words, how much longer they make the text."""

    distance: int = 0
    growth: int = 0
    rewordings: tuple[tuple[int, Change], ...] = ()  # each with the number of its wording


def placebo(text: str, swapped: Edited) -> Edited:
    """Replace as many words as the swap of a text did, near the swapped ones, so that its length is the same.

    A text with too few words that can be replaced, or with none that make up the length, stays as it is:
    a model that only sees the length must do the same with the placebo as with the swap.
    """
    unchanged = Edited(text, ())
    addresses = address_spans(text)
    wordings = [match for match in _PATTERN.finditer(text) if not inside(addresses, match.start())]
    if len(wordings) < len(swapped.spans):
        return unchanged

    unused = _Unused([match.start() for match in wordings])
    changes: list[Change] = []
    missing = 0  # characters that the blocks before could not make up
    for places, growth in _blocks(text, swapped):
        chosen = _fitting(
            unused.near(places),
            wordings,
            words=len(places),
            growth=growth + missing,
        )
        if chosen is None:
            return unchanged
        missing += growth - chosen.growth
        for number, change in chosen.rewordings:
            unused.take(number)
            changes.append(change)
    if missing:
        return unchanged
    in_order = sorted(changes)
    return apply(text, in_order)


def _blocks(text: str, swapped: Edited) -> Iterator[tuple[list[int], int]]:
    """The swapped words in blocks: where they stood in the text, and how much longer the swap made them."""
    places = _unswapped_places(text, swapped)
    starts = [start for start, _ in swapped.spans]
    # How much longer the text has grown before each swapped word, and at its end.
    grown = [start - place for start, place in zip(starts, places, strict=True)]
    grown.append(len(swapped.text) - len(text))

    words = len(places)
    block_count = max(words // _BLOCK, 1)
    for block in range(block_count):
        first = block * words // block_count
        end = (block + 1) * words // block_count
        yield places[first:end], grown[end] - grown[first]


def _unswapped_places(text: str, swapped: Edited) -> list[int]:
    """Where the swapped words stood in the text: what lies between them is unchanged."""
    places: list[int] = []
    grown = 0
    next_starts = [start for start, _ in swapped.spans[1:]]
    for (start, end), next_start in zip(swapped.spans, next_starts, strict=False):
        place = start - grown
        places.append(place)
        unchanged = swapped.text[end:next_start]
        # The word ended where the unchanged text goes on.
        last_place = place + _LONGEST_WORD + len(unchanged)
        goes_on = text.find(unchanged, place + 1, last_place)
        if unchanged and goes_on >= 0:
            grown = end - goes_on

    last_start = swapped.spans[-1][0]
    places.append(last_start - grown)
    return places


class _Unused:
    """The wordings of a text that no placebo has taken yet, by number, in order of position.

    Each number points at the next unused one in either direction, or at one on the way there.
    """

    def __init__(self, starts: Sequence[int]) -> None:
        self._starts = starts
        self._after = list(range(len(starts) + 1))  # the last stands for "no more"
        self._before = list(range(len(starts) + 1))  # of a number + 1; 0 stands for "no more"

    def near(self, places: Sequence[int]) -> list[tuple[int, int]]:
        """The distance and number of the unused wordings nearest to some places, the nearest first."""
        most = _NEAREST * len(places) + _SPARE
        distances: dict[int, int] = {}
        for place in places:
            at = bisect_left(self._starts, place)
            for number in self._around(at, most):
                away = abs(self._starts[number] - place)
                distances[number] = min(away, distances.get(number, away))
        nearest = sorted((away, number) for number, away in distances.items())
        return nearest[:most]

    def take(self, number: int) -> None:
        """Use a wording."""
        self._after[number] = number + 1
        self._before[number + 1] = number

    def _around(self, at: int, most: int) -> Iterator[int]:
        """Up to so many unused wordings in each direction."""
        number = _end(self._after, at)
        for _ in range(most):
            if number == len(self._starts):
                break
            yield number
            number = _end(self._after, number + 1)

        number = _end(self._before, at)
        for _ in range(most):
            if number == 0:
                break
            yield number - 1
            number = _end(self._before, number - 1)


def _end(links: list[int], at: int) -> int:
    """Where links lead to; they are shortened on the way, so that nobody goes a long way twice."""
    while links[at] != at:
        links[at] = links[links[at]]
        at = links[at]
    return at


def _fitting(
    nearest: Sequence[tuple[int, int]],
    wordings: Sequence[Match[str]],
    *,
    words: int,
    growth: int,
) -> _Chosen | None:
    """The replacements of so many wordings, nearest together, that make a text longer by about `growth`."""
    most = _MOST_GROWTH * words
    target = max(-most, min(growth, most))
    # Choices that stray further are not followed, so that their number stays small.
    lowest = min(target, 0) - _REACH
    highest = max(target, 0) + _REACH

    # By how many are replaced and how much longer the text is: the choice with the least distance.
    best: dict[tuple[int, int], _Chosen] = {(0, 0): _Chosen()}
    for away, number in nearest:
        replacements = _replacements(wordings[number])
        for (count, grown), chosen in list(best.items()):
            if count == words:
                continue
            distance = chosen.distance + away
            for growth_of_change, change in replacements:
                length = grown + growth_of_change
                if not lowest <= length <= highest:
                    continue
                reached = best.get((count + 1, length))
                if reached is None or distance < reached.distance:
                    rewordings = (*chosen.rewordings, (number, change))
                    best[count + 1, length] = _Chosen(distance, length, rewordings)

    def misfit(chosen: _Chosen) -> tuple[int, int]:
        return abs(chosen.growth - target), chosen.distance

    complete = [chosen for (count, _), chosen in best.items() if count == words]
    return min(complete, key=misfit, default=None)


def _replacements(match: Match[str]) -> list[tuple[int, Change]]:
    """The ways to replace one wording, each by how much longer it is: the first of each length."""
    start, end = match.span()
    written = match[0]
    by_growth: dict[int, Change] = {}
    for synonym in _SYNONYMS[straight(written.lower())]:
        new = carry_style(written, synonym)
        growth = len(new) - len(written)
        by_growth.setdefault(growth, (start, end, new))
    return list(by_growth.items())
