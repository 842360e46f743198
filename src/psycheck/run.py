"""A run: its plan, environment, findings and gates; saved as a folder that can be opened again."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import Any

import polars as pl

from psycheck.finding import Finding, Findings
from psycheck.measure import Measure

_NOTHING: Mapping[str, Any] = MappingProxyType({})
_KEY_FIGURES = ("f1", "auc", "pass_rate_mean", "flip_rate", "direct_bias")  # in a notebook
PAIRS = "audit:fairness"  # the suite of a shown gender pair; its check is the label


@dataclass(frozen=True, slots=True)
class Shown:
    """One case as the report shows it.

    `text` and `spans` (what the edit changed) are set only if the user asked to show texts; `before` and
    `after` are NaN if the model gave no usable answer.
    """

    model: str
    corpus: str
    suite: str
    check: str
    id: str
    outcome: str
    before: float
    after: float
    variant: int
    text: str | None = None
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class GateResult:
    """Whether a gate holds, and which findings break it.

    `lines` give value, interval and baseline of these, or of the finding nearest to the bound.
    """

    gate: str
    holds: bool
    checked: int
    failing: tuple[Finding, ...]
    reason: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OwnAudit:
    """What pages and gates need of an audit written outside the package; `section` is HTML, or None."""

    name: str
    title: str
    measures: tuple[Measure, ...] = ()
    section: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """Everything a report is drawn from.

    `plan` is the plan as it was run, `environment` holds versions and fingerprints, `tables` holds
    `predictions` and `cases` (ids, never texts), `shown` the cases on the page, `notes` what was guessed or
    left out, `incomplete` the number of texts that could not be scored, `own_audits` the audits written
    outside the package.
    """

    plan: Mapping[str, Any]
    environment: Mapping[str, Any]
    findings: Findings
    tables: Mapping[str, pl.DataFrame] = field(default_factory=lambda: _NOTHING)
    gates: tuple[GateResult, ...] = ()
    shown: tuple[Shown, ...] = ()
    notes: tuple[str, ...] = ()
    incomplete: int = 0
    folder: Path | None = None
    own_audits: tuple[OwnAudit, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether every gate holds."""
        return all(gate.holds for gate in self.gates)

    @property
    def exit_code(self) -> int:
        """0 done and the gates hold, 1 a gate fails, 3 some texts could not be scored."""
        return 3 if self.incomplete else 0 if self.holds else 1

    def to_polars(self) -> pl.DataFrame:
        """The findings as a polars frame."""
        return self.findings.to_polars()

    def to_pandas(self) -> Any:
        """The findings as a pandas frame."""
        return self.findings.to_pandas()

    def _repr_html_(self) -> str:
        """A summary for a notebook: gates, key figures, and where the report is; no texts."""
        failed = [gate for gate in self.gates if not gate.holds]
        lines = [f"{len(self.findings):,} findings"]
        if self.gates:
            lines.append(f"{len(self.gates) - len(failed)} of {len(self.gates)} gates hold")
        lines += [f"gate fails: {gate.gate} ({gate.reason})" for gate in failed]
        if checks := [one for one in self.findings if one.measure == "pass_rate" and one.tested]:
            weakest = min(checks, key=lambda one: one.value)
            lines.append(f"weakest check: {weakest.where.get('check')}, pass rate {weakest.value:.0%}")
        if self.incomplete:
            lines.append(f"{self.incomplete:,} texts could not be scored")
        if self.folder is not None:
            lines.append(f"report: {self.folder / 'report.html'}")
        listed = "".join(f"<li>{escape(line)}</li>" for line in lines)
        figures = Findings(one for one in self.findings if one.measure in _KEY_FIGURES)
        return f"<ul>{listed}</ul>{figures._repr_html_() if figures else ''}"
