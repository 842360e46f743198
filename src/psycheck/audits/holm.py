"""p-values among findings, adjusted by Holm."""

from collections.abc import Sequence
from dataclasses import replace

from psycheck.finding import Finding
from psycheck.measures.significance import holm


def holm_family(tests: Sequence[Finding]) -> list[Finding]:
    """The p-values of one family adjusted, in the same order, as NAME_holm; `tests` counts those tested."""
    number = sum(test.tested for test in tests)
    return [
        replace(test, measure=f"{test.measure}_holm", value=float(p), counts={**test.counts, "tests": number})
        for test, p in zip(tests, holm([test.value for test in tests]), strict=True)
    ]


def holm_families(findings: Sequence[Finding], measure: str, keys: Sequence[str]) -> list[Finding]:
    """The p-values of a measure, adjusted among the findings that agree in these keys of `where`."""
    families: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        if finding.measure == measure:
            families.setdefault(tuple(finding.where.get(key, "") for key in keys), []).append(finding)
    return [adjusted for family in families.values() for adjusted in holm_family(family)]
