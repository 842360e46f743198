"""A plain table for the page."""

from dataclasses import dataclass

from psycheck.finding import Finding
from psycheck.report.numbers import count, plain
from psycheck.report.words import name_of


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a caption; the first `words` columns hold words, the rest numbers."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int = 1
    note: str = ""


def others(findings: list[Finding]) -> Table | None:
    """Findings that have no section of their own."""
    if not findings:
        return None
    rows = tuple(
        (
            name_of("measures", finding.measure),
            ", ".join(f"{key} {value}" for key, value in finding.where.items() if value),
            plain(finding),
            count(finding.n),
            ", ".join(f"{key} {count(value)}" for key, value in finding.counts.items()) or "–",
            ", ".join(name_of("flags", flag) for flag in finding.flags) or "–",
        )
        for finding in findings
    )
    head = ("Measure", "Of what", "Value (95 % interval)", "n", "Counts", "Marks")
    return Table("Findings that have no section of their own", head, rows, words=2)
