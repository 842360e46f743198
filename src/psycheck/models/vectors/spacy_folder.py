"""The vectors of a spaCy pipeline, read without spaCy.

vocab/vectors is an array, vocab/strings.json has the words, vocab/key2row maps the hash of a word to its row,
in MessagePack. In pruned pipelines (md) many words share a row.
"""

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from psycheck.errors import BadInput
from psycheck.models.vectors.index import Rows

_MIX = 0xC6A4A7935BD1E995
_ALL = 0xFFFFFFFFFFFFFFFF


def spacy_files(folder: Path) -> list[Path]:
    """The three files to read; empty if the folder is not a spaCy pipeline with vectors."""
    for vocab in (folder / "vocab", folder, *sorted(folder.glob("*/vocab"))):
        files = [vocab / name for name in ("vectors", "key2row", "strings.json")]
        if all(file.is_file() for file in files):
            return files
    return []


def read_spacy(files: list[Path]) -> tuple[list[bytes], NDArray[np.int32]]:
    """The words and their rows in the array, (n,), sorted by row."""
    vectors, key2row, strings = files
    try:
        rows = _map(key2row.read_bytes())
        words = json.loads(strings.read_text("utf-8"))
    except (OSError, ValueError, IndexError) as error:
        raise _unreadable(vectors, error) from error
    placed = [(rows[key], word) for word in map(str, words) if (key := string_hash(word)) in rows]
    placed.sort()
    table = open_array(files)
    if not placed or placed[-1][0] >= len(table) or placed[0][0] < 0:
        raise BadInput("words and vectors of the spaCy pipeline do not match", where=str(vectors.parent))
    names = [word.encode("utf-8", "surrogatepass") for _, word in placed]
    return names, np.array([row for row, _ in placed], np.int32)


def open_array(files: list[Path]) -> Rows:
    """The vectors, (rows, d), memory-mapped."""
    try:
        table: Rows = np.load(files[0], mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise _unreadable(files[0], error) from error
    if table.ndim != 2 or not len(table):
        raise BadInput("the vectors of the spaCy pipeline are not a table", where=str(files[0]))
    return table


def _unreadable(vectors: Path, error: Exception) -> BadInput:
    return BadInput(
        f"the vectors of the spaCy pipeline cannot be read ({type(error).__name__})",
        where=str(vectors.parent),
        allowed="the vocab folder of spaCy 3 with vectors of mode 'default'",
    )


def string_hash(text: str) -> int:
    """spaCy's hash of a string: MurmurHash64A of its UTF-8 bytes with seed 1."""
    data = text.encode("utf-8", "surrogatepass")
    value = 1 ^ len(data) * _MIX & _ALL
    whole = len(data) - len(data) % 8
    for at in range(0, whole, 8):
        k = int.from_bytes(data[at : at + 8], "little") * _MIX & _ALL
        k = (k ^ k >> 47) * _MIX & _ALL
        value = (value ^ k) * _MIX & _ALL
    if rest := data[whole:]:
        value = (value ^ int.from_bytes(rest, "little")) * _MIX & _ALL
    value = (value ^ value >> 47) * _MIX & _ALL
    return value ^ value >> 47


def _map(raw: bytes) -> dict[int, int]:
    """Decode a MessagePack map from integers to integers, the only type in key2row."""
    if raw[:1] == b"\xdf":
        size, at = int.from_bytes(raw[1:5], "big"), 5
    elif raw[:1] == b"\xde":
        size, at = int.from_bytes(raw[1:3], "big"), 3
    elif raw and raw[0] & 0xF0 == 0x80:
        size, at = raw[0] & 0x0F, 1
    else:
        raise ValueError
    found: dict[int, int] = {}
    for _ in range(size):
        key, at = _whole(raw, at)
        found[key], at = _whole(raw, at)
    return found


def _whole(raw: bytes, at: int) -> tuple[int, int]:
    kind = raw[at]
    if kind < 0x80:
        return kind, at + 1
    if kind >= 0xE0:
        return kind - 256, at + 1
    if not (0xCC <= kind <= 0xCF or 0xD0 <= kind <= 0xD3):
        raise ValueError
    signed = kind >= 0xD0
    end = at + 1 + 2 ** (kind - (0xD0 if signed else 0xCC))
    if end > len(raw):
        raise ValueError
    return int.from_bytes(raw[at + 1 : end], "big", signed=signed), end
