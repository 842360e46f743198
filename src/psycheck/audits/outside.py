"""Audits from outside the package: their judgements are checked, and what pages need of them is kept."""

from collections.abc import Iterable
from dataclasses import replace

from markupsafe import escape

from psycheck.audits.registered import is_own
from psycheck.core.audit import Audit, Drawn, Judgement, Titled
from psycheck.core.errors import BadInput, nearest
from psycheck.core.measure import Measure
from psycheck.core.run import OwnAudit, Run
from psycheck.report.sections import UnshownFindings


def checked_judgement(audit: Audit, judgement: object, place: dict[str, str]) -> Judgement:
    """The judgement of an audit from outside: measures as declared, audit, model and corpus in `where`."""
    if not isinstance(judgement, Judgement):
        raise BadInput(
            f"judge returned {type(judgement).__name__}",
            code="audit.no-judgement",
            where=f"audit '{audit.name}'",
            allowed="a psycheck.Judgement(findings, tables)",
        )

    declared = {measure if isinstance(measure, str) else measure.name for measure in audit.measures}
    for finding in judgement.findings:
        if finding.measure not in declared:
            raise BadInput(
                f"the audit reports the measure '{finding.measure}', which it does not declare",
                code="audit.undeclared-measure",
                where=f"audit '{audit.name}'",
                allowed=nearest(finding.measure, declared),
                do="add it to the audit's measures",
            )

    findings = [
        replace(finding, where={**place, **finding.where, "audit": audit.name})
        for finding in judgement.findings
    ]
    # Named after the audit: a table of the same name may belong to another one.
    tables = {f"{audit.name}-{name}": table for name, table in judgement.tables.items()}
    return Judgement(tuple(findings), tables)


def described_audits(audits: Iterable[Audit], run: Run) -> tuple[OwnAudit, ...]:
    """What the run's folder keeps of the audits from outside: title, measures and section."""
    described: list[OwnAudit] = []
    for audit in filter(is_own, audits):
        section = None
        if isinstance(audit, Drawn):
            own_findings = run.findings.where(audit=audit.name)
            section = str(escape(audit.section(UnshownFindings(replace(run, findings=own_findings)))))
        described.append(
            OwnAudit(
                name=audit.name,
                title=str(audit.title) if isinstance(audit, Titled) else audit.name,
                measures=tuple(measure for measure in audit.measures if isinstance(measure, Measure)),
                section=section,
            )
        )
    return tuple(described)
