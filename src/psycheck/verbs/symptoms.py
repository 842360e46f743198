"""How well a symptom model finds symptoms and their status in annotated sentences."""

from collections.abc import Mapping

import numpy as np

from psycheck.audits.measured import measured
from psycheck.corpus import Corpus
from psycheck.errors import BadInput, nearest
from psycheck.finding import Finding
from psycheck.measures.classification import classification_intervals, figure_influences, usable
from psycheck.measures.clustered import Clusters
from psycheck.measures.symptoms import mean_error, mean_figure, status_errors
from psycheck.model import FloatArray
from psycheck.models.symptoms import UNCERTAIN, SymptomModel
from psycheck.scoring.tagging import tags_of
from psycheck.train.symptoms import subsets

ALL = "all"


def evaluate_symptoms(model: SymptomModel, corpus: Corpus) -> tuple[Finding, ...]:
    """AUC and F1 of each symptom, their means, and the error of the status; each text is one sentence.

    The mean is taken over all symptoms on all sentences (controls count), and as in Table 2 of PsySym: over
    the symptoms annotated in the sentences of each disease, then over diseases.
    """
    labels = [label for label in model.labels if label in corpus.labels]
    if not labels:
        known = [label for label in corpus.labels if label != UNCERTAIN]
        raise BadInput(
            f"corpus '{corpus.name}' is annotated for no symptom of model '{model.name}'",
            where=f"labels of the corpus: {', '.join(known[:5]) or 'none'}",
            allowed=nearest(known[0] if known else "", model.labels),
            do="rename the labels (`labels=COLUMN=NAME`)",
        )
    tags = tags_of(model, corpus.texts)
    scores = tags.relevance[:, [model.labels.index(label) for label in labels]]
    targets, clusters = corpus.targets(labels), Clusters.of(corpus.units())
    where = {"model": model.name, "corpus": corpus.name}
    found = [
        finding
        for measure in ("auc", "f1")
        for finding in _figures(measure, corpus, labels, targets, scores, clusters, where)
    ]
    return (*found, *_status(corpus, tags.uncertain, clusters, where))


def _figures(
    measure: str,
    corpus: Corpus,
    labels: list[str],
    targets: FloatArray,
    scores: FloatArray,
    clusters: Clusters,
    where: Mapping[str, str],
) -> list[Finding]:
    """One measure of each symptom, of all, and of the symptoms of each disease in its sentences."""
    name, out = f"symptom_{measure}", []
    single = [figure_influences(targets[:, k], scores[:, k], 0.5)[measure] for k in range(len(labels))]
    for k, label in enumerate(labels):
        n = int(usable(targets[:, k], scores[:, k]).sum())
        ends = classification_intervals(targets[:, k], scores[:, k], clusters).get(measure)
        out.append(measured(name, single[k][0], n, ends, {**where, "label": label}))
    value, n, interval = mean_figure(single, clusters)
    out.append(measured(name, value, n, interval, {**where, "label": ALL}))
    row_of = {one: row for row, one in enumerate(corpus.ids)}
    pairs = []
    for disease, part in subsets(corpus).items():
        inside = np.isin(np.arange(len(corpus)), [row_of[one] for one in part.ids])
        own = np.where(inside[:, None], targets, np.nan)
        annotated = np.flatnonzero(~np.isnan(own).all(axis=0))
        figures = [figure_influences(own[:, k], scores[:, k], 0.5)[measure] for k in annotated]
        value, n, interval = mean_figure(figures, clusters)
        here = {**where, "label": ALL, "disease": disease}
        out.append(measured(f"{name}_by_disease", value, n, interval, here))
        if n:
            moved = [influence for one, influence in figures if not np.isnan(one)]
            pairs.append((value, np.mean(moved, axis=0)))
    value, n, interval = mean_figure(pairs, clusters)
    out.append(measured(f"{name}_by_disease", value, n, interval, {**where, "label": ALL, "disease": ALL}))
    return out


def _status(
    corpus: Corpus, uncertain: FloatArray, clusters: Clusters, where: Mapping[str, str]
) -> list[Finding]:
    """The mean absolute error of the status, that of a constant, and that of a single annotator."""
    if UNCERTAIN not in corpus.labels:
        return []
    targets = corpus.targets([UNCERTAIN])[:, 0]
    known = ~np.isnan(targets)
    if not known.any():
        return []
    errors = status_errors(targets[known], uncertain[known])
    if np.isnan(uncertain).any():  # a model without a status
        del errors["model"]
    out = []
    for of, values in errors.items():
        value, interval = mean_error(values, clusters.at(known))
        out.append(measured("status_mae", value, len(values), interval, {**where, "of": of}))
    return out


def lines_of(findings: tuple[Finding, ...]) -> list[str]:
    """What a person reads first: means, then status, then symptoms from the weakest on."""

    def line(name: str, finding: Finding) -> str:
        ends = "" if finding.interval is None else " ({:.3f}–{:.3f})".format(*finding.interval)
        return f"{name}: {finding.value:.3f}{ends}, n = {finding.n:,}" if finding.tested else f"{name}: –"

    means = [one for one in findings if one.where.get("label") == ALL]
    status = [one for one in findings if one.measure == "status_mae"]
    single = [one for one in findings if one not in means and one not in status]
    single.sort(key=lambda one: (one.measure, one.value if one.tested else -1.0))
    titles = {"symptom_auc": "AUC", "symptom_f1": "F1"}
    return [
        *(
            line(f"{titles[one.measure.removesuffix('_by_disease')]}, {_of_what(one)}", one)
            for one in means
            if one.where.get("disease", ALL) == ALL
        ),
        *(line(f"status, mean absolute error of the {one.where['of']}", one) for one in status),
        *(line(f"{titles[one.measure]}, {one.where['label']}", one) for one in single),
    ]


def _of_what(finding: Finding) -> str:
    by_disease = finding.measure.endswith("_by_disease")
    return "mean over diseases of their symptoms" if by_disease else "mean over symptoms, all sentences"
