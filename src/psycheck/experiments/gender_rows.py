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

from psycheck.audits.measured import measured
from psycheck.experiments.gender_texts import FEMALE, MALE
from psycheck.finding import Finding
from psycheck.measures import classification as measures
from psycheck.measures.classification import BoolArray, FloatArray
from psycheck.measures.clustered import Clusters, change_interval, effective_share, ratio_interval
from psycheck.measures.fairness import Rate, fnr_ratio, paired_difference
from psycheck.report.studies.gender import EXPERIMENTS

AUDIT = "gender"
OWN = "its own"  # the vectors of a model that is trained end to end


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
        """The learner, the experiment and the seed."""
        return f"{self.learner}, {self.experiment}, seed {self.seed}"

    @property
    def flipped(self) -> BoolArray:
        """Which pairs have two decisions, (n,)."""
        out: BoolArray = self.as_female != self.as_male
        return out

    def where(self, **more: str) -> dict[str, str]:
        """The `where` of a finding about it."""
        names = ("encoder", "experiment", "corpus", "label", "seed")
        own = {name: str(getattr(self, name)) for name in names}
        return {"audit": AUDIT, "model": self.learner, **own, **more}


def figures(one: Decided) -> list[Finding]:
    """Macro-F1, FNR by gender, FNRR with its direction, flips, McNemar's p, and both differences."""
    n, where, yes, units = len(one.marks), one.where(), one.marks, Clusters.of(one.units)
    positives = int(yes.sum())
    table = measures.confusion(*_doubled(one))  # both wordings of all pairs, as the paper counts them
    found = measures.macro_f1(table)
    interval = measures.classification_intervals(*_doubled(one), _twice(units)).get("macro_f1")
    counts = {**asdict(table), "units": units.count}
    out = [measured("macro_f1", found.value, n, interval, where, counts, (), found.flags)]
    lost = {FEMALE: yes & ~one.as_female, MALE: yes & ~one.as_male}
    first, second = (int(missed.sum()) for missed in lost.values())
    both = int((lost[FEMALE] & lost[MALE]).sum())
    for name, missed in lost.items():
        rate = Rate(int(missed.sum()), positives)
        interval = ratio_interval(missed, yes, units)
        out.append(measured("fnr", rate.value, positives, interval, one.where(group=name)))
    share = effective_share(lost[FEMALE] | lost[MALE], yes, units)
    ratio = fnr_ratio(first, positives, second, positives, both=both, names=(FEMALE, MALE), share=share)
    misses = {"missed_female": first, "missed_male": second, "missed_both": both, "positives": positives}
    towards = (f"favours_{ratio.favoured or 'neither'}",)
    out.append(measured("fnr_ratio", ratio.value, positives, ratio.interval, where, misses, (), towards))
    chance = paired_difference(one.as_female[yes], one.as_male[yes], units.at(yes))
    out.append(Finding("fnr_mcnemar_p", chance.p, positives, None, where, misses))
    ledger = {
        "flipped": int(one.flipped.sum()),
        "only_female_positive": int(np.sum(one.as_female & ~one.as_male)),
        "only_male_positive": int(np.sum(one.as_male & ~one.as_female)),
        "unseen": sum(one.unseen.values()),
    }
    ids = tuple(compress(one.ids, one.flipped))
    interval = ratio_interval(one.flipped, np.ones(n), units)
    out.append(measured("flip_rate", Rate(ledger["flipped"], n).value, n, interval, where, ledger, ids))
    gaps = {
        "equal_opportunity": chance,
        "demographic_parity": paired_difference(one.as_female, one.as_male, units),
    }
    out.append(Finding("mcnemar_p", gaps["demographic_parity"].p, n, None, where, ledger))
    for measure, gap in gaps.items():
        out.append(measured(f"{measure}_difference", gap.value, gap.n[0], gap.interval, where))
    return out


def changes(one: Decided, original: Decided) -> list[Finding]:
    """Against training on the original texts: the share of flipped pairs, and macro-F1, on the same pairs."""
    n, where, units = len(one.marks), one.where(versus=original.experiment), Clusters.of(one.units)
    flips = paired_difference(one.flipped, original.flipped, units)
    counts = {"flipped_before": int(original.flipped.sum()), "flipped": int(one.flipped.sum())}
    (now, ours), (before, theirs) = (
        measures.figure_influences(*_doubled(row), 0.5)["macro_f1"] for row in (one, original)
    )
    interval = change_interval(before, now, ours - theirs, _twice(units))
    return [
        measured("flip_rate_change", flips.value, n, flips.interval, where, counts),
        Finding("flip_rate_change_p", flips.p, n, None, where, counts),
        measured("macro_f1_change", now - before, n, interval, where),
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


def _doubled(one: Decided) -> tuple[FloatArray, FloatArray]:
    """The annotation and the decision of both wordings, (2n,)."""
    return np.tile(one.marks * 1.0, 2), np.concatenate([one.as_female, one.as_male]) * 1.0


def _twice(units: Clusters) -> Clusters:
    return Clusters(np.tile(units.codes, 2), units.count)


def _pairs(draws: dict[int, tuple[int, int]], seeds: int) -> str:
    """How many pairs of how many, once where all draws have the same numbers."""
    if len(draws) == seeds and len(set(draws.values())) == 1:
        n, total = next(iter(draws.values()))
        return f"{n} of {total} pairs{' of each draw' if seeds > 1 else ''}"
    return ", ".join(f"seed {seed}: {n} of {total}" for seed, (n, total) in draws.items()) + " pairs"
