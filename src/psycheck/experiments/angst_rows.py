"""One model on the test texts of the ANGST study: its labels, their absence, and their combinations."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from psycheck.audits.differences import Answered
from psycheck.audits.error_cues import outcome_lengths
from psycheck.audits.measured import measured
from psycheck.audits.performance import Performance, shared_labels
from psycheck.corpus import Corpus
from psycheck.finding import Finding
from psycheck.measures import classification as measure
from psycheck.measures.classification import FloatArray
from psycheck.measures.clustered import Clusters, ratio_interval
from psycheck.measures.intervals import UNKNOWN
from psycheck.measures.multilabel import combinations
from psycheck.model import Scores
from psycheck.report.studies.angst import BINARY, COMBINATION, CONTROL, LABEL, MULTI, PROMPTS, TOGETHER

_KEPT = ("accuracy", "weighted_precision", "weighted_f1", "macro_f1", "precision", "recall", "f1", "auc")
_OF_CLASS = {"precision": measure.precision, "recall": measure.recall, "f1": measure.f1}


@dataclass(frozen=True, slots=True)
class Judged:
    """One model, as the tables name it, with its decisions, (n, k), NaN where it gave no usable answer."""

    name: str
    kind: str
    seed: int
    labels: tuple[str, ...]
    decided: FloatArray
    findings: tuple[Finding, ...] = ()

    @property
    def where(self) -> dict[str, str]:
        """The `where` of a finding about it."""
        names = {"model": self.name, "arm": self.task, "experiment": self.kind, "seed": str(self.seed)}
        return {"audit": "study", "study": "angst", **names}

    @property
    def task(self) -> str:
        """Whether it decides one label or several at once."""
        return MULTI if len(self.labels) > 1 else BINARY


def judged(test: Corpus, scores: Scores, name: str, kind: str, seed: int, usage: Mapping[str, int]) -> Judged:
    """Measure a model on the labels of `test` that it scores; `usage` is what its answers took."""
    labels = shared_labels(test, name, scores.labels)
    performance = Performance()
    found = performance.judge(test, scores).findings
    every = measure.decide(
        scores.of(test.texts), performance.threshold, exclusive=getattr(scores, "exclusive", False)
    )
    decided = every[:, [scores.labels.index(label) for label in labels]]
    one = Judged(name, kind, seed, labels, decided)
    where = {**one.where, "corpus": test.name}
    rows = [
        replace(f, where={**where, "label": f.where["label"], "level": _level(f)}, examples=())
        for f in found
        if f.measure in _KEPT or f.where["label"] == "all"
    ]
    targets, clusters = measure.firm(test.targets(labels)), Clusters.of(test.units())
    for k, label in enumerate(labels):
        rows.append(_unanswered(targets[:, k], decided[:, k], clusters, {**where, "label": label}, usage))
        rows += _class_figures(
            1 - targets[:, k], 1 - decided[:, k], clusters, {**where, "label": label, "level": CONTROL}
        )
    if len(labels) > 1:
        for combination, (annotated, predicted) in combinations(targets, decided, labels).items():
            here = {**where, "label": combination, "level": COMBINATION}
            rows += _class_figures(annotated, predicted, clusters, here)
    return replace(one, findings=tuple(rows))


def _level(finding: Finding) -> str:
    return TOGETHER if finding.where["label"] == "all" else LABEL


def _class_figures(
    targets: FloatArray, decided: FloatArray, clusters: Clusters, where: Mapping[str, str]
) -> Iterator[Finding]:
    """Precision, recall and F1 of one class against all other texts, targets and decisions (n,)."""
    c = measure.confusion(targets, decided)
    intervals = measure.classification_intervals(targets, decided, clusters)
    counts = {"annotated": c.positive, "predicted": c.tp + c.fp, "right": c.tp}
    for name, figure in _OF_CLASS.items():
        value = figure(c)
        ends = intervals.get(name, UNKNOWN)
        yield measured(name, value.value, c.n, ends, where, counts, (), value.flags)


def _unanswered(
    targets: FloatArray,
    decided: FloatArray,
    clusters: Clusters,
    where: Mapping[str, str],
    usage: Mapping[str, int],
) -> Finding:
    """The share of annotated texts without a usable answer; its counts say what the answers took."""
    annotated = measure.usable(targets, targets)
    missing = annotated & ~measure.usable(targets, decided)
    n = int(annotated.sum())
    interval = ratio_interval(missing, annotated, clusters)
    counts = {"unanswered": int(missing.sum()), **usage}
    value = counts["unanswered"] / n if n else float("nan")
    return measured("unanswered", value, n, interval, {**where, "level": LABEL}, counts)


def lengths(test: Corpus, rows: Sequence[Judged]) -> list[Finding]:
    """Table 16: characters by which of two models is right, for each label that two models decide.

    Compared are the first model that is no LLM and the first that is; else the first two models.
    """
    found: list[Finding] = []
    characters = np.array([len(text) for text in test.texts], np.float64)
    for k, label in enumerate(test.labels):
        able = [row for row in rows if label in row.labels and row.seed == 0]
        able.sort(key=lambda row: row.kind in PROMPTS)
        others = [row for row in able if row.name != able[0].name]
        if not others:
            continue
        pair = able[0], next((row for row in others if row.kind in PROMPTS), others[0])
        decided = np.column_stack([row.decided[:, row.labels.index(label)] for row in pair])
        gold = measure.firm(test.targets())[:, k]
        gold = np.where(np.isnan(gold), np.nan, gold > 0.5)
        names = tuple(f"{row.name}, {row.kind}, {row.task}" for row in pair)
        both = Answered(
            test.name, label, names, tuple(test.ids), gold, decided, decided, Clusters.of(test.units())
        )
        place = {"audit": "study", "study": "angst"}
        found += [replace(f, where={**f.where, **place}) for f in outcome_lengths(both, characters)]
    return found


def seed_numbers(names: Sequence[tuple[str, ...]]) -> list[int]:
    """How often each name occurred before: models of the same name are the seeds of one model."""
    met: dict[tuple[str, ...], int] = {}
    out = []
    for name in names:
        out.append(met.setdefault(name, 0))
        met[name] += 1
    return out
