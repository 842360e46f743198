"""The placebo of a gender swap: an edit of as many words that leaves gender and meaning alone."""

from typing import Final

from psycheck.text.edits import Edited, address_spans, apply, carry_style, inside, straight, word_pattern
from psycheck.text.word_lists import read_toml

_DATA: Final = read_toml("gender/placebo.toml")


def _wordings(table: str) -> list[tuple[str, str]]:
    """The two wordings of each line."""
    return [(one, two) for one, _, two in (line.partition(" | ") for line in table.splitlines()) if one]


_OTHER: Final = dict(_wordings(_DATA["first"])) | {
    word: new for one, two in _wordings(_DATA["both"]) for word, new in ((one, two), (two, one))
}
_PATTERN: Final = word_pattern(_OTHER)


def placebo(text: str, swapped: Edited) -> Edited:
    """Replace as many words as the swap of a text did, each near a swapped one; none if it has too few."""
    addresses = address_spans(text)
    free = [at for at in _PATTERN.finditer(text) if not inside(addresses, at.start())]
    if len(free) < len(swapped.spans):
        return Edited(text, ())
    chosen = []
    for start, _ in swapped.spans:
        at = free.pop(min(range(len(free)), key=lambda k: abs(free[k].start() - start)))
        chosen.append((*at.span(), carry_style(at[0], _OTHER[straight(at[0].lower())])))
    return apply(text, sorted(chosen))
