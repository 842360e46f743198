"""Ratings with evidence: each item of a scale has a score and a verbatim quote, or "no information".

A quote is checked against the text that was asked about. One that is not in it voids the rating: a model that
invents what a post says has not rated the post.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.llm.fields import Field
from psycheck.llm.ratings import fields_by_item, item_held_by, points_of, subjects_by_group
from psycheck.llm.reply_words import WORDS, agreed, key_words, words_of
from psycheck.llm.sample import Sample
from psycheck.symptoms.scales import Scale, band_of, verdict_of

Status = Literal["stated", "no_information", "no_quote", "invented", "unread"]
STATUSES: Final = get_args(Status)
_QUOTE_KEYS: Final = frozenset(WORDS["evidence"]["quote"])
_NOT_STATED: Final = frozenset(WORDS["evidence"]["not_stated"])
_LEAST_WORDS: Final = 2  # of a quote: a single word, such as "I", stands in almost any post
_ELLIPSIS: Final = re.compile(r"(?:\.{3}|…|\[…\]|\[\.\.\.\])")


@dataclass(frozen=True, slots=True)
class Evidence:
    """The rating of each item: its points, (n,), NaN unless stated, and what became of it."""

    points: FloatArray
    statuses: tuple[Status, ...]


@dataclass(frozen=True, slots=True)
class Bounds:
    """The least and the most that a total can be when items without information may have any points."""

    least: float
    most: float


def read_evidence(sample: Sample, scale: Scale, text: str | None) -> Evidence:
    """The ratings of a reply about a text; without the text (None) quotes are taken to be in it."""
    n = len(scale.item)
    subjects = subjects_by_group(sample.fields, scale)
    quotes: list[list[str]] = [[] for _ in range(n + 1)]
    others: list[Field] = []
    for field in sample.fields:
        if _QUOTE_KEYS.isdisjoint(key_words(field.key)):
            others.append(field)
            continue
        item = item_held_by(field, subjects, scale)
        if item is not None and 0 < item <= n:
            quotes[item].append(field.value)

    ratings = fields_by_item(others, scale, sample)
    points = np.full(n, np.nan)
    statuses: list[Status] = []
    for item in range(1, n + 1):
        status, rating = _status(ratings[item], quotes[item], scale.points[1], text)
        statuses.append(status)
        if status == "stated":
            points[item - 1] = rating
    return Evidence(points, tuple(statuses))


def _status(
    ratings: Sequence[Field], quotes: Sequence[str], highest: int, text: str | None
) -> tuple[Status, float]:
    """What became of one item, and its points if it is stated."""
    answers = {" ".join(words_of(rating.value)) for rating in ratings}
    if answers and answers.issubset(_NOT_STATED):
        return "no_information", np.nan
    points = agreed(points_of(rating.value, highest) for rating in ratings)
    if points is None:
        return "unread", np.nan

    long_quotes = [quote for quote in quotes if len(words_of(quote)) >= _LEAST_WORDS]
    if not long_quotes:
        return "no_quote", points
    if text is None:
        return "stated", points
    # One invented quote among true ones is invented evidence all the same.
    are_quoted = all(is_quoted(quote, text) for quote in long_quotes)
    return "stated" if are_quoted else "invented", points


def is_quoted(quote: str, text: str) -> bool:
    """True if a quote stands in a text word for word; case, white space and punctuation may differ.

    A quote with an ellipsis must have each of its parts in the text, in this order.
    """
    # With a space at both ends, so that only whole words are found.
    words_of_text = " ".join(words_of(text))
    searched = f" {words_of_text} "
    position = 0
    for part in _ELLIPSIS.split(quote):
        words_of_part = " ".join(words_of(part))
        if not words_of_part:
            continue
        place = searched.find(f" {words_of_part} ", position)
        if place < 0:
            return False
        position = place + len(words_of_part)
    return True


def bounds_of(scale: Scale, evidence: Evidence) -> Bounds:
    """The least and the most total; NaN if the reply could not be read for some item."""
    if "unread" in evidence.statuses:
        return Bounds(np.nan, np.nan)
    least = float(np.nansum(evidence.points))
    open_items = int(np.isnan(evidence.points).sum())
    return Bounds(least, least + open_items * scale.points[1])


def band_of_bounds(scale: Scale, bounds: Bounds) -> str:
    """The severity band in which both bounds are, "" if they are in two."""
    lowest_band = band_of(scale, bounds.least)
    highest_band = band_of(scale, bounds.most)
    if lowest_band == highest_band:
        return lowest_band
    return ""


def verdict_of_bounds(scale: Scale, bounds: Bounds) -> float:
    """The verdict by the bound nearer to the cut-off; NaN if one is below it and the other is not."""
    if bounds.least >= scale.cutoff:
        return verdict_of(scale, bounds.least)
    if bounds.most < scale.cutoff:
        return verdict_of(scale, bounds.most)
    return np.nan
