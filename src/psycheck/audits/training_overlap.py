"""Whether texts that are judged were in the training data of a model, by the digests in its card."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding
from psycheck.core.model import Model, capabilities_of
from psycheck.corpora.suspicious_figures import MOST_IDS, TABLE, share
from psycheck.corpora.text_digests import Matches, TextDigests, can_sign, matches, read_digests, texts_in
from psycheck.statistics.group_rates import Rate

CAUTION = "training_texts"


@dataclass(slots=True)
class TrainingOverlap:
    """Cautions about texts that a model has seen, and notes on models of which that is not known."""

    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def training_overlap(models: Sequence[Model], corpora: Sequence[Corpus]) -> TrainingOverlap:
    """Look for the judged texts of each corpus among the training texts of each model."""
    overlap = TrainingOverlap()
    for model in models:
        card = capabilities_of(model).card
        digests = read_digests(Path(card)) if card else None
        if digests is None:
            overlap.notes.append(
                f"model '{model.name}': its training texts are not known, so copies were not looked for"
            )
            continue

        if not len(digests.signatures) or not can_sign():
            overlap.notes.append(
                f"model '{model.name}': near copies of its training texts were not looked for: "
                "training and audit need the extra 'compare'"
            )
        for corpus in corpora:
            overlap.findings += _cautions(model.name, corpus, digests)
    return overlap


def _cautions(model: str, corpus: Corpus, digests: TextDigests) -> list[Finding]:
    """The caution on a corpus, if enough of its texts were in training."""
    found = matches(texts_in(corpus.items), digests)
    seen = found.exact | found.near
    n = int((~found.short).sum())
    entry = TABLE[CAUTION]
    if not n or seen.sum() < entry["from"] * n:
        return []

    counts = {
        "exact": int(found.exact.sum()),
        "near": int(found.near.sum()),
        "too_short": int(found.short.sum()),
    }
    value = seen.sum() / n
    where = {
        "audit": "compare",
        "part": "caution",
        "model": model,
        "corpus": corpus.name,
        "caution": CAUTION,
        "sentence": entry["sentence"].format(model=model, percent=100 * value, n=n, **counts),
        "command": "",
    }
    return [
        Finding(
            measure="caution",
            value=float(value),
            n=n,
            interval=_interval(corpus, found),
            where=where,
            counts=counts,
            examples=() if corpus.histories else _ids(corpus, found),
            flags=("caution",),
        )
    ]


def _interval(corpus: Corpus, found: Matches) -> tuple[float, float]:
    """The interval of the share, clustered by author; posts of histories count by themselves."""
    seen = found.exact | found.near
    if corpus.histories:
        return Rate(int(seen.sum()), int((~found.short).sum())).interval
    figure = share(corpus, seen, ~found.short)
    return figure.interval or Rate(int(seen.sum()), figure.n).interval


def _ids(corpus: Corpus, found: Matches) -> tuple[str, ...]:
    """The ids of the first texts that were in training."""
    places = np.flatnonzero(found.exact | found.near)[:MOST_IDS]
    ids = corpus.ids
    return tuple(ids[place] for place in places)
