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

from psycheck.errors import BadInput, explained
from psycheck.models.vectors.index import Block

ROWS = 4_096
_NUMBERS = ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
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
    try:
        with path.open("rb") as file:
            shell = _Reader(file).load()
    except BadInput as error:
        raise BadInput(error.what, where=str(path), allowed=error.allowed, do=error.do) from error
    except Exception as error:  # a broken pickle can raise anything
        what = f"the file is not a readable gensim file ({type(error).__name__})"
        raise BadInput(what, where=str(path), do=_REMEDY) from error
    if not isinstance(shell, Shell):
        what = "the file does not hold a gensim object"
        raise BadInput(what, where=str(path), allowed="KeyedVectors", do=_REMEDY)
    held, prefix = vars(shell), ""
    if isinstance(held.get("wv"), Shell):
        held, prefix = vars(held["wv"]), "wv."
    words = held.get("index_to_key", held.get("index2word"))
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise BadInput("the saved object holds no words", where=str(path), allowed="KeyedVectors", do=_REMEDY)
    vectors = held.get("vectors")
    if isinstance(vectors, _Array):
        vectors = vectors.numbers
    if vectors is None and "min_n" in held:
        what = "gensim stores the n-grams of fastText vectors separately, which is not supported"
        allowed = "KeyedVectors of whole words, or fastText's own .bin"
        raise BadInput(what, where=str(path), allowed=allowed, do=_REMEDY)
    if vectors is None:
        array = path.with_name(f"{path.name}.{prefix}vectors.npy")
        what, do = "the file with the vectors cannot be read", "keep all files of gensim in one folder"
        with explained(what, OSError, ValueError, where=str(array), do=do):
            vectors = np.load(array, mmap_mode="r", allow_pickle=False)
    if not isinstance(vectors, np.ndarray) or vectors.ndim != 2 or len(vectors) != len(words):
        raise BadInput(f"{len(words):,} words do not match the saved vectors", where=str(path), do=_REMEDY)
    for start in range(0, len(words), ROWS):
        some = [word.encode("utf-8", "surrogatepass") for word in words[start : start + ROWS]]
        yield some, np.asarray(vectors[start : start + ROWS], np.float32)


def companions(path: Path) -> list[Path]:
    """The file and the arrays that gensim saved with it."""
    return [path, *sorted(path.parent.glob(f"{path.name}.*.npy"))]


class _Kind:
    """Replaces a NumPy dtype; only those of plain numbers and of text are supported."""

    def __init__(self, code: object = "", *_: object) -> None:
        """Keep a number type ("f4", "i8" …), or that it is text ("U4")."""
        known = isinstance(code, str) and code in _NUMBERS
        self.kind: np.dtype[Any] | None = np.dtype(str(code)) if known else None
        self.text = isinstance(code, str) and code.startswith("U")
        self.order = "<"

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        """Keep only the byte order: other flags could turn plain bytes into pointers."""
        self.order = str(state[1])
        if self.kind is not None:
            self.kind = self.kind.newbyteorder(state[1])


def _scalar(kind: object, raw: object = b"") -> object:
    """A word that NumPy stored as text; numbers are not needed."""
    if isinstance(kind, _Kind) and kind.text and isinstance(raw, bytes):
        order = "utf-32-be" if kind.order == ">" else "utf-32-le"
        return raw.decode(order, "surrogatepass").rstrip("\0")
    return Shell()


class _Array:
    """Replaces a NumPy array: numbers are read from its bytes, everything else leaves it empty."""

    def __init__(self, *_: object) -> None:
        """Start empty; the state fills it."""
        self.numbers: np.ndarray[Any, Any] = np.zeros(0, np.float32)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        """Fill the array; bytes that do not match the shape are an error."""
        _, shape, kind, by_column, raw = state
        if isinstance(kind, _Kind) and kind.kind is not None and isinstance(raw, bytes):
            self.numbers = np.frombuffer(raw, kind.kind).reshape(shape, order="F" if by_column else "C")


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """Accept only names that hold data."""
        if module.startswith(_SHELLS):
            return Shell
        if found := _KNOWN.get((module, name)):
            return found
        what = f"the file asks for '{module}.{name}', which is not data"
        raise BadInput(what, allowed="gensim KeyedVectors, whose vectors are plain arrays", do=_REMEDY)


# Nothing of NumPy is called: with crafted bytes its constructors make arrays of pointers.
_KNOWN: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): Shell,
    ("numpy", "dtype"): _Kind,
    ("collections", "OrderedDict"): OrderedDict,
    ("collections", "defaultdict"): defaultdict,
    ("builtins", "int"): int,
    ("builtins", "hash"): Shell,
    **{(f"numpy.{room}.multiarray", "_reconstruct"): _Array for room in ("core", "_core")},
    **{(f"numpy.{room}.multiarray", "scalar"): _scalar for room in ("core", "_core")},
}
