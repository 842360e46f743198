"""A cascade on annotated texts: accuracy against what is asked, its seam, and its cost."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from psycheck.audits.figures import measured
from psycheck.core.arrays import BoolArray, FloatArray
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding
from psycheck.core.model import Model, Priced, Reply
from psycheck.llm.cascade import Cascade
from psycheck.scoring.remembered import RememberedScores
from psycheck.statistics.classification import gold, usable
from psycheck.statistics.clustered import Clusters, mean_interval, ratio_interval
from psycheck.statistics.label_intervals import f1_interval
from psycheck.statistics.two_stage import CascadePoint, cascade_curve, text_costs

_THRESHOLD = 0.5
_EDGE = 0.25  # half the width of a band that was stretched to one size on both sides
_SHOWN_SHARES = (
    0.0,
    0.05,
    0.1,
    0.2,
    0.3,
    0.4,
    0.5,
    0.75,
    1.0,
)  # of the texts asked about, besides the chosen


@dataclass(frozen=True, slots=True, kw_only=True)
class _Decided:
    """What both parts of a cascade say about a label of the texts, all (n,), and which replies are known.

    `distance` is that of the calibrated cheap score from the threshold, `_EDGE` at the edges of the band.
    """

    targets: FloatArray
    cheap: FloatArray
    llm: FloatArray
    final: FloatArray
    distance: FloatArray
    known: BoolArray
    clusters: Clusters

    def decisions(self, half_width: float) -> BoolArray:
        """The decisions if the LLM is asked about the texts within a distance."""
        is_llms = (self.distance < half_width) & ~np.isnan(self.llm)
        return np.where(is_llms, self.llm >= _THRESHOLD, self.cheap >= _THRESHOLD)

    @property
    def usable(self) -> BoolArray:
        """The texts with an annotation and a cheap score."""
        return usable(self.targets, self.cheap)


def curve_findings(
    model: Model,
    view: RememberedScores,
    corpora: Sequence[Corpus],
) -> Iterator[Finding]:
    """The curve, the seam and the cost of a cascade on each annotated corpus; none for any other model."""
    if not isinstance(model, Cascade) or not model.band[0] <= _THRESHOLD <= model.band[1]:
        return
    # The cascade's own scores rest on these, so the store has them.
    cheap = RememberedScores(view.store, model.cheap, model.cheap.labels)
    llm = RememberedScores(view.store, model.llm, model.llm.labels)
    for corpus in corpora:
        items = corpus.items
        cheap_scores = model.calibrated(cheap.of(items))
        llm_scores = model.replied(llm.of(items))
        final_scores = view.of(items)
        replies = llm.replies(items)
        known = np.array([reply is not None for reply in replies])
        call_cost = _cost_of_call(model.llm, replies)

        for column, label in enumerate(model.labels):
            if label not in corpus.labels:
                continue
            decided = _Decided(
                targets=corpus.targets([label])[:, 0],
                cheap=cheap_scores[:, column],
                llm=llm_scores[:, column],
                final=final_scores[:, view.labels.index(label)],
                distance=_distances(cheap_scores[:, column], model.band),
                known=known,
                clusters=Clusters.of(corpus.units()),
            )
            where = {"audit": "performance", "model": model.name, "corpus": corpus.name, "label": label}
            yield from _curve(decided, where, call_cost)
            yield _seam(decided, where)
            yield from _costs(model, decided, where)


def _cost_of_call(llm: Model, replies: Sequence[Reply | None]) -> float | None:
    """The mean price of a reply, None without a price or without replies that count their tokens."""
    counted = [
        (reply.prompt_tokens, reply.completion_tokens)
        for reply in replies
        if reply is not None and reply.prompt_tokens is not None and reply.completion_tokens is not None
    ]
    if not counted or not isinstance(llm, Priced):
        return None
    cost = llm.cost(sum(sent for sent, _ in counted), sum(received for _, received in counted))
    return None if cost is None else cost / len(counted)


def _distances(scores: FloatArray, band: tuple[float, float]) -> FloatArray:
    """How far scores are from the threshold, stretched so that both edges of the band are equally far."""
    low, high = band
    below = np.maximum(_THRESHOLD - low, 1e-9)
    above = np.maximum(high - _THRESHOLD, 1e-9)
    widths = np.where(scores < _THRESHOLD, below, above)
    return _EDGE * np.abs(scores - _THRESHOLD) / widths


def _curve(decided: _Decided, where: dict[str, str], call_cost: float | None) -> Iterator[Finding]:
    """F1 and accuracy at some shares of texts asked about, as far as replies are known."""
    side = np.where(decided.cheap >= _THRESHOLD, 1.0, -1.0)
    stretched = _THRESHOLD + side * decided.distance
    points = cascade_curve(decided.targets, stretched, decided.llm, _THRESHOLD)
    is_usable = decided.usable
    chosen_asked = int(np.sum(decided.distance[is_usable] < _EDGE))
    for point in _shown(points, decided, chosen_asked):
        marks = {"asked": f"{point.share:.4f}"}
        if point.asked == chosen_asked:
            marks["chosen"] = "yes"
        if call_cost is not None:
            marks["cost"] = f"{call_cost * point.asked:.6g}"
        # The edges of the band of the run belong to no text, as in the cascade itself.
        half_width = _EDGE if point.asked == chosen_asked else point.half_width
        if point.asked == point.n:
            half_width = np.inf
        yield from _at(decided, half_width, where | marks, point)


def _shown(points: Sequence[CascadePoint], decided: _Decided, chosen_asked: int) -> list[CascadePoint]:
    """The points at some shares and at the band of the run; beyond what is known there are none."""
    is_usable = decided.usable
    unknown = decided.distance[is_usable & ~decided.known]
    nearest_unknown = unknown.min() if len(unknown) else np.inf
    within = int(np.sum(decided.distance[is_usable] < nearest_unknown))
    known = [point for point in points if point.asked <= within]

    shown = {point.asked for point in known if point.asked == chosen_asked}
    for share in _SHOWN_SHARES:
        if share <= known[-1].share:
            shown.add([point.asked for point in known if point.share <= share][-1])
    return [point for point in known if point.asked in shown]


def _at(
    decided: _Decided, half_width: float, where: dict[str, str], point: CascadePoint
) -> Iterator[Finding]:
    is_usable = decided.usable
    says_yes = decided.decisions(half_width)
    positive = gold(decided.targets) & is_usable
    hits = says_yes & positive
    wrong = (says_yes != positive) & is_usable
    right = is_usable & ~wrong
    counts = {"asked": point.asked, "saved": point.n - point.asked}

    interval = f1_interval(hits, wrong, decided.clusters)
    yield measured("cascade_f1", point.f1, point.n, interval, where, counts)
    interval = ratio_interval(right, is_usable, decided.clusters)
    yield measured("cascade_accuracy", point.accuracy, point.n, interval, where, counts)


def _seam(decided: _Decided, where: dict[str, str]) -> Finding:
    """How often the two parts disagree just inside the band."""
    is_near = (decided.distance >= _EDGE / 2) & (decided.distance < _EDGE) & ~np.isnan(decided.llm)
    changes = is_near & ((decided.llm >= _THRESHOLD) != (decided.cheap >= _THRESHOLD))
    n = int(is_near.sum())
    share = float(changes.sum() / n) if n else np.nan
    interval = ratio_interval(changes, is_near, decided.clusters) if n else None
    return measured("seam_changes", share, n, interval, where)


def _costs(model: Cascade, decided: _Decided, where: dict[str, str]) -> Iterator[Finding]:
    """The mean cost of a text, for the cascade and for each part alone as far as its answers are known."""
    if model.prices is None:
        return
    asked = decided.distance < _EDGE
    nobody = np.zeros(len(asked), np.bool_)
    ways = {
        "cascade": (_decisions(decided.final), asked),
        "cheap": (_decisions(decided.cheap), nobody),
    }
    if decided.known.all():
        ways["llm"] = (_decisions(decided.llm), ~nobody)

    for name, (decisions, is_asked) in ways.items():
        costs = text_costs(decided.targets, decisions, is_asked, model.prices)
        is_annotated = ~np.isnan(costs)
        n = int(is_annotated.sum())
        mean = float(costs[is_annotated].mean()) if n else np.nan
        interval = mean_interval(costs[is_annotated], decided.clusters.at(is_annotated), low=0.0)
        left = int((np.isnan(decisions) & is_annotated).sum())
        counts = {"asked": int((is_asked & is_annotated).sum()), "person": left}
        yield measured("cost_per_text", mean, n, interval, where | {"decided_by": name}, counts)


def _decisions(scores: FloatArray) -> FloatArray:
    """The decisions of scores, (n,); NaN, where there is none, is left to a person."""
    return np.where(np.isnan(scores), np.nan, scores >= _THRESHOLD)
