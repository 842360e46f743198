"""Agreement of annotators per label, with intervals, from the table of judgements."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from psycheck.measures.clustered import Clusters
from psycheck.measures.raters import alpha_interval, krippendorff_alpha


@dataclass(frozen=True, slots=True)
class Agreement:
    """Krippendorff's alpha of a label over `texts` with two answers or more; None where it has no value."""

    title: str
    value: float | None
    low: float | None
    high: float | None
    texts: int

    @property
    def words(self) -> str:
        """The figure in words."""
        if self.value is None:
            return f"– (n {self.texts:,})"
        return f"{self.value:.2f} (n {self.texts:,})"


def agreements(judgements: pl.DataFrame, titles: Mapping[str, str]) -> list[Agreement]:
    """The agreement on each label that was answered, in the order of the titles."""
    found = {str(name): rows for (name,), rows in judgements.group_by("label")}
    return [_agreement(title, found[name]) for name, title in titles.items() if name in found]


def _agreement(title: str, rows: pl.DataFrame) -> Agreement:
    names = pl.concat_str("queue", "item", separator=" ") if "queue" in rows.columns else pl.col("item")
    table = rows.with_columns(names.alias("unit")).pivot("annotator", index="unit", values="value")
    votes = table.drop("unit").cast(pl.Float64).fill_null(math.nan).to_numpy()
    texts = int(np.count_nonzero((~np.isnan(votes)).sum(axis=1) >= 2))
    value = krippendorff_alpha(votes)[0]
    if math.isnan(value):
        return Agreement(title, None, None, None, texts)
    low, high = (
        None if math.isnan(end) else end for end in alpha_interval(votes, Clusters.single(len(votes)))
    )
    return Agreement(title, value, low, high, texts)
