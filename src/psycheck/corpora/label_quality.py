"""How far the annotations of a corpus can be trusted: imbalance, contradictions, doubts, what is missing."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import GROUP, Corpus
from psycheck.core.errors import counted, library
from psycheck.corpora.adversarial import cross_scores, fold_groups
from psycheck.corpora.leaks import split_of
from psycheck.corpora.suspicious_figures import LIMITS, Sign, both_classes, enough, ids_at, share, share_sign
from psycheck.statistics import clustered
from psycheck.statistics.classification import BoolArray, auc, auc_influence
from psycheck.statistics.clustered import Clusters
from psycheck.statistics.label_intervals import classification_intervals
from psycheck.statistics.sides import Figure


def imbalance(corpus: Corpus, label: str) -> Iterator[Sign]:
    """The share of the larger class."""
    yes, no = both_classes(corpus, label)
    larger = yes if yes.sum() >= no.sum() else no
    yield Sign(
        name="imbalance",
        figure=share(corpus, larger, yes | no),
        label=label,
    )


def conflicts(corpus: Corpus, label: str, copies: Sequence[str]) -> Iterator[Sign]:
    """Copies of one text with different annotations; `copies` are the plain texts."""
    yes, no = both_classes(corpus, label)
    annotated = yes | no
    positive_copies = {copies[place] for place in np.flatnonzero(yes).tolist()}
    negative_copies = {copies[place] for place in np.flatnonzero(no).tolist()}

    # Texts without a word (an emoji, a number of marks) have the same plain text and are no copies.
    contradicted = (positive_copies & negative_copies) - {""}
    annotated_places = np.flatnonzero(annotated).tolist()
    places = [place for place in annotated_places if copies[place] in contradicted]
    yield share_sign(
        name="conflicting_labels",
        corpus=corpus,
        places=places,
        among=annotated,
        label=label,
    )


def learned(corpus: Corpus, label: str, seed: int) -> Iterator[Sign]:
    """What a cross-validated classifier learns from authors, and the annotations that it doubts."""
    # Asked for first, so that a missing extra is reported before minutes of training.
    cleanlab = library("cleanlab.filter", "the search for doubtful labels", "compare")
    yes, no = both_classes(corpus, label)
    if not enough(yes, no):
        return

    annotated = corpus.only(yes | no)
    positive = yes[yes | no]
    targets = positive.astype(np.float64)
    authors = annotated.strings("author")
    groups = fold_groups(annotated.texts, authors)
    scores = cross_scores(
        texts=annotated.texts,
        targets=targets,
        groups=groups,
        seed=seed,
    )
    if np.isnan(scores).any():
        return

    # With a split, authors in several of them are a caution of their own (`leaks`).
    author_repeats = any(authors) and len(set(authors)) < len(authors)
    if split_of(corpus) is None and author_repeats:
        yield from _author_folds(
            corpus=annotated,
            label=label,
            positive=positive,
            scores=scores,
            seed=seed,
        )

    # A classifier that knows little of the label has no say in which annotations are wrong.
    if auc(targets, scores).value >= LIMITS["noise_auc"]:
        doubtful = _doubtful_places(cleanlab, positive, scores)
        yield share_sign(
            name="label_noise",
            corpus=annotated,
            places=doubtful,
            label=label,
        )


def _author_folds(
    corpus: Corpus,
    label: str,
    positive: BoolArray,
    scores: FloatArray,
    seed: int,
) -> Iterator[Sign]:
    """How much higher the AUC is where the classifier has seen other texts of the same authors.

    `positive` and `scores` (by a classifier that has not seen the authors) are (n,).
    """
    targets = positive.astype(np.float64)
    groups_without_authors = fold_groups(corpus.texts, [None] * len(corpus))
    mixed_scores = cross_scores(
        texts=corpus.texts,
        targets=targets,
        groups=groups_without_authors,
        seed=seed,
    )

    mixed_auc, mixed_influence = auc_influence(positive, mixed_scores)
    strict_auc, strict_influence = auc_influence(positive, scores)
    units = Clusters.of(corpus.units(), corpus.copies())
    mixed_interval = classification_intervals(targets, mixed_scores, units)["auc"]
    strict_interval = classification_intervals(targets, scores, units)["auc"]
    # Both scores are of the same texts, so the influences say how far the two AUCs vary together.
    interval = clustered.combined_interval(
        values=(mixed_auc, strict_auc),
        intervals=[mixed_interval, strict_interval],
        weights=(1.0, -1.0),
        influences=(mixed_influence, strict_influence),
        clusters=units,
    )
    # An interval that is not known (NaN) does not speak against the difference.
    if interval[0] <= 0:
        return

    figure = Figure(
        value=mixed_auc - strict_auc,
        interval=interval,
        n=len(positive),
    )
    yield Sign(
        name="author_folds",
        figure=figure,
        label=label,
        what=f"{mixed_auc:.2f}, and {strict_auc:.2f}",
    )


def _doubtful_places(cleanlab: Any, positive: BoolArray, scores: FloatArray) -> list[int]:
    """Places of labels that confident learning doubts (Northcutt et al. 2021) and whose score is low."""
    annotations = positive.astype(np.int64)
    class_scores = np.column_stack([1 - scores, scores])
    doubted = cleanlab.find_label_issues(
        annotations,
        class_scores,
        return_indices_ranked_by="self_confidence",
        n_jobs=1,
    )
    score_of_annotation = np.where(positive, scores, 1 - scores)
    return [int(place) for place in doubted if score_of_annotation[place] < LIMITS["noise_score"]]


@dataclass(frozen=True, slots=True)
class _Trait:
    """What missing labels may depend on: a value for each of the texts `known`, (n,), where there is one."""

    name: str
    values: Sequence[str]
    known: BoolArray


def missing_labels(corpus: Corpus) -> Iterator[Sign]:
    """Whether labels are annotated depends on a split, a group or the value of another label.

    Labels that are missing in the same texts are one fact.
    """
    traits = _traits(corpus)
    for missing_bytes, labels in _labels_by_missing(corpus).items():
        missing = np.frombuffer(missing_bytes, np.bool_)
        # A label that is never or always missing depends on nothing.
        if not missing.any() or missing.all():
            continue

        strength, what = _strongest_association(missing, traits)
        if len(labels) > 1:
            what += f", as for {counted(len(labels) - 1, 'other label')} missing in the same texts"
        yield Sign(
            name="missing_labels",
            figure=Figure(
                value=strength,
                interval=None,
                n=len(missing),
            ),
            label=labels[0],
            what=what,
            ids=ids_at(corpus, np.flatnonzero(missing).tolist()),
        )


def _labels_by_missing(corpus: Corpus) -> dict[bytes, list[str]]:
    """The labels by the texts for which they are missing, (n,) booleans as bytes."""
    # Bytes, because an array cannot be the key of a dictionary.
    labels_by_missing = defaultdict[bytes, list[str]](list)
    for label in corpus.labels:
        missing = np.isnan(corpus.targets([label])[:, 0])
        labels_by_missing[missing.tobytes()].append(label)
    return labels_by_missing


def _traits(corpus: Corpus) -> list[_Trait]:
    """The split, each group, and each label where it is annotated."""
    columns = [GROUP + name for name in corpus.groups]
    if "split" in corpus.table:
        columns.insert(0, "split")

    traits = []
    every_text = np.ones(len(corpus), np.bool_)
    for column in columns:
        values = corpus.table[column].fill_null("unknown").to_list()
        traits.append(
            _Trait(
                name=column.removeprefix(GROUP),
                values=values,
                known=every_text,
            )
        )
    for label in corpus.labels:
        yes, no = both_classes(corpus, label)
        values = np.where(yes, "1", "0")[yes | no].tolist()
        traits.append(
            _Trait(
                name=f"the value of {label}",
                values=values,
                known=yes | no,
            )
        )
    return traits


def _strongest_association(missing: BoolArray, traits: Sequence[_Trait]) -> tuple[float, str]:
    """The largest Cramér's V of what is missing, (n,), with a trait, and the trait's name."""
    from scipy.stats.contingency import association, crosstab

    strongest = 0.0
    strongest_trait = ""
    for trait in traits:
        missing_here = missing[trait.known]
        # A value for nearly each text (a free-text group) goes along with anything.
        distinct_values = len(set(trait.values))
        few_values = 2 <= distinct_values <= len(trait.values) / 5
        # Among the texts with this trait all or none may be missing, and V is not defined.
        varies = 0 < missing_here.sum() < len(missing_here)
        if not few_values or not varies:
            continue

        table = crosstab(missing_here, np.array(trait.values)).count
        strength = float(association(table, method="cramer"))
        if strength > strongest:
            strongest = strength
            strongest_trait = trait.name
    return strongest, strongest_trait
