"""Distances between corpora, or between the classes of one: every figure with its n and interval."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations, compress

import numpy as np
import polars as pl

from psycheck.corpora.adversarial import classify_sides
from psycheck.corpora.vocabulary import (
    TEXTS,
    MayShow,
    Telling,
    anything,
    counted,
    divergence,
    profile,
    showable_between,
    sides_of,
    telling_words,
    unknown_share,
)
from psycheck.corpus import Corpus
from psycheck.errors import BadInput, MissingExtra, library, nearest
from psycheck.finding import Finding
from psycheck.measures import distance
from psycheck.measures.classification import firm, gold
from psycheck.measures.clustered import FEWEST as CLUSTERS
from psycheck.measures.distance import FEWEST, Figure, Sides
from psycheck.model import FloatArray
from psycheck.text.words import WORD

Encode = tuple[str, Callable[[Sequence[str]], FloatArray]]
"""The name of an encoder, and a function from texts to their vectors, (n, d)."""

AUDIT = "compare"
DIMENSIONS = 100  # of TF–IDF vectors
PERPLEXITY = 30.0
PARTS = ("words", "vectors", "adversarial", "map")


@dataclass(frozen=True, slots=True)
class Comparing:
    """Settings of a comparison.

    At most `texts` of each side are counted and classified, at most `sample` encoded; both are drawn with
    `seed`. `parts` are words (JSD, vocabulary, length), vectors (MMD, Wasserstein), adversarial, map (t-SNE).
    """

    parts: tuple[str, ...] = PARTS
    texts: int = 5_000
    sample: int = 500
    permutations: int = 1_000
    repeats: int = 10
    words: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        for part in self.parts:
            if part not in PARTS:
                raise BadInput(f"there is no part '{part}' of a comparison", allowed=nearest(part, PARTS))
        for name, least in (("texts", 10), ("sample", 10), ("permutations", 0), ("repeats", 1), ("words", 0)):
            if getattr(self, name) < least:
                what = f"{name} {getattr(self, name)} is too few"
                raise BadInput(what, allowed=f"{least} or more", where="compare")
        if not 0 <= self.seed < 2**32:
            raise BadInput(f"seed {self.seed} cannot be used", allowed="0 to 4294967295", where="compare")


@dataclass(frozen=True, slots=True)
class Comparison:
    """The findings, the map (`id`, `corpus`, `x`, `y`) if one was drawn, and notes for the reader."""

    findings: tuple[Finding, ...]
    tables: Mapping[str, pl.DataFrame]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Side:
    """One corpus as it is compared: what is counted, and what is encoded of it with its vectors."""

    whole: Corpus
    counted: Corpus
    encoded: Corpus
    vectors: FloatArray = field(default_factory=lambda: np.empty((0, 0)))


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two sides, how they are compared, and which of their words may be shown."""

    first: _Side
    second: _Side
    how: Comparing
    may_show: MayShow

    def where(self, part: str, **more: str) -> dict[str, str]:
        """What a finding is of."""
        names = {"first": self.first.whole.name, "second": self.second.whole.name}
        return {"audit": AUDIT, **names, **more, "part": part}


