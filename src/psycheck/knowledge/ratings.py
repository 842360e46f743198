"""Read the answers to the items of a rating scale."""

import re
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from psycheck.knowledge.confidence import Tokens, probability
from psycheck.knowledge.fields import Field
from psycheck.knowledge.prompts import Prompt
from psycheck.knowledge.scales import Scale
from psycheck.knowledge.words import KEYS, agreed, is_answer_key, key_words, meaning, words_of
from psycheck.model import FloatArray

_POINTS: Final = re.compile(r"(\d{1,3})(?:\.0+)?(?:\s*/\s*(\d{1,3}))?(?![\d.])(.*)", re.DOTALL)
_NUMBER: Final = re.compile(r"([a-z]*)[\s._#]*(\d{1,2})[\s*_`]*(?:[.):–-]+[\s*_]*([^\W\d].*)?)?", re.DOTALL)


def read_items(
    fields: Sequence[Field], prompt: Prompt, scale: Scale, text: str, tokens: Tokens | None, *, whole: bool
) -> tuple[FloatArray, FloatArray]:
    """The points of each item, and its score, both (n,); `whole` if the reply was not cut."""
    n, highest = len(scale.item), scale.points[1]
    rows = _rows([one for one in fields if one.group], scale, text, whole=whole)
    if not any(rows):  # only lines: beside JSON they are legends and explanations
        rows = _rows([one for one in fields if not one.group], scale, text, whole=whole)
    points, scores = np.full(n, np.nan), np.full(n, np.nan)
    if rows[0]:  # numbered from 0: it cannot be known which item is meant
        return points, scores
    read: Callable[[str], float | None] = (
        meaning if prompt.items == "yes_no" else lambda value: _points(value, highest)
    )
    for number, row in enumerate(rows[1:]):
        meanings = [read(one.value) for one in row]
        answer = agreed(meanings)
        if answer is None:
            continue
        if prompt.items == "points":
            points[number], scores[number] = answer, answer / highest
            continue
        place = row[meanings.index(answer)]
        sure = probability(tokens, text, place.start, place.end) if tokens else None
        points[number], scores[number] = answer * (scale.yes or 0), answer if sure is None else sure
    return points, scores


def _rows(fields: Sequence[Field], scale: Scale, text: str, *, whole: bool) -> list[list[Field]]:
    """The fields that answer each item, from 1; in the first row those of an item 0."""
    n = len(scale.item)
    subjects = {one.group: item for one in fields if (item := _subject(one, scale)) is not None}
    rows: list[list[Field]] = [[] for _ in range(n + 1)]
    lists: dict[int, list[Field]] = {}
    for one in fields:
        if one.index is not None:
            if all(map(is_answer_key, one.above)):
                lists.setdefault(one.group, []).append(one)
            continue
        item = _item(one.key, scale)
        if item is None and (not one.key or is_answer_key(one.key)):
            candidates = {subjects.get(one.group), *(_item(key, scale) for key in one.above[:1])} - {None}
            item = candidates.pop() if len(candidates) == 1 else None
        if item is not None and _subject(one, scale) is None and 0 <= item <= n:
            rows[item].append(one)
    for values in lists.values():  # as many values as items, in a list that has ended
        if len(values) == n and (whole or text.find("]", values[-1].end) >= 0):
            for row, one in zip(rows[1:], values, strict=True):
                row.append(one)
    return rows


def _subject(one: Field, scale: Scale) -> int | None:
    """The item that an object is about, if this field says so, as in {"item": 3, "score": 1}."""
    if not KEYS["subject"].intersection(key_words(one.key)) or one.key[-1:].isdecimal():
        return None
    return _item(one.value, scale)


def _item(key: str, scale: Scale) -> int | None:
    """The number of the item that a key names, by number, by name or by both."""
    words = key_words(key)
    named = next((number for number, item in enumerate(scale.item, 1) if key_words(item.name) == words), None)
    if named is not None:
        return named
    found = _NUMBER.fullmatch(key[:80].casefold().strip(" *_`-•").removeprefix(scale.name).strip(" _"))
    if found is None or (found[1] or "item") not in KEYS["item"]:
        return None
    # A number with the name of another item says nothing: the model may have counted in its own way.
    return _agreeing(int(found[2]), found[3] or "", scale)


def _agreeing(number: int, name: str, scale: Scale) -> int | None:
    others = (item for at, item in enumerate(scale.item, 1) if at != number)
    return None if any(key_words(item.name) == key_words(name) for item in others) else number


def _points(value: str, highest: int) -> float | None:
    """The points of one item: a whole number in range, perhaps with words after it."""
    found = _POINTS.fullmatch(value[:300].strip().strip("\"'“”‘’`*").strip())
    if found is None or not 0 <= int(found[1]) <= highest:
        return None
    out_of, rest = found[2], found[3]
    after = words_of(rest)
    if (
        (out_of and int(out_of) != highest)
        or any(char.isdigit() for char in rest)
        or {"or", "to"} & set(after)
    ):
        return None
    return float(found[1])
