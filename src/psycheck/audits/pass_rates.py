"""The pass rates of the checks of a suite, from their cases, and the table of these cases."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from psycheck.audits.cases import FAILED, OUTCOMES, PASSED, Cases, applies_to
from psycheck.audits.decisions import CONSTANT
from psycheck.audits.figures import measured, measured_rate
from psycheck.audits.suite import Check
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding
from psycheck.statistics.clustered import Clusters, ratio_interval
from psycheck.statistics.group_rates import Difference, Rate, paired_difference
from psycheck.statistics.significance import holm

ALPHA: Final = 0.05
AMONG: Final = "pass_rate_among_checks"
NOT_EVIDENCE: Final = "not_evidence"
TOLERANCE: Final = 0.05  # a smaller share of failures is no weakness
_MOST_EXAMPLES: Final = 50
_CASE_COLUMNS: Final = ("model", "corpus", "suite", "check", "kind")


def pass_rate(
    corpus: Corpus,
    clusters: Clusters,
    check: Check,
    cases: Cases,
    where: Mapping[str, str],
    part: int,
) -> Finding:
    """The pass rate of one check with the count of every outcome; `part` divides the 5 % of its interval."""
    ledger = np.bincount(cases.outcome, minlength=len(OUTCOMES))
    counts = {"generated": len(cases.rows)}
    counts |= dict(zip(OUTCOMES, ledger.tolist(), strict=True))
    counts["undecided"] = int(cases.undecided.sum())

    applies = int(applies_to(check, corpus).sum())
    if where["label"] not in corpus.labels or applies < len(corpus):
        counts["outside_subset"] = len(corpus) - applies
    if part > 1:
        counts["not_asked"] = applies - len(cases.rows)

    # An edit that changed nothing, or that the model did not read, tests nothing.
    tested = cases.tested
    tested_cases = counts["passed"] + counts["failed"]
    rate = Rate(counts["passed"], tested_cases)
    units = clusters.at(cases.rows[tested])
    counts["units"] = units.count
    interval = ratio_interval(
        cases.passed[tested],
        np.ones(tested_cases),
        units,
        among=part,
    )

    failed_rows = cases.rows[cases.outcome == FAILED]
    example_rows = failed_rows[:_MOST_EXAMPLES]
    examples = corpus.table["id"].gather(example_rows).to_list()
    return measured_rate("pass_rate", rate, where, counts, examples, interval)


def rate_among_checks(
    rate: Finding,
    cases: Cases,
    clusters: Clusters,
    *,
    checks: int,
    part: int,
) -> Finding:
    """A pass rate with an interval that holds for all `checks` of the run together."""
    interval = ratio_interval(
        cases.passed,
        cases.tested,
        clusters.at(cases.rows),
        among=max(checks, 1) * part,
    )
    return measured(
        AMONG,
        rate.value,
        rate.n,
        interval=interval,
        where=rate.where,
        counts={"checks": checks},
    )


def sentence_rates(
    check: Check,
    cases: Cases,
    clusters: Clusters,
    where: Mapping[str, str],
    part: int,
) -> Iterator[Finding]:
    """The pass rate of every sentence of a check that has several."""
    if len(check.sentences) < 2:
        return
    units = clusters.at(cases.rows)
    for variant, sentence in enumerate(check.sentences):
        # Not the outcome of the case, which its worst sentence decides.
        states = cases.states[:, variant]
        passed = states == PASSED
        failed = states == FAILED
        counts = {
            "passed": int(passed.sum()),
            "failed": int(failed.sum()),
        }
        tested_cases = counts["passed"] + counts["failed"]
        yield measured_rate(
            "sentence_pass_rate",
            Rate(counts["passed"], tested_cases),
            {
                **where,
                "variant": str(variant + 1),
                "sentence": sentence,
            },
            counts,
            interval=ratio_interval(passed, passed | failed, units, among=part),
        )


def compare_with_unedited(
    checks: Sequence[Check],
    all_cases: Sequence[Cases],
    rates: Sequence[Finding],
    clusters: Clusters,
    parts: Sequence[int],
) -> list[Finding]:
    """MFT pass rates with the number of judged texts that pass without the edit; other rates as they are.

    The flag "harmed" or "helped" says that the edit changes it: p below 0.05 after Holm's correction.
    """
    compared = list(rates)
    changes: dict[int, Difference] = {}
    for k, (check, cases) in enumerate(zip(checks, all_cases, strict=True)):
        # Of all kinds only an MFT check passes or fails by the edited text alone.
        if check.kind != "MFT":
            continue
        tested = cases.tested
        expected = bool(check.expect.label)
        right_unedited = cases.decided_before[tested] == expected
        counts = {**rates[k].counts, "passed_unedited": int(right_unedited.sum())}
        compared[k] = replace(rates[k], counts=counts)
        changes[k] = paired_difference(
            cases.passed[tested],
            right_unedited,
            clusters.at(cases.rows[tested]),
        )

    # A sample that may end at several sizes has its part of the 5 % at each of them.
    p_values = [min(parts[k] * change.p, 1.0) for k, change in changes.items()]
    adjusted = holm(p_values)
    for (k, change), p in zip(changes.items(), adjusted, strict=True):
        if p < ALPHA:
            flag = "harmed" if change.value < 0 else "helped"
            rate = compared[k]
            compared[k] = replace(rate, flags=(*rate.flags, flag))
    return compared


def mark_not_evidence(rates: Sequence[Finding], alike: Mapping[str, tuple[str, ...]]) -> list[Finding]:
    """Flag the rates that nearly constant decisions alone explain; `alike` has their flags by label."""
    marked: list[Finding] = []
    for rate in rates:
        flags = alike.get(rate.where["label"], ())
        # A DIR check looks at scores, which may move where decisions do not.
        is_dir = rate.where["kind"] == "DIR"
        explains = CONSTANT in flags if is_dir else bool(flags)
        if rate.tested and explains and not _moved_by_edit(rate):
            rate = replace(rate, flags=(*rate.flags, NOT_EVIDENCE))
        marked.append(rate)
    return marked


def _moved_by_edit(rate: Finding) -> bool:
    """Whether an edit is shown to change what the model decides, which a constant decision cannot explain."""
    if rate.where["kind"] == "MFT":
        return bool({"harmed", "helped"} & set(rate.flags))
    if rate.interval is None:
        return False
    _, high = rate.interval
    return high < 1 - TOLERANCE


def outcome_matrix(all_cases: Sequence[Cases], texts: int) -> NDArray[np.int8]:
    """The outcome of each check for each text, (checks, texts); -1 where the check does not apply."""
    outcomes = np.full((len(all_cases), texts), -1, np.int8)
    for line, cases in zip(outcomes, all_cases, strict=True):
        line[cases.rows] = cases.outcome
    return outcomes


def case_table(
    all_cases: Sequence[Cases],
    corpus: Corpus,
    wheres: Sequence[Mapping[str, str]],
) -> pl.DataFrame:
    """The cases of all checks, one below the other: ids, never texts."""
    sizes = [len(cases.rows) for cases in all_cases]
    check_numbers = np.repeat(np.arange(len(all_cases)), sizes)
    rows = np.concatenate([cases.rows for cases in all_cases])
    outcome = np.concatenate([cases.outcome for cases in all_cases])
    variant = np.concatenate([cases.variant for cases in all_cases])

    # Millions of rows with few different values: categories take a fraction of the memory.
    columns: dict[str, Any] = {}
    for key in _CASE_COLUMNS:
        values = [where[key] for where in wheres]
        columns[key] = _categories(values, check_numbers)
    columns["id"] = corpus.table["id"].gather(rows)
    columns["outcome"] = _categories(OUTCOMES, outcome.astype(np.int64))
    columns["variant"] = pl.Series(variant + 1, dtype=pl.Int16)
    # In full: 0.49999999999 is not 0.5.
    columns["before"] = np.concatenate([cases.before for cases in all_cases])
    columns["after"] = np.concatenate([cases.after for cases in all_cases])
    return pl.DataFrame(columns)


def _categories(names: Sequence[str], numbers: NDArray[Any]) -> pl.Series:
    return pl.Series(names).cast(pl.Categorical).gather(numbers)
