"""The rows of the store: what a batch, a reply and a model look like in Python and in the file."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from psycheck.core.arrays import FloatArray
from psycheck.core.model import Reply
from psycheck.scoring.lookup import Keys
from psycheck.scoring.store_database import HASH_BYTES

WHOLE = -1  # stored as `read` of an item that was read to its end
REPLY_COLUMNS = "text, prompt_tokens, completion_tokens, finish, seconds, logprobs, others"

ReplyRow = tuple[bytes, int | None, int | None, str, float | None, bytes, str]
"""A reply as the columns of `REPLY_COLUMNS`."""


@dataclass(frozen=True, slots=True)
class Batch:
    """A model's answers to n items: hashes (n, 2) in two halves, scores (n, k), read (n,), -1 = all.

    Where there are `replies`, one per item, there are no scores (k = 0): they are read from the replies.
    """

    items: NDArray[np.uint64]
    scores: FloatArray
    read: NDArray[np.int32]
    replies: tuple[Reply, ...] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """A model or an encoder that the store holds answers of, and of how many items."""

    fingerprint: str
    name: str
    labels: tuple[str, ...]
    parts: Mapping[str, str]
    items: int
    replies: int = 0


def hashes_in(blob: bytes) -> Keys:
    """The hashes that a blob holds, (n, 2); none if it is damaged."""
    is_whole = len(blob) % HASH_BYTES == 0
    return np.frombuffer(blob if is_whole else b"", np.uint64).reshape(-1, 2)


def row_of_batch(batch: Batch) -> dict[str, int | bytes]:
    """A batch as the columns of its row, in the order of its checksum."""
    return {
        "size": len(batch.items),
        "texts": batch.items.tobytes(),
        "scores": batch.scores.tobytes(),
        "read": batch.read.tobytes(),
        "replies": len(batch.replies),
    }


def batch_of_row(
    *,
    size: int,
    texts: bytes,
    scores: bytes,
    read: bytes,
    replies: tuple[Reply, ...],
    label_count: int,
) -> Batch | None:
    """The batch of a row whose checksum is right; None if the row contradicts itself.

    `label_count` is the number of scores per item, 0 where they are read from replies.
    """
    expected_sizes = (HASH_BYTES * size, 8 * size * label_count, 4 * size)
    if (len(texts), len(scores), len(read)) != expected_sizes:
        return None
    if len(replies) not in (0, size):
        return None

    score_table = np.frombuffer(scores, np.float64).reshape(size, label_count)
    is_outside = (score_table < 0) | (score_table > 1)
    if is_outside.any():
        return None
    return Batch(
        items=hashes_in(texts),
        scores=score_table,
        read=np.frombuffer(read, np.int32),
        replies=replies,
    )


def row_of_reply(reply: Reply) -> ReplyRow:
    """A reply as the store keeps it; half a surrogate pair, which a model may send, does not stop it."""
    return (
        reply.text.encode("utf-8", "surrogatepass"),
        reply.prompt_tokens,
        reply.completion_tokens,
        reply.finish,
        reply.seconds,
        reply.logprobs.encode("utf-8", "surrogatepass"),
        json.dumps(reply.others),
    )


def reply_of_row(row: ReplyRow) -> Reply:
    """The reply that `row_of_reply` turned into columns."""
    text, prompt_tokens, completion_tokens, finish, seconds, logprobs, others = row
    return Reply(
        text=text.decode("utf-8", "surrogatepass"),
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        finish=finish,
        seconds=seconds,
        logprobs=logprobs.decode("utf-8", "surrogatepass"),
        others=tuple(json.loads(others)),
    )


def blob_of_vectors(vectors: FloatArray) -> bytes:
    """Vectors, (n, d), as bytes: in 32 bits where this loses nothing, else in 64."""
    single = vectors.astype(np.float32)
    is_exact = np.array_equal(single.astype(np.float64), vectors, equal_nan=True)
    if is_exact:
        return single.tobytes()
    return np.ascontiguousarray(vectors, np.float64).tobytes()


def vectors_in(blob: bytes, count: int, width: int) -> FloatArray | None:
    """The vectors that a blob holds, (count, width); None if it is of another size."""
    if len(blob) == 4 * count * width:
        single = np.frombuffer(blob, np.float32)
        return single.astype(np.float64).reshape(-1, width)
    if len(blob) == 8 * count * width:
        return np.frombuffer(blob, np.float64).reshape(-1, width)
    return None
