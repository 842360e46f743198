"""A fixture for pytest: `psycheck.audit(…)` in a test, with a store that the next session finds again."""

from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from psycheck.core.run import Run

_HEADING = "psycheck"  # of what pytest prints below a test that fails


class Audits:
    """What a test audits: reports lie in the folder of the test, scores in the cache of pytest."""

    def __init__(self, node: pytest.Item, folder: Path, store: Path) -> None:
        self.node = node
        self.folder = folder
        self.store = store
        self._numbers = count(1)

    def audit(self, model: Any, corpora: Any, **settings: Any) -> "Run":
        """Audit as `psycheck.audit` does; `out` and `store` need not be named."""
        import psycheck

        settings.setdefault("out", self.folder / f"run-{next(self._numbers)}")
        settings.setdefault("store", self.store)
        run = psycheck.audit(model, corpora, **settings)
        self.node.add_report_section("call", _HEADING, f"{run.verdict}\nreport: {run.folder}/report.html")
        return run

    def gate(self, run: "Run", *gates: str) -> None:
        """Fail the test with each gate that the run does not pass, and the values that break it."""
        __tracebackhide__ = True  # the line of the test says more than this one
        results = [run.passes(gate) for gate in gates]
        failed_gates = [str(result) for result in results if not result]
        if failed_gates:
            pytest.fail("\n".join(failed_gates))


@pytest.fixture
def psycheck(request: pytest.FixtureRequest, tmp_path: Path) -> Audits:
    """Audit models in a test: `run = psycheck.audit(model, corpus)`, `psycheck.gate(run, "f1>=0.8")`."""
    # Without the cache (`-p no:cacheprovider`) each session scores anew.
    cache = getattr(request.config, "cache", None)
    folder = tmp_path if cache is None else Path(cache.mkdir("psycheck"))
    return Audits(request.node, tmp_path, folder / "scores.sqlite")
