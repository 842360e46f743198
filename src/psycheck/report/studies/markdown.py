"""How the tables of a study are written in Markdown."""

from collections.abc import Iterable, Sequence

from psycheck.finding import Finding
from psycheck.report.numbers import p_value


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a Markdown table."""
    return ["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows)]


def p_values(findings: Iterable[Finding]) -> str:
    """The p of each seed: "0.032, <0.001"."""
    return ", ".join(p_value(f.value) for f in findings if f.tested)
