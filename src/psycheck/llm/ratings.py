"""Read the answers to the items of a rating scale."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.llm.fields import Field
from psycheck.llm.prompts import Prompt
from psycheck.llm.reply_words import KEYS, agreed, is_answer_key, key_words, meaning, words_of
from psycheck.llm.sample import Sample
from psycheck.symptoms.scales import Scale

# "2", "2.0", "2/3", "2 (more than half the days)"
_POINTS: Final = re.compile(r"(\d{1,3})(?:\.0+)?(?:\s*/\s*(\d{1,3}))?(?![\d.])(.*)", re.DOTALL)
# "3", "item 3", "q3", "3. sleep"
_ITEM_NUMBER: Final = re.compile(
    r"([a-z]*)[\s._#]*(\d{1,2})[\s*_`]*(?:[.):–-]+[\s*_]*([^\W\d].*)?)?", re.DOTALL
)
# A key or value beyond this is prose; the limits keep the patterns fast on a hostile reply.
_LONGEST_KEY: Final = 80  # characters
_LONGEST_VALUE: Final = 300


@dataclass(frozen=True, slots=True)
class RatedItems:
    """The points of each item of a scale, and its score, both (n,); NaN where an item is not answered."""

    points: FloatArray
    scores: FloatArray


def read_items(sample: Sample, prompt: Prompt, scale: Scale) -> RatedItems:
    """The ratings in the fields of a reply."""
    n = len(scale.item)
    rated = RatedItems(
        points=np.full(n, np.nan),
        scores=np.full(n, np.nan),
    )

    in_json = [field for field in sample.fields if field.group]
    by_item = fields_by_item(in_json, scale, sample)
    if not any(by_item):
        # Lines count only without JSON: beside it they are legends and explanations.
        in_lines = [field for field in sample.fields if not field.group]
        by_item = fields_by_item(in_lines, scale, sample)
    if by_item[0]:
        return rated  # numbered from 0: it cannot be known which item is meant

    if prompt.items == "points":
        _rate_points(by_item[1:], scale, rated)
    else:
        _rate_yes_no(by_item[1:], scale, rated, sample)
    return rated


def _rate_points(by_item: Sequence[Sequence[Field]], scale: Scale, rated: RatedItems) -> None:
    """Fill in the ratings of items that are answered with a number of points."""
    highest = scale.points[1]
    for place, answers in enumerate(by_item):
        ratings = [points_of(answer.value, highest) for answer in answers]
        points = agreed(ratings)
        if points is not None:
            rated.points[place] = points
            rated.scores[place] = points / highest


def _rate_yes_no(
    by_item: Sequence[Sequence[Field]],
    scale: Scale,
    rated: RatedItems,
    sample: Sample,
) -> None:
    """Fill in the ratings of items that are answered with yes or no."""
    for place, answers in enumerate(by_item):
        meanings = [meaning(answer.value) for answer in answers]
        present = agreed(meanings)
        if present is not None:
            source = answers[meanings.index(present)]
            # Points stay whole: the total follows from the answers, never from token probabilities.
            rated.points[place] = present * (scale.yes or 0)
            rated.scores[place] = sample.confidence(present, source.start, source.end)


def fields_by_item(fields: Sequence[Field], scale: Scale, sample: Sample) -> list[list[Field]]:
    """The fields that answer each item, from 1; at place 0 those of an item 0."""
    by_item: list[list[Field]] = [[] for _ in range(len(scale.item) + 1)]
    # All subjects first: an object may name its item after the answer.
    subjects = subjects_by_group(fields, scale)

    for answer in fields:
        item = _item_of(answer, subjects, scale)
        if item is not None and 0 <= item < len(by_item):
            by_item[item].append(answer)

    for answers in _complete_lists(fields, len(scale.item), sample):
        for item, answer in enumerate(answers, 1):
            by_item[item].append(answer)
    return by_item


def subjects_by_group(fields: Sequence[Field], scale: Scale) -> dict[int, int]:
    """The item that each object is about, by the number of the object."""
    subjects: dict[int, int] = {}
    for answer in fields:
        subject = _subject(answer, scale)
        if subject is not None:
            subjects[answer.group] = subject
    return subjects


def _item_of(answer: Field, subjects: dict[int, int], scale: Scale) -> int | None:
    """The item that a field answers: by its key, else by the subject of its object or the key above it."""
    # A value in a list is read with its list, and a subject is no answer.
    if answer.index is not None or _subject(answer, scale) is not None:
        return None

    item = _item(answer.key, scale)
    if item is not None:
        return item
    if answer.key and not is_answer_key(answer.key):
        return None

    return item_held_by(answer, subjects, scale)


def item_held_by(answer: Field, subjects: dict[int, int], scale: Scale) -> int | None:
    """The item that the object of a field is about, by its subject or by the key that holds it."""
    # The object may name one item and the key that holds it another: then neither is certain.
    candidates = {subjects.get(answer.group)}
    for key in answer.above[:1]:
        candidates.add(_item(key, scale))
    candidates.discard(None)
    if len(candidates) == 1:
        return candidates.pop()
    return None


def _complete_lists(fields: Sequence[Field], n: int, sample: Sample) -> Iterator[list[Field]]:
    """The lists of answers that have as many values as there are items, and that have ended."""
    lists: dict[int, list[Field]] = {}
    for answer in fields:
        holds_answers = all(is_answer_key(key) for key in answer.above)
        if answer.index is not None and holds_answers:
            lists.setdefault(answer.group, []).append(answer)

    for answers in lists.values():
        # With another number of values it cannot be known which items were left out.
        if len(answers) != n:
            continue
        # A list that was cut may have gone on: it counts only with its closing bracket.
        closes = sample.text.find("]", answers[-1].end) >= 0
        if closes or not sample.is_cut:
            yield answers


def _subject(answer: Field, scale: Scale) -> int | None:
    """The item that an object is about, if this field says so, as in {"item": 3, "score": 1}."""
    names_subject = KEYS["subject"].intersection(key_words(answer.key))
    # {"item 3": 1} answers item 3, whereas {"item": 3} names it.
    is_numbered = answer.key[-1:].isdecimal()
    if not names_subject or is_numbered:
        return None
    return _item(answer.value, scale)


def _item(key: str, scale: Scale) -> int | None:
    """The number of the item that a key names, by number, by name or by both."""
    by_name = _item_named(key, scale)
    if by_name is not None:
        return by_name

    # Labels are called "phq9_1": the 9 of the scale's name must not be read as an item.
    plain_key = key[:_LONGEST_KEY].casefold().strip(" *_`-•")
    without_scale = plain_key.removeprefix(scale.name).strip(" _")
    numbered = _ITEM_NUMBER.fullmatch(without_scale)
    if numbered is None:
        return None
    word, number, name = numbered.groups()
    if word and word not in KEYS["item"]:
        return None

    # A number with the name of another item says nothing: the model may have counted in its own way.
    item = int(number)
    item_named = _item_named(name or "", scale, but=item)
    return item if item_named is None else None


def _item_named(name: str, scale: Scale, *, but: int | None = None) -> int | None:
    """The number of the item of this name, among all items but one."""
    words = key_words(name)
    for number, item in enumerate(scale.item, 1):
        if number != but and key_words(item.name) == words:
            return number
    return None


def points_of(value: str, highest: int) -> float | None:
    """The points of one item: a whole number in range, perhaps with words after it."""
    unquoted = value[:_LONGEST_VALUE].strip().strip("\"'“”‘’`*").strip()
    rating = _POINTS.fullmatch(unquoted)
    if rating is None:
        return None
    points, out_of, remark = rating.groups()
    if int(points) > highest:
        return None

    # "2/10" is two of ten, not two of three.
    names_another_scale = bool(out_of) and int(out_of) != highest
    # "1 or 2" and "1 to 2" name no single rating, and neither does a second number.
    has_second_number = any(character.isdigit() for character in remark)
    is_range = {"or", "to"}.intersection(words_of(remark)) or has_second_number
    if names_another_scale or is_range:
        return None
    return float(points)