def compare(
    corpora: Sequence[Corpus],
    encoder: Encode | None = None,
    how: Comparing | None = None,
    step: Callable[[str], None] = lambda part: None,
    *,
    show: bool = False,
) -> Comparison:
    """Compare each corpus with each other one.

    Vectors come from `encoder`, a name and a function of texts; without one from TF–IDF reduced to 100
    dimensions, fitted on all sides.
    Where the extra 'compare' is absent, the exact Wasserstein distance and the map are left out with a note.
    `step` is called with the name of each finished part, `steps` times in all. The findings contain words
    only if they are common (`showable_between`), or with `show` if 5 texts of their side have them.
    """
    how = how or Comparing()
    if len(corpora) < 2:
        allowed = "two corpora or more, or the classes of one"
        do = "name a second corpus, or a label (`by`)"
        raise BadInput("cannot compare a single corpus", allowed=allowed, do=do)
    names = [corpus.name for corpus in corpora]
    for corpus in corpora:
        if names.count(corpus.name) > 1:
            raise BadInput(f"two corpora have the name '{corpus.name}'", do="rename one: NAME=PATH")
        if len(corpus) < 2:
            raise BadInput(f"corpus '{corpus.name}' has too few texts: {len(corpus)}", allowed="2 or more")
    sides = [
        _Side(corpus, corpus.sample(how.texts, how.seed), corpus.sample(how.sample, how.seed))
        for corpus in corpora
    ]
    notes = [
        f"{side.whole.name}: {len(part):,} of {len(side.whole):,} texts are {verb}, seed {how.seed}"
        for side in sides
        for part, verb, wanted in (
            (side.counted, "used for word counts and the domain classifier", {"words", "adversarial"}),
            (side.encoded, "encoded", {"vectors", "map"}),
        )
        if len(part) < len(side.whole) and wanted & set(how.parts)
    ]
    findings: list[Finding] = []
    for side in sides if "words" in how.parts else ():
        where = {"audit": AUDIT, "part": "profile", "corpus": side.whole.name}
        units = {"units": len(np.unique(side.counted.units()))}
        mine = profile(side.counted).items()
        findings += [_finding(name, figure, where, units, CLUSTERS) for name, figure in mine]
    called, encode = encoder or ("tfidf", partial(tfidf_vectors, seed=how.seed))
    if {"vectors", "map"} & set(how.parts):
        vectors = encode([text for side in sides for text in side.encoded.texts])
        ends = np.cumsum([len(side.encoded) for side in sides])[:-1]
        sides = [replace(side, vectors=own) for side, own in zip(sides, np.split(vectors, ends), strict=True)]
        step("encoding")
    for first, second in combinations(sides, 2):
        texts = [*first.counted.texts, *second.counted.texts]
        authors = [*first.counted.strings("author"), *second.counted.strings("author")]
        pair = _Pair(first, second, how, anything if show else showable_between(texts, authors))
        for part, measured in (
            ("words", _words(pair)),
            ("vectors", _clouds(pair, called, notes)),
            ("adversarial", _adversarial(pair)),
        ):
            if part in how.parts:
                findings += measured
                step(part)
    tables: dict[str, pl.DataFrame] = {}
    if "map" in how.parts:
        try:
            places = map_of(vectors, seed=how.seed)
        except (MissingExtra, BadInput) as error:
            notes.append(f"no map: {error.what}")
        else:
            owners = [(id_, side.whole.name) for side in sides for id_ in side.encoded.ids]
            tables["map"] = pl.DataFrame(owners, schema=["id", "corpus"], orient="row").with_columns(
                x=places[:, 0], y=places[:, 1]
            )
        step("map")
    # One note for each measure and pair of sides with words that may not be shown.
    for finding in findings:
        if finding.measure.endswith("_hidden"):
            by = "by which a classifier tells" if "adversarial" in finding.measure else "that tell"
            notes.append(
                f"{finding.where['first']} and {finding.where['second']}: of the words {by} them apart "
                f"best, {finding.value:.0f} may not be shown: in fewer than {TEXTS} texts, or perhaps a name "
                "or a handle (compare can be set to show them)"
            )
    return Comparison(tuple(findings), tables, tuple(dict.fromkeys(notes)))


def steps(sides: int, how: Comparing) -> int:
    """The number of parts of a comparison with so many sides."""
    parts = set(how.parts)
    each_pair = len(parts & {"words", "vectors", "adversarial"})
    return sides * (sides - 1) // 2 * each_pair + bool(parts & {"vectors", "map"}) + ("map" in parts)


