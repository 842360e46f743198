"""Decisions of one classifier on pairs, the same text about a woman and about a man, and their figures.

Both wordings of a text share its annotation, so every figure is of pairs: their number is n, whole pairs are
drawn for intervals, and McNemar's test asks whether one wording is called positive more often.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import polars as pl

from psycheck.experiments.gender_texts import FEMALE, MALE
from psycheck.finding import Finding
from psycheck.measures.bootstrap import RESAMPLES, f1_of_counts, percentiles
from psycheck.measures.classification import BoolArray, Confusion, FloatArray, macro_f1
from psycheck.measures.fairness import Rate, fnr_ratio, paired_difference, paired_flips

AUDIT = "gender"
OWN = "its own"  # the vectors of a model that is trained end to end


@dataclass(frozen=True, slots=True)
class Decided:
    """One classifier on all test pairs: `marks`, `as_female` and `as_male` are (n,), one entry per pair.

    `unseen` counts, by reason, the pairs whose two wordings have the same vector and so cannot differ.
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
    unseen: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))

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
    n, where = len(one.marks), one.where()
    table = _confusion(one.marks, one.positives)
    found = macro_f1(table)
    counts = {"tp": table.tp, "fp": table.fp, "fn": table.fn, "tn": table.tn}
    drawn = _drawn_f1(one.marks, [one.positives], resamples, seed)[0]
    out = [Finding("macro_f1", found.value, n, percentiles(drawn), where, counts, flags=found.flags)]
    yes = one.marks
    missed_f, missed_m = yes & ~one.as_female, yes & ~one.as_male
    positives = int(yes.sum())
    for name, missed in ((FEMALE, missed_f), (MALE, missed_m)):
        rate = Rate(int(missed.sum()), positives)
        out.append(Finding("fnr", rate.value, positives, rate.interval, one.where(group=name)))
    both = int((missed_f & missed_m).sum())
    first, second = int(missed_f.sum()), int(missed_m.sum())
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
    ids = tuple(id_ for id_, turned in zip(one.ids, one.flipped, strict=True) if turned)
    out.append(Finding("flip_rate", flips.rate.value, n, flips.rate.interval, where, ledger, ids))
    out.append(Finding("mcnemar_p", flips.p, n, None, where, ledger))
    chance = paired_difference(one.as_female[yes], one.as_male[yes])
    out.append(Finding("equal_opportunity_difference", chance.value, positives, chance.interval, where))
    parity = paired_difference(one.as_female, one.as_male)
    out.append(Finding("demographic_parity_difference", parity.value, n, parity.interval, where))
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
    sums: list[list[FloatArray]] = []
    for side in (marks, ~marks):
        values, counts = np.unique(kinds[side], axis=0, return_counts=True)
        drawn = random.multinomial(counts.sum(), counts / counts.sum(), size=resamples)
        sums.append([(drawn @ values[:, k]).astype(np.float64) for k in range(len(positives))])
    out = []
    for tp, fp in zip(*sums, strict=True):
        fn, tn = 2 * int(marks.sum()) - tp, 2 * int((~marks).sum()) - fp
        of_one, of_zero = f1_of_counts(tp, fp, fn, tn)
        out.append((of_one + of_zero) / 2)
    return out
