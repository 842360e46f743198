"""What several annotators said of the same texts, merged into one corpus (PsySym, section 3.4).

A table of judgements is in long form, one row per text, annotator and label: `item` (the id of the text),
`annotator`, `label`, `value` (0 or 1) and, where the label is present, `status` ("present" or "uncertain").
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from psycheck.core.corpus import LABEL, Corpus
from psycheck.core.errors import BadInput, nearest
from psycheck.io.tables import Table, read_table
from psycheck.statistics.competence import dawid_skene

Merge = Literal["any", "majority", "adjudicated", "share", "competence"]
MERGES: Final[tuple[Merge, ...]] = ("any", "majority", "adjudicated", "share", "competence")
COLUMNS: Final = ("item", "annotator", "label", "value")
STATUSES: Final = ("present", "uncertain")
UNCERTAIN: Final = "uncertain"
# How tools export a binary answer: pandas writes 1.0 where a column has gaps, JSON lines have true and false.
_VALUES: Final = {
    "0": 0.0,
    "0.0": 0.0,
    "false": 0.0,
    "1": 1.0,
    "1.0": 1.0,
    "true": 1.0,
}
_KEYS: Final = ["item", "label"]


def read_judgements(path: Path) -> pl.DataFrame:
    """Read and check a table of judgements: CSV, TSV, JSON lines or Parquet."""
    table = read_table(path)
    for column in COLUMNS:
        if column not in table.columns:
            raise BadInput(
                what=f"there is no column '{column}'",
                code="judgements.no-column",
                where=str(path),
                allowed=nearest(column, [*table.columns]),
            )

    # `status` is optional: annotators of most projects only say whether a label is present.
    columns: dict[str, list[str | None]] = {}
    for name in (*COLUMNS, "status"):
        cells = table.columns.get(name, [None] * len(table))
        columns[name] = [None if cell in (None, "") else str(cell) for cell in cells]
    for row in range(len(table)):
        _check_row(table, columns, row)

    values = [_VALUES[str(cell).lower()] for cell in columns.pop("value")]
    # The schema is spelled out because a column of nulls alone would not become strings.
    frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    return frame.with_columns(pl.Series("value", values))


def _check_row(table: Table, columns: Mapping[str, Sequence[str | None]], row: int) -> None:
    """Refuse a row with an empty cell, a value other than 0 and 1, or an unknown status."""
    for name in COLUMNS:
        if columns[name][row] is None:
            raise BadInput(
                what="the cell is empty",
                code="judgements.empty-cell",
                where=table.where(row, name),
                allowed="a value in every row",
            )
    if str(columns["value"][row]).lower() not in _VALUES:
        raise BadInput(
            what="the value is neither 0 nor 1",
            code="judgements.bad-value",
            where=table.where(row, "value"),
            allowed="0 or 1",
        )
    if columns["status"][row] not in (None, *STATUSES):
        raise BadInput(
            what="unknown status",
            code="judgements.unknown-status",
            where=table.where(row, "status"),
            allowed=f"{', '.join(STATUSES)}, or empty",
        )


def merged_labels(judgements: pl.DataFrame, how: Merge, resolved: pl.DataFrame | None = None) -> pl.DataFrame:
    """One row per item and label: `item`, `label`, `value` (0 to 1, null if not decided).

    any: 1 if anyone says so (PsySym 3.4). majority: what more than half say, 0.5 for a tie. share: the share
    who say 1. adjudicated: what the adjudicator says, else what all say; null where a conflict is open.
    competence: the chance of 1, from how reliable each annotator is on the label (Dawid and Skene).
    """
    if how not in MERGES:
        raise BadInput(
            what=f"unknown merge '{how}'",
            code="judgements.unknown-merge",
            allowed=", ".join(MERGES),
            key="merge",
        )
    # How reliable an annotator is differs between labels, so each label is estimated by itself.
    if how == "competence" and len(judgements):
        by_label = judgements.partition_by("label", maintain_order=True)
        return pl.concat([_weighed_by_competence(of_label) for of_label in by_label])

    merged_value = _merged_value(how).alias("value")
    merged = judgements.group_by(_KEYS, maintain_order=True).agg(merged_value)
    if how == "adjudicated" and resolved is not None and not resolved.is_empty():
        return _with_adjudicator(merged, resolved)
    return merged


def _merged_value(how: Merge) -> pl.Expr:
    """What the annotators say of one item and label, as one value."""
    value = pl.col("value")
    share = value.mean()
    if how == "any":
        return value.max().cast(pl.Float64)
    if how == "majority":
        more_than_half = (share > 0.5).cast(pl.Float64)
        return pl.when(share == 0.5).then(0.5).otherwise(more_than_half)
    if how == "adjudicated":
        # `when` without `otherwise` is null: where the annotators differ and nobody has decided yet.
        all_agree = value.n_unique() == 1
        return pl.when(all_agree).then(value.first().cast(pl.Float64))
    return share


def _with_adjudicator(merged: pl.DataFrame, resolved: pl.DataFrame) -> pl.DataFrame:
    """What the adjudicator says in the place of what the annotators say."""
    decision = pl.col("value").max().cast(pl.Float64).alias("decision")
    decisions = resolved.group_by(_KEYS, maintain_order=True).agg(decision)
    joined = merged.join(
        decisions,
        on=_KEYS,
        how="left",
        maintain_order="left",
    )
    return joined.select("item", "label", pl.coalesce("decision", "value").alias("value"))


def ratings(judgements: pl.DataFrame) -> tuple[NDArray[np.float64], list[str], list[str]]:
    """The judgements of one label as items × annotators, NaN for none; the items, and the annotators."""
    items = judgements["item"].unique(maintain_order=True).to_list()
    annotators = sorted(judgements["annotator"].unique())
    row_of_item = {item: row for row, item in enumerate(items)}
    column_of_annotator = {annotator: column for column, annotator in enumerate(annotators)}

    votes = np.full((len(items), len(annotators)), np.nan)
    for item, annotator, value in judgements.select("item", "annotator", "value").iter_rows():
        votes[row_of_item[item], column_of_annotator[annotator]] = value
    return votes, items, annotators


def _weighed_by_competence(judgements: pl.DataFrame) -> pl.DataFrame:
    """The chance of 1 for each item of one label."""
    votes, items, _ = ratings(judgements)
    label = judgements["label"].first()
    return pl.DataFrame(
        {
            "item": items,
            "label": [label] * len(items),
            "value": dawid_skene(votes).chance,
        }
    )


def uncertain_share(judgements: pl.DataFrame) -> pl.DataFrame:
    """`item` and `value`: the share of the annotators who marked a symptom and call its status uncertain.

    An annotator calls the item uncertain if they call any of its symptoms so (PsySym 3.4 and A.2).
    """
    is_present = pl.col("value") == 1
    has_status = pl.col("status").is_not_null()
    marked = judgements.filter(is_present & has_status)

    # First per annotator, then over annotators: one who marks many symptoms has one vote all the same.
    any_uncertain = (pl.col("status") == UNCERTAIN).any().cast(pl.Float64)
    of_annotator = marked.group_by("item", "annotator", maintain_order=True)
    votes = of_annotator.agg(any_uncertain.alias("value"))
    return votes.group_by("item", maintain_order=True).agg(pl.col("value").mean())


def with_judgements(
    corpus: Corpus,
    judgements: pl.DataFrame,
    how: Merge = "any",
    resolved: pl.DataFrame | None = None,
) -> Corpus:
    """The corpus with what its annotators said as labels, merged; a text that nobody judged has none.

    The label `uncertain` is the share of annotators who called what they found uncertain, missing where no
    label is 1; of an item in `resolved`, what the adjudicator says.
    """
    _refuse_unknown_items(corpus, judgements)
    if UNCERTAIN in judgements["label"]:
        raise BadInput(
            what=f"'{UNCERTAIN}' is the name of the status, not of a label",
            code="judgements.label-uncertain",
            key="label",
            do="rename it",
        )

    merged = merged_labels(judgements, how, resolved)
    # Where an adjudicator decided, the status that annotators gave before does not count.
    final_judgements = judgements
    if how == "adjudicated" and resolved is not None and not resolved.is_empty():
        final_judgements = _adjudicated(judgements, resolved)
    uncertain = uncertain_share(final_judgements)

    labels = sorted(merged["label"].unique())
    values_by_column = {LABEL + label: merged.filter(pl.col("label") == label) for label in labels}
    if len(uncertain):
        values_by_column[LABEL + UNCERTAIN] = uncertain

    # Labels of the same names that the corpus had before are replaced.
    replaced_columns = [LABEL + label for label in (*labels, UNCERTAIN)]
    table = corpus.table.drop(replaced_columns, strict=False)
    for column, values in values_by_column.items():
        marks = pl.col("value").cast(pl.Float64).alias(column)
        by_item = values.select("item", marks)
        # A left join: texts that nobody judged stay, with null (not annotated, never 0).
        table = table.join(
            by_item,
            left_on="id",
            right_on="item",
            how="left",
            maintain_order="left",
        )
    return replace(corpus, table=table)


def _refuse_unknown_items(corpus: Corpus, judgements: pl.DataFrame) -> None:
    items = judgements["item"]
    unknown = sorted(set(items) - set(corpus.ids))
    if unknown:
        raise BadInput(
            what=f"{len(unknown):,} of {items.n_unique():,} judged items are not texts of the corpus",
            code="judgements.unknown-items",
            allowed=nearest(unknown[0], corpus.ids),
            do="name the id column (`id`)",
        )


def _adjudicated(judgements: pl.DataFrame, resolved: pl.DataFrame) -> pl.DataFrame:
    """The judgements of items that need no adjudicator, and what the adjudicator says of the others."""
    columns = [column for column in resolved.columns if column in judgements.columns]
    disputed = resolved.select("item").unique()
    undisputed = judgements.select(columns).join(
        disputed,
        on="item",
        how="anti",
        maintain_order="left",
    )
    return pl.concat([undisputed, resolved.select(columns)], how="vertical_relaxed")
