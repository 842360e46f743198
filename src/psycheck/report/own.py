"""The sections of audits that were written outside the package."""

from dataclasses import replace

from psycheck.finding import Finding, Findings
from psycheck.report.numbers import count, p_value, plain, rate
from psycheck.report.tables import Table
from psycheck.report.words import name_of
from psycheck.run import OwnAudit, Run


def findings_of(audit: OwnAudit, run: Run) -> list[Finding]:
    """The findings of one audit."""
    return [finding for finding in run.findings if finding.where.get("audit") == audit.name]


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
    return ", ".join(f"{key} {value}" for key, value in finding.where.items() if value and key != "audit")


def own_table(audit: OwnAudit, run: Run) -> Table:
    """The findings of one audit, for a section that the audit did not draw itself."""
    titles = {measure.name: measure.title for measure in audit.measures}
    rows = tuple(
        (
            titles.get(finding.measure) or name_of("measures", finding.measure),
            place_of_own(finding),
            value_of(finding, audit),
            count(finding.n),
            ", ".join(name_of("flags", flag) for flag in finding.flags) or "–",
        )
        for finding in findings_of(audit, run)
    )
    head = ("Measure", "Of what", "Value (95 % interval)", "n", "Marks")
    return Table(f"Findings of audit {audit.name}", head, rows, words=2)
