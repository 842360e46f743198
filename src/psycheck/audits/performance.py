"""How well a model agrees with what was annotated: figures for each label, with n, interval and mistakes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from psycheck.audits.items import ITEM_MEASURES, item_findings, scale_items
from psycheck.audits.measured import measured, thresholds_of
from psycheck.corpus import Corpus
from psycheck.errors import BadInput
from psycheck.finding import Finding, Interval
from psycheck.measure import Measure
from psycheck.measures import calibration
from psycheck.measures import classification as measure
from psycheck.measures.classification import (
    BoolArray,
    Confusion,
    Measured,
    classification_intervals,
)
from psycheck.measures.clustered import Clusters, difference_interval, paired_p, ratio_interval
from psycheck.measures.fairness import Rate
from psycheck.measures.intervals import UNKNOWN
from psycheck.measures.multilabel import label_figures
from psycheck.model import FloatArray, Item, Judgement, Scores
from psycheck.report.performance import performance_section

MOST_EXAMPLES = 50
# What scores of 0 and 1 alone cannot tell.
GRADED = frozenset(("auc", "average_precision", "brier", "log_loss", "ece", "reliability"))
HARD = "AUC, average precision, Brier score, log loss and calibration are not available"
Mistake = tuple[float, str]


@dataclass(frozen=True)
class Performance:
    """Classification and calibration of every label that both the corpus and the model have.

    A score of at least `threshold` is a predicted 1; of exclusive classes the largest score is. A soft label
    of exactly 0.5 is undecided: it is counted and left out. Intervals are clustered by author, or by text
    where no author is known (`measures.clustered`); `seed` is for the noise of the calibration error.
    """

    name: ClassVar = "performance"
    measures: ClassVar[tuple[str | Measure, ...]] = (
        *("accuracy", "precision", "recall", "f1", "macro_f1", "auc", "average_precision"),
        *("weighted_precision", "weighted_f1"),
        *("brier", "log_loss", "ece", "hard_brier", "hard_auc", "prevalence", "f1_worst", "f1_best"),
        *("accuracy_over_trivial", "accuracy_over_trivial_p", "accuracy_over_trivial_p_holm"),
        *("hamming", "exact_match", "macro_f1_across_labels", "weighted_precision_across_labels"),
        *("weighted_recall_across_labels", "weighted_f1_across_labels", "reliability", "threshold"),
        *ITEM_MEASURES,
    )

    section = staticmethod(performance_section)
    threshold: float = 0.5
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise BadInput(f"threshold {self.threshold} is out of range", allowed="0 to 1")

    def skips(self, corpus: Corpus, /) -> str | None:
        """Texts without a label cannot be right or wrong."""
        return None if corpus.labels else "the corpus has no labels"

    def ask(self, corpus: Corpus, /) -> Iterable[Item]:
        """Every text or history of the corpus, as it is."""
        return corpus.items

    def judge(self, corpus: Corpus, scores: Scores, /) -> Judgement:
        """Measure each shared label, and all of them together where there are several."""
        labels = shared_labels(corpus, scores.model, scores.labels)
        ids, targets = corpus.ids, corpus.targets(labels)
        every = scores.of(corpus.items)
        cuts = thresholds_of(scores, self.threshold)
        decided = measure.decide(every, cuts, exclusive=getattr(scores, "exclusive", False))
        mine = [scores.labels.index(label) for label in labels]
        columns, decided = every[:, mine], decided[:, mine]
        where = {"audit": self.name, "model": scores.model, "corpus": corpus.name}
        hard = getattr(scores, "hard", False)
        clusters = Clusters.of(corpus.units())
        findings: list[Finding] = []
        for k, label in enumerate(labels):
            here = {**where, "label": label}
            found = self._label(ids, targets[:, k], columns[:, k], decided[:, k], clusters, here)
            findings += [one for one in found if not (hard and one.measure in GRADED)]
        if len(labels) > 1:
            findings += self._together(measure.firm(targets), decided, clusters, {**where, "label": "all"})
        items = {label: item for label, item in scale_items(scores.labels).items() if label in labels}
        findings += item_findings(labels, items, targets, decided, clusters, where)
        tables = [
            _predictions(scores, corpus, label, columns[:, k], decided[:, k], clusters)
            for k, label in enumerate(labels)
        ]
        return Judgement(tuple(findings), {"predictions": pl.concat(tables)})

    def _label(
        self,
        ids: list[str],
        targets: FloatArray,
        scores: FloatArray,
        decided: FloatArray,
        clusters: Clusters,
        where: Mapping[str, str],
    ) -> list[Finding]:
        """The findings of one label, targets, scores and predictions (n,)."""
        undecided, targets = int((targets == 0.5).sum()), measure.firm(targets)
        c = measure.confusion(targets, decided)
        annotated = ~np.isnan(targets)
        counts = {"texts": len(targets), **_ledger(targets, scores), **asdict(c)}
        if undecided:
            counts |= {"undecided": undecided, "not_annotated": counts["not_annotated"] - undecided}
        counts["units"] = clusters.at(measure.usable(targets, scores)).count
        values = self._values(c, targets, scores)
        intervals = classification_intervals(targets, scores, clusters, decided=decided)
        missed, alarms = self._mistakes(ids, targets, scores, decided)
        examples = {"accuracy": missed + alarms, "f1": missed + alarms, "precision": alarms, "recall": missed}
        out_of = {"precision": c.tp + c.fp, "recall": c.positive}
        found = []
        for name, value in values.items():
            interval, n = intervals.get(name, UNKNOWN), out_of.get(name, c.n)
            found.append(_finding(name, value, n, interval, where, counts, examples.get(name, [])))
        yes = measure.gold(targets)
        share = Rate(int((yes & annotated).sum()), counts["annotated"]).value
        known = annotated & ~np.isnan(scores)
        found += self._against_trivial(yes, scores, decided, known, clusters, where, counts)
        interval = ratio_interval(yes & annotated, annotated, clusters)
        found.append(_finding("prevalence", Measured(share), counts["annotated"], interval, where, counts))
        if counts["unanswered"]:
            found += f1_bounds(targets, decided, clusters, where, counts)
        return found + _curve(targets, scores, clusters, where)

    def _against_trivial(
        self,
        yes: BoolArray,
        scores: FloatArray,
        decided: FloatArray,
        known: BoolArray,
        clusters: Clusters,
        where: Mapping[str, str],
        counts: Mapping[str, int],
    ) -> list[Finding]:
        """Accuracy minus that of always giving the commoner answer, and whether that could be chance.

        Where the corpus does not show which answer is the commoner one (the interval of its share holds 0.5),
        the interval reaches around those of both answers: choosing the better one by chance is no weakness.
        """
        if not known.any():
            return []
        yes, units = yes[known], clusters.at(known)
        right = decided[known] == yes
        trivial = yes == (yes.mean() >= 0.5)
        n, ones = len(yes), np.ones(len(yes))
        value = float(right.mean() - trivial.mean())
        low, high = ratio_interval(yes, ones, units)
        answers = (yes, ~yes) if low <= 0.5 <= high else (trivial,)
        ends = [difference_interval((right, ones), (answer, ones), units) for answer in answers]
        interval = min(low for low, _ in ends), max(high for _, high in ends)
        flags = ("constant",) if np.ptp(scores[known]) == 0 else ()
        held = {**counts, "trivial_right": int(trivial.sum()), "right": int(right.sum())}
        p = paired_p(right.astype(np.float64) - trivial, units, seed=self.seed)
        return [
            _finding("accuracy_over_trivial", Measured(value, flags), n, interval, where, held),
            _finding("accuracy_over_trivial_p", Measured(p, flags), n, UNKNOWN, where, held),
        ]

    def _values(self, c: Confusion, targets: FloatArray, scores: FloatArray) -> dict[str, Measured]:
        """Every measure of one label."""
        ece = calibration.expected_calibration_error(targets, scores)
        noise = calibration.calibration_noise(targets, scores, seed=self.seed)
        return {
            "accuracy": measure.accuracy(c),
            "precision": measure.precision(c),
            "recall": measure.recall(c),
            "f1": measure.f1(c),
            "macro_f1": measure.macro_f1(c),
            "weighted_precision": measure.weighted_precision(c),
            "weighted_f1": measure.weighted_f1(c),
            "auc": measure.auc(targets, scores),
            "average_precision": measure.average_precision(targets, scores),
            "brier": Measured(calibration.brier(targets, scores)),
            "log_loss": Measured(calibration.log_loss(targets, scores)),
            "ece": Measured(ece, ("within_noise",) if ece <= noise else ()),
            "hard_brier": measure.hard_brier(c),
            "hard_auc": measure.hard_auc(c),
        }

    def _mistakes(
        self, ids: list[str], targets: FloatArray, scores: FloatArray, decided: FloatArray
    ) -> list[list[Mistake]]:
        """Texts annotated 1 and predicted 0, and the reverse: how far the score was off, and the id."""
        known, yes = measure.usable(targets, scores), measure.gold(targets)
        predicted, both = decided == 1, []
        for here in (known & yes & ~predicted, known & ~yes & predicted):
            at = np.flatnonzero(here)
            off = np.abs(scores[at] - yes[at])
            far = np.argsort(-off, kind="stable")[:MOST_EXAMPLES]
            both.append([(float(off[i]), ids[at[i]]) for i in far])
        return both

    def _together(
        self, targets: FloatArray, decided: FloatArray, clusters: Clusters, where: Mapping[str, str]
    ) -> Iterator[Finding]:
        """The figures of all labels together, targets and predictions (n, k)."""
        counts = {"texts": len(targets), "labels": targets.shape[1], **_ledger(targets, decided)}
        known = measure.usable(targets, decided)
        figures = label_figures(measure.gold(targets), decided == 1, known, clusters)
        for name, (value, n, interval) in figures.items():
            yield _finding(name, value, n, interval, where, counts)


def f1_bounds(
    targets: FloatArray,
    decided: FloatArray,
    clusters: Clusters,
    where: Mapping[str, str],
    counts: Mapping[str, int],
) -> Iterator[Finding]:
    """F1 if every unanswered text were wrong, and if every one were right; targets and predictions (n,)."""
    yes = measure.gold(targets)
    for name, right in (("f1_worst", False), ("f1_best", True)):
        filled = np.where(np.isnan(decided), yes == right, decided)
        table = measure.confusion(targets, filled)
        ends = classification_intervals(targets, filled, clusters)
        yield _finding(name, measure.f1(table), table.n, ends.get("f1", UNKNOWN), where, counts)


def _ledger(targets: FloatArray, scores: FloatArray) -> dict[str, int]:
    """How many marks are annotated, how many of these unanswered, and how many are not annotated."""
    annotated = ~np.isnan(targets)
    return {
        "annotated": int(annotated.sum()),
        "unanswered": int((annotated & np.isnan(scores)).sum()),
        "not_annotated": int((~annotated).sum()),
    }


def _finding(
    name: str,
    value: Measured,
    n: int,
    interval: Interval,
    where: Mapping[str, str],
    counts: Mapping[str, int],
    mistakes: Sequence[Mistake] = (),
) -> Finding:
    """A finding with its most confident mistakes."""
    # Most confident first; the sort is stable, so equal mistakes keep the order of the corpus.
    first = sorted(mistakes, key=lambda mistake: -mistake[0])[:MOST_EXAMPLES]
    examples = [id_ for _, id_ in first]
    return measured(name, value.value, n, interval, where, counts, examples, value.flags)


def _curve(
    targets: FloatArray, scores: FloatArray, clusters: Clusters, where: Mapping[str, str]
) -> list[Finding]:
    """The reliability curve: in each bin that has texts, the share annotated 1 beside the mean score."""
    found = []
    known = measure.usable(targets, scores)
    yes, at = measure.gold(targets), calibration.bin_of(scores)
    for number, b in enumerate(calibration.reliability(targets, scores), 1):
        if b.n:
            figures = {"from": b.lower, "to": b.upper, "mean_score": b.mean_score}
            here = {**where, "bin": str(number), **{key: f"{figure:.4f}" for key, figure in figures.items()}}
            counts = {"texts": b.n, "annotated_1": b.positive}
            inside = known & (at == number - 1)
            interval = ratio_interval(yes & inside, inside, clusters)
            found.append(measured("reliability", b.share, b.n, interval, here, counts))
    return found


def _predictions(
    scores: Scores, corpus: Corpus, label: str, column: FloatArray, decided: FloatArray, clusters: Clusters
) -> pl.DataFrame:
    """One row per text, ids only; null where not annotated or not answered. `unit` numbers the authors."""
    target = corpus.targets([label])[:, 0]
    columns = {"target": target, "score": column, "decided": decided, "unit": clusters.codes}
    return pl.DataFrame({"id": corpus.ids, **columns}).select(
        pl.lit(scores.model).alias("model"),
        pl.lit(corpus.name).alias("corpus"),
        "id",
        pl.lit(label).alias("label"),
        pl.col("target", "score").fill_nan(None),
        pl.col("decided").fill_nan(None).cast(pl.Int8),
        "unit",
    )


def shared_labels(corpus: Corpus, model: str, scored: Sequence[str]) -> tuple[str, ...]:
    """The labels of a corpus that a model scores; none is an error."""
    labels = tuple(label for label in corpus.labels if label in scored)
    if not labels:
        raise BadInput(
            f"model '{model}' and corpus '{corpus.name}' share no label",
            where=f"the model scores {some_labels(scored)}; the corpus has {some_labels(corpus.labels)}",
            allowed="at least one label of the same name",
            do="rename the label of the corpus (`labels=COLUMN=NAME`) or of the model (?label=NAME)",
        )
    return labels


def some_labels(labels: Sequence[str]) -> str:
    """A few labels, and how many more there are."""
    more = f" and {len(labels) - 10} more" if len(labels) > 10 else ""
    return ", ".join(labels[:10]) + more or "no label"