def classes_of(corpus: Corpus, by: Sequence[str]) -> list[Corpus]:
    """Cut a corpus into its classes by labels, or by one group column or "split".

    One label gives "NAME 1" and "NAME 0"; several give each combination that occurs ("depression", "anxiety",
    "depression + anxiety", "none"). A text that is not annotated for each of them, or with 0.5, is left out
    and counted.
    """
    known = [*corpus.labels, *corpus.groups, *(["split"] if "split" in corpus.table.columns else [])]
    for name in by:
        if name not in known:
            what = f"corpus '{corpus.name}' has no label or group '{name}'"
            raise BadInput(what, allowed=nearest(name, known))
    if not by or (len(by) > 1 and not set(by) <= set(corpus.labels)):
        raise BadInput("cannot combine these classes", allowed="one or more labels, or one group column")
    if by[0] not in corpus.labels:
        column = "split" if by[0] not in corpus.groups else f"group:{by[0]}"
        marks = [None if value is None else f"{by[0]} {value}" for value in corpus.table[column].to_list()]
    else:
        marks = [_class_name(row, by) for row in firm(corpus.targets(by))]
    classes = sorted({mark for mark in marks if mark is not None}, reverse=len(by) == 1)
    if len(classes) < 2:
        what = f"corpus '{corpus.name}' has one class of {', '.join(by)}"
        raise BadInput(what, allowed="two classes or more", do="name another label (`by`)")
    left_out = {"not annotated": marks.count(None)}
    if by[0] in corpus.labels:
        missing = int(np.sum(np.isnan(corpus.targets(by)).any(axis=1)))
        left_out = {"not annotated": missing, "undecided (0.5)": marks.count(None) - missing}
    out = []
    for name in classes:
        part = corpus.only(np.array([mark == name for mark in marks]))
        out.append(replace(part, name=name, left_out={why: n for why, n in left_out.items() if n}))
    return out


def _class_name(row: FloatArray, by: Sequence[str]) -> str | None:
    if np.isnan(row).any():
        return None
    if len(by) == 1:
        return f"{by[0]} {int(gold(row)[0])}"
    return " + ".join(compress(by, gold(row))) or "none"


