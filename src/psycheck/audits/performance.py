"""How well a model agrees with what was annotated: figures for each label, with n, interval and mistakes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from psycheck.corpus import Corpus
from psycheck.errors import BadInput
from psycheck.finding import Finding, Interval
from psycheck.measure import Measure
from psycheck.measures import bootstrap, calibration
from psycheck.measures import classification as measure
from psycheck.measures.classification import BoolArray, Confusion, Measured
from psycheck.measures.intervals import wilson
from psycheck.model import FloatArray, Judgement, Scores

MOST_EXAMPLES = 50


@dataclass(frozen=True)
class Performance:
    """Classification and calibration of every label that both the corpus and the model have.

    A score of at least `threshold` is a predicted 1. Rates (accuracy, precision, recall, prevalence) have
    Wilson intervals, the other figures bootstrap intervals from `resamples` seeded resamples.
    """

    name: ClassVar = "performance"
    measures: ClassVar[tuple[str | Measure, ...]] = (
        *("accuracy", "precision", "recall", "f1", "macro_f1", "weighted_f1", "auc", "average_precision"),
        *("brier", "log_loss", "ece", "hard_brier", "hard_auc", "prevalence", "f1_worst", "f1_best"),
        *("hamming", "macro_f1_across_labels", "reliability"),
    )

    threshold: float = 0.5
    resamples: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise BadInput(f"threshold {self.threshold} is no score", allowed="0 to 1")
        if self.resamples < 1:
            raise BadInput(f"{self.resamples} resamples give no interval", allowed="1 or more")

    def skips(self, corpus: Corpus, /) -> str | None:
        """Texts without a label cannot be right or wrong."""
        return None if corpus.labels else "the corpus has no labels"

    def ask(self, corpus: Corpus, /) -> Iterable[str]:
        """Every text of the corpus, as it is."""
        return corpus.texts

    def judge(self, corpus: Corpus, scores: Scores, /) -> Judgement:
        """Measure each shared label, and all of them together where there are several."""
        labels = shared_labels(corpus, scores.model, scores.labels)
        ids, targets = corpus.ids, corpus.targets(labels)
        given = scores.of(corpus.texts)[:, [scores.labels.index(label) for label in labels]]
        where = {"audit": self.name, "model": scores.model, "corpus": corpus.name}
        findings: list[Finding] = []
        for k, label in enumerate(labels):
            findings += self._label(ids, targets[:, k], given[:, k], {**where, "label": label})
        if len(labels) > 1:
            findings += self._together(targets, given, {**where, "label": "all"})
        tables = [
            _predictions(scores.model, corpus.name, ids, label, targets[:, k], given[:, k])
            for k, label in enumerate(labels)
        ]
        return Judgement(tuple(findings), {"predictions": pl.concat(tables)})

    def _label(
        self, ids: list[str], targets: FloatArray, scores: FloatArray, where: Mapping[str, str]
    ) -> list[Finding]:
        """The findings of one label, targets and scores (n,)."""
        c = measure.confusion(targets, scores, self.threshold)
        annotated = ~np.isnan(targets)
        unanswered = annotated & np.isnan(scores)
        counts = {
            "texts": len(targets),
            "annotated": int(annotated.sum()),
            "unanswered": int(unanswered.sum()),
            "not_annotated": int((~annotated).sum()),
            **asdict(c),
        }
        values, intervals = self._values(c, targets, scores)
        missed, alarms = self._mistakes(ids, targets, scores)
        examples = {"accuracy": missed + alarms, "f1": missed + alarms, "precision": alarms, "recall": missed}
        out_of = {"precision": c.tp + c.fp, "recall": c.positive}
        found = [
            _finding(
                name, value, out_of.get(name, c.n), intervals[name], where, counts, examples.get(name, [])
            )
            for name, value in values.items()
        ]
        positive = int(measure.gold(targets[annotated]).sum())
        prevalence = Measured(positive / counts["annotated"]) if annotated.any() else Measured(np.nan)
        share = wilson(positive, counts["annotated"])
        found.append(_finding("prevalence", prevalence, counts["annotated"], share, where, counts))
        if unanswered.any():
            found += self._worst_and_best(c, measure.gold(targets[unanswered]), where, counts)
        return found + _curve(targets, scores, where)

    def _values(
        self, c: Confusion, targets: FloatArray, scores: FloatArray
    ) -> tuple[dict[str, Measured], dict[str, Interval]]:
        """Every measure of one label, and its interval."""
        ece = calibration.expected_calibration_error(targets, scores)
        noise = bootstrap.calibration_noise(targets, scores, resamples=self.resamples, seed=self.seed)
        values = {
            "accuracy": measure.accuracy(c),
            "precision": measure.precision(c),
            "recall": measure.recall(c),
            "f1": measure.f1(c),
            "macro_f1": measure.macro_f1(c),
            "weighted_f1": measure.weighted_f1(c),
            "auc": measure.auc(targets, scores),
            "average_precision": measure.average_precision(targets, scores),
            "brier": Measured(calibration.brier(targets, scores)),
            "log_loss": Measured(calibration.log_loss(targets, scores)),
            "ece": Measured(ece, ("within_noise",) if ece <= noise else ()),
            "hard_brier": measure.hard_brier(c),
            "hard_auc": measure.hard_auc(c),
        }
        intervals = {
            **bootstrap.confusion_intervals(c, resamples=self.resamples, seed=self.seed),
            **bootstrap.score_intervals(targets, scores, resamples=self.resamples, seed=self.seed),
            "accuracy": wilson(c.right, c.n),
            "precision": wilson(c.tp, c.tp + c.fp),
            "recall": wilson(c.tp, c.positive),
            "hard_brier": wilson(c.fp + c.fn, c.n),
        }
        return values, intervals

    def _mistakes(
        self, ids: list[str], targets: FloatArray, scores: FloatArray
    ) -> tuple[list[tuple[float, str]], list[tuple[float, str]]]:
        """Texts annotated 1 and predicted 0, and the reverse: how far the score was off, and the id."""
        known, yes, predicted = (
            measure.usable(targets, scores),
            measure.gold(targets),
            scores >= self.threshold,
        )
        both = []
        for here in (known & yes & ~predicted, known & ~yes & predicted):
            at = np.flatnonzero(here)
            off = np.abs(scores[at] - yes[at])
            far = np.argsort(-off, kind="stable")[:MOST_EXAMPLES]
            both.append([(float(off[i]), ids[at[i]]) for i in far])
        missed, alarms = both
        return missed, alarms

    def _worst_and_best(
        self, c: Confusion, silent: BoolArray, where: Mapping[str, str], counts: Mapping[str, int]
    ) -> list[Finding]:
        """F1 with every unanswered text counted as wrong, and as right; `silent` are their annotations."""
        one = int(silent.sum())
        zero = len(silent) - one
        extremes = {
            "f1_worst": Confusion(c.tp, c.fp + zero, c.fn + one, c.tn),
            "f1_best": Confusion(c.tp + one, c.fp, c.fn, c.tn + zero),
        }
        found = []
        for name, table in extremes.items():
            drawn = bootstrap.confusion_intervals(table, resamples=self.resamples, seed=self.seed)
            found.append(_finding(name, measure.f1(table), table.n, drawn["f1"], where, counts))
        return found

    def _together(
        self, targets: FloatArray, scores: FloatArray, where: Mapping[str, str]
    ) -> tuple[Finding, Finding]:
        """Hamming loss over all marks and the mean F1 of the labels, targets and scores (n, k)."""
        known = measure.usable(targets, scores)
        annotated = ~np.isnan(targets)
        counts = {
            "texts": len(targets),
            "labels": targets.shape[1],
            "annotated": int(annotated.sum()),
            "unanswered": int((annotated & ~known).sum()),
            "not_annotated": int((~annotated).sum()),
        }
        intervals = bootstrap.label_intervals(
            measure.gold(targets),
            scores >= self.threshold,
            known,
            resamples=self.resamples,
            seed=self.seed,
        )
        tables = [
            measure.confusion(targets[:, k], scores[:, k], self.threshold) for k in range(known.shape[1])
        ]
        defined = [value for table in tables if not np.isnan(value := measure.f1(table).value)]
        flags = ("labels_without_positive",) if len(defined) < len(tables) else ()
        mean = Measured(float(np.mean(defined)) if defined else np.nan, flags)
        hamming = measure.hamming(targets, scores, self.threshold)
        marks, across = int(known.sum()), "macro_f1_across_labels"
        return (
            _finding("hamming", hamming, marks, intervals["hamming"], where, counts),
            _finding(across, mean, len(defined), intervals[across], where, counts),
        )


def _finding(
    name: str,
    measured: Measured,
    n: int,
    interval: Interval,
    where: Mapping[str, str],
    counts: Mapping[str, int],
    mistakes: Sequence[tuple[float, str]] = (),
) -> Finding:
    """A finding; what has no value has no interval, and an interval without width is marked."""
    flags = measured.flags
    known = not (np.isnan(measured.value) or np.isnan(interval[0]))
    if np.isnan(measured.value):
        flags = (*flags, "not_tested")
    elif known and interval[0] == interval[1]:
        flags = (*flags, "no_spread")
    # Most confident first; the sort is stable, so equal mistakes keep the order of the corpus.
    first = sorted(mistakes, key=lambda mistake: -mistake[0])[:MOST_EXAMPLES]
    return Finding(
        name,
        measured.value,
        n,
        interval if known else None,
        where,
        counts,
        tuple(text for _, text in first),
        flags,
    )


def _curve(targets: FloatArray, scores: FloatArray, where: Mapping[str, str]) -> list[Finding]:
    """The reliability curve: in each bin that has texts, the share annotated 1 beside the mean score."""
    return [
        Finding(
            "reliability",
            b.share,
            b.n,
            b.interval,
            {
                **where,
                "bin": str(number),
                "from": f"{b.lower:.4f}",
                "to": f"{b.upper:.4f}",
                "mean_score": f"{b.mean_score:.4f}",
            },
            {"texts": b.n, "annotated_1": b.positive},
        )
        for number, b in enumerate(calibration.reliability(targets, scores), 1)
        if b.n
    ]


def _predictions(
    model: str, corpus: str, ids: list[str], label: str, targets: FloatArray, scores: FloatArray
) -> pl.DataFrame:
    """One row a text and label, ids only; null where not annotated or not answered."""
    table = pl.DataFrame({"id": ids, "target": targets, "score": scores}).with_columns(
        pl.lit(model).alias("model"),
        pl.lit(corpus).alias("corpus"),
        pl.lit(label).alias("label"),
        pl.col("target", "score").fill_nan(None),
    )
    return table.select("model", "corpus", "id", "label", "target", "score")


def shared_labels(corpus: Corpus, model: str, scored: Sequence[str]) -> tuple[str, ...]:
    """The labels of a corpus that a model scores; none is an error."""
    labels = tuple(label for label in corpus.labels if label in scored)
    if not labels:
        raise BadInput(
            f"model '{model}' and corpus '{corpus.name}' share no label",
            where=f"the model scores {some_labels(scored)}; the corpus has {some_labels(corpus.labels)}",
            allowed="at least one label of the same name",
            do="rename the label of the corpus (--label COLUMN=NAME) or of the model (?label=NAME)",
        )
    return labels


def some_labels(labels: Sequence[str]) -> str:
    """A few labels, and how many more there are."""
    more = f" and {len(labels) - 10} more" if len(labels) > 10 else ""
    return ", ".join(labels[:10]) + more or "no label"
