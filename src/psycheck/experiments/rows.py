"""Scores and pass rates of several models on the same texts: figures, and comparisons with each other.

A decision is a threshold: "0.5", or "dev", the one with the highest macro-F1 on dev. The AUC ("ranking")
needs no threshold, so effects of the decision and of the ranking are kept apart.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations

import numpy as np
from scipy import stats

from psycheck.audits.measured import measured
from psycheck.audits.summary import holm_families
from psycheck.corpus import Corpus
from psycheck.finding import Finding
from psycheck.measures import classification as measures
from psycheck.measures.classification import BoolArray, FloatArray, IntArray, gold, usable
from psycheck.measures.clustered import Clusters, change_interval, paired_p
from psycheck.measures.fairness import paired_difference
from psycheck.measures.significance import mcnemar
from psycheck.model import Model
from psycheck.report.shelf import by, grouped
from psycheck.report.studies.deck import DEV, HALF
from psycheck.report.studies.improve import TRAINED_ON

Passed = dict[tuple[str, str, str, str], dict[str, bool]]  # (arm, seed, suite, check) → id → passed
RATE, PLAIN, RANKING = "sentence_check_pass_rate", "plain", "ranking"
DECISIONS = (HALF, DEV)
CHANGES = (("f1", HALF), ("macro_f1", HALF), ("f1", DEV), ("macro_f1", DEV), ("auc", RANKING))
FAMILY = ("decision", "versus", "against")  # p-values equal in these are adjusted together
MEASURES = {"f1": measures.f1, "macro_f1": measures.macro_f1, "accuracy": measures.accuracy}


@dataclass(frozen=True, slots=True)
class Scored:
    """One model on one test: targets and scores (n,), NaN where unknown; `threshold` was chosen on dev.

    `units` says which texts belong together, (n,): those of one author, or copies (`Corpus.units`). `arm`
    names how it was trained ("plain", "augmented" …), `model` what was trained.
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
    units: IntArray

    @property
    def annotated(self) -> Clusters:
        """The clusters of the annotated texts."""
        return Clusters.of(self.units[~np.isnan(self.targets)])

    def at(self, decision: str) -> float:
        """The threshold of a decision."""
        return self.threshold if decision == DEV else 0.5

    def right(self, decision: str) -> BoolArray:
        """Which annotated texts are classified correctly, (m,); a missing answer is not correct."""
        known = ~np.isnan(self.targets)
        with np.errstate(invalid="ignore"):
            decided = self.scores[known] >= self.at(decision)
        out: BoolArray = (decided == gold(self.targets[known])) & ~np.isnan(self.scores[known])
        return out

    @property
    def own(self) -> bool:
        """True if the test belongs to the corpus that the model was trained on."""
        return self.trained_on == self.corpus

    @property
    def flag(self) -> str:
        """The flag of findings about it."""
        return "in_distribution" if self.own else "out_of_distribution"

    def where(self, decision: str) -> dict[str, str]:
        """The `where` of a finding about it."""
        names = ("audit", "model", "arm", "trained_on", "corpus", "label", "seed")
        return {name: str(getattr(self, name)) for name in names} | {"decision": decision}


