"""Items of a rating scale: which symptoms a model invents, and which it misses."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from psycheck.audits.measured import measured
from psycheck.finding import Finding
from psycheck.knowledge.scales import read_scale, shipped_scales
from psycheck.measures.classification import firm
from psycheck.measures.clustered import Clusters, ratio_interval
from psycheck.model import FloatArray

ITEM_MEASURES = ("item_invented", "item_missed")
ALL = "all items"
_ITEM = re.compile(r"(\w+)_([1-9]\d?)")


def scale_items(labels: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The labels that are items of a scale (NAME_1, NAME_2 …), with the scale and what the item is about."""
    found = [(label, hit[1], int(hit[2])) for label in labels if (hit := _ITEM.fullmatch(label))]
    numbers = {scale: {number for _, name, number in found if name == scale} for _, scale, _ in found}
    whole = {scale for scale, own in numbers.items() if len(own) > 1 and own == set(range(1, len(own) + 1))}
    return {label: (scale, _about(scale, number)) for label, scale, number in found if scale in whole}


def _about(scale: str, number: int) -> str:
    """The number and the name of an item; only its number if the scale is not a shipped one."""
    items = read_scale(scale).item if scale in shipped_scales() else ()
    return f"{number}. {items[number - 1].name}" if number <= len(items) else str(number)


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
    known = ~np.isnan(annotated) & ~np.isnan(decided)
    absent, present, rated = known & (annotated < 0.5), known & (annotated > 0.5), decided == 1
    wrong = {"item_invented": (absent, absent & rated), "item_missed": (present, present & ~rated)}
    for scale in dict.fromkeys(scale for scale, _ in items.values()):
        mine = [k for k, label in enumerate(labels) if label in items and items[label][0] == scale]
        for columns in [[k] for k in mine] + ([mine] if len(mine) > 1 else []):
            label, item = (
                ("all", ALL) if len(columns) > 1 else (labels[columns[0]], items[labels[columns[0]]][1])
            )
            here = {**where, "label": label, "scale": scale, "item": item}
            unanswered = int((~np.isnan(annotated) & np.isnan(decided))[:, columns].sum())
            for measure, (all_of, among) in wrong.items():
                below, above = (one[:, columns].sum(axis=1) for one in (all_of, among))
                n, hits = int(below.sum()), int(above.sum())
                interval = ratio_interval(above, below, clusters)
                counts = {"marks": n, "wrong": hits, "unanswered": unanswered}
                yield measured(measure, hits / n if n else math.nan, n, interval, here, counts)
