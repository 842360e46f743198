"""A run: what was asked, with what, what was found; a folder that a program or a person can open again."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import polars as pl

from psycheck.finding import Finding
from psycheck.measure import Measure

_NOTHING: Mapping[str, Any] = MappingProxyType({})
PAIRS = "audit:fairness"  # the suite of a shown gender pair; its check is the label


@dataclass(frozen=True, slots=True)
class Shown:
    """One case as the report shows it.

    `text` and `spans` (what the edit changed) are there only where texts were asked for; `before` and
    `after` are NaN where the model gave no usable answer.
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
    """Whether a gate holds, and which findings break it."""

    gate: str
    holds: bool
    checked: int
    failing: tuple[Finding, ...]
    reason: str


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

    `plan` is the plan as it was carried out, `environment` names versions and fingerprints, `tables` holds
    `predictions` and `cases` (ids, never texts), `shown` the cases for the page, `notes` what was guessed or
    left out, `incomplete` how many texts could not be scored, `own_audits` the audits written outside the
    package.
    """

    plan: Mapping[str, Any]
    environment: Mapping[str, Any]
    findings: tuple[Finding, ...]
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
