"""How well a model agrees with the annotations of one label: every figure, with interval and mistakes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from psycheck.audits.decisions import alike_flags, decisions_against_chance, ranking_against_chance
from psycheck.audits.figures import measured
from psycheck.core.arrays import FloatArray
from psycheck.core.finding import Finding, Interval
from psycheck.statistics import calibration
from psycheck.statistics import classification as measure
from psycheck.statistics.classification import BoolArray, Confusion, Measured
from psycheck.statistics.clustered import Clusters, difference_interval, ratio_interval
from psycheck.statistics.group_rates import Rate
from psycheck.statistics.intervals import UNKNOWN
from psycheck.statistics.label_intervals import classification_intervals

MOST_EXAMPLES = 50
Mistake = tuple[float, str]  # how far the score was off, and the id of the text


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelAnswers:
    """Annotations and answers for one label, all (n,): targets, scores and decisions, NaN where unknown.

    `seed` is for the noise of the calibration error. `claims` counts the models, corpora and labels of the
    run, among which a verdict names some.
    """

    ids: list[str]
    targets: FloatArray
    scores: FloatArray
    decided: FloatArray
    clusters: Clusters
    where: Mapping[str, str]
    seed: int
    claims: int = 1

    @property
    def firm_targets(self) -> FloatArray:
        """The targets without those of exactly 0.5, which are undecided."""
        return measure.firm(self.targets)

    @property
    def yes(self) -> BoolArray:
        """The texts annotated 1."""
        return measure.gold(self.firm_targets)

    @property
    def usable(self) -> BoolArray:
        """The texts that are annotated and answered."""
        return measure.usable(self.firm_targets, self.scores)


def label_findings(answers: LabelAnswers) -> list[Finding]:
    """The findings of one label."""
    targets = answers.firm_targets
    confusion = measure.confusion(targets, answers.decided)
    counts = _counts(answers, confusion)
    findings = [
        *_figures(answers, confusion, counts),
        *decision_findings(answers, counts),
        _prevalence(answers, counts),
    ]
    # What is unanswered is in no figure above: a model could stay silent where it is unsure.
    if counts["unanswered"]:
        findings += f1_bounds(targets, answers.decided, answers.clusters, answers.where, counts)
    findings += _reliability_curve(answers)
    return findings


def ledger(targets: FloatArray, scores: FloatArray) -> dict[str, int]:
    """How many marks are annotated, how many of these unanswered, and how many are not annotated."""
    annotated = ~np.isnan(targets)
    return {
        "annotated": int(annotated.sum()),
        "unanswered": int((annotated & np.isnan(scores)).sum()),
        "not_annotated": int((~annotated).sum()),
    }


def _counts(answers: LabelAnswers, confusion: Confusion) -> dict[str, int]:
    """What every figure of the label is based on."""
    counts = {
        "texts": len(answers.targets),
        **ledger(answers.firm_targets, answers.scores),
        **asdict(confusion),
    }
    # Counted apart: people looked at these texts, so they are not without annotation.
    undecided = int((answers.targets == 0.5).sum())
    if undecided:
        counts["undecided"] = undecided
        counts["not_annotated"] -= undecided
    counts["units"] = answers.clusters.at(answers.usable).count
    return counts


def _figures(
    answers: LabelAnswers,
    confusion: Confusion,
    counts: Mapping[str, int],
) -> Iterator[Finding]:
    """Classification and calibration, with the mistakes behind the figures."""
    intervals = classification_intervals(
        answers.firm_targets,
        answers.scores,
        answers.clusters,
        decided=answers.decided,
    )
    # Recall can only suffer from what is missed, and precision from false alarms.
    missed, false_alarms = _mistakes(answers)
    all_mistakes = missed + false_alarms
    mistakes = {
        "accuracy": all_mistakes,
        "f1": all_mistakes,
        "precision": false_alarms,
        "recall": missed,
    }
    # These two are shares of a part of the texts alone.
    predicted_1 = confusion.tp + confusion.fp
    out_of = {"precision": predicted_1, "recall": confusion.positive}
    for name, value in _values(answers, confusion).items():
        yield measured(
            name,
            value.value,
            out_of.get(name, confusion.n),
            interval=intervals.get(name, UNKNOWN),
            where=answers.where,
            counts=counts,
            examples=_most_confident(mistakes.get(name, [])),
            flags=value.flags,
        )


def _values(answers: LabelAnswers, confusion: Confusion) -> dict[str, Measured]:
    """Every measure of one label."""
    targets = answers.firm_targets
    scores = answers.scores
    # Soft labels as they are: to score 0.5 where people are undecided is well calibrated.
    ece = calibration.expected_calibration_error(answers.targets, scores)
    noise = calibration.calibration_noise(
        answers.targets,
        scores,
        answers.clusters,
        seed=answers.seed,
    )
    ece_flags = ("within_noise",) if ece <= noise else ()
    return {
        "accuracy": measure.accuracy(confusion),
        "precision": measure.precision(confusion),
        "recall": measure.recall(confusion),
        "f1": measure.f1(confusion),
        "macro_f1": measure.macro_f1(confusion),
        "weighted_precision": measure.weighted_precision(confusion),
        "weighted_f1": measure.weighted_f1(confusion),
        "auc": measure.auc(targets, scores),
        "average_precision": measure.average_precision(targets, scores),
        "brier": Measured(calibration.brier(targets, scores)),
        "log_loss": Measured(calibration.log_loss(targets, scores)),
        "ece": Measured(ece, ece_flags),
        "hard_brier": measure.hard_brier(confusion),
        "hard_auc": measure.hard_auc(confusion),
    }


def _mistakes(answers: LabelAnswers) -> tuple[list[Mistake], list[Mistake]]:
    """Texts annotated 1 and predicted 0, and the reverse."""
    predicted = answers.decided == 1
    missed = answers.usable & answers.yes & ~predicted
    false_alarms = answers.usable & ~answers.yes & predicted
    return _furthest_off(answers, missed), _furthest_off(answers, false_alarms)


def _furthest_off(answers: LabelAnswers, wrong: BoolArray) -> list[Mistake]:
    """The mistakes whose scores are furthest off, these first."""
    rows = np.flatnonzero(wrong)
    distances = np.abs(answers.scores[rows] - answers.yes[rows])
    # Stable: of mistakes that are equally far off the first in the corpus are listed.
    order = np.argsort(-distances, kind="stable")[:MOST_EXAMPLES]
    furthest_distances = distances[order].tolist()
    furthest_rows = rows[order].tolist()
    ids = [answers.ids[row] for row in furthest_rows]
    return list(zip(furthest_distances, ids, strict=True))


def _most_confident(mistakes: Sequence[Mistake]) -> list[str]:
    """The ids of the most confident mistakes; equal ones keep their order, as the sort is stable."""
    ranked = sorted(mistakes, key=lambda mistake: -mistake[0])
    return [text_id for _, text_id in ranked[:MOST_EXAMPLES]]


def decision_findings(answers: LabelAnswers, counts: Mapping[str, int]) -> list[Finding]:
    """What the claims on a label rest on: shares predicted and annotated 1, ranking and decisions apart.

    `decided_1_share` carries the flags "constant" (one score for all texts), "one_decision" and
    "nearly_one_decision". The intervals of AUC and of balanced accuracy hold for all models, corpora and
    labels of the run together.
    """
    usable = answers.usable
    if not usable.any():
        return []
    decided_1 = answers.decided[usable] == 1
    yes = answers.yes[usable]
    units = answers.clusters.at(usable)

    scores = answers.scores[usable]
    share = Rate(int(decided_1.sum()), len(decided_1))
    share_finding = measured(
        "decided_1_share",
        share.value,
        share.n,
        interval=ratio_interval(decided_1, np.ones(share.n), units),
        where=answers.where,
        counts=counts,
        flags=alike_flags(scores, decided_1, yes, units),
    )
    findings = [share_finding, _over_trivial(answers, counts)]
    # Of one class there is nothing to rank or to tell apart.
    if yes.all() or not yes.any():
        return findings

    # Two figures per label, and a verdict names the best or worst of all of them.
    among = 2 * answers.claims
    areas = {
        "auc": ranking_against_chance(yes, scores, units, among=among),
        "hard_auc": decisions_against_chance(yes, decided_1, units, among=among),
    }
    for name, area in areas.items():
        finding = measured(
            f"{name}_among_claims",
            area.value,
            share.n,
            interval=area.interval,
            where=answers.where,
            counts=counts,
        )
        findings.append(finding)
    return findings


def _over_trivial(answers: LabelAnswers, counts: Mapping[str, int]) -> Finding:
    """Accuracy minus that of always giving the commoner answer: information, as a sound screener may lose.

    Where the corpus does not show which answer is the commoner one (the interval of its share holds 0.5),
    the interval reaches around those of both answers.
    """
    usable = answers.usable
    yes = answers.yes[usable]
    units = answers.clusters.at(usable)
    right = answers.decided[usable] == yes
    commoner_answer = yes.mean() >= 0.5
    trivial_right = yes == commoner_answer
    n = len(yes)

    low, high = ratio_interval(yes, np.ones(n), units)
    is_commoner_answer_unclear = low <= 0.5 <= high
    trivial_answers = (yes, ~yes) if is_commoner_answer_unclear else (trivial_right,)
    interval = _around_all(right, trivial_answers, units)
    all_counts = {
        **counts,
        "trivial_right": int(trivial_right.sum()),
        "right": int(right.sum()),
    }
    gain = float(right.mean() - trivial_right.mean())
    return measured(
        "accuracy_over_trivial", gain, n, interval=interval, where=answers.where, counts=all_counts
    )


def _around_all(right: BoolArray, trivial_answers: Sequence[BoolArray], units: Clusters) -> Interval:
    """The smallest interval that holds those of the differences from each of the trivial answers."""
    ones = np.ones(len(right))
    lows: list[float] = []
    highs: list[float] = []
    for trivial in trivial_answers:
        low, high = difference_interval((right, ones), (trivial, ones), units)
        lows.append(low)
        highs.append(high)
    return min(lows), max(highs)


def _prevalence(answers: LabelAnswers, counts: Mapping[str, int]) -> Finding:
    """The share of the annotated texts that are annotated 1."""
    annotated = ~np.isnan(answers.firm_targets)
    annotated_1 = answers.yes & annotated
    share = Rate(int(annotated_1.sum()), counts["annotated"])
    interval = ratio_interval(annotated_1, annotated, answers.clusters)
    return measured(
        "prevalence",
        share.value,
        share.n,
        interval=interval,
        where=answers.where,
        counts=counts,
    )


def f1_bounds(
    targets: FloatArray,
    decided: FloatArray,
    clusters: Clusters,
    where: Mapping[str, str],
    counts: Mapping[str, int],
) -> Iterator[Finding]:
    """F1 if every unanswered text were wrong, and if every one were right; targets and predictions (n,)."""
    yes = measure.gold(targets)
    unanswered = np.isnan(decided)
    for name, right in (("f1_worst", False), ("f1_best", True)):
        # At worst each unanswered text is decided against its annotation, at best as annotated.
        filled = np.where(unanswered, yes == right, decided)
        confusion = measure.confusion(targets, filled)
        f1 = measure.f1(confusion)
        intervals = classification_intervals(targets, filled, clusters)
        interval = intervals.get("f1", UNKNOWN)
        yield measured(
            name, f1.value, confusion.n, interval=interval, where=where, counts=counts, flags=f1.flags
        )


def _reliability_curve(answers: LabelAnswers) -> Iterator[Finding]:
    """The reliability curve: in each bin that has texts, the share annotated 1 beside the mean score."""
    bin_of_text = calibration.bin_of(answers.scores)
    answered = ~(np.isnan(answers.targets) | np.isnan(answers.scores))
    # NaN would spread to every bin, also where it is multiplied by 0.
    targets = np.where(answered, answers.targets, 0.0)
    bins = calibration.reliability(answers.targets, answers.scores)
    for place, score_bin in enumerate(bins):
        if not score_bin.n:
            continue
        inside = answered & (bin_of_text == place)
        where = {
            **answers.where,
            "bin": str(place + 1),
            "from": f"{score_bin.lower:.4f}",
            "to": f"{score_bin.upper:.4f}",
            "mean_score": f"{score_bin.mean_score:.4f}",
        }
        counts = {"texts": score_bin.n, "annotated_1": score_bin.positive}
        interval = ratio_interval(targets * inside, inside, answers.clusters)
        yield measured(
            "reliability",
            score_bin.share,
            score_bin.n,
            interval=interval,
            where=where,
            counts=counts,
        )
