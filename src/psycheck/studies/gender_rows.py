"""Decisions of one classifier on pairs, the same text about a woman and about a man, and their figures.

Both wordings of a text share its annotation, so every figure is of pairs: their number is n, intervals are
clustered by pair (and by author), and McNemar's test asks whether one wording is called positive more often.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import compress
from typing import Any

import numpy as np
import polars as pl

from psycheck import Finding, measured
from psycheck.report.studies.gender_tables import EXPERIMENTS
from psycheck.statistics import classification as measures
from psycheck.statistics.classification import BoolArray, FloatArray
from psycheck.statistics.clustered import Clusters, change_interval, effective_share, ratio_interval
from psycheck.statistics.group_rates import Difference, Rate, paired_difference
from psycheck.statistics.label_intervals import classification_intervals, figure_influences
from psycheck.statistics.miss_ratio import fnr_ratio
from psycheck.studies.gender_texts import FEMALE, MALE

AUDIT = "gender"
# Stands for the name of an encoder: the vectors of a model that is trained end to end.
OWN = "its own"
# By seed: how many pairs have one vector in both wordings, and how many pairs there are.
Draws = dict[int, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Decided:
    """One classifier on all test pairs: `marks`, `as_female` and `as_male` are (n,), one entry per pair.

    `units` names what belongs together, (n,): texts of one author, or copies. `unseen` counts, by reason, the
    pairs whose two wordings have the same vector and so cannot differ; `parameters` are those that its search
    found, if any.
    """

    corpus: str
    label: str
    encoder: str
    learner: str
    experiment: str
    seed: int
    ids: tuple[str, ...]
    marks: BoolArray
    as_female: BoolArray
    as_male: BoolArray
    units: tuple[str, ...]
    unseen: Mapping[str, int] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    converged: bool = True

    @property
    def name(self) -> str:
        """The learner, its vectors, the experiment and the seed."""
        return f"{self.learner}, {self.encoder}, {self.experiment}, seed {self.seed}"

    @property
    def flipped(self) -> BoolArray:
        """Which pairs have two decisions, (n,)."""
        flipped: BoolArray = self.as_female != self.as_male
        return flipped

    @property
    def clusters(self) -> Clusters:
        """The pairs that belong together."""
        return Clusters.of(self.units)

    def where(self, **more: str) -> dict[str, str]:
        """The `where` of a finding about it."""
        return {
            "audit": AUDIT,
            "model": self.learner,
            "encoder": self.encoder,
            "experiment": self.experiment,
            "corpus": self.corpus,
            "label": self.label,
            "seed": str(self.seed),
            **more,
        }


def figures(row: Decided) -> list[Finding]:
    """Macro-F1, FNR by gender, FNRR with its direction, flips, McNemar's p, and both differences."""
    return [_macro_f1(row), *_false_negatives(row), *_flips_and_gaps(row)]


def _macro_f1(row: Decided) -> Finding:
    """Macro-F1 over both wordings of all pairs, as the paper counts them."""
    targets, decided = _both_wordings(row)
    table = measures.confusion(targets, decided)
    estimate = measures.macro_f1(table)
    intervals = classification_intervals(targets, decided, _doubled(row.clusters))
    return measured(
        "macro_f1",
        estimate.value,
        len(row.marks),
        interval=intervals.get("macro_f1"),
        where=row.where(),
        counts={**asdict(table), "units": row.clusters.count},
        flags=estimate.flags,
    )


def _false_negatives(row: Decided) -> list[Finding]:
    """The false negative rate of each wording, their ratio, and McNemar's p among the positive pairs."""
    positive = row.marks
    n = int(positive.sum())
    clusters = row.clusters
    missed = {FEMALE: positive & ~row.as_female, MALE: positive & ~row.as_male}

    # Both wordings have the same positive pairs, so both rates have the same n.
    findings = []
    for gender, missed_pairs in missed.items():
        findings.append(
            measured(
                "fnr",
                Rate(int(missed_pairs.sum()), n).value,
                n,
                interval=ratio_interval(missed_pairs, positive, clusters),
                where=row.where(group=gender),
            )
        )

    counts = {
        "missed_female": int(missed[FEMALE].sum()),
        "missed_male": int(missed[MALE].sum()),
        "missed_both": int((missed[FEMALE] & missed[MALE]).sum()),
        "positives": n,
    }
    ratio = fnr_ratio(
        counts["missed_female"],
        n,
        counts["missed_male"],
        n,
        both=counts["missed_both"],
        names=(FEMALE, MALE),
        share=effective_share(missed[FEMALE] | missed[MALE], positive, clusters),
    )
    findings.append(
        measured(
            "fnr_ratio",
            ratio.value,
            n,
            interval=ratio.interval,
            where=row.where(),
            counts=counts,
            flags=(f"favours_{ratio.favoured or 'neither'}",),
        )
    )
    # Calling a positive pair positive is not missing it: McNemar's p of both is the same.
    p = _gap_among_positives(row).p
    findings.append(Finding("fnr_mcnemar_p", p, n, where=row.where(), counts=counts))
    return findings


def _gap_among_positives(row: Decided) -> Difference:
    """How much more often the female wording of a positive pair is called positive."""
    positive = row.marks
    return paired_difference(row.as_female[positive], row.as_male[positive], row.clusters.at(positive))


