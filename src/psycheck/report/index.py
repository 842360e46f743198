"""One page over several runs: what each was, its verdict and its gates."""

from collections.abc import Mapping
from urllib.parse import quote

from psycheck.finding import Findings
from psycheck.report.page import draw
from psycheck.report.verdict import headlines
from psycheck.run import Run


def render_index(runs: Mapping[str, Run]) -> str:
    """The page; the runs come with the paths of their reports, relative to it."""
    rows = [{"link": quote(link), "name": link.rpartition("/")[0], **_row(run)} for link, run in runs.items()]
    return draw("index", Run({}, {}, Findings()), rows=rows)


def _row(run: Run) -> dict[str, object]:
    held, kind = sum(gate.holds for gate in run.gates), run.plan.get("verb", "audit")
    return {
        "date": run.environment.get("date", ""),
        "models": list(run.environment.get("models", ())),
        "corpora": list(run.environment.get("corpora", ())),
        "verdict": headlines(run)[0] if kind == "audit" else kind,
        "gates": f"{held} of {len(run.gates)} hold" if run.gates else "–",
    }
