"""gensim's saved KeyedVectors, read without gensim and without running what a pickle may hold.

Only names on a short list are understood, and each stands for a class of this file or a plain container:
gensim's own classes become empty shells, arrays are read from their bytes, anything else is refused before it
is called.
"""

import pickle
from collections import OrderedDict, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from psycheck.errors import BadInput
from psycheck.models.vectors.index import Block

ROWS = 4_096
_NUMBERS = ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
_SHELLS = ("gensim.", "numpy.random.")
_REMEDY = (
    "in an environment with gensim: "
    "KeyedVectors.load(FILE).save_word2vec_format('vectors.bin', binary=True), then vectors:vectors.bin"
)


class Shell:
    """Stands where an object of gensim stood, holds what was saved of it, and does nothing."""

    def __init__(self, *_: object) -> None:
        """Take what the true class would take."""

    def __setstate__(self, state: object) -> None:
        """Keep attributes; what is not a set of attributes holds no words."""
        if isinstance(state, dict):
            vars(self).update(state)


def read_gensim(path: Path) -> Iterator[Block]:
    """The words and vectors of a saved KeyedVectors, or of the model that holds one as `wv`."""
    held = _loaded(path)
    prefix = ""
    if "wv" in held and isinstance(held["wv"], Shell):
        held, prefix = vars(held["wv"]), "wv."
    words = held.get("index_to_key", held.get("index2word"))
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise BadInput("the saved object holds no words", where=str(path), allowed="KeyedVectors", do=_REMEDY)
    vectors = held.get("vectors")
    if isinstance(vectors, _Array):
        vectors = vectors.numbers
    beside = path.with_name(f"{path.name}.{prefix}vectors.npy")
    if vectors is None and "min_n" in held:
        raise BadInput(
            "gensim keeps the n-grams of fastText vectors apart, and they are not put together here",
            where=str(path),
            allowed="KeyedVectors of whole words, or fastText's own .bin",
            do=_REMEDY,
        )
    if vectors is None:
        try:
            vectors = np.load(beside, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError) as error:
            raise BadInput(
                f"the vectors are not beside the file ({type(error).__name__})",
                where=str(beside),
                do="keep all files that gensim saved in one folder",
            ) from error
    if not isinstance(vectors, np.ndarray) or vectors.ndim != 2 or len(vectors) != len(words):
        raise BadInput(f"{len(words):,} words do not fit the saved vectors", where=str(path), do=_REMEDY)
    for start in range(0, len(words), ROWS):
        some = [word.encode("utf-8", "surrogatepass") for word in words[start : start + ROWS]]
        rows = np.asarray(vectors[start : start + ROWS], np.float32)
        if not np.isfinite(rows).all():
            raise BadInput("a vector holds what is no number", where=str(path))
        yield some, rows


def companions(path: Path) -> list[Path]:
    """The file and what gensim saved beside it."""
    return [path, *sorted(path.parent.glob(f"{path.name}.*.npy"))]


class _Kind:
    """Stands where a NumPy dtype stood; only those of plain numbers, and of text, are understood."""

    def __init__(self, code: object = "", *_: object) -> None:
        """Keep "f4", "i8" …, or that it is text ("U4")."""
        known = isinstance(code, str) and code in _NUMBERS
        self.kind: np.dtype[Any] | None = np.dtype(str(code)) if known else None
        self.text = isinstance(code, str) and code.startswith("U")
        self.order = "<"

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        """Take the order of bytes and leave all else: it can make pointers of what are none."""
        self.order = str(state[1])
        if self.kind is not None:
            self.kind = self.kind.newbyteorder(state[1])


def _scalar(kind: object, raw: object = b"") -> object:
    """A word, where NumPy held it as text; of numbers nothing is needed."""
    if isinstance(kind, _Kind) and kind.text and isinstance(raw, bytes):
        order = "utf-32-be" if kind.order == ">" else "utf-32-le"
        return raw.decode(order, "surrogatepass").rstrip("\0")
    return Shell()


class _Array:
    """Stands where a NumPy array stood: numbers are read from its bytes, all else leaves it empty."""

    def __init__(self, *_: object) -> None:
        """An array is made empty and filled afterwards."""
        self.numbers: np.ndarray[Any, Any] = np.zeros(0, np.float32)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        """Fill it; bytes that do not fit the shape are an error."""
        _, shape, kind, by_column, raw = state
        if isinstance(kind, _Kind) and kind.kind is not None and isinstance(raw, bytes):
            self.numbers = np.frombuffer(raw, kind.kind).reshape(shape, order="F" if by_column else "C")


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """Only what holds data; a name that could act is refused."""
        if module.startswith(_SHELLS):
            return Shell
        if found := _KNOWN.get((module, name)):
            return found
        raise BadInput(
            f"the file asks for '{module}.{name}', which is not data",
            allowed="gensim KeyedVectors, whose vectors are plain arrays",
            do=_REMEDY,
        )


# Nothing of NumPy is called: given bytes of a stranger's choice, its constructors make arrays of pointers.
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


def _loaded(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            held = _Reader(file).load()
    except BadInput as error:
        raise BadInput(error.what, where=str(path), allowed=error.allowed, do=error.do) from error
    except Exception as error:  # a broken pickle can raise anything
        raise BadInput(
            f"the file cannot be read as gensim saved it ({type(error).__name__})",
            where=str(path),
            do=_REMEDY,
        ) from error
    if not isinstance(held, Shell):
        raise BadInput(
            "the file holds no object of gensim", where=str(path), allowed="KeyedVectors", do=_REMEDY
        )
    return vars(held)
