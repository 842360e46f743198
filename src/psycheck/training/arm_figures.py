"""Figures of several trained models (arms) on the same texts, and comparisons of them with each other.

A decision is a threshold: "0.5", or "dev", the one with the highest macro-F1 on dev. The AUC ("ranking")
needs no threshold, so effects of the decision and of the ranking are kept apart.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy import stats

from psycheck.audits.figures import measured
from psycheck.audits.summary import holm_families
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding, Interval
from psycheck.core.model import Model
from psycheck.report.sections import grouped
from psycheck.report.studies.deck_tables import DEV, HALF
from psycheck.statistics import classification as measures
from psycheck.statistics.classification import BoolArray, FloatArray, gold, usable
from psycheck.statistics.cluster_tests import paired_p
from psycheck.statistics.clustered import Clusters, change_interval
from psycheck.statistics.group_rates import paired_difference
from psycheck.statistics.label_intervals import classification_intervals, figure_influences
from psycheck.statistics.significance import mcnemar
from psycheck.training.check_changes import PLAIN, Passed, Texts, rate_changes

RANKING = "ranking"
DECISIONS = (HALF, DEV)
# The measures whose change against plain is reported, each with its decision.
CHANGES = (
    ("f1", HALF),
    ("macro_f1", HALF),
    ("f1", DEV),
    ("macro_f1", DEV),
    ("auc", RANKING),
)
MEASURES = {
    "f1": measures.f1,
    "macro_f1": measures.macro_f1,
    "accuracy": measures.accuracy,
}
CHANGE_MEASURES = tuple(dict.fromkeys(f"{measure}_change" for measure, _ in CHANGES))
PLAIN_AT_HALF = "plain at 0.5"
# The p-values that are equal in these keys answer one question, and are adjusted together.
FAMILY = ("decision", "versus", "against")


@dataclass(frozen=True, slots=True)
class Scored:
    """One model on one test: targets and scores (n,), NaN where unknown; `threshold` was chosen on dev.

    `clusters` says which texts belong together: those of one author, and copies. `arm` names how it was
    trained ("plain", "augmented" …), `model` what was trained.
    """

    audit: str
    arm: str
    model: str
    trained_on: str
    corpus: str
    label: str
    seed: int
    threshold: float
    targets: FloatArray
    scores: FloatArray
    clusters: Clusters

    @property
    def annotated(self) -> Clusters:
        """The clusters of the annotated texts."""
        return self.clusters.at(~np.isnan(self.targets))

    def at(self, decision: str) -> float:
        """The threshold of a decision."""
        return self.threshold if decision == DEV else 0.5

    def right(self, decision: str) -> BoolArray:
        """Which annotated texts are classified correctly, (m,); a missing answer is not correct."""
        annotated = ~np.isnan(self.targets)
        scores = self.scores[annotated]
        positive = gold(self.targets[annotated])
        # NaN compares as false, which would make a missing answer a correct "no".
        with np.errstate(invalid="ignore"):
            decided = scores >= self.at(decision)
        answered = ~np.isnan(scores)

        correct: BoolArray = (decided == positive) & answered
        return correct

    @property
    def own(self) -> bool:
        """True if the test belongs to the corpus that the model was trained on."""
        return self.trained_on == self.corpus

    @property
    def flag(self) -> str:
        """The flag of findings about it."""
        if self.own:
            return "in_distribution"
        return "out_of_distribution"

    def where(self, decision: str) -> dict[str, str]:
        """The `where` of a finding about it."""
        return {
            "audit": self.audit,
            "model": self.model,
            "arm": self.arm,
            "trained_on": self.trained_on,
            "corpus": self.corpus,
            "label": self.label,
            "seed": str(self.seed),
            "decision": decision,
        }


@dataclass(frozen=True, slots=True)
class ArmResult:
    """One trained arm: its scores on every test and whatever else was measured.

    `passed` says for each suite and check which texts passed; `augmented` counts what augmenting did to its
    texts. On a plain arm, `checks` are the ids that the other arms of its seed learn from. `folder` holds its
    model, `dev` the figures of its training on dev.
    """

    arm: str
    seed: int
    model: Model
    rows: tuple[Scored, ...]
    findings: tuple[Finding, ...]
    passed: Mapping[tuple[str, str], dict[str, bool]]
    augmented: Mapping[str, int]
    checks: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    folder: Path | None = None
    dev: Mapping[str, float] = field(default_factory=dict)


def compare_arms(arms: Sequence[ArmResult], probe: Corpus) -> list[Finding]:
    """Figures of every arm, what changed against plain, and whether it could be chance.

    Checks were tried on the texts of `probe`.
    """
    rows = [row for arm in arms for row in arm.rows]
    plain_rows = {(row.corpus, row.seed): row for row in rows if row.arm == PLAIN}

    findings: list[Finding] = []
    for row in rows:
        findings += figures(row)
    findings += _p_values(rows, plain_rows)
    findings += _changes_against_plain(rows, plain_rows)
    rates = [finding for arm in arms for finding in arm.findings]
    findings += rates

    passed: Passed = {}
    for arm in arms:
        for (suite, check), passed_texts in arm.passed.items():
            passed[arm.arm, str(arm.seed), suite, check] = passed_texts
    findings += rate_changes(rates, passed, Texts.of(probe))
    return findings


def improvement_findings(arms: Sequence[ArmResult], probe: Corpus) -> list[Finding]:
    """`compare_arms` for a verdict: with the threshold as the first arm, and intervals that hold together."""
    findings = [*compare_arms(arms, probe), *threshold_changes(arms)]
    return holding_together(findings)


def threshold_changes(arms: Sequence[ArmResult]) -> list[Finding]:
    """What the threshold chosen on dev changes for the unchanged model: the bar for every other arm."""
    plain_rows: list[Scored] = []
    for arm in arms:
        if arm.arm == PLAIN:
            plain_rows += arm.rows

    findings: list[Finding] = []
    for rows_of_test in grouped(plain_rows, lambda row: row.corpus).values():
        at_half = [replace(row, threshold=0.5) for row in rows_of_test]
        # The same scores twice, as if they were two arms.
        for change in differences(list(zip(at_half, rows_of_test, strict=True))):
            # At 0.5 and in its ranking the model is the same.
            if change.where["decision"] == DEV:
                findings.append(replace(change, where={**change.where, "versus": PLAIN_AT_HALF}))
    return findings


def holding_together(findings: Sequence[Finding]) -> list[Finding]:
    """The findings, with intervals of changes that hold together for all arms and tests (Bonferroni).

    Each interval keeps its centre and its skewness; Student's quantile for the corrected level replaces that
    for 95 %, with as many degrees of freedom as clusters less one.
    """
    changes = [finding for finding in findings if finding.measure in CHANGE_MEASURES]
    families = grouped(changes, lambda change: (change.measure, change.where["decision"]))
    corrected: list[Finding] = []
    for finding in findings:
        family = families.get((finding.measure, finding.where.get("decision", "")), [])
        if len(family) < 2 or finding.measure not in CHANGE_MEASURES:
            corrected.append(finding)
            continue
        wider = replace(
            finding,
            interval=_widened(finding, comparisons=len(family)),
            counts={**finding.counts, "comparisons": len(family)},
        )
        corrected.append(wider)
    return corrected


def _widened(change: Finding, *, comparisons: int) -> Interval | None:
    """The interval of a change at the level that holds for so many comparisons together."""
    if change.interval is None:
        return None
    freedom = max(change.counts["units"] - 1, 1)
    # Bonferroni: the error of 5 %, 2.5 % at each end, is divided among the comparisons.
    quantile_of_all = stats.t.ppf(1 - 0.025 / comparisons, freedom)
    quantile_of_one = stats.t.ppf(0.975, freedom)
    factor = float(quantile_of_all / quantile_of_one)
    # Both arms of the interval grow alike, so that it stays as skewed as it was.
    low, high = change.interval
    return (
        change.value - factor * (change.value - low),
        change.value + factor * (high - change.value),
    )


def _p_values(rows: Sequence[Scored], plain_rows: Mapping[tuple[str, int], Scored]) -> list[Finding]:
    """Every model against chance and, unless it is plain, against the plain model of its seed."""
    findings: list[Finding] = []
    for decision in DECISIONS:
        for row in rows:
            findings += against_chance(row, decision)
            if row.arm != PLAIN:
                plain = plain_rows[row.corpus, row.seed]
                findings.append(against(row, plain, decision))

    for measure in ("mcnemar_p", "chance_p"):
        findings += holm_families(findings, measure, FAMILY)
    return findings


def _changes_against_plain(
    rows: Sequence[Scored], plain_rows: Mapping[tuple[str, int], Scored]
) -> list[Finding]:
    """How far each arm moved on each test, averaged over seeds."""
    arm_names = dict.fromkeys(row.arm for row in rows if row.arm != PLAIN)
    test_names = dict.fromkeys(row.corpus for row in rows)

    findings: list[Finding] = []
    for arm in arm_names:
        for test in test_names:
            rows_of_test = [row for row in rows if row.corpus == test]
            rows_of_arm = [row for row in rows_of_test if row.arm == arm]
            pairs = [(plain_rows[row.corpus, row.seed], row) for row in rows_of_arm]
            findings += differences(pairs)
    return findings


def compare_plain_models(arms: Sequence[ArmResult]) -> list[Finding]:
    """McNemar's p between plain models of different kinds on the same test, adjusted by Holm."""
    plain_rows: list[Scored] = []
    for arm in arms:
        if arm.arm == PLAIN:
            plain_rows += arm.rows
    same_test = grouped(plain_rows, lambda row: (row.trained_on, row.corpus, row.seed))

    findings = []
    for group in same_test.values():
        for first, second in combinations(group, 2):
            findings += [against(first, second, decision) for decision in DECISIONS]
    return [*findings, *holm_families(findings, "mcnemar_p", FAMILY)]


