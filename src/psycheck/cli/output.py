"""A run as a verb prints it: for a program, and in tables for a person."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psycheck.report.tables import Table
    from psycheck.run import Run


def for_a_program(run: "Run", out: Path, **more: str) -> str:
    """The run as JSON: what else there is to name, the report, the findings and the notes."""
    said = {
        **more,
        "report": str(out / "report.html"),
        "findings": [json.loads(finding.as_json()) for finding in run.findings],
        "notes": list(run.notes),
    }
    return json.dumps(said, indent=1, ensure_ascii=False)


def lined(table: "Table") -> str:
    """A table as aligned text."""
    rows = [table.head, *table.rows]
    widths = [max(len(row[k]) for row in rows) for k in range(len(table.head))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    return "\n".join([table.caption, *lines])
