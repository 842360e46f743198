"""Static vectors of word pieces: a .safetensors table and its tokenizer (wordllama, model2vec)."""

import json
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from psycheck.errors import BadInput, MissingExtra
from psycheck.model import FloatArray
from psycheck.models.vectors.index import Rows

_KINDS = {"F16": "<f2", "F32": "<f4", "F64": "<f8"}


@dataclass(frozen=True, slots=True)
class TokenTable:
    """A row a word piece; a word's vector is the mean of its pieces'."""

    table: Rows = field(repr=False)
    tokenizer: Any = field(repr=False)

    def vector(self, word: str) -> FloatArray | None:
        """The vector of a word, (d,), or None where it has no piece of its own."""
        pieces = [i for i in self.tokenizer.encode(word, add_special_tokens=False).ids if i < len(self.table)]
        return self.table[pieces].mean(axis=0, dtype=np.float64) if pieces else None


def table_files(folder: Path) -> list[Path]:
    """The table and its tokenizer, or nothing where the folder does not hold one of each."""
    tables = sorted({*folder.glob("*.safetensors"), *folder.glob("weights/*.safetensors")})
    tokenizers = [folder / "tokenizer.json"] if (folder / "tokenizer.json").is_file() else []
    tokenizers += sorted(folder.glob("tokenizers/*.json"))
    return [tables[0], tokenizers[0]] if len(tables) == 1 and len(tokenizers) == 1 else []


def open_table(files: list[Path]) -> TokenTable:
    """Open a table of word pieces; the tokenizer needs the package of that name."""
    try:
        library = import_module("tokenizers")
    except ImportError as error:
        raise MissingExtra("the tokenizer of static vectors", "train") from error
    table = _tensor(files[0])
    try:
        tokenizer = library.Tokenizer.from_file(str(files[1]))
    except Exception as error:  # the library raises bare exceptions
        raise BadInput(
            f"the tokenizer cannot be read ({type(error).__name__})",
            where=str(files[1]),
            allowed="a tokenizer.json",
        ) from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return TokenTable(table, tokenizer)


def _tensor(path: Path) -> Rows:
    """The only table of a .safetensors file, memory-mapped."""
    size = path.stat().st_size
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if length > size:
                raise ValueError
            told = json.loads(file.read(length))
        tables = [
            about for name, about in told.items() if name != "__metadata__" and len(about["shape"]) == 2
        ]
        (about,) = tables
        start, end = about["data_offsets"]
        rows, columns = about["shape"]
        kind = np.dtype(_KINDS[about["dtype"]])
        if 8 + length + end > size or end - start != rows * columns * kind.itemsize:
            raise ValueError
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(
            "the file holds no single table of vectors, or is cut short",
            where=str(path),
            allowed="one tensor with two dimensions in F16, F32 or F64",
        ) from error
    found: Rows = np.memmap(path, kind, "r", offset=8 + length + start, shape=(rows, columns))
    return found
