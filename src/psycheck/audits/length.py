"""Whether failing a check goes with the length of the text (DECK, section 6.2)."""

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from psycheck.audits.measured import measured
from psycheck.corpus import Corpus
from psycheck.finding import Finding
from psycheck.measures.intervals import median_interval
from psycheck.measures.significance import holm, mann_whitney

LENGTH_MEASURES = ("length_effect", "length_median", "length_p")
FEATURES = ("words", "unique_words", "characters", "mean_word_length")
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_ALPHA = 0.05


def length_findings(corpus: Corpus, cases: pl.DataFrame, where: Mapping[str, str]) -> tuple[Finding, ...]:
    """Compare the length of the original texts behind failed and passed DIR cases, by Mann–Whitney.

    `cases` has the columns check, kind, id and outcome; only passed and failed DIR cases count. Cases are
    pooled, as in the paper (`unit` "case"); since the cases of one text are not independent, texts that
    failed any DIR check are also compared with those that passed all (`unit` "text"). `length_p` is flagged
    "significant" after Holm's correction over the four features; `length_effect` is the rank-biserial
    correlation, above 0 where failed texts are longer; `length_median` is given for both sides. Without any
    DIR case there is no finding.
    """
    directed = cases.filter(pl.col("kind") == "DIR")
    if directed.is_empty():
        return ()
    judged = directed.filter(pl.col("outcome").is_in(["passed", "failed"])).select(
        "id", failed=pl.col("outcome") == "failed"
    )
    ids = judged["id"].unique(maintain_order=True)
    texts = corpus.table.select("id", "text").join(ids.to_frame(), on="id", how="semi")
    sizes = text_lengths(texts["text"].to_list()).with_columns(texts["id"])
    by_text = judged.group_by("id", maintain_order=True).agg(pl.col("failed").any())
    found: list[Finding] = []
    for unit, rows in (("case", judged), ("text", by_text)):
        measured = rows.join(sizes, on="id", how="inner", maintain_order="left")
        found += _unit(measured, {**where, "unit": unit}, () if unit == "text" else ("not_independent",))
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


def _unit(rows: pl.DataFrame, where: Mapping[str, str], flags: tuple[str, ...]) -> Iterator[Finding]:
    """The findings of one way to count: pooled cases, or texts."""
    sides = {name: rows.filter(pl.col("failed") == (name == "failed")) for name in ("failed", "passed")}
    counts = {name: len(side) for name, side in sides.items()}
    values = [[side[feature].drop_nulls().to_numpy() for side in sides.values()] for feature in FEATURES]
    tests = [mann_whitney(failed, passed) for failed, passed in values]
    adjusted = holm([test.p for test in tests])
    for feature, both, test, p in zip(FEATURES, values, tests, adjusted, strict=True):
        here = {**where, "feature": feature}
        marks = flags if all(test.n) else (*flags, "too_few")
        significant = ("significant",) if p < _ALPHA else ()
        ends = None if np.isnan(test.interval[0]) else test.interval
        yield Finding("length_p", test.p, sum(test.n), None, here, counts, flags=(*marks, *significant))
        yield Finding("length_effect", test.effect, sum(test.n), ends, here, counts, flags=marks)
        for outcome, side in zip(sides, both, strict=True):
            median = float(np.median(side)) if len(side) else np.nan
            interval = median_interval(side) if len(side) else None
            place = {**here, "outcome": outcome}
            yield measured("length_median", median, len(side), interval, place, counts, (), flags)
