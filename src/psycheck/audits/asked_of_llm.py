"""What an LLM was asked about: who decided in a cascade, and which posts of histories were sent."""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from psycheck.audits.figures import measured
from psycheck.core.corpus import Corpus, History
from psycheck.core.finding import Finding
from psycheck.core.model import Model
from psycheck.llm.cascade import Cascade
from psycheck.llm.chosen_posts import HistoryLlm
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


def history_findings(model: Model, view: RememberedScores, corpora: Sequence[Corpus]) -> Iterator[Finding]:
    """The share of posts that an LLM read, and why it read no others; none for any other model."""
    if not isinstance(model, HistoryLlm):
        return

    # The weights were computed to choose the posts, so the store has them.
    weights = RememberedScores(view.store, model.symptoms, model.symptoms.labels)
    for corpus in corpora:
        histories = [item for item in corpus.items if isinstance(item, History)]
        choices = [model.choice(history, weights.of) for history in histories]
        read = np.array([len(choice.places) for choice in choices])
        total = np.array([len(history.posts) for history in histories])

        counts = Counter({"posts": int(total.sum()), "read": int(read.sum())})
        for choice in choices:
            counts.update(choice.left_out)
        n = int(total.sum())
        interval = ratio_interval(read, total, Clusters.of(corpus.units()))
        where = {"audit": "performance", "model": model.name, "corpus": corpus.name, "label": "all"}
        yield measured("posts_read", float(read.sum() / n) if n else np.nan, n, interval, where, counts)
