"""Read replies: a pure function of the reply and the prompt's output contract.

What cannot be read is NaN, for exactly the labels that it fails on, and never 0.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

import numpy as np

from psycheck.knowledge.confidence import Tokens, probability, tokens_of
from psycheck.knowledge.disorders import read_open
from psycheck.knowledge.fields import MOST_FIELDS, Field, fields_of, line_fields
from psycheck.knowledge.prompts import Prompt
from psycheck.knowledge.prose import bare_answer, refuses, said_of
from psycheck.knowledge.ratings import read_items
from psycheck.knowledge.scales import band_of, total_of, verdict_of
from psycheck.knowledge.words import (
    KEYS,
    agreed,
    class_meaning,
    forms_of,
    is_answer_key,
    key_words,
    meaning,
    words_of,
)
from psycheck.model import FloatArray, Reply

_THOUGHT: Final = re.compile(r"<(/?)(?:think|thinking|thought|reasoning|analysis)>", re.IGNORECASE)
NOTHING: Final = np.zeros(0)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reply says.

    `scores` has one score per label, (k,), NaN where the reply does not answer. `how` says where the answer
    stood: json, lines, words or prose; or why there is none: empty, cut, filtered, refusal or unreadable. For
    a rating scale, `items` holds the points of each item, (n,), NaN where missing, with `total` and `band`.
    """

    scores: FloatArray
    how: str
    rationale: str = ""
    items: FloatArray = field(default_factory=lambda: NOTHING)
    total: float = math.nan
    band: str = ""


def read_reply(reply: Reply, prompt: Prompt) -> Reading:
    """Read a reply; confidence comes from token probabilities, else from the samples, else it is 0 or 1."""
    first = _read(reply.text, reply.finish, prompt, tokens_of(reply.text, reply.logprobs))
    if not reply.others:
        return first
    every = [first, *(_read(text, "stop", prompt, None) for text in reply.others)]
    scores = _mean([one.scores for one in every])
    if prompt.scale is None:
        return Reading(scores, first.how, first.rationale)
    items = _mean([one.items for one in every])
    totals = [one.total for one in every if not math.isnan(one.total)]
    total = math.fsum(totals) / len(totals) if totals else math.nan
    scores[0] = verdict_of(prompt.scale, total)
    return Reading(scores, first.how, first.rationale, items, total, band_of(prompt.scale, total))


def _mean(rows: Sequence[FloatArray]) -> FloatArray:
    """The mean of each column over the rows that answered it."""
    stacked = np.stack(rows)
    count = (~np.isnan(stacked)).sum(axis=0)
    return np.where(count > 0, np.nansum(stacked, axis=0) / np.maximum(count, 1), np.nan)


def _read(text: str, finish: str, prompt: Prompt, tokens: Tokens | None) -> Reading:
    """One reply without its samples."""
    k = len(prompt.labels)
    none = np.full(len(prompt.scale.item), np.nan) if prompt.scale else NOTHING
    if finish == "content_filter" or not text.strip():
        return Reading(np.full(k, np.nan), "filtered" if finish == "content_filter" else "empty", items=none)
    spoken = _without_thoughts(text)
    braced, outside = fields_of(spoken)
    every = [*braced, *islice(line_fields(outside), MOST_FIELDS)]
    if len(every) > MOST_FIELDS:
        return Reading(np.full(k, np.nan), "unreadable", items=none)
    fields = [one for one in every if not _is_cut(one, finish)]
    how = "json" if braced else "lines"
    rationale = " ".join(one.value for one in fields if KEYS["reason"].intersection(key_words(one.key)))
    if prompt.answer == "open":
        scores, rationale = read_open(spoken, fields, prompt, cut=finish == "length")
        items, total, band = none, math.nan, ""
    elif prompt.scale is not None:
        whole = finish != "length"
        points, scores = read_items(fields, prompt, prompt.scale, spoken, tokens, whole=whole)
        total = total_of(prompt.scale, points)
        scores = np.array([verdict_of(prompt.scale, total), *scores])
        items, band = points, band_of(prompt.scale, total)
    else:
        scores, how = _answers(fields, how, outside, prompt, spoken, tokens, cut=finish == "length")
        items, total, band = none, math.nan, ""
    if np.isnan(scores).all():
        how = "refusal" if refuses(outside) else "cut" if finish == "length" else "unreadable"
    return Reading(scores, how, rationale.strip(), items, total, band)


