"""What psycheck asks of a model, an encoder and an audit."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from psycheck.corpus import Corpus
from psycheck.finding import Finding
from psycheck.measure import Measure

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
_DIGEST = 16
_AT_ONCE = 4096


@runtime_checkable
class Composed(Protocol):
    """An item that is more than one text, such as the posts of one author in time order.

    It must be hashable and equal to another of the same content, as a frozen dataclass is.
    """

    @property
    def digest(self) -> bytes:
        """A hash of its content, 16 bytes; no text may have the same one."""

    @property
    def size(self) -> int:
        """How long it is, in characters."""


Item = str | Composed
"""What a model can be asked about: anything with a digest and a size. A text is a plain `str`."""


def digest_of(item: Item, key: bytes = b"") -> bytes:
    """The hash that identifies an item, 16 bytes; with a key (32 bytes), only who has it can test for one."""
    if isinstance(item, str):
        return _fresh(key, item.encode("utf-8", "surrogatepass")).digest()
    whole = item.digest
    return blake2b(whole, digest_size=_DIGEST, key=key, person=b"composed").digest() if key else whole


def _fresh(key: bytes, start: bytes = b"") -> blake2b:
    # The key starts the hash as secret salt and personalisation; as `key=`, it would be a block of its own
    # and double the work on a short text.
    return blake2b(start, digest_size=_DIGEST, salt=key[:16], person=key[16:])


def size_of(item: Item) -> int:
    """The length of an item in characters."""
    return len(item) if isinstance(item, str) else item.size


def digests_of(items: Sequence[Item], key: bytes = b"") -> NDArray[np.uint64]:
    """The hashes of items, (n, 2), as `digest_of` makes them."""
    # `digest_of`, written out: this runs for every text that is scored or looked up, and copying a fresh
    # state is a third faster than making one. Some thousand at a time stay in the processor's cache.
    fresh, encode = _fresh(key).copy, str.encode
    parts = []
    for start in range(0, len(items), _AT_ONCE):
        some, hashes = items[start : start + _AT_ONCE], []
        try:
            for item in some:
                state = fresh()
                state.update(encode(item))  # type: ignore[arg-type]  # see below
                hashes.append(state.digest())
        except (TypeError, UnicodeEncodeError):  # not only texts, or one with half a surrogate pair
            hashes = [digest_of(item, key) for item in some]
        parts.append(b"".join(hashes))
    return np.frombuffer(b"".join(parts), np.uint64).reshape(-1, 2)


def sizes_of(items: Sequence[Item]) -> IntArray:
    """The lengths of items, (n,)."""
    try:
        return np.fromiter(map(str.__len__, items), np.int64, len(items))  # type: ignore[arg-type]  # see below
    except TypeError:  # not only texts
        return np.fromiter(map(size_of, items), np.int64, len(items))


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model that talks replied about one item, as it came: the text, and what it cost.

    `logprobs` is JSON, [[token, logprob, [[alternative, logprob], …]], …] of the tokens of `text`, "" if the
    server gave none; `others` are further samples of the same question.
    """

    text: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    finish: str = ""
    seconds: float | None = None
    logprobs: str = ""
    others: tuple[str, ...] = ()


def unlimited(again: int, /) -> bool:
    """Allow every request, also those that are sent `again`."""
    return True


@dataclass(frozen=True, slots=True)
class Expected:
    """What asking some items will take; `cost` is None without a price."""

    requests: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None = None


class Fingerprinted(Protocol):
    """Anything whose answers the store keeps under its fingerprint."""

    @property
    def name(self) -> str:
        """A short name for tables."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever an answer could."""


@runtime_checkable
class Model(Fingerprinted, Protocol):
    """Anything that gives each text a score for each label.

    `score` returns (n, k) in [0, 1]; NaN means "gave no usable answer", never 0. A model may also have
    `read(texts) -> (n,)`: how many characters of each text it takes in (models with a window cut the rest),
    `parts`: what its fingerprint is made of (weights, tokenizer, labels …), to explain why it changed, and
    `batch`: how many texts it likes at once, and `exclusive`: True if its labels are classes of which each
    text has exactly one, so that the largest score decides and not the threshold, and `thresholds` (k,): the
    decision thresholds of labels that have their own, NaN for the others, and `takes`: "histories" if it
    scores the posts of an author (`psycheck.corpus.History`) and not texts, `most`: how many posts of each.
    """

    @property
    def labels(self) -> tuple[str, ...]:
        """What it scores, in the order of the columns."""

    def score(self, items: Sequence[Any], /) -> FloatArray:
        """Score texts, or other items that it was made for, (n, k) in [0, 1]."""


