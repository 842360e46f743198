"""Findings looked up by measure and place."""

from collections.abc import Iterable

from psycheck.finding import Finding


def of(findings: Iterable[Finding], measure: str, **where: str) -> list[Finding]:
    """The findings of a measure whose place has these entries."""
    return [f for f in findings if f.measure == measure and where.items() <= dict(f.where).items()]


def one(findings: Iterable[Finding], measure: str, **where: str) -> Finding:
    """The only such finding."""
    (found,) = of(findings, measure, **where)
    return found
