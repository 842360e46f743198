"""The vectors of encoders: from the store where it holds them, else computed once and stored."""

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from psycheck.core.arrays import FloatArray, IntArray
from psycheck.core.errors import ModelFailure
from psycheck.core.item import sizes_of
from psycheck.core.model import Encoder, capabilities_of
from psycheck.core.progress import Progress, silent
from psycheck.models.opening import open_encoder
from psycheck.models.vectors.static import WordVectors
from psycheck.scoring.retries import patiently
from psycheck.scoring.store import Store, default_store

Spans = Sequence[tuple[int, int]]
MOST_KEPT = 100_000  # texts; the vectors of more at once are not kept (MiniLM: 150 MB)
_COMMITTED = 64  # about how many vectors are computed and committed at once


def encode_once(
    encoder: str | Path | Encoder,
    texts: Sequence[str],
    spans: Spans | None = None,
    *,
    store: Path | None = None,
    progress: Progress = silent,
) -> FloatArray:
    """The vectors of whole texts, or of one span in each, (n, d), computed where the store lacks them."""
    opened = open_encoder(encoder)
    can_be_kept = 0 < len(texts) <= MOST_KEPT
    if _is_cheap(opened) or not can_be_kept:
        encode = _encode_rows(opened, texts, spans)
        return encode(range(len(texts)))

    with closing(Store(store or default_store())) as opened_store:
        return stored_vectors(opened_store, opened, texts, spans, progress)


def vectors_of(encoder: Encoder, texts: Sequence[str]) -> FloatArray:
    """The vectors of texts, (n, d), without the store: for a stream of more texts than it should keep."""
    vectors = patiently(lambda: encoder.encode(texts), encoder.name)
    vectors = np.asarray(vectors, np.float64)
    _refuse_misshapen(encoder, vectors, len(texts))
    return vectors


def stored_vectors(
    store: Store,
    encoder: Encoder,
    texts: Sequence[str],
    spans: Spans | None = None,
    progress: Progress = silent,
) -> FloatArray:
    """The vectors of texts, or of one span in each, (n, d), through an opened store."""
    encode = _encode_rows(encoder, texts, spans)
    if _is_cheap(encoder) or not len(texts):
        return encode(range(len(texts)))

    keys = store.digests(_keyed_texts(texts, spans))
    distinct, first, places = np.unique(
        keys,
        axis=0,
        return_index=True,
        return_inverse=True,
    )
    places = places.reshape(-1)
    number = store.enter_encoder(encoder, spans=spans is not None)

    parts: list[tuple[IntArray, FloatArray]] = []
    is_stored = np.zeros(len(distinct), bool)
    for rows, vectors in store.vectors(number, distinct):
        parts.append((rows, vectors))
        is_stored[rows] = True

    lacking = _longest_first(texts, first[~is_stored])
    started = time.monotonic()
    size = _batch_size(encoder)
    for start in range(0, len(lacking), size):
        rows = lacking[start : start + size]
        encoded = encode(rows.tolist())
        vectors = np.asarray(encoded, np.float64)
        _refuse_misshapen(encoder, vectors, len(rows))

        store.add_vectors(number, keys[rows], vectors)
        parts.append((places[rows], vectors))
        progress(
            encoder.name,
            start + len(rows),
            len(lacking),
            time.monotonic() - started,
        )

    # Known only now: an encoder does not say how wide its vectors are.
    _, first_vectors = parts[0]
    width = first_vectors.shape[1]
    table = np.empty((len(distinct), width))
    for rows, vectors in parts:
        table[rows] = vectors
    return table[places]


def _longest_first(texts: Sequence[str], rows: IntArray) -> IntArray:
    """Rows of texts, the longest text first, as for scores: padding stays small."""
    in_order = np.sort(rows)
    texts_in_order = [texts[row] for row in in_order.tolist()]
    lengths = sizes_of(texts_in_order)
    by_length = np.argsort(-lengths, kind="stable")
    return in_order[by_length]


def _encode_rows(
    encoder: Encoder,
    texts: Sequence[str],
    spans: Spans | None,
) -> Callable[[Sequence[int]], FloatArray]:
    """A function from rows of the texts to their vectors, (m, d)."""

    def encode(rows: Sequence[int]) -> FloatArray:
        chosen_texts = [texts[row] for row in rows]
        if spans is None:
            return patiently(lambda: encoder.encode(chosen_texts), encoder.name)
        chosen_spans = [spans[row] for row in rows]
        return patiently(lambda: encoder.encode_spans(chosen_texts, chosen_spans), encoder.name)

    return encode


def _is_cheap(encoder: Encoder) -> bool:
    """Static vectors are a file already: looking them up costs no more than the store."""
    return isinstance(encoder, WordVectors)


def _keyed_texts(texts: Sequence[str], spans: Spans | None) -> Sequence[str]:
    """What identifies a vector: the text, with the span where there is one."""
    if spans is None:
        return texts
    keyed_texts = []
    for text, (start, end) in zip(texts, spans, strict=True):
        keyed_texts.append(f"{start}:{end}:{text}")
    return keyed_texts


def _batch_size(encoder: Encoder) -> int:
    """How many vectors are computed and committed at once."""
    # A multiple of the encoder's own batch: padding, and so the last bits, are those of a single call.
    preferred = capabilities_of(encoder).batch or _COMMITTED
    multiple = _COMMITTED // preferred * preferred
    return max(preferred, multiple)


def _refuse_misshapen(encoder: Encoder, vectors: FloatArray, n: int) -> None:
    is_table = vectors.ndim == 2
    if not is_table or len(vectors) != n:
        raise ModelFailure(
            f"encoder '{encoder.name}' returned an array of shape {vectors.shape} for {n} texts",
            code="encoder.wrong-shape",
            allowed=f"({n}, d), one row per text",
        )
