"""Whether failing a check goes with the length of the text (DECK, section 6.2)."""

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl
from scipy.stats import rankdata

from psycheck.audits.measured import measured
from psycheck.corpus import Corpus
from psycheck.finding import Finding
from psycheck.measures.classification import BoolArray, FloatArray, classification_intervals
from psycheck.measures.clustered import FEWEST_MOVED, Clusters, groups_p, median_interval
from psycheck.measures.intervals import Interval
from psycheck.measures.significance import holm, mann_whitney

LENGTH_MEASURES = ("length_effect", "length_median", "length_p")
FEATURES = ("words", "unique_words", "characters", "mean_word_length")
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_ALPHA = 0.05


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
    judged = directed.filter(pl.col("outcome").is_in(["passed", "failed"])).select(
        "id", failed=pl.col("outcome") == "failed"
    )
    ids = judged["id"].unique(maintain_order=True)
    texts = corpus.table.select("id", "text").join(ids.to_frame(), on="id", how="semi")
    units = corpus.table.select("id", unit=pl.Series(corpus.units()))
    sizes = text_lengths(texts["text"].to_list()).with_columns(texts["id"]).join(units, on="id", how="left")
    by_text = judged.group_by("id", maintain_order=True).agg(pl.col("failed").any())
    found: list[Finding] = []
    for unit, rows in (("case", judged), ("text", by_text)):
        measured = rows.join(sizes, on="id", how="inner", maintain_order="left")
        found += _unit(measured, {**where, "unit": unit})
    return tuple(found)


def text_lengths(texts: Sequence[str]) -> pl.DataFrame:
    """Words, unique words whatever their case, characters, mean word length; null where there is no word."""
    rows = []
    for text in texts:
        words = _WORD.findall(text)
        unique = {word.casefold() for word in words}
        mean = sum(map(len, words)) / len(words) if words else None
        rows.append((float(len(words)), float(len(unique)), float(len(text)), mean))
    return pl.DataFrame(rows, schema=dict.fromkeys(FEATURES, pl.Float64), orient="row")


def _unit(rows: pl.DataFrame, where: Mapping[str, str]) -> Iterator[Finding]:
    """The findings of one way to count: pooled cases, or texts."""
    failed, clusters = rows["failed"].to_numpy(), Clusters.of(rows["unit"].to_numpy())
    counts = {"failed": int(failed.sum()), "passed": int((~failed).sum()), "units": clusters.count}
    columns = [rows[feature].fill_null(np.nan).to_numpy() for feature in FEATURES]
    tests = [compared(values, failed, clusters) for values in columns]
    adjusted = holm([p for p, *_ in tests])
    for feature, values, (p, effect, ends, n), p_holm in zip(FEATURES, columns, tests, adjusted, strict=True):
        here = {**where, "feature": feature}
        marks = ("too_few",) if np.isnan(effect) else ()
        verdict = ("too_few",) if np.isnan(p) else ("significant",) if p_holm < _ALPHA else ()
        yield Finding("length_p", p, n, None, here, counts, flags=verdict)
        known = None if np.isnan(ends[0]) else ends
        yield Finding("length_effect", effect, n, known, here, counts, flags=marks)
        for outcome, side in (("failed", failed), ("passed", ~failed)):
            among = side & ~np.isnan(values)
            median = float(np.median(values[among])) if among.any() else np.nan
            interval = median_interval(values[among], clusters.at(among))
            place = {**here, "outcome": outcome}
            yield measured("length_median", median, int(among.sum()), interval, place, counts)


def compared(values: FloatArray, failed: BoolArray, clusters: Clusters) -> tuple[float, float, Interval, int]:
    """The p-value, the rank-biserial correlation, its interval and the number of texts, all (n,)."""
    there = ~np.isnan(values)
    values, failed, clusters = values[there], failed[there], clusters.at(there)
    found = mann_whitney(values[failed], values[~failed])
    if clusters.whole or np.isnan(found.effect):
        return found.p, found.effect, found.interval, len(values)
    ranks = rankdata(values) / len(values)
    few = min(clusters.at(side).count for side in (failed, ~failed)) < FEWEST_MOVED
    p = np.nan if few else groups_p(ranks, np.ones(len(values)), failed, clusters)
    low, high = classification_intervals(failed.astype(np.float64), ranks, clusters)["auc"]
    return p, found.effect, (2 * low - 1, 2 * high - 1), len(values)
