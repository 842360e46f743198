"""Texts that differ: no copies, and no near-duplicate in another split."""

from collections.abc import Callable
from math import ceil
from typing import Protocol, TypeVar

from psycheck.text.words import shingles

# In a larger corpus the phrases repeat, and only exact copies are avoided.
_CHECKED = 5_000
_TRIES = 200
# A little below the threshold of `near_duplicates`, so that it finds none.
_THRESHOLD = 0.75


class _Written(Protocol):
    @property
    def text(self) -> str: ...


W = TypeVar("W", bound=_Written)


class NearDuplicateIndex:
    """Texts by split, indexed by their rarer word pairs.

    Two sets that overlap by `_THRESHOLD` share one of the first few of their members, in any common order
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
            split != where and len(own & other) >= _THRESHOLD * len(own | other)
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
    return ordered[: len(own) - ceil(_THRESHOLD * len(own)) + 1]


def unseen(write: Callable[[], W], split: str, seen: set[str], others: NearDuplicateIndex | None) -> W:
    """A new text that is not a near-duplicate of a text in another split."""
    tries = 0
    while (written := write()).text in seen or (
        others is not None
        and len(seen) < _CHECKED
        and tries < _TRIES
        and not others.admits(written.text, split)
    ):
        tries += 1
    seen.add(written.text)
    if others is not None and len(seen) < _CHECKED:
        others.add(written.text, split)
    return written
