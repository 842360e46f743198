"""A run as JSON, for the `--json` option of the verbs."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psycheck.run import Run


def run_as_json(run: "Run", out: Path, **more: str) -> str:
    """The report's path, the findings and the notes of a run as JSON, after `more` keys of the verb."""
    content = {
        **more,
        "report": str(out / "report.html"),
        "findings": [json.loads(finding.as_json()) for finding in run.findings],
        "notes": list(run.notes),
    }
    return json.dumps(content, indent=1, ensure_ascii=False)
