"""Distances between corpora, or between the classes of one: every figure with its n and interval."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, combinations, compress

import numpy as np
import polars as pl

from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import GROUP, Corpus
from psycheck.core.errors import BadInput, MissingExtra, nearest
from psycheck.core.finding import Finding
from psycheck.corpora.pair_findings import (
    WASSERSTEIN,
    Pair,
    Side,
    adversarial_findings,
    profile_findings,
    vector_findings,
    word_findings,
)
from psycheck.corpora.showable_words import TEXTS, anything, showable_between
from psycheck.corpora.text_vectors import map_of, tfidf_vectors
from psycheck.statistics.classification import firm, gold

Encode = tuple[str, Callable[[Sequence[str]], FloatArray]]
"""The name of an encoder, and a function from texts to their vectors, (n, d)."""

PARTS = ("words", "vectors", "adversarial", "map")
# What each part works on: all counted texts, or the fewer encoded ones; the map shows all sides at once.
PARTS_OF_COUNTS = frozenset({"words", "adversarial"})
PARTS_OF_VECTORS = frozenset({"vectors", "map"})
PARTS_OF_PAIRS = frozenset({"words", "vectors", "adversarial"})
# Below these the figures mean nothing, or a library fails.
_LEAST = {
    "texts": 10,
    "sample": 10,
    "permutations": 0,
    "repeats": 1,
    "words": 0,
}


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
                raise BadInput(
                    f"there is no part '{part}' of a comparison",
                    code="compare.unknown-part",
                    allowed=nearest(part, PARTS),
                )
        for name, least in _LEAST.items():
            number = getattr(self, name)
            if number < least:
                raise BadInput(
                    what=f"{name} {number} is too few",
                    code="compare.too-small-setting",
                    where="compare",
                    allowed=f"{least} or more",
                )
        if not 0 <= self.seed < 2**32:
            raise BadInput(
                what=f"seed {self.seed} cannot be used",
                code="compare.bad-seed",
                where="compare",
                allowed="0 to 4294967295",
            )

    def steps(self, sides: int) -> int:
        """The number of parts of a comparison with so many sides, by which progress is counted."""
        parts = frozenset(self.parts)
        pairs = sides * (sides - 1) // 2
        encodings = 1 if parts & PARTS_OF_VECTORS else 0
        maps = 1 if "map" in parts else 0
        return pairs * len(parts & PARTS_OF_PAIRS) + encodings + maps


@dataclass(frozen=True, slots=True)
class Comparison:
    """The findings, the map (`id`, `corpus`, `x`, `y`) if one was drawn, and notes for the reader."""

    findings: tuple[Finding, ...]
    tables: Mapping[str, pl.DataFrame]
    notes: tuple[str, ...]


def _no_report(part: str) -> None:
    """Report nothing."""


def compare(
    corpora: Sequence[Corpus],
    encoder: Encode | None = None,
    how: Comparing | None = None,
    step: Callable[[str], None] = _no_report,
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
    _refuse_corpora_that_cannot_be_compared(corpora)
    encoder_name, encode = encoder or ("tfidf", partial(tfidf_vectors, seed=how.seed))
    parts = frozenset(how.parts)

    sides = [_side(corpus, how) for corpus in corpora]
    notes = [*chain.from_iterable(_sampling_notes(side, how) for side in sides)]
    findings: list[Finding] = []
    if "words" in parts:
        findings += chain.from_iterable(map(profile_findings, sides))

    # Once for all pairs: encoding takes by far the most time.
    if parts & PARTS_OF_VECTORS:
        sides = _encoded(sides, encode)
        step("encoding")

    # Each pair once: its findings name both sides.
    for first, second in combinations(sides, 2):
        findings += _findings_of_pair(
            first=first,
            second=second,
            how=how,
            step=step,
            encoder_name=encoder_name,
            show=show,
        )
    measures = {finding.measure for finding in findings}
    if "vectors" in parts and WASSERSTEIN not in measures:
        notes.append("no exact Wasserstein distance: it needs the extra 'compare'")

    tables: dict[str, pl.DataFrame] = {}
    if "map" in parts:
        tables, map_notes = _map_or_note(sides, how.seed)
        notes += map_notes
        step("map")

    notes += _notes_on_hidden_words(findings)
    # Each pair adds its notes: those that all pairs share are said once.
    distinct_notes = tuple(dict.fromkeys(notes))
    return Comparison(
        findings=tuple(findings),
        tables=tables,
        notes=distinct_notes,
    )


def _refuse_corpora_that_cannot_be_compared(corpora: Sequence[Corpus]) -> None:
    if len(corpora) < 2:
        raise BadInput(
            what="cannot compare a single corpus",
            code="compare.single-corpus",
            allowed="two corpora or more, or the classes of one",
            do="name a second corpus, or a label (`by`)",
        )
    names = [corpus.name for corpus in corpora]
    for corpus in corpora:
        if names.count(corpus.name) > 1:
            raise BadInput(
                f"two corpora have the name '{corpus.name}'",
                code="compare.same-name",
                do="rename one: NAME=PATH",
            )
        if len(corpus) < 2:
            raise BadInput(
                f"corpus '{corpus.name}' has too few texts: {len(corpus)}",
                code="corpus.too-few-texts",
                allowed="2 or more",
            )


def _side(corpus: Corpus, how: Comparing) -> Side:
    """A corpus with the texts of it that are counted, and that are to be encoded."""
    return Side(
        corpus=corpus,
        counted=corpus.sample(how.texts, how.seed),
        encoded=corpus.sample(how.sample, how.seed),
    )


def _sampling_notes(side: Side, how: Comparing) -> Iterator[str]:
    """What of a side was only sampled, for the parts that use it."""
    name = side.corpus.name
    size = len(side.corpus)
    uses_counts = not PARTS_OF_COUNTS.isdisjoint(how.parts)
    uses_vectors = not PARTS_OF_VECTORS.isdisjoint(how.parts)

    counted = len(side.counted)
    if uses_counts and counted < size:
        use = "used for word counts and the domain classifier"
        yield f"{name}: {counted:,} of {size:,} texts are {use}, seed {how.seed}"
    encoded = len(side.encoded)
    if uses_vectors and encoded < size:
        yield f"{name}: {encoded:,} of {size:,} texts are encoded, seed {how.seed}"


def _encoded(sides: Sequence[Side], encode: Callable[[Sequence[str]], FloatArray]) -> list[Side]:
    """The sides with the vectors of their texts, encoded together."""
    # Together, because TF–IDF learns its dimensions from the texts: apart, each side would have its own.
    texts = [*chain.from_iterable(side.encoded.texts for side in sides)]
    sizes = [len(side.encoded) for side in sides]
    # `np.split` takes the places between the parts, so not the end of the last one.
    ends = np.cumsum(sizes)[:-1]
    vectors_of_sides = np.split(encode(texts), ends)

    with_vectors = []
    for side, vectors in zip(sides, vectors_of_sides, strict=True):
        with_vectors.append(replace(side, vectors=vectors))
    return with_vectors


def _findings_of_pair(
    first: Side,
    second: Side,
    how: Comparing,
    step: Callable[[str], None],
    *,
    encoder_name: str,
    show: bool,
) -> Iterator[Finding]:
    """The findings of all parts that compare two sides."""
    # Whether a word is common property is asked of both sides together.
    texts = [*first.counted.texts, *second.counted.texts]
    authors = [*first.counted.strings("author"), *second.counted.strings("author")]
    may_show = anything if show else showable_between(texts, authors)
    pair = Pair(
        first=first,
        second=second,
        may_show=may_show,
    )

    if "words" in how.parts:
        yield from word_findings(pair, most_words=how.words, seed=how.seed)
        step("words")
    if "vectors" in how.parts:
        yield from vector_findings(
            pair=pair,
            encoder=encoder_name,
            permutations=how.permutations,
            repeats=how.repeats,
            seed=how.seed,
        )
        step("vectors")
    if "adversarial" in how.parts:
        yield from adversarial_findings(pair, most_words=how.words, seed=how.seed)
        step("adversarial")


def _map_or_note(sides: Sequence[Side], seed: int) -> tuple[dict[str, pl.DataFrame], list[str]]:
    """The table of the map, or why there is none."""
    # The figures are worth having without a picture: what stops the map is a note.
    try:
        return {"map": _map_table(sides, seed)}, []
    except (MissingExtra, BadInput) as error:
        return {}, [f"no map: {error.what}"]


def _map_table(sides: Sequence[Side], seed: int) -> pl.DataFrame:
    """The place of each encoded text on a map of all sides: `id`, `corpus`, `x`, `y`."""
    vectors = np.concatenate([side.vectors for side in sides])
    places = map_of(vectors, seed=seed)

    tables = []
    for side in sides:
        names = [side.corpus.name] * len(side.encoded)
        tables.append(pl.DataFrame({"id": side.encoded.ids, "corpus": names}))
    return pl.concat(tables).with_columns(x=places[:, 0], y=places[:, 1])


def _notes_on_hidden_words(findings: Sequence[Finding]) -> Iterator[str]:
    """One note for each measure and pair of sides with words that may not be shown."""
    for finding in findings:
        if not finding.measure.endswith("_hidden"):
            continue
        adversarial = "adversarial" in finding.measure
        telling = "by which a classifier tells them apart" if adversarial else "that tell them apart"
        yield (
            f"{finding.where['first']} and {finding.where['second']}: of the words {telling} best,"
            f" {finding.value:.0f} may not be shown: in fewer than {TEXTS} texts, or perhaps a name or a"
            " handle (compare can be set to show them)"
        )


def classes_of(corpus: Corpus, by: Sequence[str]) -> list[Corpus]:
    """Cut a corpus into its classes by labels, or by one group column or "split".

    One label gives "NAME 1" and "NAME 0"; several give each combination that occurs ("depression", "anxiety",
    "depression + anxiety", "none"). A text that is not annotated for each of them, or with 0.5, is left out
    and counted.
    """
    _refuse_unknown_columns(corpus, by)
    by_labels = by[0] in corpus.labels
    class_names = _classes_by_labels(corpus, by) if by_labels else _classes_by_column(corpus, by[0])
    # One label: "depression 1" before "depression 0".
    distinct = sorted(set(class_names) - {None}, key=str, reverse=len(by) == 1)
    if len(distinct) < 2:
        raise BadInput(
            what=f"corpus '{corpus.name}' has one class of {', '.join(by)}",
            code="label.one-class",
            allowed="two classes or more",
            do="name another label (`by`)",
        )

    left_out = {"not annotated": class_names.count(None)}
    if by_labels:
        # A text of 0.5 has no class either, but somebody annotated it.
        missing = int(np.sum(np.isnan(corpus.targets(by)).any(axis=1)))
        left_out = {"not annotated": missing, "undecided (0.5)": class_names.count(None) - missing}
    counts = {reason: texts for reason, texts in left_out.items() if texts}

    class_array = np.array(class_names, dtype=object)
    classes = []
    for name in distinct:
        texts_of_class = corpus.only(class_array == name)
        classes.append(replace(texts_of_class, name=str(name), left_out=counts))
    return classes


def _refuse_unknown_columns(corpus: Corpus, by: Sequence[str]) -> None:
    """Refuse names that are not labels, groups or splits, and those that cannot be combined."""
    columns = [*corpus.labels, *corpus.groups]
    if "split" in corpus.table.columns:
        columns.append("split")
    for name in by:
        if name not in columns:
            raise BadInput(
                f"corpus '{corpus.name}' has no label or group '{name}'",
                code="corpus.unknown-label-or-group",
                allowed=nearest(name, columns),
            )
    only_labels = set(by) <= set(corpus.labels)
    if not by or (len(by) > 1 and not only_labels):
        raise BadInput(
            "cannot combine these classes",
            code="compare.uncombinable-classes",
            allowed="one or more labels, or one group column",
        )


def _classes_by_column(corpus: Corpus, name: str) -> list[str | None]:
    """The class of each text by a group column or the split, such as "source forum"."""
    # With the name of the column, so that the class is told from a corpus of the same name.
    column = GROUP + name if name in corpus.groups else "split"
    values = corpus.table[column].to_list()
    return [None if value is None else f"{name} {value}" for value in values]


def _classes_by_labels(corpus: Corpus, labels: Sequence[str]) -> list[str | None]:
    """The class of each text by labels; None where one of them is missing or undecided."""
    return [_class_of_row(row, labels) for row in firm(corpus.targets(labels))]


def _class_of_row(targets: FloatArray, labels: Sequence[str]) -> str | None:
    if np.isnan(targets).any():
        return None
    if len(labels) == 1:
        return f"{labels[0]} {int(gold(targets)[0])}"
    return " + ".join(compress(labels, gold(targets))) or "none"
