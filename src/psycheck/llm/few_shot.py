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
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfVectorizer

from psycheck.core.arrays import FloatArray, IntArray
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput, counted, nearest
from psycheck.core.item import digest_of
from psycheck.core.model import Encoder
from psycheck.corpora.opening import open_corpus
from psycheck.io.writing import writing, written
from psycheck.llm.near_posts import SHARED, hashed_shingles, shared_shingles
from psycheck.llm.prompts import Example
from psycheck.models.cache import cache_folder
from psycheck.models.fingerprint import hashed
from psycheck.models.label_names import nameless
from psycheck.models.opening import open_encoder
from psycheck.statistics.classification import firm
from psycheck.text.words import plain_text, shingles

TFIDF = "tfidf"
MOST_HELD = 0.05  # share of the asked posts that may be in the pool
CELLS = 2**24  # similarities that are held at once, 64 MB
_DIGITS = 5  # of a similarity; the same product differs beyond these by the size of its block
BoolArray = NDArray[np.bool_]
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
        keys = [digest_of(post) for post in posts]
        by_key = dict(zip(keys, posts, strict=True))
        # Kept between calls: a forecast and the run after it show the same examples.
        unseen = {key: post for key, post in by_key.items() if key not in self._chosen}
        self._choose_for(unseen)

        chosen_rows = [self._chosen[key].tolist() for key in keys]
        without_example = sum(not rows for rows in chosen_rows)
        if without_example:
            raise BadInput(
                f"the pool '{self.name}' has no example for {counted(without_example, 'post')}",
                code="pool.no-example",
                allowed="posts that are neither near-duplicates of the asked ones nor by their authors",
                do="name a larger pool",
            )
        return [self._examples_in(rows) for rows in chosen_rows]

    def check(self, corpus: str, posts: Sequence[str]) -> list[str]:
        """Refuse a pool that holds more than a few of the posts to be asked; a note if it holds some."""
        # Letter case and punctuation do not make another post.
        pool = {plain_text(post) for post in self._pool_posts}
        shared = sum(plain_text(post) in pool for post in posts)
        if not shared:
            return []

        all_posts = counted(len(posts), "post")
        what = f"the pool '{self.name}' holds {shared:,} of the {all_posts} of '{corpus}'"
        if shared > MOST_HELD * len(posts):
            raise BadInput(
                what,
                code="pool.holds-judged-posts",
                allowed=f"at most {MOST_HELD:.0%}: examples must not come from the posts that are judged",
                do="name a pool of other posts, or split the corpus: examples from train, figures on test",
            )
        return [f"{what}; none of these is an example for itself"]

    def _choose_for(self, posts: Mapping[bytes, str]) -> None:
        """Choose the examples of new posts, by digest, in blocks whose similarities fit into memory."""
        digests = list(posts)
        size = max(1, CELLS // len(self.marks))
        for start in range(0, len(digests), size):
            block = digests[start : start + size]
            block_posts = [posts[digest] for digest in block]
            chosen = self._search(block_posts)
            self._chosen.update(zip(block, chosen, strict=True))

    def _examples_in(self, rows: Sequence[int]) -> list[Example]:
        """The posts of some rows with their labels."""
        examples: list[Example] = []
        for row in rows:
            marks = self.marks[row].tolist()
            labels = dict(zip(self.labels, marks, strict=True))
            examples.append((self.known[row], labels))
        return examples

    @property
    def _pool_posts(self) -> Sequence[str]:
        """The posts that examples are drawn from, without those that are known for their author alone."""
        return self.known[: len(self.marks)]

    def _search(self, posts: Sequence[str]) -> Iterator[IntArray]:
        """The rows of the examples for each post, in the order in which they are shown."""
        products = self._vectors_of(posts) @ self._vectors.T
        # Rounded, so that ties do not depend on what shares a block.
        similarity = np.round(_dense(products), _DIGITS)
        similarity[self._barred(posts)] = -np.inf
        for post, similarities in zip(posts, similarity, strict=True):
            yield self._in_shown_order(self._most_similar(similarities), post)

    def _in_shown_order(self, rows: IntArray, post: str) -> IntArray:
        """The chosen rows, most similar first, in the order of `choice.order`."""
        match self.choice.order:
            case "similar_first":
                return rows
            case "similar_last":
                return rows[::-1]
            case "random":
                # By the post and not by its place, so that a resumed run shows the same order.
                digest = digest_of(f"{self.choice.seed}:{post}")
                seed = int.from_bytes(digest[:8], "little")
                return np.random.default_rng(seed).permutation(rows)

    def _most_similar(self, similarities: FloatArray) -> IntArray:
        """The chosen rows, most similar first; of equally similar ones the first in the pool."""
        candidates: list[tuple[int, float, int]] = []
        for members in self._classes:
            best = _highest(similarities[members], self.choice.shots)
            for rank, place in enumerate(best):
                row = members[place]
                candidates.append((rank, -similarities[row], row))

        # One of each class, then a second of each …; within a round the more similar first.
        in_rounds = sorted(candidates)[: self.choice.shots]
        rows = np.array([row for _, _, row in in_rounds], np.int64)
        return rows[np.lexsort((rows, -similarities[rows]))]

    def _barred(self, posts: Sequence[str]) -> Any:
        """Which examples are barred for each post, (m, n): near-duplicates, and posts by their authors."""
        shares = shared_shingles(hashed_shingles(posts), self._shingles)
        near = (shares > 0).astype(np.int32)
        # The author of a near-duplicate is taken for that of the asked post, which names none.
        by_same_author = near @ self._written @ self._written.T
        barred = near + by_same_author
        return _dense(barred[:, : len(self.marks)]) > 0

    @cached_property
    def _classes(self) -> list[IntArray]:
        """The rows of each class that has its share; all rows in one without balance."""
        if self.choice.balance == "none":
            return [np.arange(len(self.marks))]
        _, class_of_row = np.unique(self.marks, axis=0, return_inverse=True)
        class_of_row = class_of_row.reshape(-1)  # NumPy 2.0 gives (n, 1)
        class_count = class_of_row.max() + 1
        return [np.flatnonzero(class_of_row == number) for number in range(class_count)]

    @cached_property
    def _shingles(self) -> Any:
        return hashed_shingles(self.known)

    @cached_property
    def _written(self) -> Any:
        """Which author wrote which known post, (known, authors)."""
        rows = np.flatnonzero(self.writers >= 0)
        writers = self.writers[rows]
        author_count = int(self.writers.max(initial=-1)) + 1
        ones = np.ones(len(rows), np.int32)
        return csr_array((ones, (rows, writers)), (len(self.known), author_count))

    @cached_property
    def _words(self) -> TfidfVectorizer:
        words = TfidfVectorizer(
            sublinear_tf=True,
            dtype=np.float32,
            token_pattern=r"(?u)\b\w+\b",  # scikit-learn's own leaves out words of one letter, such as "I"
        )
        return words.fit(self._pool_posts)

    @cached_property
    def _vectors(self) -> Any:
        """The vectors of the pool; those of an encoder are kept in the cache folder, private to its owner."""
        posts = self._pool_posts
        # Counting words takes less time than reading a file of them.
        if self.encoder is None:
            return self._vectors_of(posts)

        identity = hashed(self.encoder.fingerprint, *posts)
        path = cache_folder() / "examples" / f"{identity}.npy"
        try:
            vectors = np.load(path)
        except (OSError, ValueError, EOFError):  # not there yet, or damaged
            vectors = np.zeros((0, 0))

        if len(vectors) != len(posts):
            vectors = self._vectors_of(posts)
            with writing(path), written(path) as part, part.open("wb") as file:
                np.save(file, vectors)
        return vectors

    def _vectors_of(self, posts: Sequence[str]) -> Any:
        """Vectors of length 1, or zero where no word is known, so that products are cosines."""
        if self.encoder is None:
            return self._words.transform(posts)
        encoded = np.asarray(self.encoder.encode(posts), np.float32)
        vectors = np.nan_to_num(encoded)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        divisors = np.where(lengths > 0, lengths, 1)
        return vectors / divisors


def _highest(similarities: FloatArray, most: int) -> IntArray:
    """The places of the highest similarities, at most `most`, without those that are barred (-inf)."""
    # A pool is much longer than the list of examples, so only what can be among them is sorted.
    least = -np.inf
    if len(similarities) > most:
        least = np.partition(similarities, -most)[-most]
    is_near = (similarities >= least) & (similarities > -np.inf)
    near = np.flatnonzero(is_near)
    # Stable, so that of equally similar posts the first in the pool wins.
    best_first = np.argsort(-similarities[near], kind="stable")
    return near[best_first[:most]]


def open_pool(path: str, labels: Sequence[str], choice: Choice) -> ExamplePool:
    """Open a labelled corpus to draw examples from; every label must be annotated for an example."""
    corpus = open_corpus(path)
    split = _split_of_examples(corpus, choice)
    pool = corpus if split is None else corpus.part(split)
    names_in_pool = _labels_in(pool, labels, path)
    targets = firm(pool.targets(names_in_pool))
    usable = _usable(pool, targets)
    usable_count = int(usable.sum())
    if usable_count < max(choice.shots, 1):
        raise BadInput(
            f"the pool has {counted(usable_count, 'post')} annotated for {', '.join(labels)}",
            code="pool.too-small",
            where=path,
            allowed=f"at least as many as there are examples: {choice.shots}",
        )

    # Other splits are known by their authors: the asked posts are usually in one of them.
    corpora = [pool.only(usable), corpus]
    if choice.authors:
        corpora.append(open_corpus(choice.authors))
    posts, authors = _posts_and_authors(corpora)
    writers = _author_numbers(authors)

    marks = (targets[usable] > 0.5).astype(np.int64)
    encoder = None if choice.encoder == TFIDF else open_encoder(choice.encoder)
    unusable_count = len(usable) - usable_count
    return ExamplePool(
        name=corpus.name,
        labels=tuple(labels),
        known=posts,
        marks=marks,
        writers=writers,
        choice=choice,
        encoder=encoder,
        # Everything that decides which examples are shown: another one asks anew.
        fingerprint=hashed(
            TFIDF if encoder is None else encoder.fingerprint,
            str(choice.seed) if choice.order == "random" else "",
            str(choice.shots),
            choice.order,
            choice.balance,
            str(SHARED),
            *labels,
            marks.tobytes(),
            *posts,
            *map(str, authors),
        ),
        notes=(*pool.notes, *_notes(split, unusable_count, writers)),
    )


def _author_numbers(authors: Sequence[str | None]) -> IntArray:
    """The number of each author from 0, (n,); −1 where there is none."""
    ranks = pl.Series(authors, dtype=pl.String).rank("dense").cast(pl.Int64)
    return ranks.fill_null(0).to_numpy() - 1


def _split_of_examples(corpus: Corpus, choice: Choice) -> str | None:
    """The split that supplies examples: the chosen one, else train if there is one, else None for all."""
    if choice.split:
        return choice.split
    if "train" in corpus.strings("split"):
        return "train"
    return None


def _usable(pool: Corpus, targets: FloatArray) -> BoolArray:
    """Which posts can be examples, (n,): every label is annotated, and there are words to compare."""
    is_annotated = ~np.isnan(targets).any(axis=1)
    has_words = np.array([bool(shingles(post)) for post in pool.texts], bool)
    return is_annotated & has_words


def _notes(split: str | None, unusable: int, writers: IntArray) -> Iterator[str]:
    """What the user should know about a pool."""
    yield f"examples come from split '{split}' of the pool" if split else "examples come from the whole pool"
    if unusable:
        yield f"{counted(unusable, 'post')} of the pool lack a label or have no words: never examples"
    if (writers < 0).all():
        yield "no author is known: an example may be by the author of the asked post (`authors=FILE`)"


def _labels_in(pool: Corpus, labels: Sequence[str], path: str) -> list[str]:
    """The pool's own names of the labels; the only label of a pool may be nameless."""
    has_one_label = len(labels) == len(pool.labels) == 1
    if has_one_label and nameless(pool.labels[0]):
        return list(pool.labels)
    by_fold = {label.casefold(): label for label in pool.labels}
    for label in labels:
        if label.casefold() not in by_fold:
            raise BadInput(
                f"the pool is not annotated for '{label}', which the prompt asks about",
                code="pool.unknown-label",
                where=path,
                allowed=nearest(label, pool.labels),
                do="name the column of the pool as the prompt names the label",
            )
    return [by_fold[label.casefold()] for label in labels]


def _posts_and_authors(corpora: Sequence[Corpus]) -> tuple[list[str], list[str | None]]:
    """The posts of all corpora and their authors; beyond the first corpus, posts with an author alone."""
    first, *further = corpora
    posts = list(first.texts)
    authors = list(first.strings("author"))
    listed = set(zip(posts, authors, strict=True))
    for corpus in further:
        for post, author in zip(corpus.texts, corpus.strings("author"), strict=True):
            if author is not None and (post, author) not in listed:
                listed.add((post, author))
                posts.append(post)
                authors.append(author)
    return posts, authors


def _dense(matrix: Any) -> Any:
    if isinstance(matrix, np.ndarray):
        return matrix
    return matrix.toarray()
