"""Few-shot examples by retrieval: the most similar posts of a labelled pool (ANGST, appendix A.3).

An example is never the asked post itself, a near-duplicate of it (such as the original of an edited post), or
a post by the author of either.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import polars as pl
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer

from psycheck.corpora.open import open_corpus
from psycheck.corpus import Corpus
from psycheck.errors import BadInput, counted, nearest
from psycheck.files.write import writing, written
from psycheck.measures.classification import firm
from psycheck.model import Encoder, FloatArray, IntArray, digest_of
from psycheck.models.cache import cache_folder
from psycheck.models.fingerprint import hashed
from psycheck.models.labels import nameless
from psycheck.models.open import open_encoder
from psycheck.text.words import plain_text, shingles

TFIDF = "tfidf"
# Two posts are near-duplicates if they share half of the words and word pairs of the shorter one: on four
# corpora this misses no original of a DECK edit and 1 in 1,000 of those with typos (docs/how-to/few-shot.md).
# It bars up to 0.3 % of unrelated posts: an example is lost, while an original would give its label away.
SHARED = 0.5
MOST_HELD = 0.05  # share of the asked posts that may be in the pool
CELLS = 2**24  # similarities that are held at once, 64 MB
Example = tuple[str, Mapping[str, int]]
Order = Literal["similar_last", "similar_first", "random"]
Balance = Literal["none", "equal"]


@dataclass(frozen=True, slots=True)
class Choice:
    """How examples are chosen from a pool.

    `order` puts the most similar example last (next to the question), first, or at random by `seed`;
    `balance="equal"` takes equally many of each class (each combination of labels), the most similar first.
    `split` is the split of the pool that supplies examples (default: train if it has one), `authors` a corpus
    that tells who wrote the asked posts if the pool's own file does not.
    """

    shots: int = 2
    order: Order = "similar_last"
    balance: Balance = "none"
    encoder: str = "minilm"
    seed: int = 0
    split: str | None = None
    authors: str | None = None


@dataclass(frozen=True)
class ExamplePool:
    """Labelled posts, and every post whose author is known.

    The first n of `known` are the posts that examples are drawn from, `marks` (n, k) their labels, 0 or 1;
    `writers` numbers the author of each known post, −1 where there is none. `encoder` is None for TF–IDF.
    """

    name: str
    labels: tuple[str, ...]
    known: Sequence[str] = field(repr=False)
    marks: IntArray = field(repr=False)
    writers: IntArray = field(repr=False)
    choice: Choice
    encoder: Encoder | None = field(repr=False)
    fingerprint: str
    notes: tuple[str, ...] = ()
    _chosen: dict[bytes, IntArray] = field(default_factory=dict, repr=False)

    def examples(self, posts: Sequence[str]) -> list[list[Example]]:
        """The examples for each post, in the order in which they are shown."""
        new = list({digest_of(post): post for post in posts if digest_of(post) not in self._chosen}.values())
        size = max(1, CELLS // len(self.marks))
        for start in range(0, len(new), size):
            block = new[start : start + size]
            for post, rows in zip(block, self._search(block), strict=True):
                self._chosen[digest_of(post)] = rows
        bare = sum(not len(self._chosen[digest_of(post)]) for post in posts)
        if bare:
            raise BadInput(
                f"the pool '{self.name}' has no example for {counted(bare, 'post')}",
                allowed="posts that are neither near-duplicates of the asked ones nor by their authors",
                do="name a larger pool",
            )
        return [[self._example(row) for row in self._chosen[digest_of(post)].tolist()] for post in posts]

    def check(self, corpus: str, posts: Sequence[str]) -> list[str]:
        """Refuse a pool that holds more than a few of the posts to be asked; a note if it holds some."""
        pool = {plain_text(post) for post in self.known[: len(self.marks)]}
        held = sum(plain_text(post) in pool for post in posts)
        if not held:
            return []
        what = f"the pool '{self.name}' holds {held:,} of the {counted(len(posts), 'post')} of '{corpus}'"
        if held > MOST_HELD * len(posts):
            raise BadInput(
                what,
                allowed=f"at most {MOST_HELD:.0%}: examples must not come from the posts that are judged",
                do="name a pool of other posts, or split the corpus: examples from train, figures on test",
            )
        return [f"{what}; none of these is an example for itself"]

    def _example(self, row: int) -> Example:
        return self.known[row], dict(zip(self.labels, self.marks[row].tolist(), strict=True))

    def _search(self, posts: Sequence[str]) -> Iterator[IntArray]:
        """The rows of the examples for each post, in the order in which they are shown."""
        # Rounded, so that ties do not depend on what shares a block.
        alike = np.round(_dense(self._vectors_of(posts) @ self._vectors.T), 5)
        alike[self._barred(posts)] = -np.inf
        for post, row in zip(posts, alike, strict=True):
            chosen = self._most_similar(row)
            if self.choice.order == "random":
                seed = int.from_bytes(digest_of(f"{self.choice.seed}:{post}")[:8], "little")
                chosen = np.random.default_rng(seed).permutation(chosen)
            yield chosen[::-1] if self.choice.order == "similar_last" else chosen

    def _most_similar(self, alike: FloatArray) -> IntArray:
        """The chosen rows, most similar first; of equally similar ones the first in the pool."""
        shots, found = self.choice.shots, []
        for members in self._classes:
            own = alike[members]
            most = np.partition(own, -shots)[-shots] if len(own) > shots else -np.inf
            near = np.flatnonzero((own >= most) & (own > -np.inf))
            best = near[np.argsort(-own[near], kind="stable")[:shots]]
            found += [(rank, -own[at], members[at]) for rank, at in enumerate(best)]
        # One of each class, then a second of each …; within a round the more similar first.
        rows = np.array([row for _, _, row in sorted(found)[:shots]], np.int64)
        return rows[np.lexsort((rows, -alike[rows]))]

    def _barred(self, posts: Sequence[str]) -> Any:
        """Which examples are barred for each post, (m, n): near-duplicates, and posts by their authors."""
        asked = _hashed_shingles(posts)
        both = (asked @ self._shingles.T).tocoo()
        shorter = np.minimum(np.diff(asked.indptr)[both.row], np.diff(self._shingles.indptr)[both.col])
        near = both.data >= SHARED * shorter
        barred = csr_array((near[near], (both.row[near], both.col[near])), both.shape, dtype=np.int32)
        barred = barred + barred @ self._written @ self._written.T
        return _dense(barred[:, : len(self.marks)]) > 0

    @cached_property
    def _classes(self) -> list[IntArray]:
        """The rows of each class that has its share; all rows in one without balance."""
        if self.choice.balance == "none":
            return [np.arange(len(self.marks))]
        _, of = np.unique(self.marks, axis=0, return_inverse=True)
        return [np.flatnonzero(of.reshape(-1) == number) for number in range(of.max() + 1)]

    @cached_property
    def _shingles(self) -> Any:
        return _hashed_shingles(self.known)

    @cached_property
    def _written(self) -> Any:
        """Which author wrote which known post, (known, authors)."""
        rows = np.flatnonzero(self.writers >= 0)
        shape = (len(self.known), int(self.writers.max(initial=-1)) + 1)
        return csr_array((np.ones(len(rows), np.int32), (rows, self.writers[rows])), shape)

    @cached_property
    def _words(self) -> TfidfVectorizer:
        words = TfidfVectorizer(sublinear_tf=True, dtype=np.float32, token_pattern=r"(?u)\b\w+\b")
        return words.fit(self.known[: len(self.marks)])

    @cached_property
    def _vectors(self) -> Any:
        """The vectors of the pool; those of an encoder are kept in the cache folder, private to its owner."""
        posts = self.known[: len(self.marks)]
        if self.encoder is None:
            return self._vectors_of(posts)
        path = cache_folder() / "examples" / f"{hashed(self.encoder.fingerprint, *posts)}.npy"
        try:
            kept = np.load(path)
        except (OSError, ValueError, EOFError):  # not there yet, or damaged
            kept = np.zeros((0, 0))
        if len(kept) != len(posts):
            kept = self._vectors_of(posts)
            with writing(path), written(path) as part, part.open("wb") as file:
                np.save(file, kept)
        return kept

    def _vectors_of(self, posts: Sequence[str]) -> Any:
        """Vectors of length 1, or zero where no word is known, so that products are cosines."""
        if self.encoder is None:
            return self._words.transform(posts)
        vectors = np.nan_to_num(np.asarray(self.encoder.encode(posts), np.float32))
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / np.where(lengths > 0, lengths, 1)


def open_pool(path: str, labels: Sequence[str], choice: Choice) -> ExamplePool:
    """Open a labelled corpus to draw examples from; every label must be annotated for an example."""
    whole = open_corpus(path)
    splits = set(whole.strings("split")) - {None}
    split = choice.split or ("train" if "train" in splits else None)
    pool = whole if split is None else whole.part(split)
    marks = firm(pool.targets(_named(pool, labels, path)))
    usable = ~np.isnan(marks).any(axis=1) & np.array([bool(shingles(post)) for post in pool.texts], bool)
    if usable.sum() < max(choice.shots, 1):
        raise BadInput(
            f"the pool has {counted(int(usable.sum()), 'post')} annotated for {', '.join(labels)}",
            where=path,
            allowed=f"at least as many as there are examples: {choice.shots}",
        )
    usable_pool = pool.only(usable)
    corpora = [usable_pool, whole, *([open_corpus(choice.authors)] if choice.authors else [])]
    known, authors = _who_wrote(corpora)
    writers = pl.Series(authors, dtype=pl.String).rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1
    encoder = None if choice.encoder == TFIDF else open_encoder(choice.encoder)
    notes = [
        f"examples come from split '{split}' of the pool" if split else "examples come from the whole pool"
    ]
    if left := len(pool) - len(usable_pool):
        notes.append(f"{counted(left, 'post')} of the pool lack a label or have no words: never examples")
    if (writers < 0).all():
        notes.append("no author is known: an example may be by the author of the asked post (`authors=FILE`)")
    drawn = (marks[usable] > 0.5).astype(np.int64)
    how = (str(choice.shots), choice.order, choice.balance, str(SHARED))
    seed = str(choice.seed) if choice.order == "random" else ""
    used = TFIDF if encoder is None else encoder.fingerprint
    mark = hashed(used, seed, *how, *labels, drawn.tobytes(), *known, *map(str, authors))
    return ExamplePool(
        whole.name, tuple(labels), known, drawn, writers, choice, encoder, mark, (*pool.notes, *notes)
    )


def _named(pool: Corpus, labels: Sequence[str], path: str) -> list[str]:
    """The pool's own names of the labels; the only label of a pool may be nameless."""
    if len(labels) == len(pool.labels) == 1 and nameless(pool.labels[0]):
        return list(pool.labels)
    by_fold = {label.casefold(): label for label in pool.labels}
    for label in labels:
        if label.casefold() not in by_fold:
            what = f"the pool is not annotated for '{label}', which the prompt asks about"
            do = "name the column of the pool as the prompt names the label"
            raise BadInput(what, where=path, allowed=nearest(label, pool.labels), do=do)
    return [by_fold[label.casefold()] for label in labels]


def _who_wrote(corpora: Sequence[Corpus]) -> tuple[list[str], list[str | None]]:
    """The posts of all corpora and their authors; beyond the first corpus, posts with an author alone."""
    texts, authors = list(corpora[0].texts), list(corpora[0].strings("author"))
    met = set(zip(texts, authors, strict=True))
    for corpus in corpora[1:]:
        for text, author in zip(corpus.texts, corpus.strings("author"), strict=True):
            if author is not None and (text, author) not in met:
                met.add((text, author))
                texts.append(text)
                authors.append(author)
    return texts, authors


def _hashed_shingles(posts: Sequence[str]) -> Any:
    """Which words and word pairs each post has, (n, 2²²) of 0 and 1."""
    hashing = HashingVectorizer(
        n_features=2**22, analyzer=shingles, binary=True, norm=None, alternate_sign=False, dtype=np.float32
    )
    return csr_array(hashing.transform(posts))


def _dense(matrix: Any) -> Any:
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
