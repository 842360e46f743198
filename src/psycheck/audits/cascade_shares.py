"""Who decided what in a cascade: the cheap model, the LLM inside the band, or a person."""

from collections.abc import Iterator, Sequence

import numpy as np

from psycheck.audits.figures import measured
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding
from psycheck.core.model import Model
from psycheck.llm.cascade import Cascade
from psycheck.scoring.remembered import RememberedScores
from psycheck.statistics.clustered import Clusters, ratio_interval


def cascade_findings(model: Model, view: RememberedScores, corpora: Sequence[Corpus]) -> Iterator[Finding]:
    """The share of texts about which a cascade asked its LLM; none for any other model."""
    if not isinstance(model, Cascade):
        return

    # The cascade's own scores rest on these, so the store has them.
    cheap = RememberedScores(view.store, model.cheap, model.cheap.labels)
    for corpus in corpora:
        items = corpus.items
        asked = model.asked(cheap.of(items))
        undecided = np.isnan(view.of(items)).all(axis=1)
        by_llm = asked & ~undecided
        counts = {
            "cheap": int((~asked & ~undecided).sum()),
            "llm": int(by_llm.sum()),
            "person": int(undecided.sum()),
        }
        interval = ratio_interval(asked, np.ones(len(items)), Clusters.of(corpus.units()))
        where = {"audit": "performance", "model": model.name, "corpus": corpus.name, "label": "all"}
        yield measured("asked_share", float(asked.mean()), len(items), interval, where, counts)
