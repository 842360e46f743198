"""Whether failing a check goes with the length of the text (DECK, section 6.2)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from psycheck.audits.figures import measured
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding
from psycheck.core.kept import kept
from psycheck.statistics import cluster_tests
from psycheck.statistics.classification import BoolArray, FloatArray
from psycheck.statistics.cluster_tests import groups_p
from psycheck.statistics.clustered import FEWEST_MOVED, Clusters, median_interval
from psycheck.statistics.distributions import average_ranks
from psycheck.statistics.intervals import Interval
from psycheck.statistics.label_intervals import classification_intervals
from psycheck.statistics.significance import holm, mann_whitney

LENGTH_MEASURES = ("length_effect", "length_median", "length_p")
FEATURES = ("words", "unique_words", "characters", "mean_word_length")
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_ALPHA = 0.05


class LengthTest(NamedTuple):
    """Whether failed texts are longer: Mann–Whitney's p, and the rank-biserial correlation of n texts."""

    p: float
    effect: float
    interval: Interval
    n: int


def length_findings(corpus: Corpus, cases: pl.DataFrame, where: Mapping[str, str]) -> tuple[Finding, ...]:
    """Compare the length of the original texts behind failed and passed DIR cases, by Mann–Whitney.

    `cases` has the columns check, kind, id and outcome; only passed and failed DIR cases count. Cases are
    pooled, as in the paper (`unit` "case"), and texts that failed any DIR check are compared with those that
    passed all (`unit` "text"). Cases of one text and texts of one author are not independent: there the test
    compares mean ranks by cluster, and needs five clusters on each side. `length_p` is flagged "significant"
    after Holm's correction over the four features; `length_effect` is the rank-biserial correlation, above 0
    where failed texts are longer; `length_median` is given for both sides. Without DIR cases there is none.
    """
    directed = cases.filter(pl.col("kind") == "DIR")
    if directed.is_empty():
        return ()

    is_judged = pl.col("outcome").is_in(["passed", "failed"])
    has_failed = pl.col("outcome") == "failed"
    by_case = directed.filter(is_judged).select("id", failed=has_failed)
    cases_of_text = by_case.group_by("id", maintain_order=True)
    by_text = cases_of_text.agg(pl.col("failed").any())

    # Of the original texts: an added sentence would make every case longer by itself.
    sizes = _sizes_of_texts(corpus, by_text.select("id"))
    findings: list[Finding] = []
    for unit, rows in (("case", by_case), ("text", by_text)):
        rows_with_sizes = rows.join(
            sizes,
            on="id",
            how="inner",
            maintain_order="left",
        )
        where_of_unit = {**where, "unit": unit}
        findings += _unit_findings(rows_with_sizes, where_of_unit)
    return tuple(findings)


def _sizes_of_texts(corpus: Corpus, ids: pl.DataFrame) -> pl.DataFrame:
    """The lengths of the texts with these ids, with their `id` and `unit` (the author, or the text)."""
    all_texts = corpus.table.select("id", "text")
    texts = all_texts.join(ids, on="id", how="semi")
    lengths = text_lengths(texts["text"].to_list())

    units = corpus.table.select("id", unit=pl.Series(corpus.units()))
    with_ids = lengths.with_columns(texts["id"])
    return with_ids.join(units, on="id", how="left")


def text_lengths(texts: Sequence[str]) -> pl.DataFrame:
    """Words, unique words whatever their case, characters, mean word length; null where there is no word."""
    rows = []
    for text in texts:
        words = _WORD.findall(text)
        unique_words = {word.casefold() for word in words}
        mean_word_length = None
        if words:
            mean_word_length = sum(map(len, words)) / len(words)
        # In the order of FEATURES.
        row = (
            float(len(words)),
            float(len(unique_words)),
            float(len(text)),
            mean_word_length,
        )
        rows.append(row)

    schema = dict.fromkeys(FEATURES, pl.Float64)
    return pl.DataFrame(rows, schema, orient="row")


