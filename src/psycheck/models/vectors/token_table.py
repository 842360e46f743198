"""Static vectors of word pieces: a .safetensors table and its tokenizer (wordllama, model2vec)."""

from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from psycheck.errors import BadInput, MissingExtra
from psycheck.model import FloatArray
from psycheck.models.vectors.index import Rows


@dataclass(frozen=True, slots=True)
class TokenTable:
    """One row per word piece; the vector of a word is the mean of its pieces."""

    table: Rows = field(repr=False)
    tokenizer: Any = field(repr=False)

    def vector(self, word: str) -> FloatArray | None:
        """The vector of a word, (d,), or None if it has no piece in the table."""
        pieces = [i for i in self.tokenizer.encode(word, add_special_tokens=False).ids if i < len(self.table)]
        return self.table[pieces].mean(axis=0, dtype=np.float64) if pieces else None


def table_files(folder: Path) -> list[Path]:
    """The table and its tokenizer; empty unless the folder holds one of each."""
    tables = sorted({*folder.glob("*.safetensors"), *folder.glob("weights/*.safetensors")})
    tokenizers = [*folder.glob("tokenizer.json"), *sorted(folder.glob("tokenizers/*.json"))]
    return [tables[0], tokenizers[0]] if len(tables) == 1 and len(tokenizers) == 1 else []


def open_table(files: list[Path]) -> TokenTable:
    """Open a table of word pieces with its tokenizer."""
    try:
        tokenizers, safetensors = import_module("tokenizers"), import_module("safetensors")
    except ImportError as error:
        raise MissingExtra("the tokenizer of static vectors", "train") from error
    try:
        with safetensors.safe_open(files[0], "numpy") as file:
            (name,) = [key for key in file.keys() if len(file.get_slice(key).get_shape()) == 2]  # noqa: SIM118  # not a dict
            table: Rows = file.get_tensor(name)
        if table.dtype.kind != "f":
            raise TypeError
    except (OSError, ValueError, TypeError, safetensors.SafetensorError) as error:
        raise BadInput(
            "the file does not hold exactly one table of vectors, or is cut short",
            where=str(files[0]),
            allowed="one tensor with two dimensions in F16, F32 or F64",
        ) from error
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(files[1]))
    except Exception as error:  # the library raises bare exceptions
        raise BadInput(
            f"the tokenizer cannot be read ({type(error).__name__})",
            where=str(files[1]),
            allowed="a tokenizer.json",
        ) from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return TokenTable(table, tokenizer)
