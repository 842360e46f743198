"""Whether texts that are judged were in the training data of a model, by the digests in its card."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding, Interval
from psycheck.core.model import Model, capabilities_of
from psycheck.corpora.suspicious_figures import TABLE, ids_at, share
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
    overlap = matches(texts_in(corpus.items), digests)
    seen = overlap.exact | overlap.near
    # Short texts have no digest: nothing is known about them.
    compared = int((~overlap.short).sum())
    entry = TABLE[CAUTION]
    if not compared or seen.sum() < entry["from"] * compared:
        return []

    counts = {
        "exact": int(overlap.exact.sum()),
        "near": int(overlap.near.sum()),
        "too_short": int(overlap.short.sum()),
    }
    share_seen = float(seen.sum() / compared)
    sentence = entry["sentence"].format(
        model=model,
        percent=100 * share_seen,
        n=compared,
        **counts,
    )
    where = {
        "audit": "compare",
        "part": "caution",
        "model": model,
        "corpus": corpus.name,
        "caution": CAUTION,
        "sentence": sentence,
        "command": "",
    }
    caution = Finding(
        measure="caution",
        value=share_seen,
        n=compared,
        interval=_interval(corpus, overlap),
        where=where,
        counts=counts,
        # The posts of histories have no ids of their own.
        examples=() if corpus.histories else ids_at(corpus, np.flatnonzero(seen).tolist()),
        flags=("caution",),
    )
    return [caution]


def _interval(corpus: Corpus, overlap: Matches) -> Interval:
    """The interval of the share, clustered by author; posts of histories count by themselves."""
    seen = overlap.exact | overlap.near
    # Texts of a few words are alike by chance and were not compared.
    is_compared = ~overlap.short
    unclustered = Rate(int(seen.sum()), int(is_compared.sum())).interval
    if corpus.histories:
        return unclustered
    return share(corpus, seen, is_compared).interval or unclustered
