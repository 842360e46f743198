"""Findings that have no section in the package: those of audits from outside, and what no section took."""

from collections.abc import Mapping
from dataclasses import replace

from psycheck.finding import Finding, Findings
from psycheck.report.numbers import count, p_value, plain, rate
from psycheck.report.shelf import Section, drawn
from psycheck.report.tables import Table, table_of
from psycheck.report.words import name_of
from psycheck.run import OwnAudit, Run


def without_own(run: Run) -> Run:
    """The run without the findings of audits from outside, which only their own sections show."""
    own = {audit.name for audit in run.own_audits}
    shipped = tuple(finding for finding in run.findings if finding.where.get("audit") not in own)
    return replace(run, findings=Findings(shipped)) if own else run


def value_of(finding: Finding, audit: OwnAudit) -> str:
    """The value with its interval, written as the kind of its measure asks for."""
    kind = next((measure.kind for measure in audit.measures if measure.name == finding.measure), None)
    if kind == "rate" or not finding.tested:
        return rate(finding)
    return p_value(finding.value) if kind == "p_value" else plain(finding)


def place_of_own(finding: Finding) -> str:
    """What a finding is about: "model m, corpus posts"."""
    return _places({key: value for key, value in finding.where.items() if key != "audit"})


def own_section(audit: OwnAudit, run: Run) -> Section:
    """The section of an audit from outside: as it drew it, or a table of its findings."""
    titles = {measure.name: measure.title for measure in audit.measures}
    rows = []
    for f in run.findings.where(audit=audit.name):
        title = titles.get(f.measure) or name_of("measures", f.measure)
        rows.append((title, place_of_own(f), value_of(f, audit), count(f.n), _marks(f)))
    (section,) = drawn("own", audit, table_of("own", rows, audit=audit.name))
    return section._replace(anchor=f"own-{audit.name}", name=audit.title)


def others(findings: list[Finding]) -> Table | None:
    """Findings that have no section of their own."""
    rows = []
    for f in findings:
        counts = ", ".join(f"{key} {count(value)}" for key, value in f.counts.items()) or "–"
        name = name_of("measures", f.measure)
        rows.append((name, _places(f.where), plain(f), count(f.n), counts, _marks(f)))
    return table_of("others", rows) if rows else None


def _places(where: Mapping[str, str]) -> str:
    return ", ".join(f"{key} {value}" for key, value in where.items() if value)


def _marks(finding: Finding) -> str:
    return ", ".join(name_of("flags", flag) for flag in finding.flags) or "–"
