"""Scores of whole corpora and pass rates of sentences; nothing is scored twice."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from psycheck.audits.behaviour import Behaviour
from psycheck.audits.suite import Check, Suite
from psycheck.corpora.shorten import fit_texts
from psycheck.corpus import Corpus
from psycheck.errors import BadInput
from psycheck.finding import Finding
from psycheck.model import FloatArray, Judgement, Model, Windowed
from psycheck.scoring.answers import answers, in_equal_shares
from psycheck.scoring.engine import Progress, silent
from psycheck.train.augment import Addition


def scored(
    model: Model,
    corpora: Sequence[Corpus],
    label: str,
    store_path: Path | None = None,
    progress: Progress = silent,
) -> list[FloatArray]:
    """A model's scores of one label for each corpus, each (n,); NaN where it gave no usable answer."""
    if label not in model.labels:
        raise BadInput(f"model '{model.name}' does not score '{label}'", allowed=", ".join(model.labels))
    column = model.labels.index(label)
    pieces = in_equal_shares([corpus.texts for corpus in corpora])
    with answers([model], pieces, store=store_path, progress=progress) as found:
        return [found.views[0].of(corpus.texts)[:, column] for corpus in corpora]


def judged(
    model: Model,
    corpus: Corpus,
    audits: Sequence[Behaviour],
    store_path: Path | None = None,
    progress: Progress = silent,
) -> list[Judgement]:
    """What audits find on a corpus whose texts are shortened so that every sentence is read."""
    sentences = [s for audit in audits for check in audit.suite.checks for s in check.sentences]
    fitted, _ = fit_texts(corpus, [model.read] if isinstance(model, Windowed) else [], sentences)
    pieces = in_equal_shares([audit.ask(fitted) for audit in audits])
    with answers([model], pieces, store=store_path, progress=progress) as found:
        return [audit.judge(fitted, found.views[0]) for audit in audits]


def sentence_cases(
    model: Model,
    corpus: Corpus,
    suites: Sequence[Suite],
    store_path: Path | None = None,
    progress: Progress = silent,
) -> tuple[list[Finding], dict[tuple[str, str], dict[str, bool]]]:
    """Pass rates of the DIR checks of suites, and which texts passed, by suite and check, then by id."""
    audits = [Behaviour(dir_checks(suite)) for suite in suites]
    found = judged(model, corpus, audits, store_path, progress)
    rates = [finding for one in found for finding in one.findings if finding.measure == "pass_rate"]
    passed: dict[tuple[str, str], dict[str, bool]] = {}
    for one in found:
        cases = one.tables["cases"].select(pl.col("suite", "check", "id", "outcome").cast(pl.String))
        for suite, check, id_, outcome in cases.iter_rows():
            if outcome in ("passed", "failed"):
                passed.setdefault((suite, check), {})[id_] = outcome == "passed"
    return rates, passed


def sample(corpus: Corpus, size: int, seed: int) -> Corpus:
    """At most `size` texts of a corpus, drawn by seed, in their order."""
    if len(corpus) <= size:
        return corpus
    keep = np.zeros(len(corpus), bool)
    keep[np.random.default_rng(seed).permutation(len(corpus))[:size]] = True
    return corpus.only(keep)


def dir_checks(suite: Suite) -> Suite:
    """A suite with only the DIR checks that append sentences."""
    moved = ("not_down", "not_up")  # what must stay steady says nothing about presence or absence
    checks = tuple(c for c in suite.checks if c.sentences and c.expect.kind in moved)
    if not checks:
        raise BadInput(f"suite '{suite.name}' has no DIR check that appends a sentence")
    return replace(suite, checks=checks)


def additions_of(checks: Sequence[Check]) -> list[Addition]:
    """The sentences of checks: of presence where the score must not fall, else of absence."""
    return [
        Addition(check.id, sentence, check.expect.kind == "not_down")
        for check in checks
        for sentence in check.sentences
    ]
