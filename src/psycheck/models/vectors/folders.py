"""Folders of static vectors: a spaCy pipeline, or a table of word pieces with its tokenizer.

spaCy is not needed: vocab/vectors is an array, vocab/strings.json has the words, vocab/key2row maps the hash
of a word to its row, in MessagePack. In pruned pipelines (md) many words share a row.
"""

import json
import struct
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psycheck.core.arrays import FloatArray
from psycheck.core.errors import UNREADABLE, BadInput, explained, library
from psycheck.models.vectors.index import Rows

# Constants of MurmurHash64A.
_MULTIPLIER = 0xC6A4A7935BD1E995
_64_BITS = 0xFFFFFFFFFFFFFFFF
_SHIFT = 47
_SEED = 1
# Codes of MessagePack and the layout of the numbers that follow them.
_MAP_SIZES = {0xDE: ">H", 0xDF: ">I"}
_INTEGERS = {
    0xCC: ">B",
    0xCD: ">H",
    0xCE: ">I",
    0xCF: ">Q",
    0xD0: ">b",
    0xD1: ">h",
    0xD2: ">i",
    0xD3: ">q",
}


def spacy_files(folder: Path) -> list[Path]:
    """The three files to read; empty if the folder is not a spaCy pipeline with vectors."""
    # The folder of a pipeline, its vocab folder, or the folder of an installed package around it.
    for vocab in (folder / "vocab", folder, *sorted(folder.glob("*/vocab"))):
        files = [vocab / name for name in ("vectors", "key2row", "strings.json")]
        if all(file.is_file() for file in files):
            return files
    return []


def read_spacy(files: list[Path]) -> tuple[list[bytes], NDArray[np.int32]]:
    """The words and their rows in the array, (n,), sorted by row."""
    _, key2row, strings = files
    table = open_array(files)
    with _explained_spacy(files):
        row_of_hash = _MessagePackMap(key2row.read_bytes()).read()
        words = [str(word) for word in json.loads(strings.read_text("utf-8"))]

    placed = []
    # Strings of the pipeline that are not words with a vector (tags, labels) have no row.
    for word in words:
        row = row_of_hash.get(string_hash(word))
        if row is not None:
            placed.append((row, word))
    placed.sort()

    rows = [row for row, _ in placed]
    if not rows or rows[0] < 0 or rows[-1] >= len(table):
        raise BadInput(
            "words and vectors of the spaCy pipeline do not match",
            code="vectors.spacy-mismatch",
            where=str(files[0].parent),
        )
    names = [word.encode("utf-8", "surrogatepass") for _, word in placed]
    return names, np.array([row for row, _ in placed], np.int32)


def open_array(files: list[Path]) -> Rows:
    """The vectors, (rows, d), memory-mapped."""
    with _explained_spacy(files):
        table: Rows = np.load(files[0], mmap_mode="r", allow_pickle=False)
    if table.ndim != 2 or not len(table):
        raise BadInput(
            "the vectors of the spaCy pipeline are not a table",
            code="vectors.spacy-unreadable",
            where=str(files[0]),
        )
    return table


def _explained_spacy(files: list[Path]) -> AbstractContextManager[None]:
    return explained(
        "the vectors of the spaCy pipeline cannot be read",
        *UNREADABLE,
        EOFError,
        struct.error,
        code="vectors.spacy-unreadable",
        where=str(files[0].parent),
        allowed="the vocab folder of spaCy 3 with vectors of mode 'default'",
    )


def string_hash(text: str) -> int:
    """spaCy's hash of a string: MurmurHash64A of its UTF-8 bytes with seed 1."""
    data = text.encode("utf-8", "surrogatepass")
    value = _SEED ^ (len(data) * _MULTIPLIER & _64_BITS)

    # Eight bytes at a time, then what is left of them.
    end = len(data) - len(data) % 8
    for start in range(0, end, 8):
        block = int.from_bytes(data[start : start + 8], "little") * _MULTIPLIER & _64_BITS
        block = (block ^ block >> _SHIFT) * _MULTIPLIER & _64_BITS
        value = (value ^ block) * _MULTIPLIER & _64_BITS
    tail = data[end:]
    if tail:
        value = (value ^ int.from_bytes(tail, "little")) * _MULTIPLIER & _64_BITS

    value = (value ^ value >> _SHIFT) * _MULTIPLIER & _64_BITS
    return value ^ value >> _SHIFT


