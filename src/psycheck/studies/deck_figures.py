"""The figures of DECK's tables that its comparisons do not use: precision, recall, Brier and the hard AUC."""

from collections.abc import Sequence
from dataclasses import asdict

from psycheck import ArmResult, Finding, measured
from psycheck.report.studies.deck_tables import HALF
from psycheck.statistics import classification as measures
from psycheck.statistics.calibration import brier
from psycheck.statistics.classification import usable
from psycheck.statistics.label_intervals import classification_intervals

_OF_DECISIONS = {
    "precision": measures.precision,
    "recall": measures.recall,
    "hard_brier": measures.hard_brier,
    "hard_auc": measures.hard_auc,
}


def table_figures(arms: Sequence[ArmResult]) -> list[Finding]:
    """Of every arm and test: what App. A computes from hard labels at 0.5, and the Brier score."""
    findings = []
    for arm in arms:
        for row in arm.rows:
            n = int(usable(row.targets, row.scores).sum())
            table = measures.confusion(row.targets, row.scores)
            intervals = classification_intervals(row.targets, row.scores, row.clusters)
            counts = {**asdict(table), "units": row.clusters.count}
            estimates = {name: measure(table) for name, measure in _OF_DECISIONS.items()}
            for name, estimate in estimates.items():
                findings.append(
                    measured(
                        name,
                        estimate.value,
                        n,
                        interval=intervals.get(name),
                        where=row.where(HALF),
                        counts=counts,
                        flags=(row.flag, *estimate.flags),
                    )
                )
            findings.append(
                measured(
                    "brier",
                    brier(row.targets, row.scores),
                    n,
                    interval=intervals.get("brier"),
                    where=row.where("ranking"),
                    flags=(row.flag,),
                )
            )
    return findings
