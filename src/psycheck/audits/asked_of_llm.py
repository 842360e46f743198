"""What an LLM was asked about: who decided in a cascade, which posts were sent, how far samples agree."""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from psycheck.audits.figures import measured
from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus, History
from psycheck.core.finding import Finding
from psycheck.core.model import Model
from psycheck.llm.cascade import Cascade
from psycheck.llm.chosen_posts import HistoryLlm
from psycheck.llm.model import LlmModel
from psycheck.scoring.remembered import RememberedScores
from psycheck.statistics.clustered import Clusters, mean_interval, ratio_interval

_MOST_EXAMPLES = 50


def cascade_findings(
    model: Model,
    view: RememberedScores,
    corpora: Sequence[Corpus],
) -> Iterator[Finding]:
    """The share of texts about which a cascade asked its LLM; none for any other model."""
    if not isinstance(model, Cascade):
        return

    # The cascade's own scores rest on these, so the store has them.
    cheap = RememberedScores(view.store, model.cheap, model.cheap.labels)
    for corpus in corpora:
        items = corpus.items
        cheap_scores = cheap.of(items)
        sent = model.asked(cheap_scores)
        # What neither model decides is left to a person.
        undecided = np.isnan(view.of(items)).all(axis=1)
        by_llm = sent & ~undecided
        by_cheap = ~sent & ~undecided
        counts = {
            "cheap": int(by_cheap.sum()),
            "llm": int(by_llm.sum()),
            "person": int(undecided.sum()),
        }

        n = len(items)
        clusters = Clusters.of(corpus.units())
        interval = ratio_interval(sent, np.ones(n), clusters)
        share = float(sent.mean())
        yield measured(
            "asked_share",
            share,
            n,
            interval=interval,
            where=_where(model, corpus),
            counts=counts,
        )


def _where(model: Model, corpus: Corpus) -> dict[str, str]:
    # What was asked is one figure for all labels: a request is about all of them.
    return {
        "audit": "performance",
        "model": model.name,
        "corpus": corpus.name,
        "label": "all",
    }


def history_findings(
    model: Model,
    view: RememberedScores,
    corpora: Sequence[Corpus],
) -> Iterator[Finding]:
    """The share of posts that an LLM read, and why it read no others; none for any other model."""
    if not isinstance(model, HistoryLlm):
        return

    # The weights were computed to choose the posts, so the store has them.
    weights = RememberedScores(view.store, model.symptoms, model.symptoms.labels)
    for corpus in corpora:
        histories = [item for item in corpus.items if isinstance(item, History)]
        choices = [model.choice(history, weights.of) for history in histories]
        read = np.array([len(choice.places) for choice in choices])
        posts = np.array([len(history.posts) for history in histories])
        n = int(posts.sum())

        counts = Counter({"posts": n, "read": int(read.sum())})
        for choice in choices:
            counts.update(choice.left_out)

        # Authors write unequal numbers of posts: a ratio of sums, not a mean of shares.
        share = float(read.sum() / n) if n else np.nan
        clusters = Clusters.of(corpus.units())
        interval = ratio_interval(read, posts, clusters)
        yield measured(
            "posts_read",
            share,
            n,
            interval=interval,
            where=_where(model, corpus),
            counts=counts,
        )


def consistency_findings(
    model: Model,
    view: RememberedScores,
    corpora: Sequence[Corpus],
) -> Iterator[Finding]:
    """How far the samples of each question agree; none for a model that is asked once."""
    if not isinstance(model, LlmModel) or len(model.settings) < 2:
        return
    for corpus in corpora:
        agreements = _agreements(model, view, corpus)
        is_known = ~np.isnan(agreements)
        known = agreements[is_known]
        clusters = Clusters.of(corpus.units()).at(is_known)
        counts = {
            "samples": len(model.settings),
            "unanswered": len(agreements) - len(known),
        }
        yield measured(
            "self_consistency",
            float(known.mean()) if len(known) else np.nan,
            len(known),
            interval=mean_interval(known, clusters, low=0.0),
            where=_where(model, corpus),
            counts=counts,
            examples=_most_divided(agreements, corpus.ids),
        )


def _agreements(model: LlmModel, view: RememberedScores, corpus: Corpus) -> FloatArray:
    """How far the samples about each text agree, (n,); NaN where there are none."""
    agreements = np.full(len(corpus), np.nan)
    texts = corpus.items
    for place, reply in enumerate(view.replies(texts)):
        if reply is not None:
            text = str(texts[place])
            agreements[place] = model.reading(reply, text).agreement
    return agreements


def _most_divided(agreements: FloatArray, ids: Sequence[str]) -> list[str]:
    """The texts whose samples are most at odds: a person should look at them first."""
    # NaN comes last, and is not below 1.
    order = np.argsort(agreements, kind="stable")
    first = order[:_MOST_EXAMPLES].tolist()
    return [ids[place] for place in first if agreements[place] < 1]
