"""Prompt sensitivity: the same LLM on the same texts under several wordings."""

from collections.abc import Iterator, Sequence

import numpy as np

from psycheck.audits.figures import measured, thresholds_of
from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding
from psycheck.core.model import Model
from psycheck.llm.model import LlmModel
from psycheck.scoring.remembered import RememberedScores
from psycheck.statistics.classification import decide
from psycheck.statistics.clustered import Clusters, ratio_interval
from psycheck.statistics.wordings import answered_by_all, changes, f1_range

_MOST_EXAMPLES = 50


def sensitivity_findings(
    models: Sequence[Model],
    views: Sequence[RememberedScores],
    corpora: Sequence[Corpus],
    *,
    seed: int = 0,
) -> Iterator[Finding]:
    """How many decisions change with the wording, and how far F1 moves, for each LLM that has several."""
    for (name, _), places in _by_server(models).items():
        if len(places) < 2:
            continue
        views_of_llm = [views[place] for place in places]
        labels = _shared_labels(views_of_llm)
        for corpus in corpora:
            for label in labels:
                yield from _of_label(name, views_of_llm, corpus, label, seed)


def _shared_labels(views: Sequence[RememberedScores]) -> list[str]:
    """The labels that all wordings ask for, in the order of the first."""
    shared = set(views[0].labels)
    for view in views:
        shared.intersection_update(view.labels)
    return [label for label in views[0].labels if label in shared]


def _by_server(models: Sequence[Model]) -> dict[tuple[str, str], list[int]]:
    """The places of LLMs, by the model's name on its server and the address of the server."""
    places: dict[tuple[str, str], list[int]] = {}
    for place, model in enumerate(models):
        if isinstance(model, LlmModel):
            # The same name on two servers may be two models.
            server = (model.model, model.base_url)
            places.setdefault(server, []).append(place)
    return places


def _of_label(
    name: str,
    views: Sequence[RememberedScores],
    corpus: Corpus,
    label: str,
    seed: int,
) -> Iterator[Finding]:
    decided = np.stack([_decisions(view, corpus, label) for view in views])
    clusters = Clusters.of(corpus.units())
    where = {
        "audit": "performance",
        "model": name,
        "corpus": corpus.name,
        "label": label,
        "by": "wording",
    }
    counted_wordings = {"wordings": len(views)}

    # Over the texts that every wording got an answer to: an unreadable reply is no change of mind.
    changed = changes(decided)
    answered = answered_by_all(decided)
    n = int(answered.sum())
    share = float(changed.sum() / n) if n else np.nan
    changed_places = np.flatnonzero(changed)[:_MOST_EXAMPLES]
    ids = corpus.ids
    yield measured(
        "wording_changes",
        share,
        n,
        interval=ratio_interval(changed, answered, clusters),
        where=where,
        counts=counted_wordings | {"unanswered": len(answered) - n},
        examples=[ids[place] for place in changed_places.tolist()],
    )

    if label in corpus.labels:
        targets = corpus.targets([label])[:, 0]
        spread = f1_range(targets, decided, clusters, seed=seed)
        yield measured(
            "wording_f1_range",
            spread.spread,
            spread.n,
            interval=spread.interval,
            where=where,
            counts=counted_wordings,
        )


def _decisions(view: RememberedScores, corpus: Corpus, label: str) -> FloatArray:
    """The decision about each text, (n,): 0 or 1, NaN where there is no answer."""
    column = view.labels.index(label)
    scores = view.of(corpus.items)
    # All columns first: of exclusive labels the highest score decides.
    thresholds = thresholds_of(view, 0.5)
    decided = decide(scores, thresholds, exclusive=view.traits.exclusive)
    return decided[:, column]
