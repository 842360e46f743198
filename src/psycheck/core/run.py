"""A run: its plan, environment, findings and gates; saved as a folder that can be opened again."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import polars as pl

from psycheck.core.finding import Finding, Findings
from psycheck.core.headline import Headline
from psycheck.core.measure import Measure
from psycheck.core.run_results import Results, RunReader

PAIRS = "audit:fairness"  # the suite of a shown gender pair; its check is the label
_INCOMPLETE = 3  # exit code: some texts could not be scored


def _nothing() -> Mapping[str, Any]:
    """An empty mapping that nobody can change: runs share it."""
    return MappingProxyType({})


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


@dataclass(frozen=True, slots=True, repr=False)
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

    def __bool__(self) -> bool:
        return self.holds

    def __repr__(self) -> str:
        # What pytest shows of `assert run.passes(...)`.
        state = "holds" if self.holds else "fails"
        figures = "; ".join(self.lines)
        reason = f"{self.reason}: {figures}" if figures else self.reason
        return f"<gate {state}: {self.gate} ({reason})>"


@dataclass(frozen=True, slots=True)
class OwnAudit:
    """What pages and gates need of an audit written outside the package; `section` is HTML, or None."""

    name: str
    title: str
    measures: tuple[Measure, ...] = ()
    section: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Run(Results):
    """Everything a report is drawn from.

    `plan` is the plan as it was run, `environment` holds versions and fingerprints, `tables` holds
    `predictions` and `cases` (ids, never texts), `shown` the cases on the page, `notes` what was guessed or
    left out, `incomplete` the number of texts that could not be scored, `own_audits` the audits written
    outside the package, `headlines` the verdict in its order. `reader` answers what needs more than the run.
    """

    plan: Mapping[str, Any]
    environment: Mapping[str, Any]
    findings: Findings
    tables: Mapping[str, pl.DataFrame] = field(default_factory=_nothing)
    gates: tuple[GateResult, ...] = ()
    shown: tuple[Shown, ...] = ()
    notes: tuple[str, ...] = ()
    incomplete: int = 0
    folder: Path | None = None
    own_audits: tuple[OwnAudit, ...] = ()
    headlines: tuple[Headline, ...] = ()
    reader: RunReader | None = field(default=None, compare=False)

    @property
    def verdict(self) -> str:
        """The headlines as one paragraph."""
        return " ".join(headline.sentence for headline in self.headlines)

    @property
    def replies(self) -> pl.DataFrame:
        """What LLMs replied about each text and how it was read; the words only if texts may be shown."""
        return self.tables.get("replies", pl.DataFrame())

    @property
    def holds(self) -> bool:
        """Whether every gate holds."""
        return all(gate.holds for gate in self.gates)

    @property
    def exit_code(self) -> int:
        """0 done and the gates hold, 1 a gate fails, 3 some texts could not be scored."""
        # Before the gates: what they judged lacks the texts that are missing.
        if self.incomplete:
            return _INCOMPLETE
        return 0 if self.holds else 1

    def to_polars(self) -> pl.DataFrame:
        """The findings as a polars frame."""
        return self.findings.to_polars()

    def to_pandas(self) -> Any:
        """The findings as a pandas frame."""
        return self.findings.to_pandas()


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """How the runs of a verb are shown: the object that a `psycheck.pages` entry point names.

    `draw` returns the text of each file of the report by its name; `verdict` makes the headlines of a run,
    None for a page without any. Both need nothing but the run, so a saved run can be drawn again.
    """

    draw: Callable[[Run], dict[str, str]]
    verdict: Callable[[Run], Iterable[Headline]] | None = None
