"""How far annotators agree: by label, by day, annotator against annotator, and how long they take.

A table of judgements has the columns `item`, `annotator`, `label`, `value` (0 or 1), `status` ("present",
"uncertain" or null), `time` (ISO) and `seconds`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from psycheck.measures.agreement import cohen_kappa, kappa_interval
from psycheck.measures.clustered import Clusters
from psycheck.measures.raters import Agreement, alpha, fleiss_kappa, percent_agreement

STATUS = "status"
ALL = "all labels"


@dataclass(frozen=True, slots=True)
class Agreed:
    """The agreement on one label: Krippendorff's alpha, Fleiss' kappa and the share of pairs that agree.

    `share` is how often the label is given; `annotators` is how many annotators gave a judgement.
    """

    label: str
    alpha: Agreement
    fleiss: Agreement
    percent: Agreement
    share: float
    annotators: int


@dataclass(frozen=True, slots=True)
class Pair:
    """Cohen's kappa of two annotators over the judgements that both gave."""

    first: str
    second: str
    kappa: Agreement


@dataclass(frozen=True, slots=True)
class Pace:
    """How many items an annotator judged, and the median and the 90th percentile of the seconds taken."""

    annotator: str
    items: int
    median: float
    slow: float


def in_queues(judgements: pl.DataFrame) -> pl.DataFrame:
    """The judgements with each item named by its queue too: the same text in two queues is two items."""
    return judgements.with_columns(item=pl.concat_str("queue", "item", separator=" "))


def by_label(judgements: pl.DataFrame) -> Iterator[Agreed]:
    """The agreement on each label, in the order of first judgement, then on the status and on all labels.

    The status is compared among annotators who found the same label in an item. All labels together are
    clustered by item.
    """
    for label in judgements["label"].unique(maintain_order=True):
        yield _agreed(label, judgements.filter(pl.col("label") == label))
    found = judgements.filter((pl.col("value") == 1) & pl.col("status").is_not_null())
    if len(found):
        yield _agreed(STATUS, found.with_columns(value=(pl.col("status") == "uncertain").cast(pl.Float64)))
    if judgements["label"].n_unique() > 1:
        yield _agreed(ALL, judgements)


def by_day(judgements: pl.DataFrame) -> Iterator[tuple[str, Agreed]]:
    """The agreement on all labels in the items that were finished on each day, in order."""
    days = judgements.with_columns(day=pl.col("time").str.slice(0, 10).max().over("item"))
    for (day,), part in days.sort("day").group_by("day", maintain_order=True):
        yield str(day), _agreed(ALL, part)


def between(judgements: pl.DataFrame) -> Iterator[Pair]:
    """Each pair of annotators who judged the same items, over all labels; clustered by item."""
    ratings, items, annotators = _ratings(judgements)
    for (a, first), (b, second) in combinations(enumerate(annotators), 2):
        both = ~np.isnan(ratings[:, a]) & ~np.isnan(ratings[:, b])
        if both.any():
            x, y = ratings[both, a], ratings[both, b]
            interval = kappa_interval(x, y, Clusters.of(items[both]))
            yield Pair(first, second, Agreement(cohen_kappa(x, y)[0], interval, int(both.sum())))


def pace(judgements: pl.DataFrame) -> Iterator[Pace]:
    """How long each annotator takes for an item, those who judged most first."""
    taken = judgements.group_by("annotator", "item").agg(pl.col("seconds").max())
    each = taken.group_by("annotator").agg(
        items=pl.len(), median=pl.col("seconds").median(), slow=pl.col("seconds").quantile(0.9, "linear")
    )
    for row in each.sort(["items", "annotator"], descending=[True, False]).iter_rows(named=True):
        yield Pace(**row)


def _agreed(label: str, judgements: pl.DataFrame) -> Agreed:
    ratings, items, annotators = _ratings(judgements)
    clusters = Clusters.of(items)
    return Agreed(
        label,
        alpha(ratings, clusters=clusters),
        fleiss_kappa(ratings, clusters),
        percent_agreement(ratings, clusters),
        float(np.nanmean(ratings)),
        len(annotators),
    )


def _ratings(judgements: pl.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.int64], list[str]]:
    """The ratings of items × annotators, NaN for none, the item of each row, and the annotators.

    An item has a row for each of its labels.
    """
    rows = judgements.select(pl.struct("item", "label").rank("dense") - 1)[:, 0].to_numpy().astype(np.int64)
    who = judgements["annotator"].cast(pl.String)
    annotators = sorted(who.unique())
    columns = np.searchsorted(annotators, who.to_numpy()) if len(who) else rows
    ratings = np.full((int(rows.max(initial=-1)) + 1, len(annotators)), np.nan)
    ratings[rows, columns] = judgements["value"].cast(pl.Float64).to_numpy()
    items = np.zeros(len(ratings), np.int64)
    items[rows] = judgements["item"].cast(pl.String).rank("dense").to_numpy()
    return ratings, items, annotators
