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

from psycheck.statistics.clustered import Clusters
from psycheck.statistics.model_agreement import cohen_kappa, kappa_interval
from psycheck.statistics.rater_agreement import (
    Agreement,
    alpha,
    fleiss_kappa,
    percent_agreement,
)

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

    is_positive = pl.col("value") == 1
    # Whoever did not mark the symptom was not asked for its status.
    with_status = judgements.filter(is_positive & pl.col("status").is_not_null())
    if len(with_status):
        is_uncertain = (pl.col("status") == "uncertain").cast(pl.Float64)
        yield _agreed(STATUS, with_status.with_columns(value=is_uncertain))

    # With one label the line would repeat the one above.
    if judgements["label"].n_unique() > 1:
        yield _agreed(ALL, judgements)


def by_day(judgements: pl.DataFrame) -> Iterator[tuple[str, Agreed]]:
    """The agreement on all labels in the items that were finished on each day, in order."""
    judgement_day = pl.col("time").str.slice(0, 10)
    # An item counts on the day of its last judgement: before, nobody could agree on it.
    days = judgements.with_columns(day=judgement_day.max().over("item"))
    for (day,), judgements_of_day in days.sort("day").group_by("day", maintain_order=True):
        yield str(day), _agreed(ALL, judgements_of_day)


def by_version(judgements: pl.DataFrame) -> Iterator[tuple[int, Agreed]]:
    """The agreement on all labels among the answers given under each version of the project, in order."""
    for (version,), answers in judgements.sort("version").group_by("version", maintain_order=True):
        yield int(str(version)), _agreed(ALL, answers)


def between(judgements: pl.DataFrame) -> Iterator[Pair]:
    """Each pair of annotators who judged the same items, over all labels; clustered by item."""
    ratings, items, annotators = _ratings(judgements)
    is_rated = ~np.isnan(ratings)

    for first, second in combinations(range(len(annotators)), 2):
        rated_twice = is_rated[:, first] & is_rated[:, second]
        # Two people who never met have no agreement, rather than one of zero.
        if not rated_twice.any():
            continue

        first_ratings = ratings[rated_twice, first]
        second_ratings = ratings[rated_twice, second]
        kappa = Agreement(
            cohen_kappa(first_ratings, second_ratings)[0],
            kappa_interval(
                first_ratings,
                second_ratings,
                Clusters.of(items[rated_twice]),
            ),
            int(rated_twice.sum()),
        )
        yield Pair(annotators[first], annotators[second], kappa)


def pace(judgements: pl.DataFrame) -> Iterator[Pace]:
    """How long each annotator takes for an item, those who judged most first."""
    # The seconds of an answer stand beside each of its labels: count them once.
    seconds_per_item = judgements.group_by("annotator", "item").agg(pl.col("seconds").max())
    paces = seconds_per_item.group_by("annotator").agg(
        items=pl.len(),
        median=pl.col("seconds").median(),
        slow=pl.col("seconds").quantile(0.9, "linear"),
    )
    ordered = paces.sort(["items", "annotator"], descending=[True, False])
    for row in ordered.iter_rows(named=True):
        yield Pace(**row)


def _agreed(label: str, judgements: pl.DataFrame) -> Agreed:
    """The agreement in these judgements, clustered by item."""
    ratings, items, annotators = _ratings(judgements)
    clusters = Clusters.of(items)
    return Agreed(
        label=label,
        alpha=alpha(ratings, clusters=clusters),
        fleiss=fleiss_kappa(ratings, clusters),
        percent=percent_agreement(ratings, clusters),
        share=float(np.nanmean(ratings)),
        annotators=len(annotators),
    )


def _ratings(
    judgements: pl.DataFrame,
) -> tuple[NDArray[np.float64], NDArray[np.int64], list[str]]:
    """The ratings (rows, annotators) with NaN for none, the item of each row (rows,), and the annotators.

    An item has a row for each of its labels.
    """
    # Ranks without gaps are row numbers: far faster than a dictionary of pairs.
    row_rank = judgements.select(pl.struct("item", "label").rank("dense") - 1)[:, 0]
    rows = row_rank.to_numpy().astype(np.int64)
    names = judgements["annotator"].cast(pl.String)
    annotators = sorted(names.unique())
    columns = rows
    if len(names):
        columns = np.searchsorted(annotators, names.to_numpy())

    row_count = int(rows.max(initial=-1)) + 1
    ratings = np.full((row_count, len(annotators)), np.nan)
    ratings[rows, columns] = judgements["value"].cast(pl.Float64).to_numpy()

    items = np.zeros(row_count, np.int64)
    # Rows of one item are not independent: intervals draw items, so each row remembers its own.
    items[rows] = judgements["item"].cast(pl.String).rank("dense").to_numpy()
    return ratings, items, annotators