def checks_by_seed(arms: Sequence[ArmResult]) -> dict[str, list[str]]:
    """The ids of the checks learned from, by seed."""
    return {str(arm.seed): list(arm.checks) for arm in arms if arm.checks is not None}


def figures(row: Scored) -> list[Finding]:
    """F1, macro-F1 and accuracy at both decisions, AUC, and the threshold itself, each with its interval."""
    has_answer = usable(row.targets, row.scores)
    n = int(has_answer.sum())
    clusters = row.clusters

    findings = []
    for decision in DECISIONS:
        threshold = row.at(decision)
        table = measures.confusion(row.targets, row.scores, threshold)
        intervals = classification_intervals(row.targets, row.scores, clusters, threshold)
        counts = {**asdict(table), "units": clusters.count}
        for name, measure in MEASURES.items():
            estimate = measure(table)
            findings.append(
                measured(
                    name,
                    estimate.value,
                    n,
                    interval=intervals.get(name),
                    where=row.where(decision),
                    counts=counts,
                    flags=(row.flag, *estimate.flags),
                )
            )

    # The interval of the AUC is the same at any threshold.
    auc = measures.auc(row.targets, row.scores)
    findings.append(
        measured(
            "auc",
            auc.value,
            n,
            interval=intervals.get("auc"),
            where=row.where(RANKING),
            flags=(row.flag, *auc.flags),
        )
    )
    findings.append(
        Finding(
            "threshold",
            row.threshold,
            n,
            where=row.where(DEV),
            flags=(row.flag,),
        )
    )
    return findings


