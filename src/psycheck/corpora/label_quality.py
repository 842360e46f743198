"""How far the annotations of a corpus can be trusted: imbalance, contradictions, doubts, what is missing."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from operator import itemgetter

import numpy as np

from psycheck.corpora.adversarial import cross_scores, fold_groups
from psycheck.corpora.leaks import split_of
from psycheck.corpora.signs import LIMITS, Sign, both_classes, enough, ids_at, share, share_sign
from psycheck.corpus import GROUP, Corpus
from psycheck.errors import counted, library
from psycheck.measures import clustered
from psycheck.measures.classification import BoolArray, auc, auc_influence, classification_intervals
from psycheck.measures.clustered import Clusters
from psycheck.measures.distance import Figure


def imbalance(corpus: Corpus, label: str) -> Iterator[Sign]:
    """The share of the larger class."""
    ones, zeros = both_classes(corpus, label)
    larger = ones if ones.sum() >= zeros.sum() else zeros
    yield Sign("imbalance", share(corpus, larger, ones | zeros), label)


def conflicts(corpus: Corpus, label: str, copies: Sequence[str]) -> Iterator[Sign]:
    """Copies of one text with different annotations."""
    yes, no = both_classes(corpus, label)
    ones, zeros = ({copy for copy, is_in in zip(copies, side, strict=True) if is_in} for side in (yes, no))
    both = (ones & zeros) - {""}
    places = [i for i in np.flatnonzero(yes | no).tolist() if copies[i] in both]
    yield share_sign("conflicting_labels", corpus, places, yes | no, label)


def learned(corpus: Corpus, label: str, seed: int) -> Iterator[Sign]:
    """What a cross-validated classifier learns from authors, and the annotations that it doubts.

    Doubts are those of confident learning (Northcutt et al. 2021).
    """
    cleanlab = library("cleanlab.filter", "the search for doubtful labels", "compare")
    ones, zeros = both_classes(corpus, label)
    if not enough(ones, zeros):
        return
    known = corpus.only(ones | zeros)
    yes, authors = ones[ones | zeros], known.strings("author")
    targets = yes.astype(np.float64)
    scores = cross_scores(known.texts, targets, fold_groups(known.texts, authors), seed=seed)
    if np.isnan(scores).any():
        return
    if split_of(corpus) is None and any(authors) and len(set(authors)) < len(authors):
        # The same where the classifier has seen other texts of the authors.
        mixed = cross_scores(known.texts, targets, fold_groups(known.texts, [None] * len(known)), seed=seed)
        units, both = Clusters.of(known.units()), (mixed, scores)
        (high, low), influences = zip(*(auc_influence(yes, one) for one in both), strict=True)
        ends = [classification_intervals(targets, one, units)["auc"] for one in both]
        interval = clustered.combined_interval((high, low), ends, (1.0, -1.0), influences, units)
        if not interval[0] <= 0:
            figure = Figure(high - low, interval, len(yes))
            yield Sign("author_folds", figure, label, what=f"{high:.2f}, and {low:.2f}")
    if auc(targets, scores).value < LIMITS["noise_auc"]:
        return
    both_scores, ranked = np.column_stack([1 - scores, scores]), "self_confidence"
    given = yes.astype(np.int64)
    doubted = cleanlab.find_label_issues(given, both_scores, return_indices_ranked_by=ranked, n_jobs=1)
    own = np.where(yes, scores, 1 - scores)
    sure = [int(i) for i in doubted if own[i] < LIMITS["noise_score"]]
    yield share_sign("label_noise", known, sure, label=label)


def missing_labels(corpus: Corpus) -> Iterator[Sign]:
    """Whether labels are annotated depends on a split, a group or the value of another label.

    Labels that are missing in the same texts are one fact.
    """
    from scipy.stats.contingency import association, crosstab

    together = defaultdict[bytes, list[str]](list)
    for label in corpus.labels:
        together[np.isnan(corpus.targets([label])[:, 0]).tobytes()].append(label)
    # What it may follow: the split, each group, each other label where that is annotated.
    every = np.ones(len(corpus), np.bool_)
    columns = ["split"] * ("split" in corpus.table) + [GROUP + name for name in corpus.groups]
    sorts: list[tuple[str, Sequence[str], BoolArray]] = [
        (name.removeprefix(GROUP), corpus.table[name].fill_null("unknown").to_list(), every)
        for name in columns
    ]
    for other in corpus.labels:
        yes, no = both_classes(corpus, other)
        sorts.append((f"the value of {other}", np.where(yes, "1", "0")[yes | no].tolist(), yes | no))
    for marks, labels in together.items():
        absent, strongest, what = np.frombuffer(marks, np.bool_), 0.0, ""
        if not absent.any() or absent.all():
            continue
        for name, values, known in sorts:
            missing = absent[known]
            # A kind for nearly each text (a free-text group) goes along with anything.
            if 2 <= len(set(values)) <= len(values) / 5 and 0 < missing.sum() < len(missing):
                v = float(association(crosstab(missing, np.array(values)).count, method="cramer"))
                strongest, what = max((strongest, what), (v, name), key=itemgetter(0))
        if len(labels) > 1:
            what += f", as for {counted(len(labels) - 1, 'other label')} missing in the same texts"
        ids = ids_at(corpus, np.flatnonzero(absent).tolist())
        yield Sign("missing_labels", Figure(strongest, None, len(absent)), labels[0], what, ids=ids)
