"""Whether failing a check goes with the length of the text (DECK, section 6.2)."""

import re
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from psycheck.corpus import Corpus
from psycheck.finding import Finding
from psycheck.measures.intervals import median_interval
from psycheck.measures.significance import MannWhitney, holm, mann_whitney
from psycheck.model import FloatArray

LENGTH_MEASURES = ("length_effect", "length_median", "length_p")
FEATURES = ("words", "unique_words", "characters", "mean_word_length")
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_ALPHA = 0.05


def length_findings(corpus: Corpus, cases: pl.DataFrame, where: Mapping[str, str]) -> tuple[Finding, ...]:
    """Compare the length of the original texts behind failed and passed DIR cases, by Mann–Whitney.

    `cases` has the columns check, kind, id and outcome; only passed and failed DIR cases count. Cases are
    pooled, as in the paper (`unit` "case"); since the cases of one text are not independent, texts that
    failed any DIR check are also set against those that passed all (`unit` "text"). `length_p` is flagged
    "significant" after Holm's correction over the four features; `length_effect` is the rank-biserial
    correlation, above 0 where failed texts are longer; `length_median` is given for both sides. Without any
    DIR case there is no finding.
    """
    judged = cases.filter((pl.col("kind") == "DIR") & pl.col("outcome").is_in(["passed", "failed"])).select(
        "id", failed=pl.col("outcome") == "failed"
    )
    if cases.filter(pl.col("kind") == "DIR").is_empty():
        return ()
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
        letters = sum(map(len, words))
        rows.append(
            (
                float(len(words)),
                float(len({word.casefold() for word in words})),
                float(len(text)),
                letters / len(words) if words else None,
            )
        )
    return pl.DataFrame(rows, schema=dict.fromkeys(FEATURES, pl.Float64), orient="row")


def _unit(rows: pl.DataFrame, where: Mapping[str, str], flags: tuple[str, ...]) -> list[Finding]:
    """The findings of one way to count: pooled cases, or texts."""
    failed, passed = rows.filter(pl.col("failed")), rows.filter(~pl.col("failed"))
    counts = {"failed": len(failed), "passed": len(passed)}
    sides = [(_numbers(failed[feature]), _numbers(passed[feature])) for feature in FEATURES]
    tests = [mann_whitney(*side) for side in sides]
    adjusted = holm([test.p for test in tests])
    found: list[Finding] = []
    for feature, (lost, held), test, p in zip(FEATURES, sides, tests, adjusted, strict=True):
        here = {**where, "feature": feature}
        n = sum(test.n)
        marks = (*flags, *_marks(test))
        significant = ("significant",) if p < _ALPHA else ()
        ends = None if np.isnan(test.interval[0]) else test.interval
        found.append(Finding("length_p", test.p, n, None, here, counts, flags=(*marks, *significant)))
        found.append(Finding("length_effect", test.effect, n, ends, here, counts, flags=marks))
        for outcome, values in (("failed", lost), ("passed", held)):
            found.append(_median(values, {**here, "outcome": outcome}, counts, flags))
    return found


def _median(
    values: FloatArray, where: Mapping[str, str], counts: Mapping[str, int], flags: tuple[str, ...]
) -> Finding:
    if not len(values):
        return Finding("length_median", np.nan, 0, None, where, counts, flags=(*flags, "not_tested"))
    low, high = median_interval(values)
    ends = None if np.isnan(low) else (low, high)
    return Finding("length_median", float(np.median(values)), len(values), ends, where, counts, flags=flags)


def _marks(test: MannWhitney) -> tuple[str, ...]:
    return () if all(test.n) else ("too_few",)


def _numbers(column: pl.Series) -> FloatArray:
    values: FloatArray = column.drop_nulls().to_numpy()
    return values
