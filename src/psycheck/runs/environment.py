"""With what a run was made: versions and fingerprints, so that it can be repeated."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from psycheck import __version__
from psycheck.audits.suite import Suite
from psycheck.core.corpus import Corpus, CorpusSource, showable_id
from psycheck.core.model import Encoder, Model, capabilities_of
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
        "libraries": _installed_versions((*_LIBRARIES, *libraries)),
        "models": {
            model.name: {"fingerprint": model.fingerprint, **capabilities_of(model).parts} for model in models
        },
        "corpora": {corpus.name: corpus.fingerprint() for corpus in corpora},
        "suites": {suite.name: suite.fingerprint for suite in suites},
        "texts": {name: asdict(tally) for name, tally in (tallies or {}).items()},
    }


def _installed_versions(libraries: Sequence[str]) -> dict[str, str]:
    """The versions of libraries by name; those that are not installed are left out."""
    versions = {}
    for library in libraries:
        # Asked of the installation, as to import torch for its version takes seconds.
        try:
            versions[library] = version(library)
        except PackageNotFoundError:
            continue
    return versions


def described(corpora: Sequence[Corpus], suites: Sequence[Suite] = ()) -> dict[str, Any]:
    """The corpora and suites of a plan as it was run."""
    return {
        "corpora": [_described_corpus(corpus) for corpus in corpora],
        "suites": [
            {
                "name": suite.name,
                "title": suite.title,
                "checks": len(suite.checks),
            }
            for suite in suites
        ],
    }


def _described_corpus(corpus: Corpus) -> dict[str, Any]:
    description: dict[str, Any] = {
        "name": corpus.name,
        "source": _described_source(corpus.source),
        "texts": len(corpus),
        "labels": list(corpus.labels),
        "left_out": dict(corpus.left_out),
    }
    if corpus.histories:
        description["histories"] = _longest_history(corpus)
    return description


def _described_source(source: CorpusSource | None) -> dict[str, Any] | None:
    """Where a corpus was read from, for run.json; None if the name of a column may be what someone wrote."""
    if source is None:
        return None

    names = [] if source.split is None else [source.split]
    columns: dict[str, str | list[str]] = {}
    for role, named in source.columns.items():
        if isinstance(named, str):
            names.append(named)
            columns[role] = named
        else:
            names.extend(named)
            columns[role] = list(named)

    # Without all of its names the corpus could not be read again in the same way.
    if any(showable_id(name) != name for name in names):
        return None
    return {
        "path": source.path,
        "columns": columns,
        "split": source.split,
        "format": source.format,
    }


def _longest_history(corpus: Corpus) -> int:
    """The posts of the longest history: cut there, the same histories come from the same posts."""
    longest = corpus.table["posts"].list.len().max()
    return longest if isinstance(longest, int) else 0
