"""Folders of static vectors: a spaCy pipeline, or a table of word pieces with its tokenizer.

spaCy is not needed: vocab/vectors is an array, vocab/strings.json has the words, vocab/key2row maps the hash
of a word to its row, in MessagePack. In pruned pipelines (md) many words share a row.
"""

import json
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from psycheck.errors import UNREADABLE, BadInput, explained, library
from psycheck.model import FloatArray
from psycheck.models.vectors.index import Rows

_MIX = 0xC6A4A7935BD1E995
_ALL = 0xFFFFFFFFFFFFFFFF
_MAPS = {0xDE: ">H", 0xDF: ">I"}  # codes of MessagePack and the integers that follow them
_INTEGERS = dict(zip(range(0xCC, 0xD4), (">B", ">H", ">I", ">Q", ">b", ">h", ">i", ">q"), strict=True))
_UNREADABLE = "the vectors of the spaCy pipeline cannot be read"
_READABLE = "the vocab folder of spaCy 3 with vectors of mode 'default'"
_BROKEN = (*UNREADABLE, EOFError, struct.error)


def spacy_files(folder: Path) -> list[Path]:
    """The three files to read; empty if the folder is not a spaCy pipeline with vectors."""
    for vocab in (folder / "vocab", folder, *sorted(folder.glob("*/vocab"))):
        files = [vocab / name for name in ("vectors", "key2row", "strings.json")]
        if all(file.is_file() for file in files):
            return files
    return []


def read_spacy(files: list[Path]) -> tuple[list[bytes], NDArray[np.int32]]:
    """The words and their rows in the array, (n,), sorted by row."""
    table, vocab = open_array(files), str(files[0].parent)
    with explained(_UNREADABLE, *_BROKEN, where=vocab, allowed=_READABLE):
        rows = _map(files[1].read_bytes())
        words = json.loads(files[2].read_text("utf-8"))
    placed = sorted((rows[key], word) for word in map(str, words) if (key := string_hash(word)) in rows)
    if not placed or placed[-1][0] >= len(table) or placed[0][0] < 0:
        raise BadInput("words and vectors of the spaCy pipeline do not match", where=vocab)
    names = [word.encode("utf-8", "surrogatepass") for _, word in placed]
    return names, np.array([row for row, _ in placed], np.int32)


def open_array(files: list[Path]) -> Rows:
    """The vectors, (rows, d), memory-mapped."""
    with explained(_UNREADABLE, *_BROKEN, where=str(files[0].parent), allowed=_READABLE):
        table: Rows = np.load(files[0], mmap_mode="r", allow_pickle=False)
    if table.ndim != 2 or not len(table):
        raise BadInput("the vectors of the spaCy pipeline are not a table", where=str(files[0]))
    return table


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
    at = 1

    def number(form: str) -> int:
        nonlocal at
        at += struct.calcsize(form)
        return int(struct.unpack_from(form, raw, at - struct.calcsize(form))[0])

    def integer() -> int:
        kind = number("B")
        if kind in _INTEGERS:
            return number(_INTEGERS[kind])
        if 0x80 <= kind < 0xE0:
            raise ValueError
        return kind if kind < 0x80 else kind - 256

    if raw[0] in _MAPS:
        size = number(_MAPS[raw[0]])
    elif raw[0] & 0xF0 == 0x80:
        size = raw[0] & 0x0F
    else:
        raise ValueError
    return {integer(): integer() for _ in range(size)}


def table_files(folder: Path) -> list[Path]:
    """The table and its tokenizer; empty unless the folder holds one of each."""
    tables = sorted({*folder.glob("*.safetensors"), *folder.glob("weights/*.safetensors")})
    tokenizers = [*folder.glob("tokenizer.json"), *sorted(folder.glob("tokenizers/*.json"))]
    return [tables[0], tokenizers[0]] if len(tables) == 1 and len(tokenizers) == 1 else []


def open_table(files: list[Path]) -> tuple[Callable[[str, int], FloatArray | None], int]:
    """Open a table of word pieces with its tokenizer: the vector of a word, and the number of dimensions."""
    needs = "the tokenizer of static vectors"
    tokenizers, safetensors = (library(name, needs, "train") for name in ("tokenizers", "safetensors"))
    unfit = (OSError, ValueError, TypeError, safetensors.SafetensorError)
    what = "the file does not hold exactly one table of vectors, or is cut short"
    allowed = "one tensor with two dimensions in F16, F32 or F64"
    with explained(what, *unfit, where=str(files[0]), allowed=allowed):
        with safetensors.safe_open(files[0], "numpy") as file:
            (name,) = [key for key in file.keys() if len(file.get_slice(key).get_shape()) == 2]  # noqa: SIM118  # not a dict
            table: Rows = file.get_tensor(name)
        if table.dtype.kind != "f":
            raise TypeError
    what, allowed = "the tokenizer cannot be read", "a tokenizer.json"
    with explained(what, Exception, where=str(files[1]), allowed=allowed):  # the library raises bare ones
        tokenizer = tokenizers.Tokenizer.from_file(str(files[1]))
    tokenizer.no_padding()
    tokenizer.no_truncation()

    def lookup(word: str, _: int) -> FloatArray | None:
        """The mean of the pieces of a word, (d,); None if it has no piece in the table."""
        pieces = [i for i in tokenizer.encode(word, add_special_tokens=False).ids if i < len(table)]
        return table[pieces].mean(axis=0, dtype=np.float64) if pieces else None

    return lookup, table.shape[1]
