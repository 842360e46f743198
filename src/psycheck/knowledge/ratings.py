"""Read the answers to the items of a rating scale."""

import re
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from psycheck.knowledge.confidence import Tokens, probability
from psycheck.knowledge.fields import Field
from psycheck.knowledge.prompts import Prompt
from psycheck.knowledge.scales import Scale
from psycheck.knowledge.words import KEYS, agreed, is_answer_key, meaning, words_of
from psycheck.model import FloatArray

_POINTS: Final = re.compile(r"(\d{1,3})(?:\.0+)?(?:\s*/\s*(\d{1,3}))?(?![\d.])(.*)", re.DOTALL)
_NUMBER: Final = re.compile(r"(\d{1,2})(?:\W+[^\W\d].*)?", re.DOTALL)


def read_items(
    fields: Sequence[Field], prompt: Prompt, scale: Scale, text: str, tokens: Tokens | None
) -> tuple[FloatArray, FloatArray]:
    """The points of each item, and its score, both (n,)."""
    n, highest = len(scale.item), scale.points[1]
    subjects = {one.group: item for one in fields if one.group and (item := _subject(one, scale)) is not None}
    rows: list[list[Field]] = [[] for _ in range(n + 1)]
    for one in fields:
        item = _item(one.key, scale)
        if item is None and (not one.key or is_answer_key(one.key)) and one.index is None:
            item = subjects.get(one.group, _item(one.above[0], scale) if one.above else None)
        if item is not None and _subject(one, scale) is None and 0 <= item <= n:
            rows[item].append(one)
    lists: dict[int, list[Field]] = {}
    for one in fields:
        if one.index is not None and all(is_answer_key(key) for key in one.above):
            lists.setdefault(one.group, []).append(one)
    for values in lists.values():
        for number, one in enumerate(values if len(values) == n else (), 1):
            rows[number].append(one)
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


def _subject(one: Field, scale: Scale) -> int | None:
    """The item that an object is about, if this field says so, as in {"item": 3, "score": 1}."""
    if not KEYS["subject"].intersection(words_of(one.key)) or one.key[-1:].isdecimal():
        return None
    return _item(one.value, scale)


def _item(key: str, scale: Scale) -> int | None:
    """The number of the item that a key names, by number or by name."""
    plain = " ".join(words_of(key[:80])).removeprefix(scale.name.replace("_", " ")).strip()
    for number, item in enumerate(scale.item, 1):
        if plain and plain == " ".join(words_of(item.name)):
            return number
    first, _, rest = plain.partition(" ")
    if first in KEYS["item"] and rest:
        plain = rest
    elif (led := re.fullmatch(r"[qs](\d{1,2})", first)) is not None:
        plain = f"{led[1]} {rest}".strip()
    found = _NUMBER.fullmatch(plain)
    return int(found[1]) if found else None


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
