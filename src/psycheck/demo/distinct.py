"""Keep near-duplicates of a generated text out of other splits."""

from math import ceil

from psycheck.text.words import shingles

# A little below the threshold of `near_duplicates`, so that it finds none.
THRESHOLD = 0.75


class NearDuplicateIndex:
    """Texts by split, indexed by their rarer word pairs.

    Two sets that overlap by `THRESHOLD` share one of the first few of their members, in any common order
    (prefix filtering); the longest come first here, because long pairs are rare.
    """

    def __init__(self) -> None:
        self._texts: list[tuple[set[str], str]] = []
        self._with: dict[str, list[int]] = {}

    def admits(self, text: str, split: str) -> bool:
        """Whether no text of another split is nearly the same."""
        own = shingles(text)
        near = {i for word in _first(own) for i in self._with.get(word, ())}
        return not any(
            split != where and len(own & other) >= THRESHOLD * len(own | other)
            for other, where in map(self._texts.__getitem__, near)
        )

    def add(self, text: str, split: str) -> None:
        """Add a text to the index."""
        own = shingles(text)
        for word in _first(own):
            self._with.setdefault(word, []).append(len(self._texts))
        self._texts.append((own, split))


def _first(own: set[str]) -> list[str]:
    ordered = sorted(own, key=lambda word: (-len(word), word))
    return ordered[: len(own) - ceil(THRESHOLD * len(own)) + 1]
