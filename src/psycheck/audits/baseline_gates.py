"""Whether figures are worse than those of a baseline run: tested on the stored answers of both runs.

The answers to the same texts are paired and clustered by author (`statistics.paired_change`). A figure whose
answers are not stored is compared by the intervals of both runs, which is less sensitive; one without an
interval is compared as it is. p-values are adjusted over all figures that a gate speaks of (Holm).
docs/benchmarks/gates.md has the error rates.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import polars as pl

from psycheck.audits.performance import stored_clusters
from psycheck.core.finding import Finding
from psycheck.core.measure import Measure
from psycheck.report.numbers import known_interval
from psycheck.statistics.classification import firm, gold
from psycheck.statistics.distributions import normal_tail
from psycheck.statistics.intervals import Z95
from psycheck.statistics.paired_change import (
    LABEL_FIGURES,
    Estimate,
    label_estimate,
    mean_estimate,
    paired_change,
    share_estimate,
)
from psycheck.statistics.significance import holm

ALPHA = 0.05
DEFAULT_TOLERANCE = 0.01
# Another seed alone moves the largest of 23 pass rates by up to 0.1, and an accuracy by a hundredth.
TOLERANCES = MappingProxyType({"pass_rate": 0.1})
SQUARED_ERROR = "brier"
PASS_RATE = "pass_rate"
_ROUNDING = 1e-9
# What places a figure in the tables; a finding with further keys is about a part of their rows.
_OF_PREDICTIONS = {"audit", "model", "corpus", "label"}
_OF_CASES = ("model", "corpus", "suite", "check")
_PARTS_OF_CASES = {"group", "by", "sentence", "unit", "outcome", "symptom_group"}

Tables = Mapping[str, pl.DataFrame]
NO_TABLES: Tables = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class StoredAnswers:
    """The tables of two runs, `predictions` and `cases`, by which their figures are paired."""

    before: Tables = field(default_factory=lambda: NO_TABLES)
    now: Tables = field(default_factory=lambda: NO_TABLES)


def default_tolerance(measure: str) -> float:
    """How much worse a figure may be where a gate does not say."""
    return TOLERANCES.get(measure, DEFAULT_TOLERANCE)


@dataclass(frozen=True, slots=True)
class Loss:
    """How much worse a figure is than in the baseline run, and the p-value of more than the tolerance.

    `how` says what was compared: "paired" answers, "intervals", or "figures" alone (p is then 0 or 1).
    """

    value: float
    p: float
    how: str


def worse_than_baseline(losses: Sequence[Loss]) -> list[bool]:
    """Which figures are shown to be worse by more than the tolerance, p-values adjusted over all."""
    adjusted = holm([loss.p for loss in losses])
    return [bool(p < ALPHA) for p in adjusted]


def loss_of(
    finding: Finding,
    baseline: Finding,
    measure: Measure,
    tolerance: float,
    answers: StoredAnswers,
) -> Loss:
    """The loss of one figure against the same figure of the baseline run."""
    paired = _paired_loss(
        finding,
        baseline,
        measure,
        tolerance,
        answers,
    )
    if paired is not None:
        return paired

    loss = measure.loss(baseline.value, finding.value)
    error = _unpaired_error(finding, baseline)
    if math.isnan(error):
        is_worse = loss > tolerance + _ROUNDING or math.isnan(loss)
        return Loss(loss, 0.0 if is_worse else 1.0, "figures")
    return Loss(loss, normal_tail((loss - tolerance) / error), "intervals")


def _unpaired_error(finding: Finding, baseline: Finding) -> float:
    """The standard error of a difference, from the intervals of two figures; NaN without them."""
    variance = 0.0
    for figure in (finding, baseline):
        interval = known_interval(figure)
        if not interval or interval[1] <= interval[0]:
            return math.nan
        variance += ((interval[1] - interval[0]) / (2 * Z95)) ** 2
    return math.sqrt(variance)


def _paired_loss(
    finding: Finding,
    baseline: Finding,
    measure: Measure,
    tolerance: float,
    answers: StoredAnswers,
) -> Loss | None:
    """The loss on the texts that both runs have answers to; None where these are not stored."""
    if measure.better not in ("higher", "lower"):
        return None

    name = finding.measure
    keys = finding.where.keys()
    # Figures of a part of the texts or cases cannot be paired: what is stored does not tell the parts apart.
    is_of_predictions = keys <= _OF_PREDICTIONS
    is_of_whole_check = "check" in keys and not keys & _PARTS_OF_CASES
    if name in (*LABEL_FIGURES, SQUARED_ERROR) and is_of_predictions:
        pairs = _paired_predictions(finding, baseline, answers)
    elif name == PASS_RATE and is_of_whole_check:
        pairs = _paired_cases(finding, baseline, answers)
    else:
        return None
    if pairs is None or pairs.is_empty():
        return None

    before = _estimate(name, pairs, "before")
    now = _estimate(name, pairs, "now")
    change = paired_change(
        before,
        now,
        stored_clusters(pairs),
        tolerance=tolerance,
        larger_is_better=measure.better == "higher",
    )
    # Without a test on pairs the intervals of both runs may still tell.
    if math.isnan(change.p_worse):
        return None
    return Loss(change.loss, change.p_worse, "paired")


def _estimate(name: str, pairs: pl.DataFrame, run: str) -> Estimate:
    """A figure of one of the two runs, `run` "before" or "now", on the paired rows."""
    if name == PASS_RATE:
        return share_estimate(pairs[f"passed_{run}"].to_numpy())

    targets = pairs["target"].to_numpy()
    scores = pairs[f"score_{run}"].to_numpy()
    if name == SQUARED_ERROR:
        return mean_estimate((scores - targets) ** 2)
    decided = pairs[f"decided_{run}"].to_numpy() == 1
    return label_estimate(name, gold(targets), scores, decided)


def _paired_predictions(finding: Finding, baseline: Finding, answers: StoredAnswers) -> pl.DataFrame | None:
    """The texts of one label that both runs answered: target, scores, decisions and unit."""
    now = _predictions_of(answers.now, finding)
    before = _predictions_of(answers.before, baseline)
    if now is None or before is None:
        return None
    pairs = now.join(
        before.select("id", "score", "decided"),
        on="id",
        suffix="_before",
    ).rename({"score": "score_now", "decided": "decided_now"})
    # Undecided targets of 0.5 are in no figure of a label.
    targets = pairs["target"].to_numpy()
    return pairs.filter(pl.Series(~np.isnan(firm(targets))))


def _predictions_of(tables: Tables, finding: Finding) -> pl.DataFrame | None:
    """The answered rows behind a figure; None in folders of versions that stored no decisions or authors."""
    table = tables.get("predictions")
    if table is None or not {"decided", "unit"} <= set(table.columns):
        return None
    rows = _rows_of(table, finding, ("model", "corpus", "label"))
    answered = rows.drop_nulls(["target", "score", "decided"])
    return answered.select("id", "target", "score", "decided", "unit", copy=_copy_column(rows))


def _copy_column(rows: pl.DataFrame) -> pl.Expr:
    """The column that says which texts are copies; older folders did not store it."""
    if "copy" in rows.columns:
        return pl.col("copy")
    return pl.lit(None, pl.Int64)


def _paired_cases(finding: Finding, baseline: Finding, answers: StoredAnswers) -> pl.DataFrame | None:
    """The cases of one check that both runs tested: whether they passed, and the unit of their text."""
    now = _cases_of(answers.now, finding)
    before = _cases_of(answers.before, baseline)
    if now is None or before is None:
        return None
    pairs = now.join(before, on="id", suffix="_before").rename({"passed": "passed_now"})
    return pairs.join(_units_of(answers.now, finding), on="id", how="left").with_columns(
        # A corpus without predictions has no units on record: each text is then one of its own.
        unit=pl.coalesce("unit", pl.lit("id ") + pl.col("id"))
    )


def _cases_of(tables: Tables, finding: Finding) -> pl.DataFrame | None:
    """The tested cases of one check, and whether they passed."""
    table = tables.get("cases")
    needed = {*_OF_CASES, "outcome"}
    if table is None or not needed <= set(table.columns):
        return None
    rows = _rows_of(table, finding, _OF_CASES)
    outcome = pl.col("outcome").cast(pl.String)
    tested = rows.filter(outcome.is_in(["passed", "failed"]))
    return tested.select("id", passed=outcome == "passed")


def _units_of(tables: Tables, finding: Finding) -> pl.DataFrame:
    """The unit of each text of the corpus of a finding, as far as it is on record."""
    table = tables.get("predictions")
    if table is None or "unit" not in table.columns:
        return pl.DataFrame(schema={"id": pl.String, "unit": pl.String, "copy": pl.Int64})
    rows = _rows_of(table, finding, ("corpus",))
    unit = pl.lit("unit ") + pl.col("unit").cast(pl.String)
    units = rows.select("id", unit=unit, copy=_copy_column(rows))
    # One row per label in the table: the unit of a text is the same in all of them.
    return units.unique("id")


def _rows_of(table: pl.DataFrame, finding: Finding, keys: Sequence[str]) -> pl.DataFrame:
    """The rows of a table with the place of a finding."""
    # Categories of two tables need not agree: compared as text.
    for key in keys:
        value = finding.where.get(key, "")
        table = table.filter(pl.col(key).cast(pl.String) == value)
    return table
