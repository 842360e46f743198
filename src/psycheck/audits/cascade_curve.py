"""A cascade on annotated texts: accuracy against what is asked, its seam, and its cost."""

from collections.abc import Iterator, Mapping, Sequence
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
from psycheck.statistics.two_stage import CascadePoint, Prices, cascade_curve, text_costs

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
    if not isinstance(model, Cascade):
        return
    low, high = model.band
    # The curve widens a band around the threshold: one that lies beside it is not on the curve.
    if not low <= _THRESHOLD <= high:
        return
    # The cascade's own scores rest on these, so the store has them.
    cheap = RememberedScores(view.store, model.cheap, model.cheap.labels)
    llm = RememberedScores(view.store, model.llm, model.llm.labels)
    for corpus in corpora:
        answers = _Answers(
            cheap=model.calibrated(cheap.of(corpus.items)),
            llm=model.replied(llm.of(corpus.items)),
            final=view.of(corpus.items),
            replies=llm.replies(corpus.items),
        )
        for column, label in enumerate(model.labels):
            if label in corpus.labels:
                yield from _of_label(model, corpus, answers, column)


@dataclass(frozen=True, slots=True)
class _Answers:
    """The scores of both parts and of the cascade, (n, k), and what the LLM replied, (n,)."""

    cheap: FloatArray
    llm: FloatArray
    final: FloatArray
    replies: Sequence[Reply | None]


def _of_label(
    model: Cascade,
    corpus: Corpus,
    answers: _Answers,
    column: int,
) -> Iterator[Finding]:
    """All figures of one label."""
    label = model.labels[column]
    is_known = [reply is not None for reply in answers.replies]
    cheap = answers.cheap[:, column]
    decided = _Decided(
        targets=corpus.targets([label])[:, 0],
        cheap=cheap,
        llm=answers.llm[:, column],
        final=answers.final[:, column],
        distance=_distances(cheap, model.band),
        known=np.array(is_known),
        clusters=Clusters.of(corpus.units()),
    )
    where = {
        "audit": "performance",
        "model": model.name,
        "corpus": corpus.name,
        "label": label,
    }
    yield from _curve(decided, where, _cost_of_call(model.llm, answers.replies))
    yield _seam(decided, where)
    if model.prices is not None:
        yield from _costs(model.prices, decided, where)


def _cost_of_call(llm: Model, replies: Sequence[Reply | None]) -> float | None:
    """The mean price of a reply, None without a price or without replies that count their tokens."""
    sent = []
    received = []
    for reply in replies:
        # Servers need not count tokens.
        if reply is None or reply.prompt_tokens is None or reply.completion_tokens is None:
            continue
        sent.append(reply.prompt_tokens)
        received.append(reply.completion_tokens)
    if not sent or not isinstance(llm, Priced):
        return None

    cost = llm.cost(sum(sent), sum(received))
    return None if cost is None else cost / len(sent)


def _distances(scores: FloatArray, band: tuple[float, float]) -> FloatArray:
    """How far scores are from the threshold, stretched so that both edges of the band are equally far."""
    low, high = band
    # An edge may lie on the threshold itself: its width is then as good as nothing, but can be divided by.
    below = np.maximum(_THRESHOLD - low, 1e-9)
    above = np.maximum(high - _THRESHOLD, 1e-9)
    widths = np.where(scores < _THRESHOLD, below, above)
    return _EDGE * np.abs(scores - _THRESHOLD) / widths


def _curve(decided: _Decided, where: Mapping[str, str], call_cost: float | None) -> Iterator[Finding]:
    """F1 and accuracy at some shares of texts asked about, as far as replies are known."""
    side = np.where(decided.cheap >= _THRESHOLD, 1.0, -1.0)
    # The curve knows distances alone: scores that are stretched have one on both sides of the band.
    stretched = _THRESHOLD + side * decided.distance
    points = cascade_curve(decided.targets, stretched, decided.llm, _THRESHOLD)
    inside = decided.distance[decided.usable] < _EDGE
    chosen_asked = int(inside.sum())

    for point in _shown(points, decided, chosen_asked):
        marks = {"asked": f"{point.share:.4f}"}
        half_width = point.half_width
        if point.asked == chosen_asked:
            marks["chosen"] = "yes"
            # Its edges belong to no text, as in the cascade itself.
            half_width = _EDGE
        # Asking about all texts means also about those that lie furthest.
        if point.asked == point.n:
            half_width = np.inf
        if call_cost is not None:
            cost = call_cost * point.asked
            marks["cost"] = f"{cost:.6g}"
        yield from _at(decided, half_width, {**where, **marks}, point)


