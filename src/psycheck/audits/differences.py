"""Several models on the same texts: how far they agree, who is better, and who is right where they part."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from scipy import special

from psycheck.audits.figures import measured, measured_rate
from psycheck.audits.label_performance import MOST_EXAMPLES, f1_bounds
from psycheck.audits.summary import holm_family
from psycheck.core.finding import Finding
from psycheck.statistics import classification as figures
from psycheck.statistics.classification import BoolArray, FloatArray
from psycheck.statistics.cluster_tests import paired_p
from psycheck.statistics.clustered import Clusters, change_interval, ratio_interval
from psycheck.statistics.group_rates import Rate, paired_difference
from psycheck.statistics.intervals import UNKNOWN
from psycheck.statistics.label_intervals import classification_intervals, figure_influences, rarer_class
from psycheck.statistics.model_agreement import cohen_kappa, kappa_interval
from psycheck.statistics.significance import mcnemar

DIFF = "diff"
GOLDS = {"all": (1.0, 0.0), "1": (1.0,), "0": (0.0,)}
_PERFORMANCE = {
    "accuracy": figures.accuracy,
    "precision": figures.precision,
    "recall": figures.recall,
    "f1": figures.f1,
}


@dataclass(frozen=True, slots=True)
class Answered:
    """What several models answered about one label of one corpus.

    `gold` is (n,) of 0, 1 or NaN (not annotated, or undecided); `scores` and `decided` are (n, models), NaN
    where a model gave no usable answer.
    """

    corpus: str
    label: str
    models: tuple[str, ...]
    ids: tuple[str, ...]
    gold: FloatArray
    scores: FloatArray
    decided: FloatArray
    clusters: Clusters

    @property
    def right(self) -> FloatArray:
        """Whether each model decides as annotated, (n, models); NaN where one of both is not known."""
        gold = self.gold[:, None]
        is_unknown = np.isnan(gold) | np.isnan(self.decided)
        return np.where(is_unknown, np.nan, self.decided == gold)

    def graded(self, *models: int) -> bool:
        """Whether the scores of these models are more than yes or no; without that there is no ranking."""
        for model in models:
            scores = self.scores[:, model]
            is_yes_or_no = (scores == 0) | (scores == 1)
            is_between = ~np.isnan(scores) & ~is_yes_or_no
            if not is_between.any():
                return False
        return True

    def where(self, model: int, versus: int | None = None) -> dict[str, str]:
        """The `where` of a finding about a model, or about a pair of models."""
        where = {
            "audit": DIFF,
            "corpus": self.corpus,
            "label": self.label,
            "model": self.models[model],
        }
        if versus is not None:
            where["versus"] = self.models[versus]
        return where

    def examples(self, rows: BoolArray) -> tuple[str, ...]:
        """The ids of the first of these texts."""
        first_rows = np.flatnonzero(rows)[:MOST_EXAMPLES]
        return tuple(self.ids[row] for row in first_rows)

    @property
    def pairs(self) -> Iterator[tuple[int, int]]:
        """Every two models."""
        return combinations(range(len(self.models)), 2)


def difference_findings(answered: Sequence[Answered]) -> list[Finding]:
    """Figures of every model, and of every pair; p-values are adjusted over all pairs, labels and corpora."""
    findings: list[Finding] = []
    for answers in answered:
        # Each model first, so that a difference can be read beside what it is made of.
        for model in range(len(answers.models)):
            findings += _figures(answers, model)
        findings += _agreement(answers)
        for first, second in answers.pairs:
            findings += _differences(answers, first, second)
            findings += _where_apart(answers, first, second)
    tests = [finding for finding in findings if finding.measure == "difference_p"]
    return [*findings, *holm_family(tests)]


def _figures(answers: Answered, model: int) -> Iterator[Finding]:
    """The figures of a model, AUC of graded scores alone, F1 at worst and at best, and what is missing."""
    scores = answers.scores[:, model]
    decided = answers.decided[:, model]
    where = answers.where(model)
    annotated = ~np.isnan(answers.gold)
    unanswered = annotated & np.isnan(decided)
    confusion = figures.confusion(answers.gold, decided)
    counts = {
        **asdict(confusion),
        "annotated": int(annotated.sum()),
        "unanswered": int(unanswered.sum()),
        "units": answers.clusters.at(figures.usable(answers.gold, decided)).count,
    }

    values = {name: measure(confusion) for name, measure in _PERFORMANCE.items()}
    if answers.graded(model):
        values["auc"] = figures.auc(answers.gold, scores)
    intervals = classification_intervals(
        answers.gold,
        scores,
        answers.clusters,
        decided=decided,
    )

    # A share is of its own texts: precision of those decided 1, recall of those annotated 1.
    out_of = {"precision": confusion.tp + confusion.fp, "recall": confusion.positive}
    for name, figure in values.items():
        yield measured(
            name,
            figure.value,
            out_of.get(name, confusion.n),
            interval=intervals.get(name, UNKNOWN),
            where=where,
            counts=counts,
            flags=figure.flags,
        )

    # Figures leave these texts out: a model that is silent on hard ones would look better.
    missing = Rate(counts["unanswered"], counts["annotated"])
    interval = ratio_interval(unanswered, annotated, answers.clusters)
    yield measured_rate("unanswered", missing, where, counts, interval=interval)
    if missing.count:
        yield from f1_bounds(answers.gold, decided, answers.clusters, where, counts)


def _agreement(answers: Answered) -> Iterator[Finding]:
    """The agreement of every pair of models, annotated or not, and that of all models."""
    for first, second in answers.pairs:
        yield from _pair_agreement(answers, first, second)

    # Of two models, the pair is all.
    if len(answers.models) > 2:
        is_missing = np.isnan(answers.decided)
        is_as_first = answers.decided == answers.decided[:, :1]
        all_answered = ~is_missing.any(axis=1)
        all_same = all_answered & is_as_first.all(axis=1)
        yield measured_rate(
            "agreement_all",
            Rate(int(all_same.sum()), int(all_answered.sum())),
            {**answers.where(0), "model": "all"},
            {"models": len(answers.models)},
            interval=ratio_interval(all_same, all_answered, answers.clusters),
        )


def _pair_agreement(answers: Answered, first: int, second: int) -> Iterator[Finding]:
    """The share of texts with the same decision and Cohen's kappa."""
    first_decided = answers.decided[:, first]
    second_decided = answers.decided[:, second]
    is_missing = np.isnan(first_decided) | np.isnan(second_decided)
    answered = ~is_missing
    same = answered & (first_decided == second_decided)
    n = int(answered.sum())
    units = answers.clusters.at(answered)
    where = answers.where(first, second)
    counts = {"same": int(same.sum()), "units": units.count}

    # The examples are the texts on which the two part: these are worth reading.
    yield measured_rate(
        "agreement",
        Rate(counts["same"], n),
        where,
        counts,
        answers.examples(answered & ~same),
        ratio_interval(same, answered, answers.clusters),
    )

    decisions = (first_decided[answered], second_decided[answered])
    kappa, _ = cohen_kappa(*decisions)
    # Where both models always say the same one thing, chance agrees as well as they do.
    is_undefined = n > 0 and np.isnan(kappa)
    yield measured(
        "kappa",
        kappa,
        n,
        interval=kappa_interval(*decisions, units),
        where=where,
        counts=counts,
        flags=("one_prediction",) if is_undefined else (),
    )


