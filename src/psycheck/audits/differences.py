"""Several models on the same texts: how far they agree, who is better, and who is right where they part."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations

import numpy as np

from psycheck.audits.measured import measured, measured_rate
from psycheck.audits.performance import MOST_EXAMPLES, f1_bounds
from psycheck.audits.summary import holm_family
from psycheck.finding import Finding
from psycheck.measures import classification as figures
from psycheck.measures.agreement import cohen_kappa, kappa_interval
from psycheck.measures.classification import BoolArray, FloatArray
from psycheck.measures.clustered import Clusters, change_interval, paired_p, ratio_interval
from psycheck.measures.fairness import Rate, paired_difference
from psycheck.measures.intervals import UNKNOWN
from psycheck.measures.significance import mcnemar

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
        unknown = np.isnan(self.gold[:, None] + self.decided)
        return np.where(unknown, np.nan, self.decided == self.gold[:, None])

    def graded(self, *models: int) -> bool:
        """Whether the scores of these models are more than yes or no; without that there is no ranking."""
        known = [self.scores[~np.isnan(self.scores[:, k]), k] for k in models]
        return all(bool(np.any((one != 0) & (one != 1))) for one in known)

    def where(self, model: int, versus: int | None = None) -> dict[str, str]:
        """The `where` of a finding about a model, or about a pair of models."""
        pair = {} if versus is None else {"versus": self.models[versus]}
        return {
            "audit": DIFF,
            "corpus": self.corpus,
            "label": self.label,
            "model": self.models[model],
            **pair,
        }

    def examples(self, rows: BoolArray) -> tuple[str, ...]:
        """The ids of the first of these texts."""
        return tuple(self.ids[i] for i in np.flatnonzero(rows)[:MOST_EXAMPLES])

    @property
    def pairs(self) -> Iterator[tuple[int, int]]:
        """Every two models."""
        return combinations(range(len(self.models)), 2)


def difference_findings(answered: Sequence[Answered]) -> list[Finding]:
    """Figures of every model, and of every pair; p-values are adjusted over all pairs, labels and corpora."""
    found: list[Finding] = []
    for one in answered:
        found += [*_figures(one), *_agreement(one)]
        for first, second in one.pairs:
            found += [*_differences(one, first, second), *_where_apart(one, first, second)]
    return [*found, *holm_family([f for f in found if f.measure == "difference_p"])]


def _figures(one: Answered) -> Iterator[Finding]:
    """The figures of each model, AUC of graded scores alone, F1 at worst and at best, and what is missing."""
    annotated = ~np.isnan(one.gold)
    for k in range(len(one.models)):
        scores, decided, where = one.scores[:, k], one.decided[:, k], one.where(k)
        table = figures.confusion(one.gold, decided)
        missing = Rate(int((annotated & np.isnan(decided)).sum()), int(annotated.sum()))
        counts = {**asdict(table), "annotated": missing.n, "unanswered": missing.count}
        counts["units"] = one.clusters.at(figures.usable(one.gold, decided)).count
        intervals = figures.classification_intervals(one.gold, scores, one.clusters, decided=decided)
        values = {name: measure(table) for name, measure in _PERFORMANCE.items()}
        out_of = {"precision": table.tp + table.fp, "recall": table.positive}
        if one.graded(k):
            values["auc"] = figures.auc(one.gold, scores)
        for name, found in values.items():
            n, interval = out_of.get(name, table.n), intervals.get(name, UNKNOWN)
            yield measured(name, found.value, n, interval, where, counts, (), found.flags)
        interval = ratio_interval(annotated & np.isnan(decided), annotated, one.clusters)
        yield measured_rate("unanswered", missing, where, counts, interval=interval)
        if missing.count:
            yield from f1_bounds(one.gold, decided, one.clusters, where, counts)


def _agreement(one: Answered) -> Iterator[Finding]:
    """The share of texts with the same decision and Cohen's kappa of every pair, annotated or not."""
    for first, second in one.pairs:
        a, b = one.decided[:, first], one.decided[:, second]
        both = ~np.isnan(a + b)
        n, same, where = int(both.sum()), both & (a == b), one.where(first, second)
        counts = {"same": int(same.sum()), "units": one.clusters.at(both).count}
        share, interval = Rate(counts["same"], n), ratio_interval(same, both, one.clusters)
        yield measured_rate("agreement", share, where, counts, one.examples(both & ~same), interval)
        kappa, _ = cohen_kappa(a[both], b[both])
        ends = kappa_interval(a[both], b[both], one.clusters.at(both))
        flags = ("one_prediction",) if n and np.isnan(kappa) else ()
        yield measured("kappa", kappa, n, ends, where, counts, (), flags)
    if len(one.models) > 2:
        every = ~np.isnan(one.decided).any(axis=1)
        same = every & (one.decided == one.decided[:, :1]).all(axis=1)
        share, interval = Rate(int(same.sum()), int(every.sum())), ratio_interval(same, every, one.clusters)
        where = {**one.where(0), "model": "all"}
        yield measured_rate("agreement_all", share, where, {"models": len(one.models)}, (), interval)