@runtime_checkable
class Windowed(Protocol):
    """A model that cuts long texts and can say where."""

    def read(self, items: Sequence[Any], /) -> IntArray:
        """How many characters of each text are read, (n,); len(text) where it is read whole."""


@runtime_checkable
class Replying(Model, Protocol):
    """A model that replies in words, from which its scores are read.

    The store keeps the replies; scores are read from them whenever they are needed, so `fingerprint` covers
    what decides a reply (weights, prompt, temperature) and not how replies are read. It may also have `batch`
    (items for one `ask`: thousands, so that its connections stay busy), `remote` (the host that texts leave
    the machine to, "" if none) and `expected(items) -> Expected`. With `asks_leave`, `ask` also takes
    `allowed`, which it calls before it sends a request (0) and before it sends one again (1); with False it
    gives the item up, and gives requests that it does not send back (a negative number).
    """

    def ask(self, items: Sequence[Any], /) -> Iterator[tuple[int, Reply | Exception]]:
        """The place of each item with its reply, or with what stands in its way, in the order of arrival.

        An error is never a reply. A failure that may pass (`TransientFailure`, a time-out, a cut connection)
        is asked again later; what would fail for every item (a wrong key) is raised, as `ModelFailure`.
        """

    def read_reply(self, reply: Reply, /) -> FloatArray:
        """The scores of one reply, (k,): a pure function; NaN for each label that it does not answer."""

    def score(self, items: Sequence[Any], /) -> FloatArray:
        """Scores of items whose replies need not be kept, (n, k)."""
        scores = np.full((len(items), len(self.labels)), np.nan)
        for place, answer in self.ask(items):
            if isinstance(answer, Reply):
                scores[place] = self.read_reply(answer)
        return scores


@runtime_checkable
class Encoder(Fingerprinted, Protocol):
    """Anything that gives each text, or each of some spans in it, a vector."""

    def encode(self, texts: Sequence[str], /) -> FloatArray:
        """Vectors of whole texts, (n, d)."""

    def encode_spans(self, texts: Sequence[str], spans: Sequence[tuple[int, int]], /) -> FloatArray:
        """The contextual vector of one span of characters in each text, (n, d): its word pieces averaged."""


class Scores(Protocol):
    """The scores of one model, looked up by item; an audit sees nothing else of a model.

    They may also have `exclusive` and `thresholds`, as the model has, `reads_all`: True if it reads every
    item whole, and `hard`: True if the model answers in words and only 0 or 1.
    """

    @property
    def model(self) -> str:
        """The name of the model that gave them."""

    @property
    def labels(self) -> tuple[str, ...]:
        """What the columns are."""

    def of(self, items: Sequence[Any]) -> FloatArray:
        """The scores of items that were asked for, (n, k); NaN where the model gave no usable answer."""

    def read(self, items: Sequence[Any]) -> IntArray:
        """How many characters of each item the model took in, (n,)."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What an audit found: the findings, and the tables of cases behind them (ids, never texts)."""

    findings: tuple[Finding, ...]
    tables: Mapping[str, pl.DataFrame] = field(default_factory=lambda: MappingProxyType({}))


class Audit(Protocol):
    """First says which texts it needs scored, then measures from the scores alone.

    An audit may also have `title: str` (the heading of its section), `skips(corpus) -> str | None` (why it
    does not judge a corpus, None where it does) and `section(findings)` (its section of the report: text, or
    HTML as `markupsafe.Markup`; shipped audits return `Section`s; without it a table of findings is shown).
    """

    @property
    def name(self) -> str:
        """A short name for the plan and the report."""

    @property
    def measures(self) -> tuple[str | Measure, ...]:
        """The measures that it can report: names of the catalogue, or measures of its own."""

    def ask(self, corpus: Corpus, /) -> Iterable[Item]:
        """The texts, or histories, that must be scored, repeats allowed; called on slices of a corpus."""

    def judge(self, corpus: Corpus, scores: Scores, /) -> Judgement:
        """Measure the whole corpus with one model's scores."""
