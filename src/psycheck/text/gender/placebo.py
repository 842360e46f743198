"""The placebo of a gender swap: an edit of as many words that leaves gender and meaning alone."""

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


def _synonyms() -> dict[str, str]:
    """What replaces each wording; the pairs of "both" replace each other."""
    synonyms = dict(_wordings(_DATA["first"]))
    for wording, synonym in _wordings(_DATA["both"]):
        synonyms[wording] = synonym
        synonyms[synonym] = wording
    return synonyms


_SYNONYMS: Final = _synonyms()
_PATTERN: Final = word_pattern(_SYNONYMS)


def placebo(text: str, swapped: Edited) -> Edited:
    """Replace as many words as the swap of a text did, each near a swapped one; none if it has too few."""
    addresses = address_spans(text)
    candidates = [match for match in _PATTERN.finditer(text) if not inside(addresses, match.start())]
    if len(candidates) < len(swapped.spans):
        return Edited(text, ())

    changes = []
    for start, _ in swapped.spans:
        nearest = _nearest(candidates, start)
        candidates.remove(nearest)
        changes.append(_replacement(nearest))
    return apply(text, sorted(changes))


def _nearest(candidates: list[Match[str]], place: int) -> Match[str]:
    return min(candidates, key=lambda match: abs(match.start() - place))


def _replacement(match: Match[str]) -> Change:
    start, end = match.span()
    synonym = _SYNONYMS[straight(match[0].lower())]
    return start, end, carry_style(match[0], synonym)
