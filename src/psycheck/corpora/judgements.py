"""What several annotators said of the same texts, merged into one corpus (PsySym, section 3.4).

A table of judgements is in long form, one row per text, annotator and label: `item` (the id of the text),
`annotator`, `label`, `value` (0 or 1) and, where the label is present, `status` ("present" or "uncertain").
"""

from dataclasses import replace
from pathlib import Path
from typing import Final

import polars as pl

from psycheck.corpora.tables import read_table
from psycheck.corpus import LABEL, Corpus
from psycheck.errors import BadInput, nearest

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


def with_judgements(corpus: Corpus, judgements: pl.DataFrame) -> Corpus:
    """The corpus with what its annotators said as labels; texts that nobody judged have none.

    A label is 1 if any annotator said so, 0 if all who judged it did not, and missing if nobody did. The
    label `uncertain` is the share of annotators who called what they found uncertain, missing where no label
    is 1. An annotator who found several labels counts once, by the share of them.
    """
    if unknown := sorted(set(judgements["item"]) - set(corpus.ids)):
        what = (
            f"{len(unknown):,} of {judgements['item'].n_unique():,} judged items are not texts of the corpus"
        )
        raise BadInput(what, allowed=nearest(unknown[0], corpus.ids), do="name the id column (`id`)")
    names = sorted(set(judgements["label"]))
    if UNCERTAIN in names:
        raise BadInput(
            f"'{UNCERTAIN}' is the name of the status, not of a label", key="label", do="rename it"
        )
    merged = (
        judgements.group_by("item", "label")
        .agg(pl.col("value").max())
        .pivot("label", index="item", values="value")
        .rename({name: LABEL + name for name in names})
    )
    share = (
        judgements.filter((pl.col("value") == 1) & pl.col("status").is_not_null())
        .group_by("item", "annotator")
        .agg((pl.col("status") == UNCERTAIN).mean().alias(LABEL + UNCERTAIN))
        .group_by("item")
        .agg(pl.col(LABEL + UNCERTAIN).mean())
    )
    table = corpus.table.drop([LABEL + name for name in (*names, UNCERTAIN)], strict=False)
    columns = [LABEL + name for name in names]
    for one in (merged.select("item", *columns), share):
        table = table.join(one, left_on="id", right_on="item", how="left", maintain_order="left")
    if not len(share):
        table = table.drop(LABEL + UNCERTAIN)
    return replace(corpus, table=table)