@dataclass(frozen=True, slots=True)
class ArmResult:
    """One trained arm: its scores on every test and whatever else was measured.

    `passed` says for each suite and check which texts passed; `augmented` counts what augmenting did to its
    texts. On a plain arm, `checks` are the ids that the other arms of its seed learn from.
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


def findings_of(arms: Sequence[ArmResult], probe: Corpus) -> list[Finding]:
    """Figures of every arm, what changed against plain, and whether it could be chance.

    Checks were tried on the texts of `probe`.
    """
    rows = [row for arm in arms for row in arm.rows]
    out = [f for row in rows for f in figures(row)]
    plain = {(row.corpus, row.seed): row for row in rows if row.arm == PLAIN}
    for decision in DECISIONS:
        for row in rows:
            out += against_chance(row, decision)
            if row.arm != PLAIN:
                out.append(against(row, plain[row.corpus, row.seed], decision))
    for measure in ("mcnemar_p", "chance_p"):
        out += holm_families(out, measure, FAMILY)
    for name in dict.fromkeys(row.arm for row in rows if row.arm != PLAIN):
        for test in dict.fromkeys(row.corpus for row in rows):
            mine = [row for row in rows if row.arm == name and row.corpus == test]
            out += differences([(plain[row.corpus, row.seed], row) for row in mine])
    rates = [f for arm in arms for f in arm.findings]
    passed = {(arm.arm, str(arm.seed), *key): texts for arm in arms for key, texts in arm.passed.items()}
    units = dict(zip(probe.ids, probe.units().tolist(), strict=True))
    return [*out, *rates, *rate_changes(rates, passed, units)]


def between_models(arms: Sequence[ArmResult]) -> list[Finding]:
    """McNemar's p between plain models of different kinds on the same test, adjusted by Holm."""
    rows = [row for arm in arms for row in arm.rows if arm.arm == PLAIN]
    groups = grouped(rows, lambda row: (row.trained_on, row.corpus, row.seed))
    out = [
        against(one, other, decision)
        for group in groups.values()
        for one, other in combinations(group, 2)
        for decision in DECISIONS
    ]
    return [*out, *holm_families(out, "mcnemar_p", FAMILY)]


def checks_by_seed(arms: Sequence[ArmResult]) -> dict[str, list[str]]:
    """The ids of the checks learned from, by seed."""
    return {str(arm.seed): list(arm.checks) for arm in arms if arm.checks is not None}


def figures(one: Scored) -> list[Finding]:
    """F1, macro-F1 and accuracy at both decisions, AUC, and the threshold itself, each with its interval."""
    n = int(usable(one.targets, one.scores).sum())
    clusters = Clusters.of(one.units)
    out = []
    for decision in DECISIONS:
        table = measures.confusion(one.targets, one.scores, one.at(decision))
        intervals = measures.classification_intervals(one.targets, one.scores, clusters, one.at(decision))
        where, counts = one.where(decision), {**asdict(table), "units": clusters.count}
        for name, measure in MEASURES.items():
            found = measure(table)
            flags = (one.flag, *found.flags)
            out.append(measured(name, found.value, n, intervals.get(name), where, counts, (), flags))
    found = measures.auc(one.targets, one.scores)
    flags, where = (one.flag, *found.flags), one.where(RANKING)
    out.append(measured("auc", found.value, n, intervals.get("auc"), where, {}, (), flags))
    out.append(Finding("threshold", one.threshold, n, None, one.where(DEV), flags=(one.flag,)))
    return out


def against_chance(one: Scored, decision: str) -> list[Finding]:
    """Compare its correct answers with a coin (exact binomial) and with always choosing the larger class.

    Always choosing the larger class decides the same texts, so that comparison is McNemar's. Where texts
    belong together, both turn the signs of whole clusters (`paired_p`).
    """
    right, clusters = one.right(decision), one.annotated
    n = len(right)
    yes = gold(one.targets[~np.isnan(one.targets)])
    constant: BoolArray = yes if 2 * int(yes.sum()) >= n else ~yes
    if clusters.whole:
        coin = float(stats.binomtest(int(right.sum()), n, 0.5).pvalue) if n else np.nan
    else:
        coin = paired_p(right - 0.5, clusters)
    paired = paired_difference(right, constant, clusters)
    counts = {"right": int(right.sum()), "majority_right": int(constant.sum())}
    where = one.where(decision)
    return [
        Finding("chance_p", coin, n, None, {**where, "against": "coin"}, counts),
        Finding("chance_p", paired.p, n, None, {**where, "against": "larger class"}, counts),
    ]


def against(one: Scored, other: Scored, decision: str) -> Finding:
    """McNemar's p of two models on the same texts, or that of `paired_p`; `versus` names the other."""
    right = one.right(decision), other.right(decision)
    found, p = mcnemar(*right), paired_difference(*right, one.annotated).p
    counts = {
        "both_right": found.both,
        "only_this_right": found.only_first,
        "only_other_right": found.only_second,
        "neither_right": found.neither,
    }
    where = {**one.where(decision), "versus": other.arm if other.arm != one.arm else other.model}
    return Finding("mcnemar_p", p, sum(counts.values()), None, where, counts)