def _differences(answers: Answered, first: int, second: int) -> Iterator[Finding]:
    """Accuracy, F1 and AUC of the first model minus those of the second, on what both answered.

    The test of accuracy is McNemar's, of clusters the turning of signs; that of F1 and AUC turns the signs of
    each cluster's share in the difference. AUC needs graded scores of both.
    """
    where = answers.where(first, second)
    right = answers.right[:, [first, second]]
    judged = _judged(right)
    units = answers.clusters.at(judged)
    n = int(judged.sum())
    first_right, second_right = right[judged].T == 1
    table = mcnemar(first_right, second_right)
    counts = {
        "both_right": table.both,
        "only_this_right": table.only_first,
        "only_other_right": table.only_second,
        "neither_right": table.neither,
        "units": units.count,
    }

    accuracy = paired_difference(first_right, second_right, units)
    is_apart = right[:, 0] != right[:, 1]
    yield measured(
        "accuracy_difference",
        accuracy.value,
        n,
        interval=accuracy.interval,
        where=where,
        counts=counts,
        examples=answers.examples(judged & is_apart),
    )
    # Tests of all figures are one measure: which figure is tested stands in `where`.
    where_p = {**where, "figure": "accuracy"}
    yield measured(
        "difference_p",
        accuracy.p,
        n,
        interval=None,
        where=where_p,
        counts=counts,
    )

    # Both figures on the same texts, those that both models answered.
    gold = answers.gold[judged]
    decided = answers.decided[judged][:, [first, second]]
    yield from _figure_difference("f1", gold, decided, units, where, counts)
    if answers.graded(first, second):
        scores = answers.scores[judged][:, [first, second]]
        yield from _figure_difference("auc", gold, scores, units, where, counts)