def _flips_and_gaps(row: Decided) -> list[Finding]:
    """The share of pairs with two decisions, McNemar's p over all pairs, and both fairness differences."""
    n = len(row.marks)
    clusters = row.clusters
    counts = {
        "flipped": int(row.flipped.sum()),
        "only_female_positive": int(np.sum(row.as_female & ~row.as_male)),
        "only_male_positive": int(np.sum(row.as_male & ~row.as_female)),
        "unseen": sum(row.unseen.values()),
    }
    flip_rate = measured(
        "flip_rate",
        Rate(counts["flipped"], n).value,
        n,
        interval=ratio_interval(row.flipped, np.ones(n), clusters),
        where=row.where(),
        counts=counts,
        examples=tuple(compress(row.ids, row.flipped)),
    )

    gaps = {
        "equal_opportunity": _gap_among_positives(row),
        "demographic_parity": paired_difference(row.as_female, row.as_male, clusters),
    }
    p = gaps["demographic_parity"].p
    findings = [flip_rate, Finding("mcnemar_p", p, n, where=row.where(), counts=counts)]
    for measure, gap in gaps.items():
        findings.append(
            measured(f"{measure}_difference", gap.value, gap.n[0], interval=gap.interval, where=row.where())
        )
    return findings


def changes(row: Decided, original: Decided) -> list[Finding]:
    """Against training on the original texts: the share of flipped pairs, and macro-F1, on the same pairs."""
    n = len(row.marks)
    where = row.where(versus=original.experiment)
    clusters = row.clusters

    flips = paired_difference(row.flipped, original.flipped, clusters)
    counts = {"flipped_before": int(original.flipped.sum()), "flipped": int(row.flipped.sum())}

    # The texts are the same, so their influences are subtracted one by one: what both get wrong cancels out.
    macro_f1, influence = figure_influences(*_both_wordings(row), 0.5)["macro_f1"]
    before, influence_before = figure_influences(*_both_wordings(original), 0.5)["macro_f1"]
    influence_of_change = influence - influence_before
    interval = change_interval(before, macro_f1, influence_of_change, _doubled(clusters))
    return [
        measured("flip_rate_change", flips.value, n, interval=flips.interval, where=where, counts=counts),
        Finding("flip_rate_change_p", flips.p, n, where=where, counts=counts),
        measured("macro_f1_change", macro_f1 - before, n, interval=interval, where=where),
    ]


def pair_rows(rows: Sequence[Decided]) -> pl.DataFrame:
    """Every pair as every classifier decided it: ids and decisions, never texts."""
    return pl.concat(_pair_table(row) for row in rows)


def _pair_table(row: Decided) -> pl.DataFrame:
    decisions = pl.DataFrame(
        {
            "id": row.ids,
            "annotated": row.marks,
            "as_female": row.as_female,
            "as_male": row.as_male,
        },
        schema={
            "id": pl.String,
            "annotated": pl.Boolean,
            "as_female": pl.Boolean,
            "as_male": pl.Boolean,
        },
    )
    return decisions.select(
        pl.lit(row.learner).alias("model"),
        pl.lit(row.encoder).alias("encoder"),
        pl.lit(row.experiment).alias("experiment"),
        pl.lit(row.seed, pl.Int32).alias("seed"),
        pl.all(),
        (pl.col("as_female") != pl.col("as_male")).alias("flipped"),
    )


def unseen_notes(rows: Sequence[Decided]) -> list[str]:
    """Pairs that could not flip, by kind of vectors, reason, and training where that makes a difference."""
    seeds = len({row.seed for row in rows})
    notes = []
    for (vectors, reason), draws_by_experiment in _unseen_draws(rows).items():
        # Experiments with the same numbers share a note.
        same_draws: dict[tuple[tuple[int, tuple[int, int]], ...], list[str]] = {}
        for experiment, draws in draws_by_experiment.items():
            same_draws.setdefault(tuple(draws.items()), []).append(experiment)

        for draw_items, experiments in same_draws.items():
            trained_on = f", trained on {' or '.join(experiments)} texts"
            if len(experiments) == len(EXPERIMENTS):
                trained_on = ""
            pairs = _count_of_pairs(dict(draw_items), seeds)
            notes.append(
                f"{vectors}{trained_on}: {pairs} have one vector in both wordings ({reason}), "
                "so they cannot flip"
            )
    return notes


def _unseen_draws(rows: Sequence[Decided]) -> dict[tuple[str, str], dict[str, Draws]]:
    """Pairs that could not flip: by vectors and reason, then by experiment, then by seed.

    Learners on the same vectors may differ where one of them flips such a pair by rounding: the fewest count.
    """
    unseen: dict[tuple[str, str], dict[str, Draws]] = {}
    for row in rows:
        vectors = row.learner if row.encoder == OWN else f"vectors of {row.encoder}"
        for reason, count in row.unseen.items():
            draws = unseen.setdefault((vectors, reason), {}).setdefault(row.experiment, {})
            fewest, _ = draws.get(row.seed, (count, 0))
            draws[row.seed] = (min(count, fewest), len(row.marks))
    return unseen


def _count_of_pairs(draws: Draws, seeds: int) -> str:
    """How many pairs of how many, once where all draws have the same numbers."""
    distinct = set(draws.values())
    if len(draws) == seeds and len(distinct) == 1:
        count, total = distinct.pop()
        return f"{count} of {total} pairs{' of each draw' if seeds > 1 else ''}"
    counts = [f"seed {seed}: {count} of {total}" for seed, (count, total) in draws.items()]
    return ", ".join(counts) + " pairs"


def _both_wordings(row: Decided) -> tuple[FloatArray, FloatArray]:
    """The annotation and the decision of both wordings, (2n,)."""
    targets = np.tile(row.marks * 1.0, 2)
    decided = np.concatenate([row.as_female, row.as_male]) * 1.0
    return targets, decided


def _doubled(clusters: Clusters) -> Clusters:
    """The clusters of both wordings: a pair stays together."""
    return Clusters(np.tile(clusters.codes, 2), clusters.count)
