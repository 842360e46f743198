"""Read replies: a pure function of the reply and the prompt's output contract.

What cannot be read is NaN, for exactly the labels that it fails on, and never 0. One call gives everything
that a reply says: scores, reasons, and the points of a rating scale.

    reply → samples → take_apart (sample.py): fields and the words outside them
          → yes_no.py, choices.py, ratings.py, quotes.py or disorders.py, by the prompt's kind of answer
          → Reading
"""

import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import Final

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.core.model import NoAnswer, Reply
from psycheck.io.settings import read_settings
from psycheck.llm.choices import read_choice
from psycheck.llm.disorders import read_open
from psycheck.llm.prompts import Prompt
from psycheck.llm.prose import refuses
from psycheck.llm.quotes import (
    Status,
    band_of_bounds,
    bounds_of,
    read_evidence,
    verdict_of_bounds,
)
from psycheck.llm.ratings import read_items
from psycheck.llm.sample import Sample, take_apart
from psycheck.llm.yes_no import read_yes_no
from psycheck.symptoms.scales import Scale, band_of, total_of, verdict_of

NOTHING: Final = np.zeros(0)


def _read_no_answers() -> dict[str, NoAnswer]:
    text = files("psycheck.llm").joinpath("unanswered.toml").read_text("utf-8")
    entries = tomllib.loads(text)
    return {reason: read_settings(NoAnswer, entry, "unanswered.toml") for reason, entry in entries.items()}


