"""One gate over time: the figure of each run that is closest to its bound, for each model."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from psycheck.audits.gates import Gate, parse_gate
from psycheck.core.errors import PsycheckError
from psycheck.view.run_index import ListedRun

_FIGURES = "findings.csv"
_VALUE = {"": "value", "low": "low", "high": "high"}  # the column of the end that a gate bounds


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """The worst figure of one model in one run, and whether the gate held there."""

    run: ListedRun
    model: str
    value: float
    holds: bool


@dataclass(frozen=True, slots=True)
class Trend:
    """A gate, its bound, and its figures from the oldest run to the newest."""

    gate: str
    bound: float | None
    points: tuple[TrendPoint, ...]


def gates_of(runs: Sequence[ListedRun]) -> list[str]:
    """The gates of all runs, those of the most runs first."""
    counts: dict[str, int] = {}
    for run in runs:
        for gate in run.gates:
            counts[gate["gate"]] = counts.get(gate["gate"], 0) + 1
    return sorted(counts, key=lambda gate: (-counts[gate], gate))


def trend_of(gate_text: str, runs: Sequence[ListedRun]) -> Trend:
    """The figures that a gate bounds, in every run that has this gate."""
    gate = _parsed(gate_text)
    if gate is None:
        return Trend(gate_text, None, ())

    points: list[TrendPoint] = []
    # By the time of writing: runs of one day have the same date.
    for run in sorted(runs, key=lambda run: run.written):
        same_gate = [entry for entry in run.gates if entry["gate"] == gate_text]
        outcomes = [bool(entry["holds"]) for entry in same_gate]
        if not outcomes:
            continue
        for model, value in _worst_figures(gate, run):
            points.append(
                TrendPoint(
                    run,
                    model,
                    value,
                    outcomes[0],
                )
            )
    bound = gate.max if gate.min is None else gate.min
    return Trend(gate_text, bound, tuple(points))


def _parsed(text: str) -> Gate | None:
    """A gate from its text; None for one with a baseline, whose bound differs from run to run."""
    try:
        return parse_gate(text)
    except PsycheckError:
        return None


def _worst_figures(gate: Gate, run: ListedRun) -> list[tuple[str, float]]:
    """The figure closest to the bound, or farthest beyond it, of each model."""
    column = _VALUE[gate.end]
    conditions = {"measure": gate.name, **gate.where}
    findings = pl.scan_csv(run.folder / _FIGURES, infer_schema=False)
    present = findings.collect_schema().names()
    # A run without a column that the gate names has no figure that it bounds.
    if not {*conditions, "model", column} <= set(present):
        return []

    figure = pl.col(column).cast(pl.Float64, strict=False).alias("figure")
    figures = findings.filter(**conditions).select("model", figure).drop_nulls()
    lowest_is_worst = gate.min is not None
    worst = pl.col("figure").min() if lowest_is_worst else pl.col("figure").max()
    by_model = figures.group_by("model", maintain_order=True).agg(worst)
    return list(by_model.collect().iter_rows())
