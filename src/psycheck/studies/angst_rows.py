"""One model on the test texts of the ANGST study: its labels, their absence, and their combinations."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from psycheck import Corpus, Finding, LabelAnswers, Performance, measured, outcome_lengths, shared_labels
from psycheck.core.audit import Scores
from psycheck.report.studies.angst_tables import (
    BINARY,
    COMBINATION,
    CONTROL,
    GIVEN,
    LABEL,
    MULTI,
    TOGETHER,
    TRAINED,
)
from psycheck.statistics import classification as measure
from psycheck.statistics.classification import FloatArray
from psycheck.statistics.clustered import Clusters, ratio_interval
from psycheck.statistics.intervals import UNKNOWN
from psycheck.statistics.label_intervals import classification_intervals
from psycheck.statistics.multilabel import combinations

# The measures of an audit that the tables of the paper have.
_REPORTED = ("accuracy", "weighted_precision", "weighted_f1", "macro_f1", "precision", "recall", "f1", "auc")
_OF_CLASS = {"precision": measure.precision, "recall": measure.recall, "f1": measure.f1}
_ALL_LABELS = "all"


@dataclass(frozen=True, slots=True)
class JudgedModel:
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
        return {
            "audit": "study",
            "study": "angst",
            "model": self.name,
            "arm": self.task,
            "experiment": self.kind,
            "seed": str(self.seed),
        }

    @property
    def task(self) -> str:
        """Whether it decides one label or several at once."""
        return MULTI if len(self.labels) > 1 else BINARY


def judge_model(
    test: Corpus,
    scores: Scores,
    *,
    name: str,
    kind: str,
    seed: int,
    usage: Mapping[str, int],
) -> JudgedModel:
    """Measure a model on the labels of `test` that it scores; `usage` is what its answers took."""
    labels = shared_labels(test, name, scores.labels)
    performance = Performance()
    judgement = performance.judge(test, scores)

    exclusive = scores.traits.exclusive
    all_decisions = measure.decide(scores.of(test.texts), performance.threshold, exclusive=exclusive)
    columns = [scores.labels.index(label) for label in labels]
    model = JudgedModel(
        name=name,
        kind=kind,
        seed=seed,
        labels=labels,
        decided=all_decisions[:, columns],
    )

    findings = _reported(judgement.findings, model, test)
    findings += _findings_by_label(model, test, usage)
    # A single label has no combinations.
    if len(labels) > 1:
        findings += _findings_by_combination(model, test)
    return replace(model, findings=tuple(findings))


def _reported(findings: Sequence[Finding], model: JudgedModel, test: Corpus) -> list[Finding]:
    """The findings of the audit that the paper's tables have, in their place of the study."""
    reported = []
    for finding in findings:
        label = finding.where["label"]
        if finding.measure in _REPORTED or label == _ALL_LABELS:
            level = TOGETHER if label == _ALL_LABELS else LABEL
            where = {**model.where, "corpus": test.name, "label": label, "level": level}
            reported.append(replace(finding, where=where, examples=()))
    return reported


def _findings_by_label(model: JudgedModel, test: Corpus, usage: Mapping[str, int]) -> list[Finding]:
    """For each label the share without an answer, and the figures of its absence (the controls)."""
    targets = measure.firm(test.targets(model.labels))
    clusters = Clusters.of(test.units(), test.copies())

    findings: list[Finding] = []
    for column, label in enumerate(model.labels):
        label_targets = targets[:, column]
        label_decided = model.decided[:, column]
        where = {**model.where, "corpus": test.name, "label": label}
        findings.append(_unanswered(label_targets, label_decided, clusters, where, usage))

        # The paper also reports the controls, as a class of their own: what the label is not.
        findings += _class_figures(
            1 - label_targets,
            1 - label_decided,
            clusters,
            {**where, "level": CONTROL},
        )
    return findings


