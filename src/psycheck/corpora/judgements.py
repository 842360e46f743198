"""What several annotators said of the same texts, merged into one corpus (PsySym, section 3.4).

A table of judgements is in long form, one row per text, annotator and label: `item` (the id of the text),
`annotator`, `label`, `value` (0 or 1) and, where the label is present, `status` ("present" or "uncertain").
"""

from dataclasses import replace
from pathlib import Path
from typing import Final, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from psycheck.corpora.tables import read_table
from psycheck.corpus import LABEL, Corpus
from psycheck.errors import BadInput, nearest
from psycheck.measures.competence import dawid_skene

Merge = Literal["any", "majority", "adjudicated", "share", "competence"]
MERGES: Final[tuple[Merge, ...]] = ("any", "majority", "adjudicated", "share", "competence")
COLUMNS: Final = ("item", "annotator", "label", "value")
STATUSES: Final = ("present", "uncertain")
UNCERTAIN: Final = "uncertain"
_VALUES: Final = {"0": 0.0, "0.0": 0.0, "false": 0.0, "1": 1.0, "1.0": 1.0, "true": 1.0}


def read_judgements(path: Path) -> pl.DataFrame:
    """Read and check a table of judgements: CSV, TSV, JSON lines or Parquet."""
    table = read_table(path)
    for column in COLUMNS:
        if column not in table.columns:
            what = f"there is no column '{column}'"
            raise BadInput(what, where=str(path), allowed=nearest(column, [*table.columns]))
    columns: dict[str, list[str | None]] = {}
    for name in (*COLUMNS, "status"):
        cells = table.columns.get(name, [None] * len(table))
        columns[name] = [None if cell in (None, "") else str(cell) for cell in cells]
    for row in range(len(table)):
        for name in COLUMNS:
            if columns[name][row] is None:
                raise BadInput(
                    "the cell is empty", where=table.where(row, name), allowed="a value in every row"
                )
        if str(columns["value"][row]).lower() not in _VALUES:
            raise BadInput("the value is neither 0 nor 1", where=table.where(row, "value"), allowed="0 or 1")
        if columns["status"][row] not in (None, *STATUSES):
            allowed = f"{', '.join(STATUSES)}, or empty"
            raise BadInput("unknown status", where=table.where(row, "status"), allowed=allowed)
    values = pl.Series("value", [_VALUES[str(cell).lower()] for cell in columns.pop("value")])
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String)).with_columns(values)


def merged_labels(judgements: pl.DataFrame, how: Merge, resolved: pl.DataFrame | None = None) -> pl.DataFrame:
    """One row per item and label: `item`, `label`, `value` (0 to 1, null if not decided).

    any: 1 if anyone says so (PsySym 3.4). majority: what more than half say, 0.5 for a tie. share: the share
    who say 1. adjudicated: what the adjudicator says, else what all say; null where a conflict is open.
    competence: the chance of 1, from how reliable each annotator is on the label (Dawid and Skene).
    """
    if how not in MERGES:
        raise BadInput(f"unknown merge '{how}'", allowed=", ".join(MERGES), key="merge")
    keys, share = ["item", "label"], pl.col("value").mean()
    if how == "competence" and len(judgements):
        return pl.concat([_weighed(part) for part in judgements.partition_by("label", maintain_order=True)])
    merges = {
        "any": pl.col("value").max().cast(pl.Float64),
        "majority": pl.when(share == 0.5).then(0.5).otherwise((share > 0.5).cast(pl.Float64)),
        "share": share,
        "competence": share,
        "adjudicated": pl.when(pl.col("value").n_unique() == 1).then(
            pl.col("value").first().cast(pl.Float64)
        ),
    }
    found = judgements.group_by(keys, maintain_order=True).agg(merges[how].alias("value"))
    if how != "adjudicated" or resolved is None or resolved.is_empty():
        return found
    said = resolved.group_by(keys, maintain_order=True).agg(
        pl.col("value").max().cast(pl.Float64).alias("said")
    )
    joined = found.join(said, on=keys, how="left", maintain_order="left")
    return joined.select("item", "label", pl.coalesce("said", "value").alias("value"))


def ratings(judgements: pl.DataFrame) -> tuple[NDArray[np.float64], list[str], list[str]]:
    """The judgements of one label as items × annotators, NaN for none; the items, and the annotators."""
    items = judgements["item"].unique(maintain_order=True).to_list()
    annotators = sorted(judgements["annotator"].unique())
    row, column = ({name: k for k, name in enumerate(names)} for names in (items, annotators))
    out = np.full((len(items), len(annotators)), np.nan)
    for item, annotator, value in judgements.select("item", "annotator", "value").iter_rows():
        out[row[item], column[annotator]] = value
    return out, items, annotators


def _weighed(judgements: pl.DataFrame) -> pl.DataFrame:
    votes, items, _ = ratings(judgements)
    label = judgements["label"].first()
    return pl.DataFrame({"item": items, "label": [label] * len(items), "value": dawid_skene(votes).chance})


def uncertain_share(judgements: pl.DataFrame) -> pl.DataFrame:
    """`item` and `value`: the share of the annotators who marked a symptom and call its status uncertain.

    An annotator calls the item uncertain if they call any of its symptoms so (PsySym 3.4 and A.2).
    """
    unsure = (pl.col("status") == UNCERTAIN).any().cast(pl.Float64)
    marked = judgements.filter((pl.col("value") == 1) & pl.col("status").is_not_null())
    each = marked.group_by("item", "annotator", maintain_order=True).agg(unsure.alias("value"))
    return each.group_by("item", maintain_order=True).agg(pl.col("value").mean())


def with_judgements(
    corpus: Corpus, judgements: pl.DataFrame, how: Merge = "any", resolved: pl.DataFrame | None = None
) -> Corpus:
    """The corpus with what its annotators said as labels, merged; a text that nobody judged has none.

    The label `uncertain` is the share of annotators who called what they found uncertain, missing where no
    label is 1; of an item in `resolved`, what the adjudicator says.
    """
    if unknown := sorted(set(judgements["item"]) - set(corpus.ids)):
        what = (
            f"{len(unknown):,} of {judgements['item'].n_unique():,} judged items are not texts of the corpus"
        )
        raise BadInput(what, allowed=nearest(unknown[0], corpus.ids), do="name the id column (`id`)")
    if UNCERTAIN in judgements["label"]:
        raise BadInput(
            f"'{UNCERTAIN}' is the name of the status, not of a label", key="label", do="rename it"
        )
    long, said = merged_labels(judgements, how, resolved), judgements
    if how == "adjudicated" and resolved is not None and not resolved.is_empty():
        disputed = resolved.select("item").unique()
        columns = [column for column in resolved.columns if column in judgements.columns]
        undisputed = judgements.select(columns).join(disputed, on="item", how="anti", maintain_order="left")
        said = pl.concat([undisputed, resolved.select(columns)], how="vertical_relaxed")
    status = uncertain_share(said)
    names = sorted(long["label"].unique())
    table = corpus.table.drop([LABEL + name for name in (*names, UNCERTAIN)], strict=False)
    parts = [(LABEL + name, long.filter(pl.col("label") == name)) for name in names]
    for column, part in [*parts, *([(LABEL + UNCERTAIN, status)] if len(status) else [])]:
        own = part.select("item", pl.col("value").cast(pl.Float64).alias(column))
        table = table.join(own, left_on="id", right_on="item", how="left", maintain_order="left")
    return replace(corpus, table=table)
