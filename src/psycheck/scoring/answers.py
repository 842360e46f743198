"""The answers of models and encoders: from the store where it holds them, else computed once and stored.

Nothing outside this room calls `score`, `encode` or `encode_spans`.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psycheck.errors import ModelFailure
from psycheck.model import Encoder, FloatArray, Item, Model, Replying, digest_of, sizes_of
from psycheck.models.open import open_encoder, open_model
from psycheck.models.output import checked_scores
from psycheck.models.vectors.static import WordVectors
from psycheck.scoring.engine import Piece, Progress, foretell, gather, of_all_sizes, score_once, silent
from psycheck.scoring.limits import NO_LIMITS, Limits, expected_tally
from psycheck.scoring.patience import Sleep, patiently
from psycheck.scoring.store import Store, default_store
from psycheck.scoring.tally import Tally
from psycheck.scoring.view import RememberedScores, unknown

_TIMED = 16  # items that are scored to estimate how long all take
VECTORS = 64  # about how many vectors are computed and committed at once
MOST_KEPT = 100_000  # texts; the vectors of more at once are not kept (MiniLM: 150 MB)


@dataclass(frozen=True, slots=True)
class Answers:
    """The scores of each model, looked up by item, and what scoring took, by model name."""

    models: tuple[Model, ...]
    views: tuple[RememberedScores, ...]
    tallies: Mapping[str, Tally]


@contextmanager
def answers(
    models: Iterable[str | Path | Model],
    pieces: Iterable[Piece],
    *,
    names: Mapping[str, tuple[str, ...]] | None = None,
    store: Path | None = None,
    progress: Progress = silent,
    sleep: Sleep = time.sleep,
    limits: Limits = NO_LIMITS,
    say: Callable[[str], None] = lambda note: None,
    rounds: Callable[[RememberedScores], Iterable[Piece]] | None = None,
) -> Iterator[Answers]:
    """Score the items of all pieces with each model, except for those whose scores the store holds.

    A model is a spec or an opened model; `names` are the labels under which audits know its columns, by model
    name (default: its own); `store` is the store file (default: the user's). `limits` are what models that
    reply in words may be sent; what asking them will take is told (`say`) before the first request. `rounds`
    are pieces that depend on a model's answers: each is scored before the next is drawn, and `pieces` only
    foretell how many they are.
    """
    opened = tuple(open_model(one) if isinstance(one, str | Path) else one for one in models)
    with closing(Store(store or default_store())) as kept:
        views = tuple(
            RememberedScores(kept, model, names[model.name] if names else model.labels) for model in opened
        )
        pairs = list(zip(opened, views, strict=True))
        tallies = {model.name: Tally() for model in opened}
        if rounds is None:
            score_once(pairs, pieces, progress, sleep, limits, say, tallies)
        else:
            foretell(pairs, gather(pieces), limits, say)
            for model, view in pairs:
                for piece in rounds(view):
                    score_once([(model, view)], [piece], progress, sleep, limits, tallies=tallies)
        yield Answers(opened, views, tallies)


def in_equal_shares(parts: Sequence[Iterable[Item]]) -> Iterator[Piece]:
    """Pieces that count as equally long in the progress."""
    return (((k + 1) / len(parts), items) for k, items in enumerate(parts))


def scores_of(model: Model, items: Sequence[Item]) -> FloatArray:
    """The scores of texts or histories, (n, k), without the store: for a model that is still being made."""
    scores = patiently(lambda: model.score(items), model.name)
    return checked_scores(scores, len(items), model.labels, model=model.name)


def not_scored(
    models: Iterable[Model], pieces: Callable[[], Iterable[Piece]], store: Path | None
) -> Iterator[Any]:
    """The distinct items that one of the models, which may run on another machine, has not scored yet."""
    met: set[bytes] = set()
    with closing(Store(store or default_store())) as kept:
        for model in models:
            view = RememberedScores(kept, model, model.labels)
            missing = getattr(model, "missing", None) or iter
            for _, _, items in gather(pieces()):
                for item in missing(unknown(view, items).items):
                    if (key := digest_of(item)) not in met:
                        met.add(key)
                        yield item


def forecast(
    models: Iterable[Model],
    pieces: Callable[[], Iterable[Piece]],
    store: Path | None,
    limits: Limits = NO_LIMITS,
) -> dict[str, Tally]:
    """What scoring would take, by model name: `scored` counts the items to score, `seconds` is an estimate.

    The estimate comes from a few items of all sizes; their scores are stored. A model that replies in words
    is asked nothing: `requests`, tokens and `cost` are what it expects.
    """
    tallies = {}
    with closing(Store(store or default_store())) as kept:
        for model in models:
            view, tally = RememberedScores(kept, model, model.labels), Tally()
            if isinstance(model, Replying):
                tallies[model.name] = expected_tally(model, view, gather(pieces()), limits)
                continue
            met: set[int] = set()
            sample: list[Item] = []
            for _, asked, items in gather(pieces()):
                todo = unknown(view, items)
                fresh = [item for item in todo.items if hash(item) not in met]
                met.update(map(hash, fresh))
                tally.asked += asked
                tally.remembered += len(todo.met)
                tally.scored += len(fresh)
                sample = sample or (of_all_sizes(fresh, _TIMED) if fresh else [])
            tally.distinct = tally.remembered + tally.scored
            if sample:
                spent = score_once([(model, view)], [(1.0, sample)])[model.name].seconds
                tally.seconds = spent / len(sample) * tally.scored
            tallies[model.name] = tally
    return tallies


def vectors_of(encoder: Encoder, texts: Sequence[str]) -> FloatArray:
    """The vectors of texts, (n, d), without the store: for a stream of more texts than it should keep."""
    vectors = np.asarray(patiently(lambda: encoder.encode(texts), encoder.name), np.float64)
    if vectors.ndim != 2 or len(vectors) != len(texts):
        raise _misshapen(encoder, vectors, len(texts))
    return vectors


def _misshapen(encoder: Encoder, vectors: FloatArray, n: int) -> ModelFailure:
    what = f"encoder '{encoder.name}' returned an array of shape {vectors.shape} for {n} texts"
    return ModelFailure(what, allowed=f"({n}, d), one row per text")


def encode_once(
    encoder: str | Path | Encoder,
    texts: Sequence[str],
    spans: Sequence[tuple[int, int]] | None = None,
    *,
    store: Path | None = None,
    progress: Progress = silent,
) -> FloatArray:
    """The vectors of whole texts, or of one span in each, (n, d), computed where the store lacks them."""
    opened = open_encoder(encoder)

    def encode(rows: Sequence[int]) -> FloatArray:
        some = [texts[i] for i in rows]
        if spans is None:
            return patiently(lambda: opened.encode(some), opened.name)
        return patiently(lambda: opened.encode_spans(some, [spans[i] for i in rows]), opened.name)

    # Static vectors are a file already: looking them up costs no more than the store.
    if isinstance(opened, WordVectors) or not 0 < len(texts) <= MOST_KEPT:
        return encode(range(len(texts)))
    placed = [f"{a}:{b}:{text}" for text, (a, b) in zip(texts, spans, strict=True)] if spans else texts
    parts: list[tuple[NDArray[np.int64], FloatArray]] = []
    started = time.monotonic()
    with closing(Store(store or default_store())) as kept:
        keys = kept.digests(placed)
        distinct, first, places = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        places = places.reshape(-1)
        known = np.zeros(len(distinct), bool)
        number = kept.enter_encoder(opened, spans=spans is not None)
        for rows, vectors in kept.vectors(number, distinct):
            parts.append((rows, vectors))
            known[rows] = True
        todo = np.sort(first[~known])
        todo = todo[np.argsort(-sizes_of([texts[i] for i in todo.tolist()]), kind="stable")]
        # A multiple of the encoder's own batch: padding, and so the last bits, are those of a single call.
        own = getattr(opened, "batch", None) or VECTORS
        size = max(own, VECTORS // own * own)
        for start in range(0, len(todo), size):
            rows = todo[start : start + size]
            vectors, n = np.asarray(encode(rows.tolist()), np.float64), len(rows)
            if vectors.ndim != 2 or len(vectors) != n:
                raise _misshapen(opened, vectors, n)
            kept.add_vectors(number, keys[rows], vectors)
            parts.append((places[rows], vectors))
            progress(opened.name, start + n, len(todo), time.monotonic() - started)
    out = np.empty((len(distinct), parts[0][1].shape[1]))
    for rows, vectors in parts:
        out[rows] = vectors
    return out[places]