def tfidf_vectors(texts: Sequence[str], *, seed: int = 0) -> FloatArray:
    """TF–IDF of words by truncated SVD, each of length 1, (n, d), fitted on these very texts."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    try:
        table = TfidfVectorizer(token_pattern=WORD, sublinear_tf=True).fit_transform(texts)
    except ValueError:  # no text holds a word
        return np.zeros((len(texts), 1))
    most = min(DIMENSIONS, min(table.shape) - 1)
    if most < 1:
        return np.asarray(table.todense(), dtype=np.float64)
    # The exact solver: the randomised one gives other vectors when the texts come in another order.
    reduced = TruncatedSVD(most, algorithm="arpack", random_state=seed).fit_transform(table)
    lengths = np.linalg.norm(reduced, axis=1, keepdims=True)
    out: FloatArray = reduced / np.where(lengths > 0, lengths, 1.0)
    return out


def map_of(vectors: FloatArray, *, seed: int = 0) -> FloatArray:
    """A t-SNE map of vectors, (n, 2): near texts stay near; far distances on it mean little.

    Vectors of one dimension, or all in one place, have none.
    """
    if vectors.shape[1] < 2 or not np.ptp(vectors, axis=0).any():
        why = "the vectors have one dimension" if vectors.shape[1] < 2 else "all vectors are the same"
        do = "leave out the part 'map', or name another encoder"
        raise BadInput(why, allowed="texts of several words", do=do)
    tsne = library("openTSNE", "the t-SNE map", "compare").TSNE
    # Perplexity counts neighbours: more than a third of the texts would leave no neighbourhoods.
    near = max(2.0, min(PERPLEXITY, (len(vectors) - 1) / 3))
    places = tsne(perplexity=near, metric="euclidean", initialization="pca", random_state=seed).fit(vectors)
    return np.asarray(places, dtype=np.float64)


def _words(pair: _Pair) -> Iterator[Finding]:
    first, second, how, where = pair.first.counted, pair.second.counted, pair.how, pair.where("words")
    sides = sides_of(first, second)
    sizes = _sizes(sides)
    units = sides.units[sides.first], sides.units[~sides.first]
    for size, name in ((1, "unigram"), (2, "bigram")):
        ours, theirs = counted(first, second, size)
        figure, chance = divergence(ours, theirs, sides, seed=how.seed)
        yield _finding(f"jsd_{name}", figure, where, sizes)
        yield Finding(f"jsd_{name}_chance", chance, figure.n, where=where, counts=sizes)
        if size == 1:
            yield _finding("unknown_in_second", unknown_share(ours, theirs, units[1]), where, sizes, CLUSTERS)
            yield _finding("unknown_in_first", unknown_share(theirs, ours, units[0]), where, sizes, CLUSTERS)
            words, hidden = telling_words(ours, theirs, most=how.words, may_show=pair.may_show)
            yield from _word_findings("log_odds_z", words, hidden, where)


def _clouds(pair: _Pair, encoder: str, notes: list[str]) -> Iterator[Finding]:
    clouds, how = (pair.first.vectors, pair.second.vectors), pair.how
    where = pair.where("vectors", encoder=encoder)
    sides = sides_of(pair.first.encoded, pair.second.encoded)
    sizes, n = _sizes(sides), len(sides.units)
    test = distance.mmd_test(*clouds, sides=sides, permutations=how.permutations, seed=how.seed)
    mean, median = distance.pair_mmd(*clouds, bandwidth=test.bandwidth, sides=sides, seed=how.seed)
    yield _finding("mmd2", Figure(test.value, test.interval, n), where, sizes)
    yield Finding("mmd2_p", test.p, n, None, where, {**sizes, "permutations": how.permutations})
    yield Finding("mmd2_chance", test.chance, n, None, where, sizes)
    yield Finding("mmd2_biased", test.biased, n, None, where, sizes)
    yield _finding("mmd2_pair_mean", mean, where, sizes)
    yield _finding("mmd2_pair_median", median, where, sizes)
    try:
        exact, chance = distance.wasserstein(*clouds, sides=sides, repeats=how.repeats, seed=how.seed)
    except ImportError:
        notes.append("no exact Wasserstein distance: it needs the extra 'compare'")
    else:
        drawn = {**sizes, "sample": exact.n // 2, "repeats": how.repeats}
        yield _finding("wasserstein", exact, where, drawn)
        yield Finding("wasserstein_chance", chance, exact.n, None, where, drawn)
    sliced, chance = distance.sliced_wasserstein(*clouds, sides=sides, seed=how.seed)
    yield _finding("wasserstein_sliced", sliced, where, sizes)
    yield Finding("wasserstein_sliced_chance", chance, n, None, where, sizes)


def _adversarial(pair: _Pair) -> Iterator[Finding]:
    first, second, how, where = pair.first.counted, pair.second.counted, pair.how, pair.where("adversarial")
    result = classify_sides(first, second, most=how.words, may_show=pair.may_show, seed=how.seed)
    c = result.confusion
    counts = _sizes(sides_of(first, second)) | {"tp": c.tp, "fp": c.fp, "fn": c.fn, "tn": c.tn}
    for measure, value in result.values.items():
        figure = Figure(value, result.intervals[measure], c.n)
        yield _finding(f"adversarial_{measure}", figure, where, counts, fewest=CLUSTERS)
    yield from _word_findings("adversarial_weight", result.words, result.hidden, where)


def _word_findings(
    measure: str, words: Sequence[Telling], hidden: int, where: Mapping[str, str]
) -> Iterator[Finding]:
    for one in words:
        counts = {"texts_first": one.first, "texts_second": one.second}
        place = {**where, "word": one.word, "speaks_for": where["first" if one.weight > 0 else "second"]}
        yield Finding(measure, one.weight, one.first + one.second, None, place, counts)
    if hidden:
        yield Finding(f"{measure}_hidden", float(hidden), hidden + len(words), None, where)


def _sizes(sides: Sides) -> dict[str, int]:
    """The number of texts of each side, and of units (authors, else distinct texts)."""
    first, second = sides.counts()
    own = int(sides.first.sum())
    return {"first": own, "second": len(sides.first) - own, "units_first": first, "units_second": second}


def _finding(
    measure: str, figure: Figure, where: Mapping[str, str], counts: Mapping[str, int], fewest: int = FEWEST
) -> Finding:
    """A finding; without an interval where there are too few units for one, or nothing varies in them."""
    interval = figure.interval
    if interval is None or not np.isnan(interval[0]):
        return Finding(measure, figure.value, figure.n, interval, where, counts)
    units = [number for name, number in counts.items() if name.startswith("units")] or [figure.n]
    few = np.isnan(figure.value) or min(units) < fewest
    return Finding(
        measure, figure.value, figure.n, None, where, counts, flags=("too_few" if few else "no_spread",)
    )
