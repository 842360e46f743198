"""Scoring once: distinct texts, less what is remembered, by length, each batch committed before the next."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from itertools import islice
from time import monotonic
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from psycheck.errors import ModelFailure, PsycheckError
from psycheck.model import Model, Windowed, digest, digests_of
from psycheck.models.output import checked_scores
from psycheck.scoring.store import Store
from psycheck.scoring.view import RememberedScores

BUDGET = 64 * 2**20  # bytes of text held at once
_AT_ONCE = 4096  # texts taken from an audit at once
_EMPTY = 150  # bytes that a text costs beyond its letters: the string, its hash and its place in tables
BATCH = 1024  # texts a model is given at once unless it has its own wish


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of the texts that the audits asked for."""

    asked: int = 0
    distinct: int = 0
    remembered: int = 0
    scored: int = 0
    failed: int = 0
    seconds: float = 0.0


class Progress(Protocol):
    """Told after every batch: how many are done, how many there will be, and the seconds since the start."""

    def __call__(self, model: str, done: int, total: int, seconds: float, /) -> None:
        """Show it, or not."""
        ...


Piece = tuple[float, Iterable[str]]
"""The share of the asking that is done when these texts are through, and the texts."""


def silent(model: str, done: int, total: int, seconds: float, /) -> None:
    """No progress."""


def gather(pieces: Iterable[Piece], budget: int = BUDGET) -> Iterator[tuple[float, int, list[str]]]:
    """Distinct texts in chunks of about `budget` bytes, with the share done and the number asked for.

    A text may come again in a later chunk: by then the store knows it.
    """
    fresh: dict[str, None] = {}
    asked = size = 0
    share = 0.0
    for share, texts in pieces:
        stream = iter(texts)
        while some := list(islice(stream, _AT_ONCE)):
            asked += len(some)
            before = len(fresh)
            fresh.update(dict.fromkeys(some))
            # Repeats weigh nothing; new ones are taken to be as long as these are on average.
            size += (len(fresh) - before) * (_EMPTY + sum(map(len, some)) // len(some))
            if size > budget:
                yield share, asked, list(fresh)
                fresh = {}
                asked = size = 0
    if fresh or asked:
        yield share, asked, list(fresh)


def score_once(
    scores: Sequence[tuple[Model, RememberedScores]],
    store: Store,
    pieces: Iterable[Piece],
    progress: Progress = silent,
) -> dict[str, Tally]:
    """Score what the audits ask for with every model; `pieces` are consumed in bounded chunks."""
    tallies = {model.name: Tally() for model, _ in scores}
    started = monotonic()
    for share, asked, texts in gather(pieces):
        for model, view in scores:
            begun = monotonic()
            todo = _unknown(view, texts)
            tally = tallies[model.name]
            planned = int((tally.scored + len(todo.texts)) / max(share, 1e-9))
            scored, failed = 0, 0
            for batch in _batches(todo, getattr(model, "batch", None) or BATCH):
                done, lost = _score_batch(model, view, batch)
                scored, failed = scored + done, failed + lost
                if lost == len(batch.texts) and view.complaints and not len(view):
                    raise ModelFailure(
                        f"model '{model.name}' fails on every text: {'; '.join(view.complaints)}",
                        do="call its score on one short text in a Python shell",
                    )
                progress(model.name, tally.scored + scored, planned, monotonic() - started)
            tallies[model.name] = replace(
                tally,
                asked=tally.asked + asked,
                distinct=tally.distinct + len(texts),
                remembered=tally.remembered + len(texts) - len(todo.texts),
                scored=tally.scored + scored,
                failed=tally.failed + failed,
                seconds=tally.seconds + monotonic() - begun,
            )
    return tallies


def unscored(model: Model, store: Store, pieces: Iterable[Piece]) -> Iterator[str]:
    """The distinct texts that a model has not scored yet, for a model that lives on another machine."""
    view = RememberedScores(store, model, model.labels)
    met: set[bytes] = set()
    for _, _, texts in gather(pieces):
        todo = _unknown(view, texts).texts
        for text in missing(todo) if (missing := getattr(model, "missing", None)) else todo:
            if (key := digest(text)) not in met:
                met.add(key)
                yield text


class _Todo(NamedTuple):
    """Texts to score, with their hashes, (n, 2), where these are known already."""

    texts: list[str]
    hashes: NDArray[np.uint64] | None

    def take(self, rows: NDArray[np.int64]) -> "_Todo":
        """Some of them, in this order."""
        texts = [self.texts[i] for i in rows.tolist()]
        return _Todo(texts, None if self.hashes is None else self.hashes[rows])


def _unknown(view: RememberedScores, texts: list[str]) -> _Todo:
    """What the store does not hold; what it holds is known by its text from now on."""
    view.refresh()
    if not len(view):
        return _Todo(texts, None)
    hashes = digests_of(texts)
    rows = view.find(hashes)
    known = rows >= 0
    if not known.any():
        return _Todo(texts, hashes)
    view.meet([texts[i] for i in np.flatnonzero(known).tolist()], rows[known])
    return _Todo(texts, hashes).take(np.flatnonzero(~known))


def _batches(todo: _Todo, size: int) -> Iterator[_Todo]:
    """Longest first, so that a batch too large for the memory shows at once and padding stays small."""
    lengths = np.fromiter(map(len, todo.texts), np.int64, len(todo.texts))
    order = np.argsort(-lengths, kind="stable")
    for start in range(0, len(order), size):
        yield todo.take(order[start : start + size])


def _score_batch(model: Model, view: RememberedScores, batch: _Todo) -> tuple[int, int]:
    """Score and commit; a batch that a model fails on is halved until the texts at fault stand alone."""
    lost = 0
    if missing := getattr(model, "missing", None):
        lacking = set(missing(batch.texts))
        lost = len(lacking)
        batch = batch.take(np.flatnonzero([text not in lacking for text in batch.texts]))
    texts = batch.texts
    if not texts:
        return 0, lost
    try:
        with redirect_stdout(sys.stderr):  # what a model prints is not our answer
            values = checked_scores(model.score(texts), len(texts), model.labels, model=model.name)
        read = model.read(texts) if isinstance(model, Windowed) else None
    except (PsycheckError, KeyboardInterrupt, MemoryError):
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a user's model may raise anything
        if len(texts) == 1:
            view.complain(error)
            return 0, lost + 1
        half = len(texts) // 2
        halves = (np.arange(half), np.arange(half, len(texts)))
        first, second = (_score_batch(model, view, batch.take(part)) for part in halves)
        return first[0] + second[0], lost + first[1] + second[1]
    view.add(texts, values, read, batch.hashes)
    return len(texts), lost
