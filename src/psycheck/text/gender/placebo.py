"""The placebo of a gender swap: an edit of as many words and characters that leaves gender alone."""

from collections.abc import Mapping, Sequence
from re import Match
from typing import Final

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
_NEAREST, _SPARE = 2, 6  # wordings tried: so many per swapped word, and so many more
_REACH: Final = 4  # characters that the length may be off on the way


def placebo(text: str, swapped: Edited) -> Edited:
    """Replace as many words as the swap of a text did, near the swapped ones, so that its length is the same.

    A text with too few words that can be replaced, or with none that make up the length, stays as it is:
    a model that only sees the length must do the same with the placebo as with the swap.
    """
    addresses = address_spans(text)
    matches = [match for match in _PATTERN.finditer(text) if not inside(addresses, match.start())]
    words = len(swapped.spans)
    if len(matches) < words:
        return Edited(text, ())

    places = [start for start, _ in swapped.spans]
    distance = {m.start(): min(abs(m.start() - place) for place in places) for m in matches}
    matches.sort(key=lambda match: distance[match.start()])
    nearest = matches[: _NEAREST * words + _SPARE]
    changes = _fitting(nearest, words, len(swapped.text) - len(text), distance)
    return apply(text, sorted(changes)) if changes else Edited(text, ())


def _fitting(
    matches: Sequence[Match[str]], words: int, growth: int, distance: Mapping[int, int]
) -> tuple[Change, ...]:
    """The replacements of so many wordings, the nearest together, that make a text longer by `growth`."""
    # By how many are replaced and how much longer the text is: the distance so far, and the replacements.
    best: dict[tuple[int, int], tuple[int, tuple[Change, ...]]] = {(0, 0): (0, ())}
    for match in matches:
        away = distance[match.start()]
        for (count, grown), (total, changes) in list(best.items()):
            if count == words:
                continue
            for start, end, new in _replacements(match):
                length = grown + len(new) - (end - start)
                reached = best.get((count + 1, length))
                near_enough = reached is None or total + away < reached[0]
                if near_enough and abs(length - growth) <= _REACH:
                    best[count + 1, length] = total + away, (*changes, (start, end, new))
    return best.get((words, growth), (0, ()))[1]


def _replacements(match: Match[str]) -> list[Change]:
    """The ways to replace one wording."""
    start, end = match.span()
    synonyms = _SYNONYMS[straight(match[0].lower())]
    return [(start, end, carry_style(match[0], synonym)) for synonym in synonyms]
