"""Distances between corpora, or between the classes of one: every figure with its n and interval."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from types import MappingProxyType

import numpy as np
import polars as pl

from psycheck.corpora.adversarial import classify_sides
from psycheck.corpora.showable import TEXTS, showable_between
from psycheck.corpora.vectors import map_of, tfidf_vectors
from psycheck.corpora.vocabulary import (
    Figure,
    MayShow,
    Telling,
    anything,
    authors_of,
    counted,
    divergence,
    profile,
    telling_words,
    unknown_share,
)
from psycheck.corpus import Corpus
from psycheck.errors import BadInput, MissingExtra, nearest
from psycheck.finding import Finding, Interval
from psycheck.measures import distance
from psycheck.measures.intervals import UNKNOWN
from psycheck.model import FloatArray

Encode = tuple[str, Callable[[Sequence[str]], FloatArray]]
"""The name of an encoder, and a function from texts to their vectors, (n, d)."""

AUDIT = "compare"
PARTS = ("words", "vectors", "adversarial", "map")
# With a quarter of the texts on both sides, intervals of the MMD still hold 0 nine times of ten; with half of
# them six times.
SHARED = 0.25


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
                raise BadInput(
                    f"{name} {getattr(self, name)} is too few", allowed=f"{least} or more", where="compare"
                )
        if not 0 <= self.seed < 2**32:
            raise BadInput(f"seed {self.seed} cannot be used", allowed="0 to 4294967295", where="compare")


@dataclass(frozen=True, slots=True)
class Comparison:
    """The findings, the map (`id`, `corpus`, `x`, `y`) if one was drawn, and notes for the reader."""

    findings: tuple[Finding, ...]
    tables: Mapping[str, pl.DataFrame] = field(default_factory=lambda: MappingProxyType({}))
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Side:
    """One corpus as it is compared: what is counted, and what is encoded of it."""

    whole: Corpus
    counted: Corpus
    encoded: Corpus


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
        raise BadInput(
            "cannot compare a single corpus",
            allowed="two corpora or more, or the classes of one",
            do="name a second corpus, or a label (--by)",
        )
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
    findings: list[Finding] = []
    notes = [
        f"{side.whole.name}: {len(part):,} of {len(side.whole):,} texts are {verb}, seed {how.seed}"
        for side in sides
        for part, verb, wanted in (
            (side.counted, "used for word counts and the domain classifier", {"words", "adversarial"}),
            (side.encoded, "encoded", {"vectors", "map"}),
        )
        if len(part) < len(side.whole) and wanted & set(how.parts)
    ]
    for side in sides if "words" in how.parts else ():
        where = {"audit": AUDIT, "part": "profile", "corpus": side.whole.name}
        findings += [_finding(name, figure, where) for name, figure in profile(side.counted).items()]
    tables: dict[str, pl.DataFrame] = {}
    vectors: list[FloatArray] = []
    called = ""
    if {"vectors", "map"} & set(how.parts):
        called, vectors = _vectors(sides, encoder, how.seed)
        step("encoding")
    for (i, first), (j, second) in combinations(enumerate(sides), 2):
        where = {"audit": AUDIT, "first": first.whole.name, "second": second.whole.name}
        may_show = anything if show else _may_show(first.counted, second.counted)
        if "words" in how.parts:
            findings += _words(first.counted, second.counted, where, how, may_show)
            step("words")
        if "vectors" in how.parts:
            shared = _shared_texts(first.encoded, second.encoded)
            place = {**where, "encoder": called}
            findings += _clouds(vectors[i], vectors[j], place, how, notes, shared=shared)
            step("vectors")
        if "adversarial" in how.parts:
            findings += _adversarial(first.counted, second.counted, where, how, may_show)
            step("adversarial")
    if "map" in how.parts:
        try:
            places = map_of(np.concatenate(vectors), seed=how.seed)
        except (MissingExtra, BadInput) as error:
            notes.append(f"no map: {error.what}")
        else:
            tables["map"] = pl.DataFrame(
                {
                    "id": [id_ for side in sides for id_ in side.encoded.ids],
                    "corpus": [side.whole.name for side in sides for _ in side.encoded.ids],
                    "x": places[:, 0],
                    "y": places[:, 1],
                }
            )
        step("map")
    notes += _hidden_words(findings)
    return Comparison(tuple(findings), tables, tuple(dict.fromkeys(notes)))


def steps(sides: int, how: Comparing) -> int:
    """The number of parts of a comparison with so many sides."""
    parts = set(how.parts)
    each_pair = len(parts & {"words", "vectors", "adversarial"})
    return sides * (sides - 1) // 2 * each_pair + bool(parts & {"vectors", "map"}) + ("map" in parts)


def classes_of(corpus: Corpus, by: Sequence[str]) -> list[Corpus]:
    """Cut a corpus into its classes by labels, or by one group column or "split".

    One label gives "NAME 1" and "NAME 0"; several give each combination that occurs ("depression", "anxiety",
    "depression + anxiety", "none"). A text that is not annotated for each of them is left out and counted.
    """
    known = [*corpus.labels, *corpus.groups, *(["split"] if "split" in corpus.table.columns else [])]
    for name in by:
        if name not in known:
            raise BadInput(
                f"corpus '{corpus.name}' has no label or group '{name}'", allowed=nearest(name, known)
            )
    if not by or (len(by) > 1 and not set(by) <= set(corpus.labels)):
        raise BadInput("cannot combine these classes", allowed="one or more labels, or one group column")
    if by[0] not in corpus.labels:
        column = "split" if by[0] not in corpus.groups else f"group:{by[0]}"
        marks = [None if value is None else f"{by[0]} {value}" for value in corpus.table[column].to_list()]
    else:
        marks = [_class_name(row, by) for row in corpus.targets(by)]
    classes = sorted({mark for mark in marks if mark is not None}, reverse=len(by) == 1)
    if len(classes) < 2:
        raise BadInput(
            f"corpus '{corpus.name}' has one class of {', '.join(by)}",
            allowed="two classes or more",
            do="name another label (--by)",
        )
    missing = sum(mark is None for mark in marks)
    out = []
    for name in classes:
        part = corpus.only(np.array([mark == name for mark in marks]))
        out.append(replace(part, name=name, left_out={"not annotated": missing} if missing else {}))
    return out


def _class_name(row: FloatArray, by: Sequence[str]) -> str | None:
    if np.isnan(row).any():
        return None
    if len(by) == 1:
        return f"{by[0]} {int(row[0] >= 0.5)}"
    return " + ".join(name for name, value in zip(by, row, strict=True) if value >= 0.5) or "none"


def _vectors(sides: list[_Side], encoder: Encode | None, seed: int) -> tuple[str, list[FloatArray]]:
    texts = [text for side in sides for text in side.encoded.texts]
    name, encode = encoder or ("tfidf", partial(tfidf_vectors, seed=seed))
    ends = np.cumsum([len(side.encoded) for side in sides])[:-1]
    return name, np.split(encode(texts), ends)


def _may_show(first: Corpus, second: Corpus) -> MayShow:
    authors = [who for side in (first, second) for who in authors_of(side) or ()]
    return showable_between([*first.texts, *second.texts], authors)


def _shared_texts(first: Corpus, second: Corpus) -> float:
    """The share of the texts of a side that are on the other too, of the side with the larger share."""
    ours, theirs = first.texts, second.texts
    both = set(ours) & set(theirs)
    return max(sum(text in both for text in side) / len(side) for side in (ours, theirs))


def _words(
    first: Corpus, second: Corpus, where: Mapping[str, str], how: Comparing, may_show: MayShow
) -> Iterator[Finding]:
    where = {**where, "part": "words"}
    sizes = {"first": len(first), "second": len(second)}
    for size, name in ((1, "unigram"), (2, "bigram")):
        ours, theirs = counted(first.texts, second.texts, size=size)
        figure, chance = divergence(ours, theirs, seed=how.seed)
        yield _finding(f"jsd_{name}", figure, where, sizes)
        yield Finding(f"jsd_{name}_chance", chance, figure.n, where=where, counts=sizes)
        if size == 1:
            yield _finding("unknown_in_second", unknown_share(ours, theirs), where, sizes)
            yield _finding("unknown_in_first", unknown_share(theirs, ours), where, sizes)
            authors = authors_of(first), authors_of(second)
            words, hidden = telling_words(ours, theirs, authors, most=how.words, may_show=may_show)
            yield from _word_findings("log_odds_z", words, hidden, where)


def _clouds(
    first: FloatArray,
    second: FloatArray,
    where: Mapping[str, str],
    how: Comparing,
    notes: list[str],
    *,
    shared: float,
) -> Iterator[Finding]:
    where = {**where, "part": "vectors"}
    n, sizes = len(first) + len(second), {"first": len(first), "second": len(second)}
    test = distance.mmd_test(first, second, permutations=how.permutations, seed=how.seed)
    pair = distance.pair_mmd(first, second, bandwidth=test.bandwidth, seed=how.seed)
    sliced, between = distance.sliced_wasserstein(first, second, seed=how.seed)
    # The jackknife assumes independent sides; texts on both pull the estimate below 0, out of the interval.
    if shared > SHARED:
        yield Finding("mmd2", test.value, n, None, where, sizes, flags=("shared_texts",))
    else:
        yield _with_interval("mmd2", test.value, n, test.interval, where, sizes)
    yield Finding("mmd2_p", test.p, n, None, where, {**sizes, "permutations": how.permutations})
    yield Finding("mmd2_chance", test.chance, n, None, where, sizes)
    yield Finding("mmd2_biased", test.biased, n, None, where, sizes)
    yield _with_interval("mmd2_pair_mean", pair.mean, pair.pairs, pair.mean_interval, where, sizes)
    yield _with_interval("mmd2_pair_median", pair.median, pair.pairs, pair.median_interval, where, sizes)
    try:
        exact = distance.wasserstein(first, second, repeats=how.repeats, seed=how.seed)
    except ImportError:
        notes.append("no exact Wasserstein distance: it needs the extra 'compare'")
    else:
        drawn = {**sizes, "sample": exact.size, "repeats": exact.repeats}
        yield _with_interval("wasserstein", exact.value, 2 * exact.size, exact.interval, where, drawn)
        yield Finding("wasserstein_chance", exact.chance, 2 * exact.size, None, where, drawn)
    yield _with_interval("wasserstein_sliced", sliced, n, between, where, sizes)


def _adversarial(
    first: Corpus, second: Corpus, where: Mapping[str, str], how: Comparing, may_show: MayShow
) -> Iterator[Finding]:
    where = {**where, "part": "adversarial"}
    authors = authors_of(first), authors_of(second)
    result = classify_sides(
        first.texts, second.texts, authors, most=how.words, may_show=may_show, seed=how.seed
    )
    c = result.confusion
    counts = {"first": len(first), "second": len(second), "tp": c.tp, "fp": c.fp, "fn": c.fn, "tn": c.tn}
    for measure, value in result.values.items():
        name, (low, high) = f"adversarial_{measure}", result.intervals[measure]
        if not c.n:
            yield Finding(name, value, c.n, None, where, counts, flags=("too_few",))
        else:
            # Drawing again from what does not vary, an AUC of 1 or of 0.5 by ties alone, shows no spread.
            interval = UNKNOWN if high - low < 1e-12 else (low, high)
            yield _with_interval(name, value, c.n, interval, where, counts)
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


def _hidden_words(findings: Sequence[Finding]) -> Iterator[str]:
    """One note for each measure and pair of sides with words that may not be shown."""
    for finding in findings:
        if finding.measure.endswith("_hidden"):
            by = "by which a classifier tells" if "adversarial" in finding.measure else "that tell"
            yield (
                f"{finding.where['first']} and {finding.where['second']}: of the words {by} them apart "
                f"best, {finding.value:.0f} may not be shown: in fewer than {TEXTS} texts, or perhaps a name "
                "or a handle (compare --show-texts shows them)"
            )


def _finding(
    measure: str, figure: Figure, where: Mapping[str, str], counts: Mapping[str, int] | None = None
) -> Finding:
    return _with_interval(measure, figure.value, figure.n, figure.interval, where, counts or {})


def _with_interval(
    measure: str,
    value: float,
    n: int,
    interval: Interval | None,
    where: Mapping[str, str],
    counts: Mapping[str, int],
) -> Finding:
    """A finding; without an interval where there are too few texts for one, or nothing varies in them."""
    if interval is None or not np.isnan(interval[0]):
        return Finding(measure, value, n, interval, where, counts)
    sides = [counts[side] for side in ("first", "second") if side in counts] or [n]
    flags = ("too_few",) if np.isnan(value) or min(sides) < distance.FEWEST else ("no_spread",)
    return Finding(measure, value, n, None, where, counts, flags=flags)
