"""What the benchmarks share: a table of results, the machine they ran on, and peak memory."""

import os
import platform
import resource
from collections.abc import Sequence
from datetime import UTC, datetime


def machine() -> str:
    """A line that says when and where it was measured."""
    when = datetime.now(UTC).strftime("%Y-%m-%d")
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return f"{when}, {os.cpu_count()} cores, {system}"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table, for the terminal and for docs/benchmarks.md."""
    cells = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in cells)


def peak_megabytes() -> float:
    """The most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def verdict(name: str, value: float, bound: float, *, at_least: bool) -> str:
    """Whether a figure keeps its promise."""
    holds = value >= bound if at_least else value <= bound
    sign = "≥" if at_least else "≤"
    return f"{name}: {value:.2f} (promised {sign} {bound:g}) {'holds' if holds else 'DOES NOT HOLD'}"