def _differences(one: Answered, first: int, second: int) -> Iterator[Finding]:
    """Accuracy, F1 and AUC of the first model minus those of the second, on what both answered.

    The test of accuracy is McNemar's, of clusters the turning of signs; that of F1 and AUC turns the signs of
    each cluster's share in the difference. AUC needs graded scores of both.
    """
    where, right = one.where(first, second), one.right[:, [first, second]]
    known: BoolArray = ~np.isnan(right.sum(axis=1))
    units, gold, n = one.clusters.at(known), one.gold[known], int(known.sum())
    mine, others = right[known].T == 1
    table = mcnemar(mine, others)
    counts = {
        "both_right": table.both,
        "only_this_right": table.only_first,
        "only_other_right": table.only_second,
        "neither_right": table.neither,
        "units": units.count,
    }
    apart = one.examples(known & (right[:, 0] != right[:, 1]))
    found = paired_difference(mine, others, units)
    yield measured("accuracy_difference", found.value, n, found.interval, where, counts, apart)
    yield measured("difference_p", found.p, n, None, {**where, "figure": "accuracy"}, counts)
    graded = ("auc",) * one.graded(first, second)
    for name in ("f1", *graded):
        answers = one.scores if name == "auc" else one.decided
        (now, ours), (then, theirs) = (
            figures.figure_influences(gold, answers[known, k], 0.5)[name] for k in (first, second)
        )
        value, influence = now - then, ours - theirs
        tested = not np.isnan(value)
        interval = change_interval(then, now, influence, units) if tested else None
        p = paired_p(value / n + influence, units) if tested else np.nan
        flags = () if tested else ("one_class",) if n else ("no_texts",)
        yield measured(f"{name}_difference", value, n, interval, where, counts, (), flags)
        yield measured("difference_p", p, n, None, {**where, "figure": name}, counts, (), flags)


def _where_apart(one: Answered, first: int, second: int) -> Iterator[Finding]:
    """Of the texts on which two models part, the share where the first is right, by annotation (ANGST 7)."""
    right = one.right[:, [first, second]]
    known: BoolArray = ~np.isnan(right.sum(axis=1))
    for gold, values in GOLDS.items():
        here = known & np.isin(one.gold, values)
        apart = here & (right[:, 0] != right[:, 1])
        mine = apart & (right[:, 0] == 1)
        counts = {
            "texts": int(here.sum()),
            "only_this_right": int(mine.sum()),
            "only_other_right": int((apart & ~mine).sum()),
            "neither_right": int((here & (right == 0).all(axis=1)).sum()),
        }
        where, share = {**one.where(first, second), "gold": gold}, Rate(int(mine.sum()), int(apart.sum()))
        interval = ratio_interval(mine, apart, one.clusters)
        yield measured_rate("right_where_apart", share, where, counts, one.examples(apart), interval)


def outcome_names(one: Answered, first: int, second: int) -> Iterable[tuple[str, BoolArray]]:
    """Who of two models is right, and on which texts; "TF" is only the first (ANGST, Table 16)."""
    right = one.right[:, [first, second]]
    for name in ("TT", "TF", "FT", "FF"):
        yield name, (right == [letter == "T" for letter in name]).all(axis=1)