NO_ANSWERS: Final = _read_no_answers()
# How servers name the end of a reply that a filter stopped.
_FILTERED: Final = frozenset(
    ["content_filter", "safety", "recitation", "blocklist", "prohibited_content", "spii"]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a reply says.

    `scores` has one score per label, (k,), NaN where the reply does not answer. `how` says where the answer
    stood: json, lines, words or prose; or why there is none: a key of unanswered.toml. `disorder` is what an
    open-ended answer names, in its own words. For a rating scale,
    `items` holds the points of each item, (n,), NaN where missing, with `total` and `band`. Where items have
    evidence, `evidence` says what became of each, and the total is between `least` and `most`.
    `agreement` is the share of several samples that give the commonest decision, over the labels.
    """

    scores: FloatArray
    how: str
    rationale: str = ""
    disorder: str = ""
    items: FloatArray = field(default_factory=lambda: NOTHING)
    total: float = math.nan
    band: str = ""
    least: float = math.nan
    most: float = math.nan
    evidence: tuple[Status, ...] = ()
    agreement: float = math.nan


def read_reply(reply: Reply, prompt: Prompt, text: str | None = None) -> Reading:
    """Read a reply; confidence comes from token probabilities, else from the samples, else it is 0 or 1.

    Quotes of a prompt with evidence are checked against the `text` that was asked about, if that is given.
    """
    first = _read_sample(reply.text, reply.finish, reply.logprobs, prompt, text)
    if not reply.others:
        return first
    # Only the first sample is stored with its token probabilities and the reason of its end.
    further = [_read_sample(sample, "stop", "", prompt, text) for sample in reply.others]
    return _mean_of_samples([first, *further], prompt)


def _read_sample(
    reply: str,
    finish: str,
    logprobs: str,
    prompt: Prompt,
    text: str | None,
) -> Reading:
    """The reading of one sample of a reply about a text."""
    why_unread = _why_unread(reply, finish)
    if why_unread:
        return _without_answer(why_unread, prompt)
    sample = take_apart(reply, finish, logprobs)
    if sample is None:
        return _without_answer("unreadable", prompt)
    if sample.is_thought:
        return _without_answer("thinking", prompt)

    if prompt.choices:
        reading = _read_choice(sample, prompt)
    elif prompt.answer == "open":
        reading = _read_open(sample, prompt)
    elif prompt.scale is not None and prompt.evidence:
        reading = _read_evidence(sample, prompt.scale, text)
    elif prompt.scale is not None:
        reading = _read_scale(sample, prompt, prompt.scale)
    else:
        reading = _read_yes_no(sample, prompt)

    # "No information" about every item is an answer, although it gives no score.
    says_nothing = all(status == "unread" for status in reading.evidence)
    if np.isnan(reading.scores).all() and says_nothing:
        return replace(reading, how=_why_without_answer(sample))
    return reading


def _read_yes_no(sample: Sample, prompt: Prompt) -> Reading:
    scores, how = read_yes_no(sample, prompt.labels)
    return Reading(scores=scores, how=how, rationale=sample.reasons)


def _read_choice(sample: Sample, prompt: Prompt) -> Reading:
    scores, how = read_choice(sample, prompt)
    return Reading(scores=scores, how=how, rationale=sample.reasons)


def _read_open(sample: Sample, prompt: Prompt) -> Reading:
    scores, rationale, disorder = read_open(sample, prompt)
    return Reading(
        scores=scores,
        how=_where(sample),
        rationale=rationale,
        disorder=disorder,
    )


def _read_scale(sample: Sample, prompt: Prompt, scale: Scale) -> Reading:
    """The verdict by the total of the items, then the score of each item."""
    rated = read_items(sample, prompt, scale)
    total = total_of(scale, rated.points)
    return Reading(
        scores=np.array([verdict_of(scale, total), *rated.scores]),
        how=_where(sample),
        rationale=sample.reasons,
        items=rated.points,
        total=total,
        band=band_of(scale, total),
    )


def _read_evidence(sample: Sample, scale: Scale, text: str | None) -> Reading:
    """The verdict and band as far as both bounds of the total agree, then the score of each stated item."""
    evidence = read_evidence(sample, scale, text)
    bounds = bounds_of(scale, evidence)
    return Reading(
        scores=np.array([verdict_of_bounds(scale, bounds), *(evidence.points / scale.points[1])]),
        how=_where(sample),
        rationale=sample.reasons,
        items=evidence.points,
        total=bounds.least if bounds.least == bounds.most else math.nan,
        band=band_of_bounds(scale, bounds),
        least=bounds.least,
        most=bounds.most,
        evidence=evidence.statuses,
    )


def _where(sample: Sample) -> str:
    return "json" if sample.has_json else "lines"


def _why_without_answer(sample: Sample) -> str:
    if refuses(sample.outside):
        return "refusal"
    return "cut" if sample.is_cut else "unreadable"


def _why_unread(reply: str, finish: str) -> str:
    """Why a reply is not read at all, "" if it is: by how it ended, or because it has no text."""
    # A filter or a refusal may cut at any place, so that nothing before it can be trusted.
    if finish.casefold() in _FILTERED:
        return "filtered"
    if finish == "refusal":
        return "refusal"
    if reply.strip():
        return ""
    # Some servers hide thoughts.
    if finish == "length":
        return "thinking"
    return "empty"


def _without_answer(why: str, prompt: Prompt) -> Reading:
    items = NOTHING
    if prompt.scale is not None:
        items = np.full(len(prompt.scale.item), np.nan)
    return Reading(
        scores=np.full(len(prompt.labels), np.nan),
        how=why,
        items=items,
    )


def _mean_of_samples(samples: Sequence[Reading], prompt: Prompt) -> Reading:
    """The mean of the samples that answer; the verdict of a scale is that of the mean total."""
    first = samples[0]
    scores = _mean([sample.scores for sample in samples])
    agreement = _agreement([sample.scores for sample in samples])
    if prompt.scale is None:
        return Reading(
            scores=scores,
            how=first.how,
            rationale=first.rationale,
            agreement=agreement,
        )

    # Not the mean of the verdicts: these are linear only on either side of the cut-off.
    totals = [sample.total for sample in samples if not math.isnan(sample.total)]
    total = math.fsum(totals) / len(totals) if totals else math.nan
    scores[0] = verdict_of(prompt.scale, total)
    return Reading(
        scores=scores,
        how=first.how,
        rationale=first.rationale,
        agreement=agreement,
        items=_mean([sample.items for sample in samples]),
        total=total,
        band=band_of(prompt.scale, total),
    )


def _agreement(rows: Sequence[FloatArray]) -> float:
    """The mean over labels of the share of samples that decide as most do; NaN if fewer than two answer."""
    shares: list[float] = []
    for scores in np.stack(rows).T:
        answered = scores[~np.isnan(scores)]
        if len(answered) > 1:
            share_of_yes = float(np.mean(answered >= 0.5))
            shares.append(max(share_of_yes, 1 - share_of_yes))
    if shares:
        return math.fsum(shares) / len(shares)
    return math.nan


def _mean(rows: Sequence[FloatArray]) -> FloatArray:
    """The mean of each column over the rows that answered it."""
    stacked = np.stack(rows)
    is_answered = ~np.isnan(stacked)
    counts = is_answered.sum(axis=0)
    sums = np.nansum(stacked, axis=0)
    # `np.nanmean` would warn about every column that no sample answered.
    means = sums / np.maximum(counts, 1)
    return np.where(counts > 0, means, np.nan)
