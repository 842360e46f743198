"""Two runs side by side: the figures that both have, and the cases that end differently."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from psycheck.view.run_index import ListedRun

MEASURES = (
    "accuracy",
    "balanced_accuracy",
    "f1",
    "auc",
    "brier",
    "ece",
    "pass_rate",
    "flip_rate",
    "unanswered",
)
_KEYS = ("measure", "corpus", "label", "suite", "check", "group", "by", "swap", "unit")
_PLACE = ("corpus", "suite", "check", "id")
_OF_CASE = ("outcome", "before", "after")


@dataclass(frozen=True, slots=True)
class CasePage:
    """Some rows of a table, and how many there are in all."""

    rows: list[dict[str, object]]
    total: int


def shared_figures(first: ListedRun, second: ListedRun) -> list[dict[str, object]]:
    """Key figures that both runs have, with the difference, the largest differences first."""
    figures = [_figures(run) for run in (first, second)]
    keys = [key for key in _KEYS if all(key in table.columns for table in figures)]
    # A run of one model is compared whatever its model is called; of several, each with its namesake.
    if max(len(first.models), len(second.models)) > 1:
        keys.append("model")
    left, right = (table.select(*keys, "value", "n").unique(keys, keep="none") for table in figures)
    joined = left.join(right, on=keys, suffix="_second", nulls_equal=True)
    difference = pl.col("value_second") - pl.col("value")
    joined = joined.with_columns(difference=difference).drop_nulls("difference")
    return joined.sort(pl.col("difference").abs(), descending=True).to_dicts()


def _figures(run: ListedRun) -> pl.DataFrame:
    """The key figures of a run; those of subgroups of cases are left out."""
    findings = pl.scan_csv(run.folder / "findings.csv", infer_schema=False)
    numbers = [pl.col(name).cast(pl.Float64, strict=False) for name in ("value", "n")]
    return findings.filter(pl.col("measure").is_in(MEASURES)).with_columns(numbers).collect()


def changed_cases(first: ListedRun, second: ListedRun, *, page: int, size: int) -> CasePage:
    """Cases of both runs whose outcome differs, in the order of checks."""
    tables = [_cases(run) for run in (first, second)]
    if tables[0] is None or tables[1] is None:
        return CasePage([], 0)
    keys = list(_PLACE)
    joined = tables[0].join(tables[1], on=keys, suffix="_second")
    changed = joined.filter(pl.col("outcome") != pl.col("outcome_second")).collect()
    return CasePage(changed.slice(page * size, size).to_dicts(), len(changed))


def _cases(run: ListedRun) -> pl.LazyFrame | None:
    """The cases of a run; None if it has no such table."""
    file = run.folder / "cases.parquet"
    if not file.is_file():
        return None
    names = pl.col(*_PLACE, "outcome").cast(pl.String)
    first_of_each = (
        pl.scan_parquet(file)
        .select(*_PLACE, *_OF_CASE)
        .unique(list(_PLACE), keep="first", maintain_order=True)
    )
    return first_of_each.with_columns(names)


def rows_of(
    run: ListedRun, table: str, *, choices: dict[str, str], columns: Sequence[str], page: int, size: int
) -> CasePage:
    """Some rows of a table of a run, with those columns that it has, filtered by exact values."""
    file = run.folder / f"{table}.parquet"
    if not file.is_file():
        return CasePage([], 0)
    rows = pl.scan_parquet(file)
    present = set(rows.collect_schema())
    for column, value in choices.items():
        if column in present and value:
            rows = rows.filter(pl.col(column).cast(pl.String) == value)
    total = rows.select(pl.len()).collect().item()
    shown = rows.select([name for name in columns if name in present]).slice(page * size, size).collect()
    return CasePage(shown.to_dicts(), total)


def values_in(run: ListedRun, table: str, column: str) -> list[str]:
    """The values of a column, for a choice among them."""
    file = run.folder / f"{table}.parquet"
    if not file.is_file():
        return []
    values = (
        pl.scan_parquet(file).select(pl.col(column).cast(pl.String).unique(maintain_order=True)).collect()
    )
    return [str(value) for value in values[column] if value is not None]
