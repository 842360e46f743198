"""What a model can be asked about, and the hash and the length by which it is known."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from psycheck.core.arrays import IntArray

_DIGEST_BYTES = 16
_AT_ONCE = 4096  # items; so many stay in the processor's cache


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
        return _fresh_state(key, item.encode("utf-8", "surrogatepass")).digest()
    if not key:
        return item.digest
    return blake2b(
        item.digest,
        digest_size=_DIGEST_BYTES,
        key=key,
        person=b"composed",
    ).digest()


def _fresh_state(key: bytes, start: bytes = b"") -> blake2b:
    # The key starts the hash as secret salt and personalisation; as `key=`, it would be a block of its own
    # and double the work on a short text.
    return blake2b(
        start,
        digest_size=_DIGEST_BYTES,
        salt=key[:16],
        person=key[16:],
    )


def size_of(item: Item) -> int:
    """The length of an item in characters."""
    if isinstance(item, str):
        return len(item)
    return item.size


def digests_of(items: Sequence[Item], key: bytes = b"") -> NDArray[np.uint64]:
    """The hashes of items, (n, 2), as `digest_of` makes them."""
    parts = []
    for start in range(0, len(items), _AT_ONCE):
        piece = items[start : start + _AT_ONCE]
        try:
            hashes = _text_digests(piece, key)  # type: ignore[arg-type]  # whatever is not a text, it refuses
        except (TypeError, UnicodeEncodeError):  # not only texts, or one with half a surrogate pair
            hashes = [digest_of(item, key) for item in piece]
        parts.append(b"".join(hashes))
    return np.frombuffer(b"".join(parts), np.uint64).reshape(-1, 2)


def _text_digests(texts: Sequence[str], key: bytes) -> list[bytes]:
    """`digest_of` for each text, written out: this runs for every text that is scored or looked up."""
    # Copying a fresh state is a third faster than making one.
    fresh = _fresh_state(key).copy
    encode = str.encode
    hashes = []
    for text in texts:
        state = fresh()
        state.update(encode(text))
        hashes.append(state.digest())
    return hashes


def sizes_of(items: Sequence[Item]) -> IntArray:
    """The lengths of items, (n,)."""
    try:
        # Twice as fast as `size_of`; `str.__len__` refuses whatever is not a text.
        return np.fromiter(map(str.__len__, items), np.int64, len(items))  # type: ignore[arg-type]  # see above
    except TypeError:
        return np.fromiter(map(size_of, items), np.int64, len(items))
