"""psycheck finds out what a model that reads mental health from text has really learned.

The public names below are imported when first used, so that `import psycheck` stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from psycheck.audits.suite import Check, Suite, read_suite
    from psycheck.corpora.read import read_corpus
    from psycheck.corpus import Corpus
    from psycheck.errors import PsycheckError
    from psycheck.finding import Finding, Findings
    from psycheck.measure import Measure
    from psycheck.model import Audit, Encoder, Judgement, Model
    from psycheck.models.open import open_encoder, open_model
    from psycheck.run import Run
    from psycheck.runs.folder import open_run
    from psycheck.verbs.audit import audit

_HOMES = {
    "Audit": "psycheck.model",
    "Check": "psycheck.audits.suite",
    "Corpus": "psycheck.corpus",
    "Encoder": "psycheck.model",
    "Finding": "psycheck.finding",
    "Findings": "psycheck.finding",
    "Judgement": "psycheck.model",
    "Measure": "psycheck.measure",
    "Model": "psycheck.model",
    "PsycheckError": "psycheck.errors",
    "Run": "psycheck.run",
    "Suite": "psycheck.audits.suite",
    "audit": "psycheck.verbs.audit",
    "open_encoder": "psycheck.models.open",
    "open_model": "psycheck.models.open",
    "open_run": "psycheck.runs.folder",
    "read_corpus": "psycheck.corpora.read",
    "read_suite": "psycheck.audits.suite",
}

__all__ = [
    "Audit",
    "Check",
    "Corpus",
    "Encoder",
    "Finding",
    "Findings",
    "Judgement",
    "Measure",
    "Model",
    "PsycheckError",
    "Run",
    "Suite",
    "audit",
    "open_encoder",
    "open_model",
    "open_run",
    "read_corpus",
    "read_suite",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'psycheck' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
