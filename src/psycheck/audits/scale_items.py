"""Items of a rating scale: which symptoms a model invents, and which it misses."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from psycheck.audits.figures import measured
from psycheck.core.arrays import FloatArray
from psycheck.core.finding import Finding
from psycheck.statistics.classification import firm
from psycheck.statistics.clustered import Clusters, ratio_interval
from psycheck.symptoms.scales import read_scale, shipped_scales

ITEM_MEASURES = ("item_invented", "item_missed")
ALL = "all items"
_ITEM = re.compile(r"(\w+)_([1-9]\d?)")


def scale_items(labels: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The labels that are items of a scale (NAME_1, NAME_2 …), with the scale and what the item is about."""
    scale_and_number: dict[str, tuple[str, int]] = {}
    numbers_of_scale: dict[str, set[int]] = {}
    for label in labels:
        match = _ITEM.fullmatch(label)
        if match:
            scale, number = match[1], int(match[2])
            scale_and_number[label] = (scale, number)
            numbers_of_scale.setdefault(scale, set()).add(number)

    items: dict[str, tuple[str, str]] = {}
    for label, (scale, number) in scale_and_number.items():
        # A name that happens to end in a number is not a scale: a scale is numbered from 1 without gaps.
        numbers = numbers_of_scale[scale]
        if len(numbers) > 1 and numbers == set(range(1, len(numbers) + 1)):
            items[label] = (scale, _about(scale, number))
    return items


def _about(scale: str, number: int) -> str:
    """The number and the name of an item; only its number if the scale is not a shipped one."""
    items = read_scale(scale).item if scale in shipped_scales() else ()
    if number > len(items):
        return str(number)
    return f"{number}. {items[number - 1].name}"


def item_findings(
    labels: Sequence[str],
    items: Mapping[str, tuple[str, str]],
    targets: FloatArray,
    decided: FloatArray,
    clusters: Clusters,
    where: Mapping[str, str],
) -> Iterator[Finding]:
    """How often a symptom is rated where it is annotated absent, and not rated where it is annotated.

    Targets and decisions are (n, k); of each item, and of all items of a scale together.
    """
    annotated = firm(targets)
    for scale in dict.fromkeys(scale for scale, _ in items.values()):
        columns = [k for k, label in enumerate(labels) if label in items and items[label][0] == scale]
        for k in columns:
            here = {**where, "label": labels[k], "scale": scale, "item": items[labels[k]][1]}
            yield from _errors_in(annotated[:, [k]], decided[:, [k]], clusters, here)
        if len(columns) > 1:
            here = {**where, "label": "all", "scale": scale, "item": ALL}
            yield from _errors_in(annotated[:, columns], decided[:, columns], clusters, here)


def _errors_in(
    annotated: FloatArray, decided: FloatArray, clusters: Clusters, where: Mapping[str, str]
) -> Iterator[Finding]:
    """The shares of wrong marks among those annotated 0 and among those annotated 1, all (n, items)."""
    answered = ~np.isnan(decided)
    unanswered = int((~np.isnan(annotated) & ~answered).sum())
    absent = answered & (annotated < 0.5)
    present = answered & (annotated > 0.5)
    rated = decided == 1
    for measure, marks, wrong in (
        ("item_invented", absent, absent & rated),
        ("item_missed", present, present & ~rated),
    ):
        marks_of_text = marks.sum(axis=1)
        wrong_of_text = wrong.sum(axis=1)
        n = int(marks_of_text.sum())
        wrong_marks = int(wrong_of_text.sum())
        yield measured(
            measure,
            wrong_marks / n if n else math.nan,
            n,
            ratio_interval(wrong_of_text, marks_of_text, clusters),
            where,
            {"marks": n, "wrong": wrong_marks, "unanswered": unanswered},
        )
