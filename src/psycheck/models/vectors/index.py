"""Word vectors as memory-mapped files: converted once, then opened in no time, however many words there are.

A folder holds vectors.npy (n, d), the concatenated words (letters.npy) with the end of each (ends.npy), and
their sorted hashes with the row of each (hashes.npy, rows.npy). A lookup is a binary search in the hashes and
a comparison of the letters, so that opening builds no dictionary.
"""

import json
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psycheck.core.arrays import IntArray
from psycheck.core.errors import StoreFailure, refusal
from psycheck.models.cache import cache_folder
from psycheck.models.fingerprint import hashed

FORMAT = "2"  # raise it whenever the files of a folder change
HEADER = 128  # bytes before the numbers of vectors.npy
Rows = NDArray[np.float32]
Block = tuple[list[bytes], Rows]
_mapped = partial(np.load, mmap_mode="r", allow_pickle=False)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words by row and rows by word; the first row of a repeated word counts."""

    hashes: NDArray[np.uint64] = field(repr=False)
    rows: NDArray[np.int32] = field(repr=False)
    ends: NDArray[np.int64] = field(repr=False)
    letters: NDArray[np.uint8] = field(repr=False)

    def __len__(self) -> int:
        return len(self.ends)

    def word(self, row: int) -> str:
        """The word of a row."""
        return self._raw(row).decode("utf-8", "replace")

    def find(self, words: Sequence[str]) -> IntArray:
        """The row of each word, (n,); −1 if it is absent."""
        raw_words = [word.encode("utf-8", "surrogatepass") for word in words]
        hashes = np.fromiter(map(word_hash, raw_words), np.uint64, len(raw_words))
        first_places = np.searchsorted(self.hashes, hashes)

        rows = np.full(len(raw_words), -1, np.int64)
        for i, raw_word in enumerate(raw_words):
            place = int(first_places[i])
            # Two words may share a hash: compare the letters.
            while place < len(self.hashes) and self.hashes[place] == hashes[i]:
                if self._raw(int(self.rows[place])) == raw_word:
                    rows[i] = self.rows[place]
                    break
                place += 1
        return rows

    def _raw(self, row: int) -> bytes:
        # The words stand one after the other; each begins where the one before it ends.
        start = int(self.ends[row - 1]) if row else 0
        return self.letters[start : int(self.ends[row])].tobytes()


@dataclass(frozen=True, slots=True)
class Stored:
    """An opened folder; `table` is None if the vectors stay in their original file.

    `places` (n,) is then the row of each word in that file, if several words share one.
    """

    vocabulary: Vocabulary
    table: Rows | None
    facts: Mapping[str, Any]
    places: NDArray[np.int32] | None = None


def word_hash(word: bytes) -> int:
    """A 64-bit hash of a word."""
    return int.from_bytes(blake2b(word, digest_size=8).digest(), "little")


def folder_of(paths: Sequence[Path]) -> Path:
    """The cache folder of converted files, named by their paths, sizes and times."""
    facts = []
    for path in paths:
        state = path.stat()
        facts += [str(path.resolve()), str(state.st_size), str(state.st_mtime_ns)]
    return cache_folder() / "vectors" / hashed(FORMAT, *facts)


def stored(folder: Path) -> Stored | None:
    """Open a converted folder without reading it; None if there is no complete one."""
    try:
        # facts.json is written last, so that a folder that has it is complete.
        facts = json.loads((folder / "facts.json").read_text("utf-8"))
        files = {name: _mapped(folder / f"{name}.npy") for name in ("hashes", "rows", "ends", "letters")}
        table = _mapped(folder / "vectors.npy") if facts["dimensions"] else None
        places = _mapped(folder / "places.npy") if facts["placed"] else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return Stored(Vocabulary(**files), table, facts, places)


def store(
    blocks: Iterable[Block],
    folder: Path,
    facts: Mapping[str, Any],
    places: NDArray[np.int32] | None = None,
) -> Stored:
    """Convert blocks of words and vectors (k, d) into a folder, atomically; d is 0 if only words are kept."""
    unfinished = folder.with_name(f"{folder.name}.{os.getpid()}.part")
    try:
        unfinished.mkdir(parents=True, exist_ok=True)
        _write_folder(blocks, unfinished, facts, places)
        _put_in_place(unfinished, folder)
    except OSError as error:
        raise StoreFailure(
            f"cannot write the converted vectors: {refusal(error)}",
            code="vectors.cannot-write",
            where=str(folder.parent),
            allowed="a writable folder with free space",
            do="free space, or set PSYCHECK_STORE to a file in another folder, where vectors go, too",
        ) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)

    opened = stored(folder)
    if opened is None:
        raise StoreFailure(
            "the converted vectors cannot be opened again",
            code="vectors.cannot-reopen",
            where=str(folder),
        )
    return opened


def _write_folder(
    blocks: Iterable[Block], folder: Path, facts: Mapping[str, Any], places: NDArray[np.int32] | None
) -> None:
    """Write the vectors, the index of their words, and the facts."""
    words, dimensions, content = _write_table(blocks, folder / "vectors.npy")
    hashes = np.fromiter(map(word_hash, words), np.uint64, len(words))
    # Stable, so that the first of repeated words is found first.
    order = np.argsort(hashes, kind="stable").astype(np.int32)
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    arrays: dict[str, NDArray[Any]] = {
        "hashes": hashes[order],
        "rows": order,
        "ends": np.cumsum(lengths),
        "letters": np.frombuffer(b"".join(words) or b"\0", np.uint8),  # an empty array cannot be mapped
    }
    if places is not None:
        arrays["places"] = places
    for name, values in arrays.items():
        np.save(folder / f"{name}.npy", values, allow_pickle=False)

    all_facts = {
        **facts,
        "words": len(words),
        "dimensions": dimensions,
        "content": content,
        "placed": places is not None,
    }
    (folder / "facts.json").write_text(json.dumps(all_facts), "utf-8")


def _put_in_place(unfinished: Path, folder: Path) -> None:
    """Give a finished folder its name."""
    try:
        unfinished.replace(folder)
    except OSError:  # another process was faster, or a broken folder is in the way
        if stored(folder) is None:
            shutil.rmtree(folder, ignore_errors=True)
            unfinished.replace(folder)


def _write_table(blocks: Iterable[Block], path: Path) -> tuple[list[bytes], int, str]:
    """Write the vectors block by block, and the header, which has their number, at the end."""
    words: list[bytes] = []
    dimensions = 0
    content = blake2b(digest_size=16)
    with path.open("wb") as file:
        # The number of words is known only at the end: leave room for the header.
        file.write(bytes(HEADER))
        for block_words, rows in blocks:
            dimensions = rows.shape[1]
            raw = np.ascontiguousarray(rows, dtype="<f4").tobytes()
            words += block_words
            content.update(b"\0".join(block_words))
            content.update(raw)
            file.write(raw)

        file.seek(0)
        header = {
            "descr": "<f4",
            "fortran_order": False,
            "shape": (len(words), dimensions),
        }
        np.lib.format.write_array_header_1_0(file, header)
        if file.tell() != HEADER:
            raise StoreFailure(
                "NumPy wrote a header of another length",
                code="vectors.header-length",
                where=str(path),
            )
    return words, dimensions, content.hexdigest()
