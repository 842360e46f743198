import math

import numpy as np
import polars as pl
import pytest
from scipy.stats import mannwhitneyu

from psycheck.audits.failure_length import FEATURES, length_findings, text_lengths
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding

WHERE = {"audit": "length", "model": "m", "corpus": "c", "label": "depression"}
CORPUS = Corpus.of("c", [" ".join(["word"] * n) for n in range(1, 21)])


def cases(rows: list[tuple[str, str, str, str]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["check", "kind", "id", "outcome"], orient="row")


def only(findings: tuple[Finding, ...], measure: str, **where: str) -> Finding:
    (found,) = [f for f in findings if f.measure == measure and where.items() <= f.where.items()]
    return found


def long_texts_fail() -> pl.DataFrame:
    """Texts of 13 words and more fail T7; of these, 20 passes T8, and so do all others."""
    rows = []
    for n in range(1, 21):
        rows.append(("T7", "DIR", str(n), "failed" if n >= 13 else "passed"))
        rows.append(("T8", "DIR", str(n), "passed"))
        rows.append(("T1", "INV", str(n), "failed"))
    rows.append(("T9", "DIR", "1", "unchanged"))
    rows.append(("T9", "DIR", "2", "unseen"))
    rows.append(("T9", "DIR", "3", "unanswered"))
    return cases(rows)


def test_lengths_of_a_text_worked_by_hand() -> None:
    (row,) = text_lengths(["I can’t sleep, i can’t."]).rows()
    # I, can’t, sleep, i, can’t: 5 words, 3 different, 23 characters, (1 + 5 + 5 + 1 + 5) / 5 letters a word.
    assert row == (5.0, 3.0, 23.0, 3.4)
    assert text_lengths(["…"]).row(0) == (0.0, 0.0, 1.0, None)


def test_pooled_cases_are_compared_as_in_the_paper_but_clustered_by_text() -> None:
    found = length_findings(CORPUS, long_texts_fail(), WHERE)
    failed = list(range(13, 21))
    passed = [*range(1, 13), *range(1, 21)]
    p = only(found, "length_p", unit="case", feature="words")
    expected = mannwhitneyu(failed, passed)
    assert p.n == 40
    assert p.counts == {"failed": 8, "passed": 32, "units": 20}
    # A text that failed T7 and passed T8 is in both sides and tells nothing about length.
    assert p.value == pytest.approx(expected.pvalue, rel=0.5)
    assert p.flags == ("significant",)
    effect = only(found, "length_effect", unit="case", feature="words")
    assert effect.value == pytest.approx(2 * expected.statistic / (8 * 32) - 1)
    assert effect.interval is None  # 8 texts failed: too few


def test_texts_of_one_author_are_no_evidence_of_length() -> None:
    # 20 authors of 30 texts, each with a length and a rate of failing of their own: no effect of length.
    random = np.random.default_rng(4)
    by_author: list[bool] = []
    by_text: list[bool] = []
    for _ in range(40):
        author = np.repeat(np.arange(20), 30)
        words = random.integers(3, 40, 20)[author] + random.integers(0, 3, 600)
        failed = random.random(600) < random.random(20)[author]
        texts = [f"{row} " + "word " * n for row, n in enumerate(words)]
        rows = [("T7", "DIR", str(k + 1), "failed" if f else "passed") for k, f in enumerate(failed)]
        for authors, alarms in (([str(a) for a in author], by_author), (None, by_text)):
            found = length_findings(Corpus.of("c", texts, author=authors), cases(rows), WHERE)
            alarms.append("significant" in only(found, "length_p", unit="text", feature="words").flags)
    assert sum(by_author) <= 5  # 2 expected
    assert sum(by_text) >= 15


@pytest.mark.parametrize("passing", [1, 4, 5])
def test_length_is_not_tested_with_fewer_than_five_authors_on_a_side(passing: int) -> None:
    # 20 authors of 10 texts; the longest text of some authors alone passes.
    texts = [f"{k} " + "word " * (k % 10) for k in range(200)]
    late = {10 * author + 9 for author in range(passing)}
    rows = [("T7", "DIR", str(k + 1), "passed" if k in late else "failed") for k in range(200)]
    corpus = Corpus.of("c", texts, author=[str(k // 10) for k in range(200)])
    p = only(length_findings(corpus, cases(rows), WHERE), "length_p", unit="text", feature="words")
    assert p.flags == (("significant",) if passing == 5 else ("too_few",))
    assert p.tested == (passing == 5)


def test_texts_count_once_in_the_second_comparison() -> None:
    found = length_findings(CORPUS, long_texts_fail(), WHERE)
    effect = only(found, "length_effect", unit="text", feature="characters")
    assert (effect.value, effect.n) == (1.0, 20)
    assert effect.flags == ()
    median = only(found, "length_median", unit="text", feature="words", outcome="failed")
    assert (median.value, median.n, median.interval) == (16.5, 8, (13.0, 20.0))
    assert only(found, "length_median", unit="text", feature="words", outcome="passed").value == 6.5
    assert median.where["model"] == "m"


def test_a_feature_without_spread_is_no_difference() -> None:
    found = length_findings(CORPUS, long_texts_fail(), WHERE)
    p = only(found, "length_p", unit="text", feature="mean_word_length")
    assert p.value == 1.0
    assert "significant" not in p.flags


def test_holm_covers_the_four_features() -> None:
    # Words and characters each give p = 0.0286 (4 against 4, all apart): below 0.05, above 0.05 / 4.
    texts = [" ".join(["word"] * n) for n in range(1, 9)]
    rows = [("T7", "DIR", str(n), "failed" if n > 4 else "passed") for n in range(1, 9)]
    found = length_findings(Corpus.of("c", texts), cases(rows), WHERE)
    p = only(found, "length_p", unit="text", feature="words")
    assert p.value == pytest.approx(2 / 70)
    assert "significant" not in p.flags


def test_without_failures_there_is_no_test() -> None:
    found = length_findings(
        CORPUS, cases([("T7", "DIR", "1", "passed"), ("T7", "DIR", "2", "passed")]), WHERE
    )
    for feature in FEATURES:
        p = only(found, "length_p", unit="text", feature=feature)
        assert math.isnan(p.value)
        assert p.flags == ("too_few",)
        assert p.n == 2


def test_without_dir_cases_there_is_no_finding() -> None:
    assert length_findings(CORPUS, cases([("T1", "INV", "1", "failed")]), WHERE) == ()
