"""What psycheck asks of a model, an encoder and an audit."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from types import MappingProxyType
from typing import Protocol, runtime_checkable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from psycheck.corpus import Corpus
from psycheck.finding import Finding
from psycheck.measure import Measure

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
_DIGEST = 16


def digest(text: str) -> bytes:
    """The hash under which a text is remembered, 16 bytes."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).digest()


def digests_of(texts: Sequence[str]) -> NDArray[np.uint64]:
    """The hashes of texts, (n, 2)."""
    # `digest`, written out: this runs for every text that is scored or looked up, and copying a fresh state
    # is a third faster than making one.
    fresh = blake2b(digest_size=_DIGEST).copy
    hashes = []
    for text in texts:
        state = fresh()
        state.update(text.encode("utf-8", "surrogatepass"))
        hashes.append(state.digest())
    return np.frombuffer(b"".join(hashes), np.uint64).reshape(-1, 2)


@runtime_checkable
class Model(Protocol):
    """Anything that gives each text a score for each label.

    `score` returns (n, k) in [0, 1]; NaN means "gave no usable answer", never 0. A model may also have
    `read(texts) -> (n,)`: how many characters of each text it takes in (models with a window cut the rest),
    `parts`: what its fingerprint is made of (weights, tokenizer, labels …), to explain why it changed, and
    `batch`: how many texts it likes at once.
    """

    @property
    def name(self) -> str:
        """A short name for tables."""
        ...

    @property
    def labels(self) -> tuple[str, ...]:
        """What it scores, in the order of the columns."""
        ...

    @property
    def fingerprint(self) -> str:
        """Changes whenever a score could."""
        ...

    def score(self, texts: Sequence[str], /) -> FloatArray:
        """Score texts, (n, k) in [0, 1]."""
        ...


@runtime_checkable
class Windowed(Protocol):
    """A model that cuts long texts and can say where."""

    def read(self, texts: Sequence[str], /) -> IntArray:
        """How many characters of each text are read, (n,); len(text) where it is read whole."""
        ...


@runtime_checkable
class Encoder(Protocol):
    """Anything that gives each text, or each of some spans in it, a vector."""

    @property
    def name(self) -> str:
        """A short name for tables."""
        ...

    @property
    def fingerprint(self) -> str:
        """Changes whenever a vector could."""
        ...

    def encode(self, texts: Sequence[str], /) -> FloatArray:
        """Vectors of whole texts, (n, d)."""
        ...

    def encode_spans(self, texts: Sequence[str], spans: Sequence[tuple[int, int]], /) -> FloatArray:
        """The contextual vector of one span of characters in each text, (n, d): its word pieces averaged."""
        ...


class Scores(Protocol):
    """The scores of one model, looked up by text; an audit sees nothing else of a model."""

    @property
    def model(self) -> str:
        """The name of the model that gave them."""
        ...

    @property
    def labels(self) -> tuple[str, ...]:
        """What the columns are."""
        ...

    def of(self, texts: Sequence[str]) -> FloatArray:
        """The scores of texts that were asked for, (n, k); NaN where the model gave no usable answer."""
        ...

    def read(self, texts: Sequence[str]) -> IntArray:
        """How many characters of each text the model took in, (n,)."""
        ...


@dataclass(frozen=True, slots=True)
class Judgement:
    """What an audit found: the findings, and the tables of cases behind them (ids, never texts)."""

    findings: tuple[Finding, ...]
    tables: Mapping[str, pl.DataFrame] = field(default_factory=lambda: MappingProxyType({}))


class Audit(Protocol):
    """First says which texts it needs scored, then measures from the scores alone.

    An audit may also have `title: str` (the heading of its section), `skips(corpus) -> str | None` (why it
    does not judge a corpus, None where it does) and `section(findings) -> str` (its section of the report:
    plain text, or HTML as `markupsafe.Markup`; without it the report shows a table of the findings).
    """

    @property
    def name(self) -> str:
        """A short name for the plan and the report."""
        ...

    @property
    def measures(self) -> tuple[str | Measure, ...]:
        """The measures that it can report: names of the catalogue, or measures of its own."""
        ...

    def ask(self, corpus: Corpus, /) -> Iterable[str]:
        """The texts that must be scored, repeats allowed; called on slices of a corpus."""
        ...

    def judge(self, corpus: Corpus, scores: Scores, /) -> Judgement:
        """Measure the whole corpus with one model's scores."""
        ...