def _shown(points: Sequence[CascadePoint], decided: _Decided, chosen_asked: int) -> list[CascadePoint]:
    """The points at some shares and at the band of the run; beyond what is known there are none."""
    # Replies are known from the threshold outwards: the curve ends before the first that is missing.
    distances = decided.distance[decided.usable]
    unknown = distances[~decided.known[decided.usable]]
    nearest_unknown = unknown.min() if len(unknown) else np.inf
    most_asked = int(np.sum(distances < nearest_unknown))
    known = [point for point in points if point.asked <= most_asked]

    shown = {chosen_asked}
    for share in _SHOWN_SHARES:
        if share <= known[-1].share:
            within = [point.asked for point in known if point.share <= share]
            shown.add(within[-1])
    return [point for point in known if point.asked in shown]


def _at(
    decided: _Decided,
    half_width: float,
    where: Mapping[str, str],
    point: CascadePoint,
) -> Iterator[Finding]:
    """F1 and accuracy of one band."""
    is_usable = decided.usable
    positive = gold(decided.targets) & is_usable
    says_yes = decided.decisions(half_width)
    hits = says_yes & positive
    wrong = (says_yes != positive) & is_usable
    right = is_usable & ~wrong
    counts = {
        "asked": point.asked,
        "saved": point.n - point.asked,
    }
    yield measured(
        "cascade_f1",
        point.f1,
        point.n,
        interval=f1_interval(hits, wrong, decided.clusters),
        where=where,
        counts=counts,
    )
    yield measured(
        "cascade_accuracy",
        point.accuracy,
        point.n,
        interval=ratio_interval(right, is_usable, decided.clusters),
        where=where,
        counts=counts,
    )


def _seam(decided: _Decided, where: Mapping[str, str]) -> Finding:
    """How often the two parts disagree just inside the band."""
    # The outer half of the band borders on the texts that the cheap part decides alone.
    is_outer = (decided.distance >= _EDGE / 2) & (decided.distance < _EDGE)
    is_near = is_outer & ~np.isnan(decided.llm)
    llm_says_yes = decided.llm >= _THRESHOLD
    cheap_says_yes = decided.cheap >= _THRESHOLD
    changes = is_near & (llm_says_yes != cheap_says_yes)

    n = int(is_near.sum())
    share = float(changes.sum() / n) if n else np.nan
    interval = ratio_interval(changes, is_near, decided.clusters) if n else None
    return measured("seam_changes", share, n, interval=interval, where=where)


def _costs(prices: Prices, decided: _Decided, where: Mapping[str, str]) -> Iterator[Finding]:
    """The mean cost of a text, for the cascade and for each part alone as far as its answers are known."""
    asked = decided.distance < _EDGE
    nobody = np.zeros(len(asked), np.bool_)
    everybody = ~nobody
    ways = {
        "cascade": (decided.final, asked),
        "cheap": (decided.cheap, nobody),
    }
    # Alone, the LLM would be asked about every text: one missing reply, and its cost is not known.
    if decided.known.all():
        ways["llm"] = (decided.llm, everybody)

    for name, (scores, is_asked) in ways.items():
        decisions = _decisions(scores)
        costs = text_costs(decided.targets, decisions, is_asked, prices)
        is_annotated = ~np.isnan(costs)
        known_costs = costs[is_annotated]
        clusters = decided.clusters.at(is_annotated)
        left_to_person = np.isnan(decisions) & is_annotated
        counts = {
            "asked": int(np.sum(is_asked & is_annotated)),
            "person": int(left_to_person.sum()),
        }
        yield measured(
            "cost_per_text",
            float(known_costs.mean()) if len(known_costs) else np.nan,
            len(known_costs),
            interval=mean_interval(known_costs, clusters, low=0.0),
            where={**where, "decided_by": name},
            counts=counts,
        )


def _decisions(scores: FloatArray) -> FloatArray:
    """The decisions of scores, (n,); NaN, where there is none, is left to a person."""
    return np.where(np.isnan(scores), np.nan, scores >= _THRESHOLD)