def differences(pairs: Sequence[tuple[Scored, Scored]]) -> list[Finding]:
    """How far the second of each pair is above the first, averaged over pairs (seeds) on one test.

    The interval adds up the influence of each cluster of texts on that mean: it covers other texts, not other
    seeds. `seeds` counts the pairs, of which `up` went up.
    """
    first, second = pairs[0]
    clusters, n = Clusters.of(first.units), int(usable(first.targets, first.scores).sum())
    out = []
    for name, decision in CHANGES:
        both = [
            [measures.figure_influences(one.targets, one.scores, one.at(decision))[name] for one in pair]
            for pair in pairs
        ]
        before, now = (np.array([pair[k][0] for pair in both]) for k in (0, 1))
        influence: FloatArray = np.mean([new[1] - old[1] for old, new in both], axis=0)
        where = {**second.where(decision), "versus": first.arm}
        if len(pairs) > 1:
            where["seed"] = "mean"
        counts = {"seeds": len(pairs), "up": int((now > before).sum()), "units": clusters.count}
        change = float((now - before).mean())
        interval = change_interval(float(before.mean()), float(now.mean()), influence, clusters)
        out.append(measured(f"{name}_change", change, n, interval, where, counts, (), (second.flag,)))
    return out


def rate_changes(rates: Sequence[Finding], passed: Passed, units: Mapping[str, int]) -> list[Finding]:
    """How far the pass rate of each check, and of each symptom and polarity, moved; seeds are pooled.

    A case is one text with one check and seed, as both arms judged it: `counts` has passed and n before and
    after, and the `texts` that the cases are of. A check that training used is marked, and left out of the
    figures of its symptom, which only cover sentences that the model has not seen.
    """
    tried = [f for f in rates if f.measure == RATE]
    out: list[Finding] = []
    for suite in dict.fromkeys(f.where["suite"] for f in tried):
        mine = [f for f in tried if f.where["suite"] == suite]
        checks = grouped(mine, by("check"))
        symptoms = grouped((f for f in mine if f.where.get("symptom")), by("symptom", "polarity"))
        for arm in dict.fromkeys(f.where["arm"] for f in mine if f.where["arm"] != PLAIN):
            for group in checks.values():
                out += _change(group, passed, units, arm, "check")
            learned = {f.where["check"] for f in mine if TRAINED_ON in f.flags and f.where["arm"] == arm}
            for group in symptoms.values():
                unseen = [f for f in group if f.where["check"] not in learned]
                out += _change(unseen, passed, units, arm, "symptom")
    return out


def _change(
    rates: Sequence[Finding], passed: Passed, units: Mapping[str, int], arm: str, level: str
) -> list[Finding]:
    """The change over the cases that both arms judged; `units` says which texts belong together.

    All checks and seeds use the same texts, so pooling them gives no more texts: cases are clustered.
    """
    after = [f for f in rates if f.where["arm"] == arm]
    cases: list[tuple[str, bool, bool]] = []
    for f in after:
        place = (f.where["seed"], f.where["suite"], f.where["check"])
        was, now = (passed.get((side, *place), {}) for side in (PLAIN, arm))
        cases += [(text, was[text], now[text]) for text in was if text in now]
    n = len(cases)
    if not n:
        return []
    keys = ("audit", "corpus", "suite", "label", "symptom", "category", "polarity")
    where = {key: rates[0].where[key] for key in keys if key in rates[0].where} | {"arm": arm, "by": level}
    if level == "check":
        where |= {"check": rates[0].where["check"], "title": rates[0].where.get("title", "")}
    old, new = [old for _, old, _ in cases], [new for *_, new in cases]
    counts = {"passed_before": sum(old), "n_before": n, "passed_after": sum(new), "n_after": n}
    clusters = Clusters.of([units[text] for text, *_ in cases])
    counts |= {"texts": len({text for text, *_ in cases}), "units": clusters.count}
    flags = (TRAINED_ON,) if any(TRAINED_ON in f.flags for f in after) else ()
    found = paired_difference(new, old, clusters)
    return [measured("pass_rate_change", found.value, n, found.interval, where, counts, (), flags)]
