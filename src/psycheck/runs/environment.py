"""With what a run was made: versions and fingerprints, so that it can be repeated."""

import platform
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from psycheck import __version__
from psycheck.audits.suite import Suite
from psycheck.corpus import Corpus, showable_id
from psycheck.model import Encoder, Model
from psycheck.scoring.tally import Tally

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "polars", "torch", "transformers")


def environment_of(
    models: Sequence[Model | Encoder],
    corpora: Sequence[Corpus],
    suites: Sequence[Suite] = (),
    tallies: Mapping[str, Tally] | None = None,
    *,
    libraries: Sequence[str] = (),
) -> dict[str, Any]:
    """Versions (of `libraries` besides those that every run uses), fingerprints, and what became of texts."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "psycheck": __version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "libraries": {name: found for name in (*_LIBRARIES, *libraries) if (found := _version(name))},
        "models": {m.name: {"fingerprint": m.fingerprint, **getattr(m, "parts", {})} for m in models},
        "corpora": {corpus.name: corpus.fingerprint() for corpus in corpora},
        "suites": {suite.name: suite.fingerprint for suite in suites},
        "texts": {name: asdict(tally) for name, tally in (tallies or {}).items()},
    }


def described(corpora: Sequence[Corpus], suites: Sequence[Suite] = ()) -> dict[str, Any]:
    """The corpora and suites of a plan as it was run."""
    return {
        "corpora": [
            {
                "name": c.name,
                "called": _called(c),
                "texts": len(c),
                **({"histories": _longest(c)} if c.histories else {}),
                "labels": list(c.labels),
                "left_out": dict(c.left_out),
            }
            for c in corpora
        ],
        "suites": [{"name": s.name, "title": s.title, "checks": len(s.checks)} for s in suites],
    }


def _longest(corpus: Corpus) -> int:
    """The posts of the longest history: cut there, the same histories come from the same posts."""
    longest = corpus.table["posts"].list.len().max()
    return longest if isinstance(longest, int) else 0


def _called(corpus: Corpus) -> str:
    """What the user typed for a corpus, so that it can be opened again; empty if a column's name is prose."""
    options = shlex.split(corpus.called)[1:]
    return corpus.called if all(showable_id(word) == word for word in options) else ""


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
