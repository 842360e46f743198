"""Findings that have no section in the package: those of audits from outside, and what no section took."""

from collections.abc import Mapping
from dataclasses import replace

from psycheck.core.finding import Finding, Findings
from psycheck.core.run import OwnAudit, Run
from psycheck.report.display_names import name_of
from psycheck.report.numbers import count, p_value, plain, rate
from psycheck.report.sections import Section, drawn
from psycheck.report.tables import Table, table_of


def without_own(run: Run) -> Run:
    """The run without the findings of audits from outside, which only their own sections show."""
    if not run.own_audits:
        return run
    # An outside audit may use a measure of ours; its findings must not enter our tables and sentences.
    outside = {audit.name for audit in run.own_audits}
    shipped = (finding for finding in run.findings if finding.where.get("audit") not in outside)
    return replace(run, findings=Findings(shipped))


def value_of(finding: Finding, audit: OwnAudit) -> str:
    """The value with its interval, written as the kind of its measure asks for."""
    kinds = {measure.name: measure.kind for measure in audit.measures}
    kind = kinds.get(finding.measure)
    if kind == "rate" or not finding.tested:
        return rate(finding)
    if kind == "p_value":
        return p_value(finding.value)
    return plain(finding)


def place_of_own(finding: Finding) -> str:
    """What a finding is about: "model m, corpus posts"."""
    return _places({key: value for key, value in finding.where.items() if key != "audit"})


def own_section(audit: OwnAudit, run: Run) -> Section:
    """The section of an audit from outside: as it drew it, or a table of its findings."""
    titles = {measure.name: measure.title for measure in audit.measures}
    rows = []
    for finding in run.findings.where(audit=audit.name):
        title = titles.get(finding.measure) or name_of("measures", finding.measure)
        value = value_of(finding, audit)
        rows.append(
            (
                title,
                place_of_own(finding),
                value,
                count(finding.n),
                _marks(finding),
            )
        )

    (section,) = drawn("own", audit, table_of("own", rows, audit=audit.name))
    return section._replace(anchor=f"own-{audit.name}", name=audit.title)


def unclaimed_table(findings: list[Finding]) -> Table | None:
    """The findings that no section has taken."""
    rows = []
    for finding in findings:
        counts = ", ".join(f"{key} {count(number)}" for key, number in finding.counts.items())
        rows.append(
            (
                name_of("measures", finding.measure),
                _places(finding.where),
                plain(finding),
                count(finding.n),
                counts or "–",
                _marks(finding),
            )
        )
    return table_of("others", rows) if rows else None


def _places(where: Mapping[str, str]) -> str:
    return ", ".join(f"{key} {value}" for key, value in where.items() if value)


def _marks(finding: Finding) -> str:
    return ", ".join(name_of("flags", flag) for flag in finding.flags) or "–"
