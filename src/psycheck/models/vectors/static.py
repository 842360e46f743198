"""Static word vectors as an encoder: a text is the mean of its words, a span the vector of its word."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from psycheck.errors import BadInput
from psycheck.model import FloatArray
from psycheck.models.fingerprint import hashed_files, hashed_parts
from psycheck.models.options import ModelOptions
from psycheck.models.vectors.fasttext_bin import MAGIC, Subwords, open_subwords, read_dictionary
from psycheck.models.vectors.files import read_vectors
from psycheck.models.vectors.gensim_file import companions, read_gensim
from psycheck.models.vectors.index import Rows, Stored, Vocabulary, folder_of, store, stored
from psycheck.models.vectors.spacy_folder import open_array, read_spacy, spacy_files
from psycheck.models.vectors.spelling import forms, pieces, splits
from psycheck.models.vectors.token_table import TokenTable, open_table, table_files

ENCODING = "2"  # increase it whenever the same file and text would give another vector
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_COMMON = ("the", "of", "and", "to", "in", "for", "is", "on", "that", "with")


@dataclass(frozen=True, slots=True)
class WordVectors:
    """Vectors of words; exactly one of `table`, `subwords` and `pieces` holds them.

    `vocabulary` is None if any word can be composed of pieces. `by_frequency` is true if the rows are sorted
    by frequency, as word2vec, GloVe and fastText write them.
    """

    name: str
    fingerprint: str
    parts: Mapping[str, str]
    dimensions: int
    vocabulary: Vocabulary | None = field(repr=False)
    by_frequency: bool
    table: Rows | None = field(default=None, repr=False)
    places: NDArray[np.int32] | None = field(default=None, repr=False)
    subwords: Subwords | None = field(default=None, repr=False)
    pieces: TokenTable | None = field(default=None, repr=False)

    def encode(self, texts: Sequence[str], /) -> FloatArray:
        """The mean vector of the known words of each text, (n, d); zeros if none is known."""
        words = [_WORD.findall(text) for text in texts]
        distinct = list(dict.fromkeys(word for some in words for word in some))
        known = dict(zip(distinct, self.vectors(distinct), strict=True))
        out = np.zeros((len(texts), self.dimensions))
        for i, some in enumerate(words):
            rows = [row for word in some if not np.isnan((row := known[word])[0])]
            if rows:
                out[i] = np.mean(rows, axis=0)
        return out

    def encode_spans(self, texts: Sequence[str], spans: Sequence[tuple[int, int]], /) -> FloatArray:
        """The vector of the word or phrase in one span of each text, (n, d), regardless of its context."""
        if len(texts) != len(spans):
            raise BadInput(f"{len(spans)} spans for {len(texts)} texts", allowed="one span per text")
        return self.vectors([text[start:end] for text, (start, end) in zip(texts, spans, strict=True)])

    def vectors(self, words: Sequence[str]) -> FloatArray:
        """The vector of each word or phrase, (n, d); NaN if it is unknown."""
        out = np.full((len(words), self.dimensions), np.nan)
        spelled = self.spelled(words)
        listed = list(dict.fromkeys(form for some in spelled for form in some))
        rows = dict(zip(listed, self._rows(listed), strict=True))
        for i, some in enumerate(spelled):
            found = [vector for form in some if (vector := self._vector(form, rows[form])) is not None]
            if found:
                out[i] = np.mean(found, axis=0, dtype=np.float64)
        return out

    def spelled(self, words: Sequence[str]) -> list[tuple[str, ...]]:
        """The entries for each word or phrase; several are averaged, none means "unknown".

        Tried are the word itself, the other apostrophe, lower case, and "_" or "-" for spaces; then its
        parts, if all are known. A contraction has two parts: the word, and "'s" or "n't" if it is an entry.
        """
        if self.vocabulary is None:
            return [(word,) if self._vector(word, -1) is not None else () for word in words]
        split = {word: _WORD.findall(word.replace("-", " ").replace("_", " ")) for word in words}
        needed = {*split, *(one for parts in split.values() for part in parts for one in pieces(part))}
        tried = {word: forms(word) for word in needed}
        listed = sorted({form for some in tried.values() for form in some})
        rows = dict(zip(listed, self._rows(listed), strict=True))

        def known(word: str) -> str | None:
            for form in tried[word]:
                if rows[form] >= 0:
                    return form
            return None

        def entries(word: str) -> tuple[str, ...]:
            if whole := known(word):
                return (whole,)
            ways = [(entries(before), known(rest)) for before, rest in splits(word)]
            for before, rest in ways:
                if before and rest:
                    return (*before, rest)
            # Without an entry for "n't", "can" is better than the half "ca": try the last way first.
            return next((before for before, _ in reversed(ways) if before), ())

        found: dict[str, tuple[str, ...]] = {}
        for word, parts in split.items():
            if whole := known(word):
                found[word] = (whole,)
            elif (made := [entries(part) for part in parts]) and all(made):
                found[word] = tuple(entry for some in made for entry in some)
            else:
                # fastText composes words that are not in its dictionary of n-grams.
                ngrams = self.subwords is not None and self.subwords.buckets > 0
                found[word] = tuple(parts) if ngrams else ()
        return [found[word] for word in words]

    def ranks(self, words: Sequence[str]) -> list[int]:
        """The row of each entry, −1 if it is absent; its rank if `by_frequency`."""
        return self._rows(words)

    def _rows(self, entries: Sequence[str]) -> list[int]:
        return [-1] * len(entries) if self.vocabulary is None else self.vocabulary.find(entries).tolist()

    def _vector(self, form: str, row: int) -> FloatArray | None:
        found: FloatArray | Rows | None = None
        if self.pieces is not None:
            found = self.pieces.vector(form)
        elif self.subwords is not None:
            found = self.subwords.vector(form, row)
        elif self.table is not None and row >= 0:
            found = self.table[row if self.places is None else self.places[row]]
        return None if found is None else np.asarray(found, np.float64)


def open_vectors(target: str, options: ModelOptions) -> WordVectors:
    """Open a file or folder of static vectors; it is converted the first time and memory-mapped later."""
    path = Path(target).expanduser()
    if path.is_dir():
        return _open_folder(path, options)
    try:
        with path.open("rb") as file:
            head = file.read(8)
    except FileNotFoundError as error:
        raise BadInput(f"there is no file '{path}'", where=f"vectors:{target}") from error
    except OSError as error:
        raise BadInput(f"the file cannot be read ({type(error).__name__})", where=str(path)) from error
    if not head:
        raise BadInput("the file is empty", where=str(path))
    if head.startswith(b"\x93NUMPY"):
        raise BadInput(
            "the file holds vectors without their words",
            where=str(path),
            do="name the file that gensim saved with it, without .vectors.npy",
        )
    if head.startswith(MAGIC):
        found = stored(folder := folder_of([path]))
        if found is None:
            words, facts = read_dictionary(path)
            found = store([_bare(words)], folder, {**facts, "file": hashed_files([path])})
        subwords = open_subwords(path, found.facts)
        return _opened(path, options, found, subwords.matrix.shape[1], subwords=subwords)
    gensim = head[:1] == b"\x80"
    folder = folder_of(companions(path) if gensim else [path])
    found = stored(folder) or store(read_gensim(path) if gensim else read_vectors(path), folder, {})
    if found.table is None or not len(found.vocabulary):
        raise BadInput("the file holds no vectors", where=str(path))
    return _opened(path, options, found, found.table.shape[1], table=found.table)


def _open_folder(path: Path, options: ModelOptions) -> WordVectors:
    if files := spacy_files(path):
        found = stored(folder := folder_of(files))
        if found is None:
            words, places = read_spacy(files)
            found = store([_bare(words)], folder, {"file": hashed_files(files)}, places)
        table = open_array(files)
        return _opened(path, options, found, table.shape[1], table=table)
    if files := table_files(path):
        pieces = open_table(files)
        parts = {"files": hashed_files(files), "encoding": ENCODING}
        return WordVectors(
            name=options.name or path.resolve().name,
            fingerprint=hashed_parts(parts),
            parts=parts,
            dimensions=pieces.table.shape[1],
            vocabulary=None,
            by_frequency=False,
            pieces=pieces,
        )
    raise BadInput(
        "the folder does not hold static vectors",
        where=str(path),
        allowed="a spaCy pipeline with vectors, or one .safetensors table with its tokenizer.json",
        do="open a transformer as hf:FOLDER",
    )


def _bare(words: list[bytes]) -> tuple[list[bytes], Rows]:
    """A block of words whose vectors stay in their file."""
    return words, np.empty((len(words), 0), np.float32)


def _opened(
    path: Path,
    options: ModelOptions,
    found: Stored,
    dimensions: int,
    *,
    table: Rows | None = None,
    subwords: Subwords | None = None,
) -> WordVectors:
    words = len(found.vocabulary)
    parts = {
        "content": str(found.facts.get("file", found.facts["content"])),
        "words": str(words),
        "dimensions": str(dimensions),
        "encoding": ENCODING,
    }
    common = [row for row in found.vocabulary.find(_COMMON).tolist() if row >= 0]
    return WordVectors(
        name=options.name or _short(path),
        fingerprint=hashed_parts(parts),
        parts=parts,
        dimensions=dimensions,
        vocabulary=found.vocabulary,
        # In a file with another order the most common words are anywhere.
        by_frequency=len(common) > 4 and max(common) < max(100, words // 100),
        table=table,
        places=found.places,
        subwords=subwords,
    )


def _short(path: Path) -> str:
    """The file name without the extensions of formats and compression."""
    name = path.resolve().name
    for ending in (".gz", ".zip", ".bin", ".txt", ".vec", ".json", ".kv", ".model"):
        name = name.removesuffix(ending)
    return name or path.name
