"""Findings looked up by measure and place."""

from collections.abc import Iterable

from psycheck.core.finding import Finding
from psycheck.core.measure import catalogue, experiment_keys

TAGS = {"symptom", "polarity", "category", "scale", "item", "topic", "noise"}


def of(findings: Iterable[Finding], measure: str, **where: str) -> list[Finding]:
    """The findings of a measure whose place has these entries."""
    return [f for f in findings if f.measure == measure and where.items() <= dict(f.where).items()]


def one(findings: Iterable[Finding], measure: str, **where: str) -> Finding:
    """The only such finding."""
    (found,) = of(findings, measure, **where)
    return found


def uncatalogued(findings: Iterable[Finding]) -> set[str]:
    """Measures that the catalogue lacks, and keys of `where` that it does not allow, as measure.key."""
    wrong = set()
    for finding in findings:
        measure = catalogue().get(finding.measure)
        if measure is None:
            wrong.add(finding.measure)
            continue
        allowed = {*measure.keys, *experiment_keys(), *(TAGS if measure.tagged else ())}
        wrong |= {f"{finding.measure}.{key}" for key in finding.where if key not in allowed}
    return wrong
