"""Saved gensim KeyedVectors, read without gensim and without running code from the pickle.

Only the names on a short list are accepted, and each becomes a class of this module or a plain container:
gensim's own classes become empty shells, arrays are read from their bytes, everything else is refused.
"""

import pickle
from collections import OrderedDict, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from psycheck.core.errors import BadInput, explained
from psycheck.models.vectors.index import Block

BLOCK_ROWS = 4_096
_NUMBER_TYPES = ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
_SHELLS = ("gensim.", "numpy.random.")
_REMEDY = (
    "in an environment with gensim: "
    "KeyedVectors.load(FILE).save_word2vec_format('vectors.bin', binary=True), then vectors:vectors.bin"
)


class Shell:
    """Replaces an object of gensim: holds its attributes and does nothing."""

    def __init__(self, *_: object) -> None:
        """Accept the arguments of the original class."""

    def __setstate__(self, state: object) -> None:
        """Keep the attributes; other states hold no words."""
        if isinstance(state, dict):
            vars(self).update(state)


def read_gensim(path: Path) -> Iterator[Block]:
    """The words and vectors of a saved KeyedVectors, or of the model that holds one as `wv`."""
    attributes = vars(_load_shell(path))
    prefix = ""
    if isinstance(attributes.get("wv"), Shell):
        # A saved Word2Vec model holds its KeyedVectors as `wv`, and so do the names of its files.
        attributes = vars(attributes["wv"])
        prefix = "wv."

    words = _words(attributes, path)
    vectors = _vectors(attributes, path.with_name(f"{path.name}.{prefix}vectors.npy"), path)
    is_table = isinstance(vectors, np.ndarray) and vectors.ndim == 2
    if not is_table or len(vectors) != len(words):
        raise BadInput(
            f"{len(words):,} words do not match the saved vectors",
            code="vectors.gensim-mismatch",
            where=str(path),
            do=_REMEDY,
        )
    for start in range(0, len(words), BLOCK_ROWS):
        block_words = words[start : start + BLOCK_ROWS]
        # A word with half of a surrogate pair is kept: only exact matches are looked up.
        names = [word.encode("utf-8", "surrogatepass") for word in block_words]
        yield names, np.asarray(vectors[start : start + BLOCK_ROWS], np.float32)


def companions(path: Path) -> list[Path]:
    """The file and the arrays that gensim saved with it."""
    return [path, *sorted(path.parent.glob(f"{path.name}.*.npy"))]


def _load_shell(path: Path) -> Shell:
    """The object that the pickle holds, without any code of it."""
    try:
        with path.open("rb") as file:
            loaded = _Reader(file).load()
    except BadInput as error:
        raise BadInput(
            error.what,
            code=error.code,
            where=str(path),
            allowed=error.allowed,
            do=error.do,
        ) from error
    except Exception as error:  # a broken pickle can raise anything
        raise BadInput(
            f"the file is not a readable gensim file ({type(error).__name__})",
            code="vectors.gensim-unreadable",
            where=str(path),
            do=_REMEDY,
        ) from error
    if not isinstance(loaded, Shell):
        raise BadInput(
            "the file does not hold a gensim object",
            code="vectors.not-gensim",
            where=str(path),
            allowed="KeyedVectors",
            do=_REMEDY,
        )
    return loaded


def _words(attributes: dict[str, Any], path: Path) -> list[str]:
    """The words, under the name of gensim 4 or of an older one."""
    words = attributes.get("index_to_key", attributes.get("index2word"))
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise BadInput(
            "the saved object holds no words",
            code="vectors.gensim-no-words",
            where=str(path),
            allowed="KeyedVectors",
            do=_REMEDY,
        )
    return words


def _vectors(attributes: dict[str, Any], array_file: Path, path: Path) -> Any:
    """The vectors inside the pickle or, of large models, in a file beside it."""
    vectors = attributes.get("vectors")
    # Small models have their array in the pickle.
    if isinstance(vectors, _Array):
        return vectors.numbers
    if vectors is not None:
        return vectors
    if "min_n" in attributes:
        raise BadInput(
            "gensim stores the n-grams of fastText vectors separately, which is not supported",
            code="vectors.gensim-fasttext",
            where=str(path),
            allowed="KeyedVectors of whole words, or fastText's own .bin",
            do=_REMEDY,
        )
    with explained(
        "the file with the vectors cannot be read",
        OSError,
        ValueError,
        code="vectors.gensim-no-array",
        where=str(array_file),
        do="keep all files of gensim in one folder",
    ):
        # Mapped, not read: it may be larger than the memory.
        return np.load(array_file, mmap_mode="r", allow_pickle=False)


class _NumberType:
    """Replaces a NumPy dtype; only those of plain numbers and of text are supported."""

    def __init__(self, code: object = "", *_: object) -> None:
        """Keep a number type ("f4", "i8" …), or that it is text ("U4")."""
        self.dtype: np.dtype[Any] | None = None
        if isinstance(code, str) and code in _NUMBER_TYPES:
            self.dtype = np.dtype(code)
        self.is_text = isinstance(code, str) and code.startswith("U")
        self.byte_order = "<"

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        """Keep only the byte order: other flags could turn plain bytes into pointers."""
        self.byte_order = str(state[1])
        if self.dtype is not None:
            self.dtype = self.dtype.newbyteorder(state[1])


def _scalar(number_type: object, raw: object = b"") -> object:
    """A word that NumPy stored as text; numbers are not needed."""
    if not isinstance(number_type, _NumberType) or not isinstance(raw, bytes):
        return Shell()
    if not number_type.is_text:
        return Shell()
    encoding = "utf-32-be" if number_type.byte_order == ">" else "utf-32-le"
    return raw.decode(encoding, "surrogatepass").rstrip("\0")


class _Array:
    """Replaces a NumPy array: numbers are read from its bytes, everything else leaves it empty."""

    def __init__(self, *_: object) -> None:
        """Start empty; the state fills it."""
        self.numbers: np.ndarray[Any, Any] = np.zeros(0, np.float32)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        """Fill the array; bytes that do not match the shape are an error."""
        _, shape, number_type, is_by_column, raw = state
        if not isinstance(number_type, _NumberType) or not isinstance(raw, bytes):
            return
        if number_type.dtype is not None:
            numbers = np.frombuffer(raw, number_type.dtype)
            self.numbers = numbers.reshape(shape, order="F" if is_by_column else "C")


class _Reader(pickle.Unpickler):
    """Opens a pickle, with the classes of this module in place of those that it names."""

    def find_class(self, module: str, name: str) -> Any:
        """Accept only names that hold data."""
        # The generator of random numbers of a saved model is not needed, but in the way.
        if module.startswith(_SHELLS):
            return Shell
        replacement = _REPLACEMENTS.get((module, name))
        if replacement is not None:
            return replacement
        raise BadInput(
            f"the file asks for '{module}.{name}', which is not data",
            code="vectors.gensim-not-data",
            allowed="gensim KeyedVectors, whose vectors are plain arrays",
            do=_REMEDY,
        )


# Nothing of NumPy is called: with crafted bytes its constructors make arrays of pointers.
_REPLACEMENTS: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): Shell,
    ("numpy", "dtype"): _NumberType,
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("numpy.core.multiarray", "scalar"): _scalar,
    ("numpy._core.multiarray", "scalar"): _scalar,
    ("collections", "OrderedDict"): OrderedDict,
    ("collections", "defaultdict"): defaultdict,
    ("builtins", "int"): int,
    ("builtins", "hash"): Shell,
}
