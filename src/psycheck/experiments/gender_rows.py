"""Decisions of one classifier on pairs, the same text about a woman and about a man, and their figures.

Both wordings of a text share its annotation, so every figure is of pairs: their number is n, whole pairs are
drawn for intervals, and McNemar's test asks whether one wording is called positive more often.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import compress
from typing import Any

import numpy as np
import polars as pl

from psycheck.experiments.gender_texts import FEMALE, MALE
from psycheck.finding import Finding
from psycheck.measures.bootstrap import RESAMPLES, f1_of_counts, percentiles
from psycheck.measures.classification import BoolArray, Confusion, FloatArray, macro_f1
from psycheck.measures.fairness import Rate, fnr_ratio, paired_difference, paired_flips
from psycheck.report.studies.gender import EXPERIMENTS

AUDIT = "gender"
OWN = "its own"  # the vectors of a model that is trained end to end


@dataclass(frozen=True, slots=True)
class Decided:
    """One classifier on all test pairs: `marks`, `as_female` and `as_male` are (n,), one entry per pair.

    `unseen` counts, by reason, the pairs whose two wordings have the same vector and so cannot differ;
    `parameters` are those that its search found, if any.
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
    unseen: Mapping[str, int] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    converged: bool = True

    @property
    def name(self) -> str:
        """The learner, the experiment and the seed."""
        return f"{self.learner}, {self.experiment}, seed {self.seed}"

    @property
    def flipped(self) -> BoolArray:
        """Which pairs have two decisions, (n,)."""
        out: BoolArray = self.as_female != self.as_male
        return out

    @property
    def positives(self) -> FloatArray:
        """How many of the two wordings are called positive, (n,)."""
        out: FloatArray = self.as_female.astype(np.float64) + self.as_male
        return out

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


def figures(one: Decided, *, resamples: int = RESAMPLES, seed: int = 0) -> list[Finding]:
    """Macro-F1, FNR by gender, FNRR with its direction, flips, McNemar's p, and both differences."""
    n, where, yes = len(one.marks), one.where(), one.marks
    positives = int(yes.sum())
    table = _confusion(yes, one.positives)
    found = macro_f1(table)
    drawn = _drawn_f1(yes, [one.positives], resamples, seed)[0]
    out = [Finding("macro_f1", found.value, n, percentiles(drawn), where, asdict(table), flags=found.flags)]
    first, second = int((yes & ~one.as_female).sum()), int((yes & ~one.as_male).sum())
    both = int((yes & ~one.as_female & ~one.as_male).sum())
    for name, missed in ((FEMALE, first), (MALE, second)):
        rate = Rate(missed, positives)
        out.append(Finding("fnr", rate.value, positives, rate.interval, one.where(group=name)))
    ratio = fnr_ratio(first, positives, second, positives, both=both, names=(FEMALE, MALE))
    misses = {"missed_female": first, "missed_male": second, "missed_both": both, "positives": positives}
    towards = (f"favours_{ratio.favoured or 'neither'}",)
    out.append(Finding("fnr_ratio", ratio.value, positives, ratio.interval, where, misses, flags=towards))
    out.append(Finding("fnr_mcnemar_p", ratio.p, positives, None, where, misses))
    flips = paired_flips(one.as_female, one.as_male)
    ledger = {
        "flipped": flips.flipped,
        "only_female_positive": flips.only_first,
        "only_male_positive": flips.only_second,
        "unseen": sum(one.unseen.values()),
    }
    ids = tuple(compress(one.ids, one.flipped))
    out.append(Finding("flip_rate", flips.rate.value, n, flips.rate.interval, where, ledger, ids))
    out.append(Finding("mcnemar_p", flips.p, n, None, where, ledger))
    for measure, rows in (("equal_opportunity", yes), ("demographic_parity", np.ones(n, bool))):
        gap = paired_difference(one.as_female[rows], one.as_male[rows])
        size = int(rows.sum())
        out.append(Finding(f"{measure}_difference", gap.value, size, gap.interval, where))
    return out