def against_chance(row: Scored, decision: str) -> list[Finding]:
    """Compare its correct answers with a coin (exact binomial) and with always choosing the larger class.

    Always choosing the larger class decides the same texts, so that comparison is McNemar's. Where texts
    belong together, both turn the signs of whole clusters (`paired_p`).
    """
    right = row.right(decision)
    n = len(right)
    clusters = row.annotated

    right_count = int(right.sum())
    if not clusters.whole:
        coin_p = paired_p(right - 0.5, clusters)
    elif n:
        coin_p = float(stats.binomtest(right_count, n, 0.5).pvalue)
    else:
        coin_p = np.nan

    annotated = ~np.isnan(row.targets)
    positive = gold(row.targets[annotated])
    positive_is_larger = 2 * int(positive.sum()) >= n
    majority_right: BoolArray = positive if positive_is_larger else ~positive
    majority_p = paired_difference(right, majority_right, clusters).p

    counts = {"right": right_count, "majority_right": int(majority_right.sum())}
    against_coin = {**row.where(decision), "against": "coin"}
    against_majority = {**row.where(decision), "against": "larger class"}
    return [
        Finding("chance_p", coin_p, n, where=against_coin, counts=counts),
        Finding("chance_p", majority_p, n, where=against_majority, counts=counts),
    ]


