"""A kind of model with an option of its own: keyword:WORD?weight=0.9."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.core.model import ModelKind
from psycheck.models.options import ModelOptions


@dataclass(frozen=True, kw_only=True)
class KeywordOptions(ModelOptions):
    """How sure the model is where it meets its word."""

    weight: float = 0.9


@dataclass(frozen=True)
class Keyword:
    """Scores `weight` where a text holds the word, else 0.1."""

    word: str
    options: KeywordOptions

    @property
    def name(self) -> str:
        """A short name for tables."""
        return self.options.name or self.word

    @property
    def labels(self) -> tuple[str, ...]:
        """What it scores."""
        return ("depression",)

    @property
    def fingerprint(self) -> str:
        """Changes whenever a score could."""
        return f"keyword {self.word} {self.options.weight}"

    def score(self, texts: Sequence[str], /) -> FloatArray:
        """The scores of texts, (n, 1)."""
        return np.array([[self.options.weight if self.word in text else 0.1] for text in texts])


KIND = ModelKind(open=Keyword, options=KeywordOptions)