def changes(one: Decided, original: Decided, *, resamples: int = RESAMPLES, seed: int = 0) -> list[Finding]:
    """Against training on the original texts: the share of flipped pairs, and macro-F1, on the same pairs."""
    n, where = len(one.marks), one.where(versus=original.experiment)
    flips = paired_difference(one.flipped, original.flipped)
    counts = {"flipped_before": int(original.flipped.sum()), "flipped": int(one.flipped.sum())}
    before, after = _drawn_f1(one.marks, [original.positives, one.positives], resamples, seed)
    gain = macro_f1(_confusion(one.marks, one.positives)).value
    gain -= macro_f1(_confusion(one.marks, original.positives)).value
    return [
        Finding("flip_rate_change", flips.value, n, flips.interval, where, counts),
        Finding("flip_rate_change_p", flips.p, n, None, where, counts),
        Finding("macro_f1_change", gain, n, percentiles(after - before), where),
    ]


def pair_rows(rows: Sequence[Decided]) -> pl.DataFrame:
    """Every pair as every classifier decided it: ids and decisions, never texts."""
    return pl.concat(
        pl.DataFrame(
            {"id": row.ids, "annotated": row.marks, "as_female": row.as_female, "as_male": row.as_male},
            schema={"id": pl.String, **dict.fromkeys(("annotated", "as_female", "as_male"), pl.Boolean)},
        ).select(
            pl.lit(row.learner).alias("model"),
            pl.lit(row.encoder).alias("encoder"),
            pl.lit(row.experiment).alias("experiment"),
            pl.lit(row.seed, pl.Int32).alias("seed"),
            pl.all(),
            (pl.col("as_female") != pl.col("as_male")).alias("flipped"),
        )
        for row in rows
    )


def unseen_notes(rows: Sequence[Decided]) -> list[str]:
    """Pairs that could not flip, by kind of vectors, reason, and training where that makes a difference."""
    seeds = len({row.seed for row in rows})
    found: dict[tuple[str, str], dict[str, dict[int, tuple[int, int]]]] = {}
    for row in rows:
        whose = row.learner if row.encoder == OWN else f"vectors of {row.encoder}"
        for why, n in row.unseen.items():
            draws = found.setdefault((whose, why), {}).setdefault(row.experiment, {})
            draws[row.seed] = (min(n, draws.get(row.seed, (n, 0))[0]), len(row.marks))
    out = []
    for (whose, why), experiments in found.items():
        groups: dict[tuple[tuple[int, tuple[int, int]], ...], list[str]] = {}
        for experiment, draws in experiments.items():
            groups.setdefault(tuple(draws.items()), []).append(experiment)
        for counts, names in groups.items():
            trained = "" if len(names) == len(EXPERIMENTS) else f", trained on {' or '.join(names)} texts"
            out.append(
                f"{whose}{trained}: {_pairs(dict(counts), seeds)} have one vector in both wordings ({why}), "
                "so they cannot flip"
            )
    return out


def _confusion(marks: BoolArray, positives: FloatArray) -> Confusion:
    """Both wordings of all pairs, as the paper counts them."""
    tp, fp = int(positives[marks].sum()), int(positives[~marks].sum())
    return Confusion(tp, fp, 2 * int(marks.sum()) - tp, 2 * int((~marks).sum()) - fp)


def _drawn_f1(
    marks: BoolArray, positives: Sequence[FloatArray], resamples: int, seed: int
) -> list[FloatArray]:
    """Macro-F1 of each classifier in each draw of whole pairs within each class, each (resamples,).

    A pair matters only by how many of its wordings each classifier calls positive, so what is drawn is how
    many pairs of each such kind there are: multinomial, the same draws for all classifiers.
    """
    random = np.random.default_rng(seed)
    kinds = np.stack(positives, axis=1).astype(np.int64)
    sums = []
    for side in (marks, ~marks):
        values, counts = np.unique(kinds[side], axis=0, return_counts=True)
        drawn = random.multinomial(counts.sum(), counts / counts.sum(), size=resamples)
        sums.append((drawn @ values).astype(np.float64).T)
    tp, fp = sums  # each (classifiers, resamples)
    of_one, of_zero = f1_of_counts(tp, fp, 2 * int(marks.sum()) - tp, 2 * int((~marks).sum()) - fp)
    return list((of_one + of_zero) / 2)


def _pairs(draws: dict[int, tuple[int, int]], seeds: int) -> str:
    """How many pairs of how many, once where all draws have the same numbers."""
    if len(draws) == seeds and len(set(draws.values())) == 1:
        n, total = next(iter(draws.values()))
        return f"{n} of {total} pairs{' of each draw' if seeds > 1 else ''}"
    return ", ".join(f"seed {seed}: {n} of {total}" for seed, (n, total) in draws.items()) + " pairs"