def _judged(right: FloatArray) -> BoolArray:
    """The texts of which it is known whether each model is right, (n,); `right` is (n, models)."""
    is_unknown = np.isnan(right)
    judged: BoolArray = np.logical_not(is_unknown.any(axis=1))
    return judged


def _figure_difference(
    name: Literal["f1", "auc"],
    gold: FloatArray,
    values: FloatArray,
    units: Clusters,
    where: Mapping[str, str],
    counts: Mapping[str, int],
) -> Iterator[Finding]:
    """The difference of a figure of two models and its test; `values`, (n, 2), are what it is made of."""
    n = len(gold)
    # Decisions are 0 or 1, and 0.5 parts them; the AUC of scores knows no threshold.
    first_figures = figure_influences(gold, values[:, 0], 0.5)
    second_figures = figure_influences(gold, values[:, 1], 0.5)
    first_value, first_influence = first_figures[name]
    second_value, second_influence = second_figures[name]
    change = first_value - second_value
    influence = first_influence - second_influence

    interval = None
    p = np.nan
    flags: tuple[str, ...] = ()
    if np.isnan(change):
        flags = ("one_class",) if n else ("no_texts",)
    else:
        interval = change_interval(second_value, first_value, influence, units)
        # What each text contributes to the change, so that the sum is the change.
        by_signs = paired_p(change / n + influence, units)
        # The more careful of two tests, since the first alarms too often where a class is rare.
        p = max(by_signs, _rarer_class_p(change, influence, gold, units))

    yield measured(
        f"{name}_difference", change, n, interval=interval, where=where, counts=counts, flags=flags
    )
    where_p = {**where, "figure": name}
    yield measured(
        "difference_p",
        p,
        n,
        interval=None,
        where=where_p,
        counts=counts,
        flags=flags,
    )


def _rarer_class_p(
    change: float,
    influence: FloatArray,
    gold: FloatArray,
    units: Clusters,
) -> float:
    """Student's p-value of a change of F1 or AUC, with as many degrees of freedom as the rarer class has.

    Both rest on the texts of that class: turned signs alone alarm too often where there are 30 of them.
    """
    rarer = units.at(rarer_class(figures.gold(gold)))
    moves = units.sums(influence)
    squares = float(np.sum(moves**2))
    variance = squares * units.count / max(units.count - 1, 1)
    if not variance > 0:
        return 1.0

    t = abs(change) / math.sqrt(variance)
    freedom = max(rarer.count - 1, 1)
    return 2 * float(special.stdtr(freedom, -t))


def _where_apart(answers: Answered, first: int, second: int) -> Iterator[Finding]:
    """Of the texts on which two models part, the share where the first is right, by annotation (ANGST 7)."""
    right = answers.right[:, [first, second]]
    judged = _judged(right)
    is_first_right = right[:, 0] == 1
    is_apart = right[:, 0] != right[:, 1]
    neither_right = (right == 0).all(axis=1)
    for gold, values in GOLDS.items():
        # By annotation: one model may miss more, the other raise more false alarms.
        chosen = judged & np.isin(answers.gold, values)
        apart = chosen & is_apart
        first_right = apart & is_first_right
        counts = {
            "texts": int(chosen.sum()),
            "only_this_right": int(first_right.sum()),
            "only_other_right": int((apart & ~first_right).sum()),
            "neither_right": int((chosen & neither_right).sum()),
        }
        yield measured_rate(
            "right_where_apart",
            Rate(counts["only_this_right"], int(apart.sum())),
            {**answers.where(first, second), "gold": gold},
            counts,
            answers.examples(apart),
            ratio_interval(first_right, apart, answers.clusters),
        )


def outcome_names(answers: Answered, first: int, second: int) -> Iterable[tuple[str, BoolArray]]:
    """Who of two models is right, and on which texts; "TF" is only the first (ANGST, Table 16)."""
    right = answers.right[:, [first, second]]
    for name in ("TT", "TF", "FT", "FF"):
        expected = [letter == "T" for letter in name]
        is_as_expected = right == expected
        yield name, is_as_expected.all(axis=1)