def _without_thoughts(text: str) -> str:
    """Blank out what a model thought before it answered; places in the text stay the same."""
    marks = list(_THOUGHT.finditer(text))
    end = max((mark.end() for mark in marks if mark[1]), default=0)
    start = min((mark.start() for mark in marks if not mark[1] and mark.start() >= end), default=len(text))
    return " " * end + text[end:start] + " " * (len(text) - start)


def _is_cut(one: Field, finish: str) -> bool:
    """True if the value may be only the beginning of one."""
    return (one.cut == "open" and finish != "stop") or (one.cut == "end" and finish == "length")


def _answers(
    fields: Sequence[Field],
    how: str,
    outside: str,
    prompt: Prompt,
    text: str,
    tokens: Tokens | None,
    *,
    cut: bool,
) -> tuple[FloatArray, str]:
    """Yes or no for each label: from fields, or from the words outside them if no field answers any label."""
    labels = prompt.labels
    subjects = {one.group: label for one in fields if one.group for label in labels if _is_about(one, label)}
    rows = [[one for one in fields if _names(one, label, subjects)] for label in labels]
    if len(labels) == 1 and not rows[0]:
        rows = [[one for one in fields if _is_generic(one)]]
    if any(rows):
        said = [_field_score(row, label, text, tokens) for row, label in zip(rows, labels, strict=True)]
        return np.array(said), how
    unread = np.full(len(labels), np.nan)
    if refuses(outside):
        return unread, "refusal"
    if len(labels) > 1 and (whole := " ".join(words_of(outside[:100]))) in ("both", "neither"):
        return np.full(len(labels), float(whole == "both")), "words"
    told = [said_of(label, labels, outside, cut=cut) for label in labels]
    if len(labels) == 1 and (bare := _bare(outside, labels[0], cut=cut)) is not None:
        sure = math.nan if told[0] == 1 - bare else _confident(bare, outside, text, tokens)
        return np.array([sure]), "words"
    return np.array([math.nan if one is None else one for one in told]), "prose"


def _field_score(row: Sequence[Field], label: str, text: str, tokens: Tokens | None) -> float:
    """The score of one label from the fields that name it."""
    meanings = [_field_meaning(one, label) for one in row]
    answer = agreed(meanings)
    if answer is None:
        return math.nan
    place = row[meanings.index(answer)]
    sure = probability(tokens, text, place.start, place.end) if tokens else None
    return answer if sure is None else sure


def _field_meaning(one: Field, label: str) -> float | None:
    found = meaning(one.value)
    if found is not None:
        return found
    return class_meaning(one.value, label, nouns=bool(KEYS["class"].intersection(key_words(one.key))))


def _bare(outside: str, label: str, *, cut: bool) -> float | None:
    found = bare_answer(outside, cut=cut)
    return class_meaning(outside[:200], label, nouns=False) if found is None else found


def _confident(answer: float, outside: str, text: str, tokens: Tokens | None) -> float:
    """The probability of an answer that stands at the very beginning, else the answer itself."""
    start = len(outside) - len(outside.lstrip())
    sure = probability(tokens, text, start, len(text)) if tokens and meaning(outside) is not None else None
    return answer if sure is None else sure


def _keyed(key: str, forms: Iterable[str]) -> bool:
    """True if a key is one of these names, perhaps with words such as "clinical" beside it."""
    words = key_words(key)
    left = " ".join(word for word in words if word not in KEYS["filler"] and not word.isdecimal())
    return len(words) <= 8 and left in forms


def _names(one: Field, label: str, subjects: dict[int, str]) -> bool:
    """True if a field holds the answer of a label: by its own key, the keys above it, or its object."""
    forms = frozenset().union(*forms_of(label))
    if _keyed(one.key, forms):
        return True
    if one.key and not is_answer_key(one.key):
        return False
    return (subjects.get(one.group) == label and not _is_about(one, label)) or any(
        _keyed(key, forms) for key in one.above[:1]
    )


def _is_about(one: Field, label: str) -> bool:
    """True if a field only says what its object is about, as in {"label": "anxiety", "answer": "no"}."""
    return bool(KEYS["subject"].intersection(key_words(one.key))) and _keyed(
        one.value[:80], frozenset().union(*forms_of(label))
    )


def _is_generic(one: Field) -> bool:
    """True if a field holds an answer without naming a label."""
    keys = [one.key, *one.above]
    return all(is_answer_key(key) for key in keys if key) and (any(keys) or one.group > 0)