def _findings_by_combination(model: JudgedModel, test: Corpus) -> list[Finding]:
    """The figures of each combination of labels as a class of its own."""
    targets = measure.firm(test.targets(model.labels))
    clusters = Clusters.of(test.units(), test.copies())

    findings: list[Finding] = []
    classes = combinations(targets, model.decided, model.labels)
    for combination, (annotated, predicted) in classes.items():
        where = {**model.where, "corpus": test.name, "label": combination, "level": COMBINATION}
        findings += _class_figures(annotated, predicted, clusters, where)
    return findings


def _class_figures(
    targets: FloatArray,
    decided: FloatArray,
    clusters: Clusters,
    where: Mapping[str, str],
) -> Iterator[Finding]:
    """Precision, recall and F1 of one class against all other texts, targets and decisions (n,)."""
    table = measure.confusion(targets, decided)
    intervals = classification_intervals(targets, decided, clusters)
    counts = {
        "annotated": table.positive,
        "predicted": table.tp + table.fp,
        "right": table.tp,
    }
    for name, figure in _OF_CLASS.items():
        estimate = figure(table)
        yield measured(
            name,
            estimate.value,
            table.n,
            interval=intervals.get(name, UNKNOWN),
            where=where,
            counts=counts,
            flags=estimate.flags,
        )


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
    missing_count = int(missing.sum())
    return measured(
        "unanswered",
        missing_count / n if n else float("nan"),
        n,
        interval=ratio_interval(missing, annotated, clusters),
        where={**where, "level": LABEL},
        counts={"unanswered": missing_count, **usage},
    )


def lengths(test: Corpus, rows: Sequence[JudgedModel]) -> list[Finding]:
    """Table 16: characters by which of two models is right, for each label that two models decide.

    Compared are the first model that is no LLM and the first that is; else the first two models.
    """
    characters = np.array([len(text) for text in test.texts], np.float64)
    targets = measure.firm(test.targets())
    place = {"audit": "study", "study": "angst"}

    findings: list[Finding] = []
    for column, label in enumerate(test.labels):
        pair = _compared_models(rows, label)
        if pair is None:
            continue
        annotations = targets[:, column]
        decided = np.column_stack([row.decided[:, row.labels.index(label)] for row in pair])
        answered = LabelAnswers(
            corpus=test.name,
            label=label,
            models=tuple(f"{row.name}, {row.kind}, {row.task}" for row in pair),
            ids=tuple(test.ids),
            gold=np.where(np.isnan(annotations), np.nan, annotations > 0.5),
            # Table 16 asks who is right, not how sure a model is: decisions stand for scores.
            scores=decided,
            decided=decided,
            clusters=Clusters.of(test.units(), test.copies()),
        )
        for finding in outcome_lengths(answered, characters):
            findings.append(replace(finding, where={**finding.where, **place}))
    return findings


def _compared_models(rows: Sequence[JudgedModel], label: str) -> tuple[JudgedModel, JudgedModel] | None:
    """The two models whose errors on a label are compared, or None if only one decides it."""
    # Table 16 compares single models: the first seed stands for the others.
    able = [row for row in rows if label in row.labels and row.seed == 0]
    # Models that are not prompted come first; a rating scale is asked of an LLM, too.
    able.sort(key=_is_prompted)
    rivals = [row for row in able if row.name != able[0].name]
    if not rivals:
        return None
    prompted = [row for row in rivals if _is_prompted(row)]
    rival = (prompted or rivals)[0]
    return able[0], rival


def _is_prompted(row: JudgedModel) -> bool:
    """Whether the model is an LLM, asked for labels or for the items of a rating scale."""
    return row.kind not in (TRAINED, GIVEN)


def seed_numbers(names: Sequence[tuple[str, ...]]) -> list[int]:
    """How often each name occurred before: models of the same name are the seeds of one model."""
    occurrences: dict[tuple[str, ...], int] = {}
    numbers = []
    for name in names:
        number = occurrences.get(name, 0)
        numbers.append(number)
        occurrences[name] = number + 1
    return numbers