def _unit_findings(rows: pl.DataFrame, where: Mapping[str, str]) -> Iterator[Finding]:
    """The findings of one way to count: pooled cases, or texts."""
    failed = rows["failed"].to_numpy()
    clusters = Clusters.of(rows["unit"].to_numpy())
    counts = {
        "failed": int(failed.sum()),
        "passed": int((~failed).sum()),
        "units": clusters.count,
    }
    columns = [rows[feature].fill_null(np.nan).to_numpy() for feature in FEATURES]
    tests = [compare_lengths(values, failed, clusters) for values in columns]
    # Over the four features: whoever looks at all of them sees one by chance sooner.
    adjusted = holm([test.p for test in tests])

    tested_features = zip(FEATURES, columns, tests, adjusted, strict=True)
    for feature, values, test, p_holm in tested_features:
        where_of_feature = {**where, "feature": feature}
        yield Finding(
            "length_p",
            test.p,
            test.n,
            where=where_of_feature,
            counts=counts,
            flags=_verdict(test.p, p_holm),
        )
        yield _effect(test, where_of_feature, counts)
        yield from _medians(values, failed, clusters, where_of_feature, counts)


def _medians(
    values: FloatArray,
    failed: BoolArray,
    clusters: Clusters,
    where: Mapping[str, str],
    counts: Mapping[str, int],
) -> Iterator[Finding]:
    """The median of failed texts and that of the others, both of (n,)."""
    sides = {"failed": failed, "passed": ~failed}
    for outcome, side in sides.items():
        # A text without a word has no mean word length.
        with_value = side & ~np.isnan(values)
        side_values = values[with_value]
        median = np.nan
        if len(side_values):
            median = float(np.median(side_values))
        yield measured(
            "length_median",
            median,
            len(side_values),
            interval=median_interval(side_values, clusters.at(with_value)),
            where={**where, "outcome": outcome},
            counts=counts,
        )


def _verdict(p: float, p_holm: float) -> tuple[str, ...]:
    """The flags of a p-value, given the one that Holm's correction made of it."""
    if np.isnan(p):
        return ("too_few",)
    return ("significant",) if p_holm < _ALPHA else ()


def _effect(test: LengthTest, where: Mapping[str, str], counts: Mapping[str, int]) -> Finding:
    """The rank-biserial correlation; a few texts have none, and some have one without an interval."""
    has_interval = not np.isnan(test.interval[0])
    has_effect = not np.isnan(test.effect)
    return Finding(
        "length_effect",
        test.effect,
        test.n,
        interval=test.interval if has_interval else None,
        where=where,
        counts=counts,
        flags=() if has_effect else ("too_few",),
    )


def compare_lengths(values: FloatArray, failed: BoolArray, clusters: Clusters) -> LengthTest:
    """Compare the values of failed texts with those of others, both (n,); NaN is left out."""
    has_value = ~np.isnan(values)
    values = values[has_value]
    failed = failed[has_value]
    clusters = clusters.at(has_value)
    n = len(values)

    independent = mann_whitney(values[failed], values[~failed])
    if clusters.whole or np.isnan(independent.effect):
        return LengthTest(
            independent.p,
            independent.effect,
            independent.interval,
            n,
        )

    # Texts of one author are alike: the test and the interval go by clusters, the effect stays.
    ranks = average_ranks(values) / n
    clusters_failed = clusters.at(failed).count
    clusters_passed = clusters.at(~failed).count
    p = np.nan
    if min(clusters_failed, clusters_passed) >= FEWEST_MOVED:
        p = _kept_p(ranks, failed, clusters)

    # The rank-biserial correlation is 2 AUC - 1, with lengths for scores.
    failed_as_gold = failed.astype(np.float64)
    intervals = classification_intervals(failed_as_gold, ranks, clusters)
    low, high = intervals["auc"]
    interval = (2 * low - 1, 2 * high - 1)
    return LengthTest(p, independent.effect, interval, n)


def _kept_p(ranks: FloatArray, failed: BoolArray, clusters: Clusters) -> float:
    """The p-value of ranks, (n,), of failed texts against those of others, as an earlier run has kept it."""
    copies = clusters.copies
    inputs = (
        ranks.tobytes(),
        failed.tobytes(),
        clusters.codes.tobytes(),
        b"" if copies is None else copies.tobytes(),
    )

    def compute() -> bytes:
        return np.float64(groups_p(ranks, np.ones(len(ranks)), failed, clusters)).tobytes()

    p = kept("lengths of failed texts", inputs, compute, code=Path(cluster_tests.__file__))
    return float(np.frombuffer(p)[0])
