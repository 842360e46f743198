"""Two runs side by side: the figures that both have, and the cases that end differently; rows of a table."""

from collections.abc import Mapping, Sequence
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
# What a figure is about, besides its model; what a case is.
_ABOUT = ("measure", "corpus", "label", "suite", "check", "group", "by", "swap", "unit")
_CASE = ("corpus", "suite", "check", "id")
_OUTCOME = ("outcome", "before", "after")
_SECOND = "_second"  # the end of the names of the second run's columns


@dataclass(frozen=True, slots=True)
class TablePage:
    """Some rows of a table, and how many there are in all."""

    rows: list[dict[str, object]]
    total: int


def shared_figures(first: ListedRun, second: ListedRun) -> list[dict[str, object]]:
    """Key figures that both runs have, with the difference, the largest differences first."""
    left = _key_figures(first)
    right = _key_figures(second)
    keys = [key for key in _ABOUT if key in left.columns and key in right.columns]
    # A run of one model is compared whatever its model is called; of several, each with its namesake.
    if max(len(first.models), len(second.models)) > 1:
        keys.append("model")

    columns = [*keys, "value"]
    # Figures that share a key cannot be told apart, so that neither is compared.
    left = left.select(columns).unique(keys, keep="none")
    right = right.select(columns).unique(keys, keep="none")
    joined = left.join(right, on=keys, suffix=_SECOND, nulls_equal=True)

    difference = pl.col(f"value{_SECOND}") - pl.col("value")
    differing = joined.with_columns(difference=difference).drop_nulls("difference")
    largest_first = differing.sort(pl.col("difference").abs(), descending=True)
    return largest_first.to_dicts()


def _key_figures(run: ListedRun) -> pl.DataFrame:
    findings = pl.scan_csv(run.folder / "findings.csv", infer_schema=False)
    is_key_figure = pl.col("measure").is_in(MEASURES)
    of_measures = findings.filter(is_key_figure)
    value = pl.col("value").cast(pl.Float64, strict=False)
    return of_measures.with_columns(value).collect()


def changed_cases(first: ListedRun, second: ListedRun, *, page: int, size: int) -> TablePage:
    """Cases of both runs whose outcome differs, in the order of checks."""
    left = _cases(first)
    right = _cases(second)
    if left is None or right is None:
        return TablePage([], 0)

    joined = left.join(
        right,
        on=list(_CASE),
        suffix=_SECOND,
    )
    outcome_of_second = pl.col(f"outcome{_SECOND}")
    is_changed = pl.col("outcome") != outcome_of_second
    changed = joined.filter(is_changed).collect()

    first_row = page * size
    rows = changed.slice(first_row, size)
    return TablePage(rows.to_dicts(), len(changed))


def _cases(run: ListedRun) -> pl.LazyFrame | None:
    """The cases of a run, each once; None if it has no such table."""
    file = run.folder / "cases.parquet"
    if not file.is_file():
        return None
    cases = pl.scan_parquet(file).select(*_CASE, *_OUTCOME)
    # Categories of two files cannot be joined.
    as_words = cases.with_columns(pl.col(*_CASE, "outcome").cast(pl.String))
    return as_words.unique(
        list(_CASE),
        keep="first",
        maintain_order=True,
    )


def rows_of(
    run: ListedRun,
    table: str,
    *,
    choices: Mapping[str, str],
    columns: Sequence[str],
    page: int,
    size: int,
) -> TablePage:
    """Some rows of a table of a run, with those columns that it has, filtered by exact values."""
    file = run.folder / f"{table}.parquet"
    if not file.is_file():
        return TablePage([], 0)

    rows = pl.scan_parquet(file)
    present = rows.collect_schema().names()
    for column, value in choices.items():
        if value and column in present:
            as_word = pl.col(column).cast(pl.String)
            rows = rows.filter(as_word == value)

    # Counted before the page is cut out, for the number of pages.
    total = rows.select(pl.len()).collect().item()
    present_columns = [column for column in columns if column in present]
    first_row = page * size
    rows_of_page = rows.select(present_columns).slice(first_row, size)
    return TablePage(rows_of_page.collect().to_dicts(), total)


def values_in(run: ListedRun, table: str, column: str) -> list[str]:
    """The values of a column, for a choice among them."""
    file = run.folder / f"{table}.parquet"
    if not file.is_file():
        return []
    # Categories have an order of their own, and people expect that of the table.
    distinct = pl.col(column).cast(pl.String).unique(maintain_order=True)
    values = pl.scan_parquet(file).select(distinct).collect()
    return [str(value) for value in values[column] if value is not None]
