"""Many answers to an item into one value per label: pure functions of the judgement table."""

from typing import Final, Literal

import polars as pl

from psycheck.corpus import LABEL, Corpus
from psycheck.errors import BadInput

Merge = Literal["any", "majority", "adjudicated", "share"]
MERGES: Final[tuple[Merge, ...]] = ("any", "majority", "adjudicated", "share")
UNCERTAIN: Final = "uncertain"


def merged_labels(judgements: pl.DataFrame, how: Merge, resolved: pl.DataFrame | None = None) -> pl.DataFrame:
    """One row per item and label: `item`, `label`, `value` (0 to 1, null if not decided).

    any: 1 if anyone says so (PsySym 3.4). majority: what more than half say, 0.5 for a tie. share: the share
    who say 1. adjudicated: what the adjudicator says, else what all say; null where a conflict is open.
    """
    share = pl.col("value").mean()
    merges = {
        "any": pl.col("value").max().cast(pl.Float64),
        "majority": pl.when(share == 0.5).then(0.5).otherwise((share > 0.5).cast(pl.Float64)),
        "share": share,
        "adjudicated": pl.when(pl.col("value").n_unique() == 1).then(
            pl.col("value").first().cast(pl.Float64)
        ),
    }
    if how not in merges:
        raise BadInput(f"unknown merge '{how}'", allowed=", ".join(MERGES), key="merge")
    keys = ["item", "label"]
    found = judgements.group_by(keys, maintain_order=True).agg(merges[how].alias("value"))
    if how != "adjudicated" or resolved is None or resolved.is_empty():
        return found
    said = resolved.group_by(keys, maintain_order=True).agg(
        pl.col("value").max().cast(pl.Float64).alias("said")
    )
    joined = found.join(said, on=keys, how="left", maintain_order="left")
    return joined.select("item", "label", pl.coalesce("said", "value").alias("value"))


def uncertain_share(judgements: pl.DataFrame) -> pl.DataFrame:
    """`item` and `value`: the share of the annotators who marked a symptom and call its status uncertain.

    An annotator calls the item uncertain if they call any of its symptoms so (PsySym 3.4 and A.2).
    """
    unsure = (pl.col("status") == UNCERTAIN).any().cast(pl.Float64)
    marked = judgements.filter(pl.col("status").is_not_null())
    each = marked.group_by("item", "annotator", maintain_order=True).agg(unsure.alias("value"))
    return each.group_by("item", maintain_order=True).agg(pl.col("value").mean())


def merged_corpus(
    items: Corpus, judgements: pl.DataFrame, how: Merge, resolved: pl.DataFrame | None = None
) -> Corpus:
    """The items that have answers, with each label that was asked, and `uncertain` where status was."""
    long = merged_labels(judgements, how, resolved)
    status = uncertain_share(resolved if how == "adjudicated" and resolved is not None else judgements)
    if how == "adjudicated" and resolved is not None:  # items that nobody disputed keep their own status
        agreed = uncertain_share(judgements.join(resolved.select("item").unique(), on="item", how="anti"))
        status = pl.concat([status, agreed])
    wide = items.table.join(long.select("item").unique(), left_on="id", right_on="item", how="semi")
    for label in sorted(long["label"].unique().to_list()):
        own = long.filter(pl.col("label") == label).select("item", pl.col("value").alias(LABEL + label))
        wide = wide.join(own, left_on="id", right_on="item", how="left", maintain_order="left")
    if not status.is_empty():
        own = status.select("item", pl.col("value").alias(LABEL + UNCERTAIN))
        wide = wide.join(own, left_on="id", right_on="item", how="left", maintain_order="left")
    return Corpus(f"{items.name}-{how}", wide)
