"""How well a symptom model finds symptoms and their status in annotated sentences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from psycheck.audits.figures import measured
from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput, nearest
from psycheck.core.finding import Finding
from psycheck.corpora.fixed_order import in_fixed_order
from psycheck.scoring.tags import tags_of
from psycheck.statistics.classification import usable
from psycheck.statistics.clustered import Clusters
from psycheck.statistics.label_intervals import classification_intervals, figure_influences
from psycheck.statistics.symptom_figures import mean_error, mean_figure, status_errors
from psycheck.symptoms.reader import UNCERTAIN, SymptomModel
from psycheck.training.symptom_models import subsets

ALL = "all"
_THRESHOLD = 0.5
_TITLES = {"symptom_auc": "AUC", "symptom_f1": "F1"}


@dataclass(frozen=True, slots=True)
class _Sentences:
    """Annotated sentences with their scores: targets and scores (n, k), and where their findings belong."""

    corpus: Corpus
    labels: list[str]
    targets: FloatArray
    scores: FloatArray
    clusters: Clusters
    where: Mapping[str, str]


def evaluate_symptoms(model: SymptomModel, corpus: Corpus) -> tuple[Finding, ...]:
    """AUC and F1 of each symptom, their means, and the error of the status; each text is one sentence.

    The mean is taken over all symptoms on all sentences (controls count), and as in Table 2 of PsySym: over
    the symptoms annotated in the sentences of each disease, then over diseases.
    """
    corpus = in_fixed_order(corpus)
    labels = _shared_labels(model, corpus)
    tags = tags_of(model, corpus.texts)
    columns = [model.labels.index(label) for label in labels]
    sentences = _Sentences(
        corpus=corpus,
        labels=labels,
        targets=corpus.targets(labels),
        scores=tags.relevance[:, columns],
        clusters=Clusters.of(corpus.units(), corpus.copies()),
        where={"model": model.name, "corpus": corpus.name},
    )

    findings: list[Finding] = []
    for measure in ("auc", "f1"):
        findings += _symptom_figures(measure, sentences)
        findings += _figures_by_disease(measure, sentences)
    findings += _status_errors(sentences, tags.uncertain)
    return tuple(findings)


def _shared_labels(model: SymptomModel, corpus: Corpus) -> list[str]:
    """The symptoms that the model knows and the corpus is annotated for; an error if there are none."""
    labels = [label for label in model.labels if label in corpus.labels]
    if not labels:
        # The status is a label of the corpus, but not a symptom that the user could have misspelled.
        annotated = [label for label in corpus.labels if label != UNCERTAIN]
        raise BadInput(
            f"corpus '{corpus.name}' is annotated for no symptom of model '{model.name}'",
            code="symptoms.no-shared-label",
            where=f"labels of the corpus: {', '.join(annotated[:5]) or 'none'}",
            allowed=nearest(annotated[0] if annotated else "", model.labels),
            do="rename the labels (`labels=COLUMN=NAME`)",
        )
    return labels


def _symptom_figures(measure: str, sentences: _Sentences) -> Iterator[Finding]:
    """One measure of each symptom, and its mean over all symptoms, on all sentences."""
    name = f"symptom_{measure}"
    figures = []
    for k, label in enumerate(sentences.labels):
        targets = sentences.targets[:, k]
        scores = sentences.scores[:, k]
        figure = figure_influences(targets, scores, _THRESHOLD)[measure]
        figures.append(figure)

        value, _ = figure
        n = int(usable(targets, scores).sum())
        intervals = classification_intervals(targets, scores, sentences.clusters)
        where = {**sentences.where, "label": label}
        yield measured(name, value, n, intervals.get(measure), where)

    # The figures share sentences: their influences, not their intervals, give the interval of the mean.
    mean, n, interval = mean_figure(figures, sentences.clusters)
    where = {**sentences.where, "label": ALL}
    yield measured(name, mean, n, interval, where)


def _figures_by_disease(measure: str, sentences: _Sentences) -> Iterator[Finding]:
    """The mean of one measure over the symptoms of each disease in its sentences, and over diseases."""
    name = f"symptom_{measure}_by_disease"
    row_of_id = {id_: row for row, id_ in enumerate(sentences.corpus.ids)}
    figures_of_diseases = []
    for disease, part in subsets(sentences.corpus).items():
        rows_of_disease = [row_of_id[id_] for id_ in part.ids]
        is_inside = np.zeros(len(sentences.corpus), bool)
        is_inside[rows_of_disease] = True

        # Sentences of other diseases become missing instead of being dropped: all figures keep n influences,
        # and can be averaged over diseases below.
        targets = np.where(is_inside[:, None], sentences.targets, np.nan)
        is_missing = np.isnan(targets)
        annotated_symptoms = np.flatnonzero(~is_missing.all(axis=0))

        figures = []
        for k in annotated_symptoms:
            figures_of_symptom = figure_influences(targets[:, k], sentences.scores[:, k], _THRESHOLD)
            figures.append(figures_of_symptom[measure])

        mean, n, interval = mean_figure(figures, sentences.clusters)
        where = {**sentences.where, "label": ALL, "disease": disease}
        yield measured(name, mean, n, interval, where)
        if n:
            # The mean moves with a sentence as its figures do, on average.
            influences = [influence for value, influence in figures if not np.isnan(value)]
            figures_of_diseases.append((mean, np.mean(influences, axis=0)))

    mean, n, interval = mean_figure(figures_of_diseases, sentences.clusters)
    where = {**sentences.where, "label": ALL, "disease": ALL}
    yield measured(name, mean, n, interval, where)


def _status_errors(sentences: _Sentences, uncertain: FloatArray) -> Iterator[Finding]:
    """The mean absolute error of the status, that of a constant, and that of a single annotator."""
    if UNCERTAIN not in sentences.corpus.labels:
        return
    targets = sentences.corpus.targets([UNCERTAIN])[:, 0]
    is_annotated = ~np.isnan(targets)
    if not is_annotated.any():
        return

    errors = status_errors(targets[is_annotated], uncertain[is_annotated])
    if np.isnan(uncertain).any():  # a model without a status
        del errors["model"]

    clusters = sentences.clusters.at(is_annotated)
    for source, values in errors.items():
        mean, interval = mean_error(values, clusters)
        where = {**sentences.where, "of": source}
        yield measured("status_mae", mean, len(values), interval, where)


def lines_of(findings: Sequence[Finding]) -> list[str]:
    """What a person reads first: means, then status, then symptoms from the weakest on."""
    means = [finding for finding in findings if finding.where.get("label") == ALL]
    status = [finding for finding in findings if finding.measure == "status_mae"]
    symptoms = [finding for finding in findings if finding not in means and finding not in status]
    # An untested symptom comes before the weakest one: nothing is known about it.
    symptoms.sort(key=lambda finding: (finding.measure, finding.value if finding.tested else -1.0))

    lines = []
    for finding in means:
        # The means of single diseases are in the file that --out writes.
        if finding.where.get("disease", ALL) == ALL:
            lines.append(_line(_mean_title(finding), finding))
    for finding in status:
        lines.append(_line(f"status, mean absolute error of the {finding.where['of']}", finding))
    for finding in symptoms:
        lines.append(_line(f"{_TITLES[finding.measure]}, {finding.where['label']}", finding))
    return lines


def _line(title: str, finding: Finding) -> str:
    if not finding.tested:
        return f"{title}: –"
    interval = ""
    if finding.interval is not None:
        low, high = finding.interval
        interval = f" ({low:.3f}–{high:.3f})"
    return f"{title}: {finding.value:.3f}{interval}, n = {finding.n:,}"


def _mean_title(finding: Finding) -> str:
    title = _TITLES[finding.measure.removesuffix("_by_disease")]
    if finding.measure.endswith("_by_disease"):
        return f"{title}, mean over diseases of their symptoms"
    return f"{title}, mean over symptoms, all sentences"
