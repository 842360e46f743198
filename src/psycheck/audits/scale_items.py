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
        # "phq9_3" is item 3 of the scale "phq9".
        match = _ITEM.fullmatch(label)
        if not match:
            continue
        scale = match[1]
        number = int(match[2])
        scale_and_number[label] = (scale, number)
        numbers = numbers_of_scale.setdefault(scale, set())
        numbers.add(number)

    items: dict[str, tuple[str, str]] = {}
    for label, (scale, number) in scale_and_number.items():
        # A name that happens to end in a number is not a scale: a scale is numbered from 1 without gaps.
        numbers = numbers_of_scale[scale]
        without_gaps = set(range(1, len(numbers) + 1))
        if len(numbers) > 1 and numbers == without_gaps:
            items[label] = (scale, _about(scale, number))
    return items


def _about(scale: str, number: int) -> str:
    """The number and the name of an item; only its number if the scale is not a shipped one."""
    if scale not in shipped_scales():
        return str(number)
    items = read_scale(scale).item
    if number > len(items):
        return str(number)
    item = items[number - 1]
    return f"{number}. {item.name}"


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
    # Where raters were undecided, a symptom is neither invented nor missed.
    annotated = firm(targets)
    columns_of_scale: dict[str, list[int]] = {scale: [] for scale, _ in items.values()}
    for column, label in enumerate(labels):
        if label in items:
            scale, _ = items[label]
            columns_of_scale[scale].append(column)

    for scale, columns in columns_of_scale.items():
        for column in columns:
            label = labels[column]
            _, item = items[label]
            where_of_item = {**where, "label": label, "scale": scale, "item": item}
            yield from _errors_in(
                annotated[:, [column]],
                decided[:, [column]],
                clusters,
                where_of_item,
            )

        # All items of a scale with one item are that item.
        if len(columns) > 1:
            where_of_scale = {**where, "label": "all", "scale": scale, "item": ALL}
            yield from _errors_in(
                annotated[:, columns],
                decided[:, columns],
                clusters,
                where_of_scale,
            )


def _errors_in(
    annotated: FloatArray,
    decided: FloatArray,
    clusters: Clusters,
    where: Mapping[str, str],
) -> Iterator[Finding]:
    """The shares of wrong marks among those annotated 0 and among those annotated 1, all (n, items)."""
    answered = ~np.isnan(decided)
    is_unanswered = ~np.isnan(annotated) & ~answered
    unanswered = int(is_unanswered.sum())

    absent = answered & (annotated < 0.5)
    present = answered & (annotated > 0.5)
    rated = decided == 1
    errors = (
        ("item_invented", absent, absent & rated),
        ("item_missed", present, present & ~rated),
    )
    for measure, marks, wrong in errors:
        # By text, because marks of one text are not independent.
        marks_of_text = marks.sum(axis=1)
        wrong_of_text = wrong.sum(axis=1)
        n = int(marks_of_text.sum())
        wrong_marks = int(wrong_of_text.sum())
        counts = {
            "marks": n,
            "wrong": wrong_marks,
            "unanswered": unanswered,
        }
        yield measured(
            measure,
            wrong_marks / n if n else math.nan,
            n,
            interval=ratio_interval(wrong_of_text, marks_of_text, clusters),
            where=where,
            counts=counts,
        )