class _MessagePackMap:
    """Decodes a MessagePack map from integers to integers, the only type in key2row."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.position = 0

    def read(self) -> dict[int, int]:
        """The whole map."""
        code = self._number("B")
        if code in _MAP_SIZES:
            size = self._number(_MAP_SIZES[code])
        elif code & 0xF0 == 0x80:  # a small map has its size in its code
            size = code & 0x0F
        else:
            raise ValueError("not a map")
        return {self._integer(): self._integer() for _ in range(size)}

    def _integer(self) -> int:
        code = self._number("B")
        if code in _INTEGERS:
            return self._number(_INTEGERS[code])
        if code < 0x80:  # small integers are their own code
            return code
        if code >= 0xE0:
            return code - 256
        raise ValueError("not an integer")

    def _number(self, layout: str) -> int:
        (number,) = struct.unpack_from(layout, self.raw, self.position)
        self.position += struct.calcsize(layout)
        return int(number)


def table_files(folder: Path) -> list[Path]:
    """The table and its tokenizer; empty unless the folder holds one of each."""
    tables = sorted({*folder.glob("*.safetensors"), *folder.glob("weights/*.safetensors")})
    tokenizers = [*folder.glob("tokenizer.json"), *sorted(folder.glob("tokenizers/*.json"))]
    if len(tables) != 1 or len(tokenizers) != 1:
        return []
    return [tables[0], tokenizers[0]]


def open_table(files: list[Path]) -> tuple[Callable[[str, int], FloatArray | None], int]:
    """Open a table of word pieces with its tokenizer: the vector of a word, and the number of dimensions."""
    table_file, tokenizer_file = files
    table = _piece_vectors(table_file)
    tokenizer = _piece_tokenizer(tokenizer_file)

    def lookup(word: str, _: int) -> FloatArray | None:
        """The mean of the pieces of a word, (d,); None if it has no piece in the table."""
        pieces = tokenizer.encode(word, add_special_tokens=False).ids
        rows = [piece for piece in pieces if piece < len(table)]
        if not rows:
            return None
        mean: FloatArray = table[rows].mean(axis=0, dtype=np.float64)
        return mean

    return lookup, table.shape[1]


def _piece_vectors(file: Path) -> Rows:
    """The only table of a safetensors file, (pieces, d)."""
    safetensors = library("safetensors", "the tokenizer of static vectors", "train")
    with explained(
        "the file does not hold exactly one table of vectors, or is cut short",
        OSError,
        ValueError,
        TypeError,
        safetensors.SafetensorError,
        code="vectors.no-single-table",
        where=str(file),
        allowed="one tensor with two dimensions in F16, F32 or F64",
    ):
        with safetensors.safe_open(file, "numpy") as tensors:
            # Model2Vec and wordllama store nothing but the table, under different names.
            names = list(tensors.keys())
            dimensions = [len(tensors.get_slice(name).get_shape()) for name in names]
            (name,) = [name for name, count in zip(names, dimensions, strict=True) if count == 2]
            table: Rows = tensors.get_tensor(name)
        if table.dtype.kind != "f":
            raise TypeError("not a table of floating-point numbers")
    return table


def _piece_tokenizer(file: Path) -> Any:
    """The tokenizer of word pieces, without padding and truncation."""
    tokenizers = library("tokenizers", "the tokenizer of static vectors", "train")
    with explained(
        "the tokenizer cannot be read",
        Exception,  # the library raises bare ones
        code="vectors.bad-tokenizer",
        where=str(file),
        allowed="a tokenizer.json",
    ):
        tokenizer = tokenizers.Tokenizer.from_file(str(file))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer
