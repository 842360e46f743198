"""Static word vectors as an encoder: a text is the mean of its words, a span the vector of its word."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path

import numpy as np

from psycheck.errors import BadInput, explained
from psycheck.model import FloatArray
from psycheck.models.fingerprint import hashed_files, hashed_parts
from psycheck.models.options import ModelOptions
from psycheck.models.vectors.files import MAGIC, finite, open_subwords, read_dictionary, read_vectors
from psycheck.models.vectors.folders import open_array, open_table, read_spacy, spacy_files, table_files
from psycheck.models.vectors.gensim_file import companions, read_gensim
from psycheck.models.vectors.index import Rows, Stored, Vocabulary, folder_of, store, stored

Lookup = Callable[[str, int], Rows | FloatArray | None]
ENCODING = "2"  # increase it whenever the same file and text would give another vector
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_COMMON = ("the", "of", "and", "to", "in", "for", "is", "on", "that", "with")
_MARK = re.compile("['’]")
MOST = 3  # apostrophes in a contraction, as in "shouldn't've"
_NOT = "n't"
# Stems before "n't" that are not whole words, as in the Penn Treebank and GloVe.
_HALVES = {"ai": "is", "ca": "can", "sha": "shall", "wo": "will"}
NEAR, WIDER = 1.25, 1.6
AROUND = 250  # minimum ranks on each side: the window grows with rank, so common words have few neighbours
SHORTEST = 3


@dataclass(frozen=True, slots=True)
class WordVectors:
    """Vectors of words; `lookup` gives that of an entry and its row, (d,), or None.

    `vocabulary` is None if any word can be composed of pieces, `composes` is true if words outside of it can.
    `by_frequency` is true if the rows are sorted by frequency, as word2vec, GloVe and fastText write them.
    """

    name: str
    fingerprint: str
    parts: Mapping[str, str]
    dimensions: int
    vocabulary: Vocabulary | None = field(repr=False)
    by_frequency: bool
    lookup: Lookup = field(repr=False)
    composes: bool

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
        rows = dict(zip(listed, self.ranks(listed), strict=True))
        for i, some in enumerate(spelled):
            found = [vector for form in some if (vector := self.lookup(form, rows[form])) is not None]
            if found:
                out[i] = np.mean(np.asarray(found, np.float64), axis=0)
        return out

    def spelled(self, words: Sequence[str]) -> list[tuple[str, ...]]:
        """The entries for each word or phrase; several are averaged, none means "unknown".

        Tried are the word itself, the other apostrophe, lower case, and "_" or "-" for spaces; then its
        parts, if all are known. A contraction has two parts: the word, and "'s" or "n't" if it is an entry.
        """
        if self.vocabulary is None:
            return [(word,) if self.lookup(word, -1) is not None else () for word in words]
        split = {word: _WORD.findall(word.replace("-", " ").replace("_", " ")) for word in words}
        needed = {*split, *(one for parts in split.values() for part in parts for one in pieces(part))}
        tried = {word: forms(word) for word in needed}
        listed = sorted({form for some in tried.values() for form in some})
        rows = dict(zip(listed, self.ranks(listed), strict=True))

        def known(word: str) -> str | None:
            return next((form for form in tried[word] if rows[form] >= 0), None)

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
                found[word] = tuple(parts) if self.composes else ()
        return [found[word] for word in words]

    def ranks(self, words: Sequence[str]) -> list[int]:
        """The row of each entry, −1 if it is absent; its rank if `by_frequency`."""
        return [-1] * len(words) if self.vocabulary is None else self.vocabulary.find(words).tolist()


def forms(word: str) -> tuple[str, ...]:
    """Spellings of a word or phrase, the closest first: joined, with either apostrophe, in lower case."""
    written = [word, word.replace(" ", "_"), word.replace(" ", "-")] if " " in word else [word]
    if _MARK.search(word):
        written += [_MARK.sub(mark, form) for form in written for mark in "'’"]
    return tuple(dict.fromkeys([*written, *(form.lower() for form in written)]))


def splits(word: str) -> tuple[tuple[str, str], ...]:
    """The ways to split a word at its last apostrophe as GloVe does: she + 's, do + n't; none without one.

    Words such as "can't" have two: ca + n't, as in GloVe, and can + n't, for files without "ca".
    """
    plain = _MARK.sub("'", word)
    at = plain.rfind("'")
    if at < 1 or plain.count("'") > MOST:
        return ()
    if not plain.lower().endswith(_NOT) or len(plain) == len(_NOT):
        return ((word[:at], plain[at:]),)
    before = word[: -len(_NOT)]
    whole = _HALVES.get(before.lower())
    return ((before, _NOT),) if whole is None else ((before, _NOT), (whole, _NOT))


def pieces(word: str) -> Iterator[str]:
    """All strings to look up for a word: itself and the parts of its splits."""
    yield word
    for before, rest in splits(word):
        yield from pieces(before)
        yield rest


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
    random, total = np.random.default_rng(seed), len(vocabulary)

    def near(rank: int) -> list[str]:
        """Draw ranks in a window until enough of them are plain words; widen it if it is exhausted."""
        factor = NEAR
        while True:
            low = max(0, int(rank / factor) - AROUND)
            high = min(total, int(rank * factor) + AROUND + 1)
            drawn = (vocabulary.word(low + int(k)) for k in random.permutation(high - low)[: 40 * count])
            plain = (word for word in drawn if len(word) >= SHORTEST and word.isalpha() and word.islower())
            found = list(islice((word for word in plain if word not in avoid), count))
            if len(found) == count:
                return found
            if low == 0 and high == total:  # a small file: repeat words rather than return none
                return list(islice(cycle(found), count))
            factor *= WIDER

    made = []
    for some in entries:
        parts = [near(rank if rank >= 0 else total - 1) for rank in encoder.ranks(some)]
        made.append(tuple(" ".join(words) for words in zip(*parts, strict=True)))
    return made


def open_vectors(target: str, options: ModelOptions) -> WordVectors:
    """Open a file or folder of static vectors; it is converted the first time and memory-mapped later."""
    path = Path(target).expanduser()
    if path.is_dir():
        return _open_folder(path, options)
    if not path.exists():
        raise BadInput(f"there is no file '{path}'", where=f"vectors:{target}")
    with explained("the file cannot be read", OSError, where=str(path)), path.open("rb") as file:
        head = file.read(8)
    if not head:
        raise BadInput("the file is empty", where=str(path))
    if head.startswith(b"\x93NUMPY"):
        do = "name the file that gensim saved with it, without .vectors.npy"
        raise BadInput("the file holds vectors without their words", where=str(path), do=do)
    if head.startswith(MAGIC):
        found = stored(folder := folder_of([path]))
        if found is None:
            words, facts = read_dictionary(path)
            found = store([_bare(words)], folder, {**facts, "file": hashed_files([path])})
        return _opened(path, options, found, *open_subwords(path, found.facts))
    gensim = head[:1] == b"\x80"
    folder = folder_of(companions(path) if gensim else [path])
    read = read_gensim if gensim else read_vectors
    found = stored(folder) or store(finite(read(path), path), folder, {})
    if found.table is None or not len(found.vocabulary):
        raise BadInput("the file holds no vectors", where=str(path))
    return _opened(path, options, found, found.table)


def _open_folder(path: Path, options: ModelOptions) -> WordVectors:
    if files := spacy_files(path):
        found = stored(folder := folder_of(files))
        if found is None:
            words, places = read_spacy(files)
            found = store([_bare(words)], folder, {"file": hashed_files(files)}, places)
        return _opened(path, options, found, open_array(files))
    if files := table_files(path):
        lookup, dimensions = open_table(files)
        parts = {"files": hashed_files(files), "encoding": ENCODING}
        name = options.name or path.resolve().name
        return WordVectors(name, hashed_parts(parts), parts, dimensions, None, False, lookup, True)
    what = "the folder does not hold static vectors"
    allowed = "a spaCy pipeline with vectors, or one .safetensors table with its tokenizer.json"
    raise BadInput(what, where=str(path), allowed=allowed, do="open a transformer as hf:FOLDER")


def _bare(words: list[bytes]) -> tuple[list[bytes], Rows]:
    """A block of words whose vectors stay in their file."""
    return words, np.empty((len(words), 0), np.float32)


def _opened(
    path: Path, options: ModelOptions, found: Stored, table: Rows, lookup: Lookup | None = None
) -> WordVectors:
    words, places = len(found.vocabulary), found.places
    parts = {
        "content": str(found.facts.get("file", found.facts["content"])),
        "words": str(words),
        "dimensions": str(table.shape[1]),
        "encoding": ENCODING,
    }
    name = path.resolve().name
    for ending in (".gz", ".zip", ".bin", ".txt", ".vec", ".json", ".kv", ".model"):
        name = name.removesuffix(ending)
    common = [row for row in found.vocabulary.find(_COMMON).tolist() if row >= 0]

    def entry(_: str, row: int) -> Rows | None:
        return None if row < 0 else table[row if places is None else places[row]]

    return WordVectors(
        name=options.name or name or path.name,
        fingerprint=hashed_parts(parts),
        parts=parts,
        dimensions=table.shape[1],
        vocabulary=found.vocabulary,
        # In a file with another order the most common words are anywhere.
        by_frequency=len(common) > 4 and max(common) < max(100, words // 100),
        lookup=lookup or entry,
        composes=found.facts.get("buckets", 0) > 0,
    )