def against(row: Scored, baseline: Scored, decision: str) -> Finding:
    """McNemar's p of two models on the same texts, or that of `paired_p`; `versus` names the baseline."""
    right = row.right(decision)
    baseline_right = baseline.right(decision)
    table = mcnemar(right, baseline_right)
    p = paired_difference(right, baseline_right, row.annotated).p

    counts = {
        "both_right": table.both,
        "only_this_right": table.only_first,
        "only_other_right": table.only_second,
        "neither_right": table.neither,
    }
    # Two plain models differ in what was trained, two arms in how.
    versus = baseline.arm if baseline.arm != row.arm else baseline.model
    where = {**row.where(decision), "versus": versus}
    return Finding("mcnemar_p", p, sum(counts.values()), where=where, counts=counts)


def differences(pairs: Sequence[tuple[Scored, Scored]]) -> list[Finding]:
    """How far the second of each pair is above the first, averaged over pairs (seeds) on one test.

    The interval adds up the influence of each cluster of texts on that mean: it covers other texts, not other
    seeds. `seeds` counts the pairs, of which `up` went up.
    """
    first, second = pairs[0]
    clusters = first.clusters
    has_answer = usable(first.targets, first.scores)
    n = int(has_answer.sum())
    rows_before = [before for before, _ in pairs]
    rows_after = [after for _, after in pairs]

    findings = []
    for measure, decision in CHANGES:
        values_before, influences_before = _influences(rows_before, measure, decision)
        values_after, influences_after = _influences(rows_after, measure, decision)
        # The mean over seeds, (n,), of what each text adds to the change.
        influence: FloatArray = np.mean(influences_after - influences_before, axis=0)
        mean_before = float(values_before.mean())
        mean_after = float(values_after.mean())
        interval = change_interval(mean_before, mean_after, influence, clusters)

        where = {**second.where(decision), "versus": first.arm}
        if len(pairs) > 1:
            where["seed"] = "mean"
        went_up = values_after > values_before
        counts = {
            "seeds": len(pairs),
            "up": int(went_up.sum()),
            "units": clusters.count,
        }
        changes = values_after - values_before
        findings.append(
            measured(
                f"{measure}_change",
                float(changes.mean()),
                n,
                interval=interval,
                where=where,
                counts=counts,
                flags=(second.flag,),
            )
        )
    return findings


def _influences(rows: Sequence[Scored], measure: str, decision: str) -> tuple[FloatArray, FloatArray]:
    """The measure of each row, (seeds,), and the influence of each text on it, (seeds, n)."""
    values = []
    influences = []
    for row in rows:
        influences_of = figure_influences(row.targets, row.scores, row.at(decision))
        value, influence = influences_of[measure]
        values.append(value)
        influences.append(influence)
    return np.array(values), np.array(influences)
