"""Ratings with quotes: how many items have evidence, how many quotes are invented, what bounds decide."""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from psycheck.audits.figures import measured
from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding
from psycheck.core.model import Model
from psycheck.llm.model import LlmModel
from psycheck.llm.parsing import Reading
from psycheck.llm.quotes import STATUSES
from psycheck.scoring.remembered import RememberedScores
from psycheck.statistics.clustered import Clusters, ratio_interval
from psycheck.symptoms.scales import Scale

_EQUAL = 1e-6  # points that were divided by the highest and multiplied again


def evidence_findings(
    model: Model,
    view: RememberedScores,
    corpora: Sequence[Corpus],
) -> Iterator[Finding]:
    """The findings on quotes of a model whose prompt asks for them; none for any other model."""
    if not isinstance(model, LlmModel) or not model.checks_quotes:
        return
    scale = model.prompt.scale
    if scale is None:
        return

    for corpus in corpora:
        where = {
            "audit": "performance",
            "model": model.name,
            "corpus": corpus.name,
            "label": "all",
            "scale": scale.name,
        }
        yield from _of_corpus(model, scale, view, corpus, where)


def _of_corpus(
    model: LlmModel,
    scale: Scale,
    view: RememberedScores,
    corpus: Corpus,
    where: Mapping[str, str],
) -> Iterator[Finding]:
    """The findings of one corpus, over the texts that have a reply."""
    items = corpus.items
    replies = view.replies(items)
    places: list[int] = []
    readings: list[Reading] = []
    for place, reply in enumerate(replies):
        if reply is None:
            continue
        places.append(place)
        # Read once more with its text, which the store does not hold: a quote must stand in it.
        readings.append(model.reading(reply, str(items[place])))
    if not readings:
        return

    clusters = Clusters.of(corpus.units()[places])
    # (texts, statuses): how many items of each text have which status.
    counts = np.zeros((len(readings), len(STATUSES)), np.int64)
    for line, reading in zip(counts, readings, strict=True):
        line[:] = [reading.evidence.count(status) for status in STATUSES]
    by_status = dict(zip(STATUSES, counts.T, strict=True))
    totals = {status: int(count.sum()) for status, count in by_status.items()}

    # An item that could not be read lacks no evidence: its reply is at fault.
    read_items = counts.sum(axis=1) - by_status["unread"]
    without = read_items - by_status["stated"]
    yield _share("items_without_evidence", without, read_items, clusters, where, totals)

    invented = by_status["invented"]
    quoted = by_status["stated"] + invented
    yield _share("invented_quotes", invented, quoted, clusters, where, totals)

    # Without a total no band can be right: such a text counts on neither side.
    has_total = np.array([not math.isnan(reading.least) for reading in readings])
    has_band = np.array([bool(reading.band) for reading in readings])
    yield _share("band_agreed", has_band & has_total, has_total, clusters, where, {})

    rated_by_person = _points_of_raters(scale, corpus, places)
    yield from _agreement(readings, rated_by_person, clusters, where)


def _points_of_raters(scale: Scale, corpus: Corpus, places: Sequence[int]) -> FloatArray:
    """What people gave each item of each text, (n, items), in points; NaN where they did not rate it."""
    points = np.full((len(places), len(scale.item)), np.nan)
    # The first label is the total of the scale.
    item_labels = scale.labels[1:]
    _, highest = scale.points
    for column, label in enumerate(item_labels):
        if label in corpus.labels:
            targets = corpus.targets([label])[places, 0]
            points[:, column] = targets * highest
    return points


def _agreement(
    readings: Sequence[Reading],
    raters: FloatArray,
    clusters: Clusters,
    where: Mapping[str, str],
) -> Iterator[Finding]:
    """The share of stated items to which the model gives the points of the raters."""
    stated = np.stack([reading.items for reading in readings])
    comparable = ~np.isnan(stated) & ~np.isnan(raters)
    if not comparable.any():
        return
    # NaN where either is missing, which is never below a bound.
    distance = np.abs(stated - raters)
    same = distance < _EQUAL
    yield _share(
        "item_agreement",
        same.sum(axis=1),
        comparable.sum(axis=1),
        clusters,
        where,
        {},
    )


def _share(
    measure: str,
    above: np.ndarray,
    below: np.ndarray,
    clusters: Clusters,
    where: Mapping[str, str],
    counts: Mapping[str, int],
) -> Finding:
    """A share of items or texts with its interval, clustered by author or text."""
    n = int(below.sum())
    value = float(above.sum() / n) if n else math.nan
    interval = ratio_interval(above, below, clusters)
    return measured(
        measure,
        value,
        n,
        interval=interval,
        where=where,
        counts=counts,
    )
