"""Static word vectors as an encoder: a text is the mean of its words, a span the vector of its word."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain, cycle, islice
from pathlib import Path

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.core.errors import BadInput, explained
from psycheck.core.model import Capabilities
from psycheck.models.fingerprint import hashed_files, hashed_parts
from psycheck.models.options import ModelOptions
from psycheck.models.vectors.fasttext_file import MAGIC, open_subwords, read_dictionary
from psycheck.models.vectors.files import finite, read_vectors
from psycheck.models.vectors.folders import open_array, open_table, read_spacy, spacy_files, table_files
from psycheck.models.vectors.gensim_file import companions, read_gensim
from psycheck.models.vectors.index import Rows, Stored, Vocabulary, folder_of, store, stored
from psycheck.models.vectors.spelling import WORD, spell

Lookup = Callable[[str, int], Rows | FloatArray | None]
ENCODING = "2"  # increase it whenever the same file and text would give another vector
_PICKLE = b"\x80"
_NUMPY = b"\x93NUMPY"
_ENDINGS = (".gz", ".zip", ".bin", ".txt", ".vec", ".json", ".kv", ".model")
# English words that are at the top of every file that is sorted by frequency.
_COMMON = ("the", "of", "and", "to", "in", "for", "is", "on", "that", "with")
# Words of similar rank: within this factor, which grows by another one if there are too few.
_NEAR = 1.25
_WIDER = 1.6
_AROUND = 250  # minimum ranks on each side: the window grows with rank, so common words have few neighbours
_SHORTEST = 3
_DRAWS_PER_WORD = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class WordVectors:
    """Vectors of words; `lookup` gives that of an entry and its row, (d,), or None.

    `vocabulary` is None if any word can be composed of pieces, `composes` is true if words outside of it can.
    `by_frequency` is true if the rows are sorted by frequency, as word2vec, GloVe and fastText write them.
    """

    name: str
    fingerprint: str
    capabilities: Capabilities = field(repr=False)
    dimensions: int
    vocabulary: Vocabulary | None = field(repr=False)
    by_frequency: bool
    lookup: Lookup = field(repr=False)
    composes: bool

    def encode(self, texts: Sequence[str], /) -> FloatArray:
        """The mean vector of the known words of each text, (n, d); zeros if none is known."""
        # A word is looked up once, however many texts have it.
        words_of_texts = [WORD.findall(text) for text in texts]
        distinct = list(dict.fromkeys(chain.from_iterable(words_of_texts)))
        row_of = {word: row for row, word in enumerate(distinct)}
        vectors = self.vectors(distinct)
        is_known = ~np.isnan(vectors[:, 0])

        means = np.zeros((len(texts), self.dimensions))
        for i, words in enumerate(words_of_texts):
            rows = [row_of[word] for word in words if is_known[row_of[word]]]
            if rows:
                means[i] = np.mean(vectors[rows], axis=0)
        return means

    def encode_spans(self, texts: Sequence[str], spans: Sequence[tuple[int, int]], /) -> FloatArray:
        """The vector of the word or phrase in one span of each text, (n, d), regardless of its context."""
        if len(texts) != len(spans):
            raise BadInput(
                f"{len(spans)} spans for {len(texts)} texts",
                code="encoder.span-count",
                allowed="one span per text",
            )
        words = []
        for text, (start, end) in zip(texts, spans, strict=True):
            words.append(text[start:end])
        return self.vectors(words)

    def vectors(self, words: Sequence[str]) -> FloatArray:
        """The vector of each word or phrase, (n, d); NaN if it is unknown."""
        entries_of_words = self.spelled(words)
        distinct = list(dict.fromkeys(chain.from_iterable(entries_of_words)))
        row_of = dict(zip(distinct, self.ranks(distinct), strict=True))

        vectors = np.full((len(words), self.dimensions), np.nan)
        for i, entries in enumerate(entries_of_words):
            looked_up = [self.lookup(entry, row_of[entry]) for entry in entries]
            present = [vector for vector in looked_up if vector is not None]
            if present:
                vectors[i] = np.mean(np.asarray(present, np.float64), axis=0)
        return vectors

    def spelled(self, words: Sequence[str]) -> list[tuple[str, ...]]:
        """The entries for each word or phrase; several are averaged, none means "unknown"."""
        if self.vocabulary is None:
            # The tokenizer makes pieces of any word, so that no other spelling is tried.
            return [self._composed_entry(word) for word in words]
        return spell(words, self.ranks, composes=self.composes)

    def _composed_entry(self, word: str) -> tuple[str, ...]:
        if self.lookup(word, -1) is None:
            return ()
        return (word,)

    def ranks(self, words: Sequence[str]) -> list[int]:
        """The row of each entry, −1 if it is absent; its rank if `by_frequency`."""
        if self.vocabulary is None:
            return [-1] * len(words)
        ranks: list[int] = self.vocabulary.find(words).tolist()
        return ranks


def matched_words(
    encoder: WordVectors,
    entries: Sequence[tuple[str, ...]],
    count: int,
    avoid: frozenset[str],
    *,
    seed: int = 0,
) -> list[tuple[str, ...]]:
    """For each word or phrase (a tuple of entries), `count` random ones of as many words of similar rank.

    Only plain words in lower case are drawn, none of `avoid`. If too few are within a quarter of the rank,
    the window grows. A word that is not in the file counts as its rarest.
    """
    vocabulary = encoder.vocabulary
    if vocabulary is None:
        return [() for _ in entries]
    random = np.random.default_rng(seed)
    rarest = len(vocabulary) - 1

    matched = []
    for phrase in entries:
        # A phrase is matched word by word: as many words as it has, each of a similar rank.
        draws = []
        for rank in encoder.ranks(phrase):
            likely_rank = rank if rank >= 0 else rarest
            draws.append(_words_near(vocabulary, likely_rank, count, avoid, random))
        phrases = [" ".join(words) for words in zip(*draws, strict=True)]
        matched.append(tuple(phrases))
    return matched


def _words_near(
    vocabulary: Vocabulary, rank: int, count: int, avoid: frozenset[str], random: np.random.Generator
) -> list[str]:
    """Draw ranks in a window until enough of them are plain words; widen it if it is exhausted."""
    total = len(vocabulary)
    factor = _NEAR
    while True:
        low = max(0, int(rank / factor) - _AROUND)
        high = min(total, int(rank * factor) + _AROUND + 1)
        # Most entries of a large file are not plain words, so that many more are drawn than are needed.
        drawn_ranks = random.permutation(high - low)[: _DRAWS_PER_WORD * count]
        drawn = (vocabulary.word(low + int(place)) for place in drawn_ranks)
        usable = (word for word in drawn if _is_plain(word) and word not in avoid)
        words = list(islice(usable, count))

        if len(words) == count:
            return words
        if low == 0 and high == total:  # a small file: repeat words rather than return none
            return list(islice(cycle(words), count))
        factor *= _WIDER


def _is_plain(word: str) -> bool:
    return len(word) >= _SHORTEST and word.isalpha() and word.islower()


def open_vectors(target: str, options: ModelOptions) -> WordVectors:
    """Open a file or folder of static vectors; it is converted the first time and memory-mapped later."""
    path = Path(target).expanduser()
    if path.is_dir():
        return _open_folder(path, options)

    start = _first_bytes(path, where=f"vectors:{target}")
    # The first bytes tell the format; file names of released vectors tell little.
    if start.startswith(MAGIC):
        return _open_fasttext(path, options)
    if start.startswith(_PICKLE):
        folder = folder_of(companions(path))
        converted = stored(folder) or store(finite(read_gensim(path), path), folder, {})
    else:
        folder = folder_of([path])
        converted = stored(folder) or store(finite(read_vectors(path), path), folder, {})
    if converted.table is None or not len(converted.vocabulary):
        raise BadInput("the file holds no vectors", code="vectors.none", where=str(path))
    return _word_vectors(path, options, converted, converted.table)


def _first_bytes(path: Path, *, where: str) -> bytes:
    """The bytes that tell the kind of a file; one that holds no vectors with words is refused."""
    if not path.exists():
        raise BadInput(f"there is no file '{path}'", code="vectors.not-there", where=where)
    with (
        explained(
            "the file cannot be read",
            OSError,
            code="vectors.unreadable",
            where=str(path),
        ),
        path.open("rb") as file,
    ):
        start = file.read(8)
    if not start:
        raise BadInput("the file is empty", code="vectors.empty-file", where=str(path))
    if start.startswith(_NUMPY):
        raise BadInput(
            "the file holds vectors without their words",
            code="vectors.without-words",
            where=str(path),
            do="name the file that gensim saved with it, without .vectors.npy",
        )
    return start


def _open_fasttext(path: Path, options: ModelOptions) -> WordVectors:
    """A fastText model: its words are converted, its matrix stays in its file."""
    folder = folder_of([path])
    converted = stored(folder)
    if converted is None:
        words, facts = read_dictionary(path)
        converted = store([_without_vectors(words)], folder, {**facts, "file": hashed_files([path])})
    # The matrix has gigabytes and is not copied: only the words are indexed.
    matrix, lookup = open_subwords(path, converted.facts)
    return _word_vectors(path, options, converted, matrix, lookup)


def _open_folder(path: Path, options: ModelOptions) -> WordVectors:
    """A spaCy pipeline, or a table of word pieces with its tokenizer."""
    files_of_spacy = spacy_files(path)
    if files_of_spacy:
        return _open_spacy(path, files_of_spacy, options)
    files_of_table = table_files(path)
    if files_of_table:
        return _open_pieces(path, files_of_table, options)
    raise BadInput(
        "the folder does not hold static vectors",
        code="vectors.no-vectors-in-folder",
        where=str(path),
        allowed="a spaCy pipeline with vectors, or one .safetensors table with its tokenizer.json",
        do="open a transformer as hf:FOLDER",
    )


def _open_spacy(path: Path, files: list[Path], options: ModelOptions) -> WordVectors:
    folder = folder_of(files)
    converted = stored(folder)
    if converted is None:
        words, places = read_spacy(files)
        converted = store([_without_vectors(words)], folder, {"file": hashed_files(files)}, places)
    return _word_vectors(path, options, converted, open_array(files))


def _open_pieces(path: Path, files: list[Path], options: ModelOptions) -> WordVectors:
    lookup, dimensions = open_table(files)
    parts = {"files": hashed_files(files), "encoding": ENCODING}
    return WordVectors(
        name=options.name or path.resolve().name,
        fingerprint=hashed_parts(parts),
        capabilities=Capabilities(parts=parts),
        dimensions=dimensions,
        vocabulary=None,
        by_frequency=False,
        lookup=lookup,
        composes=True,
    )


def _without_vectors(words: list[bytes]) -> tuple[list[bytes], Rows]:
    """A block of words whose vectors stay in their file."""
    return words, np.empty((len(words), 0), np.float32)


def _word_vectors(
    path: Path,
    options: ModelOptions,
    converted: Stored,
    table: Rows,
    lookup: Lookup | None = None,
) -> WordVectors:
    """The encoder of a converted file, whose vectors are `table` unless `lookup` composes them."""
    places = converted.places

    def lookup_row(_: str, row: int) -> Rows | None:
        if row < 0:
            return None
        # In a pruned spaCy pipeline several words share a row of the table.
        place = row if places is None else int(places[row])
        vector: Rows = table[place]
        return vector

    parts = {
        # Where vectors stay in their file, the hash of the file stands for them.
        "content": str(converted.facts.get("file", converted.facts["content"])),
        "words": str(len(converted.vocabulary)),
        "dimensions": str(table.shape[1]),
        "encoding": ENCODING,
    }
    return WordVectors(
        name=options.name or _name(path),
        fingerprint=hashed_parts(parts),
        capabilities=Capabilities(parts=parts),
        dimensions=table.shape[1],
        vocabulary=converted.vocabulary,
        by_frequency=_is_by_frequency(converted.vocabulary),
        lookup=lookup or lookup_row,
        composes=converted.facts.get("buckets", 0) > 0,
    )


def _name(path: Path) -> str:
    """The name of a file without its endings."""
    name = path.resolve().name
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return name or path.name


def _is_by_frequency(vocabulary: Vocabulary) -> bool:
    """True if the most common words are at the top; in a file with another order they are anywhere."""
    ranks = [rank for rank in vocabulary.find(_COMMON).tolist() if rank >= 0]
    # The first hundredth of the file, or its first hundred words if it is small.
    top = max(100, len(vocabulary) // 100)
    return len(ranks) > 4 and max(ranks) < top
