"""One measured value, and its file formats."""

import csv
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from psycheck.core.errors import UNREADABLE, BadInput, nearest
from psycheck.core.measure import catalogue, catalogue_keys

if TYPE_CHECKING:
    import polars as pl

SCHEMA_VERSION = 1
"""Of run.json, findings.jsonl and `--json`; grows when a key is renamed, removed or changes its type."""

Interval = tuple[float, float]
Row = list[Any]  # the cells of a flat table in the order of its columns
_UNKNOWN: Interval = (math.nan, math.nan)
_SHOWN = 20  # findings in a notebook
_COUNT_COLUMN = "count_"  # how the columns of `counts` begin in a flat table
_FORMULA = re.compile("'*[=+\\-@\t\r\n＝＋－＠]")  # the wide forms count in Japanese locales
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?").fullmatch


def _nothing() -> Mapping[str, Any]:
    """An empty mapping that nobody can change: findings share it."""
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Finding:
    """One measured value with its n, its interval, what it describes and the cases behind it.

    `value` is NaN if nothing could be measured ("not tested"); it is written as null.
    `interval` is the 95 % interval, or None (a p-value, a count).
    `where` names the model, corpus, suite, check, kind, label, group … of the value (see `measure.toml`).
    `counts` holds the ledger, `examples` the ids of the cases behind the value (failing ones first),
    `flags` short marks such as "below_dir_mean", "not_tested" or "one_class".
    """

    measure: str
    value: float
    n: int
    interval: Interval | None = None
    where: Mapping[str, str] = field(default_factory=_nothing)
    counts: Mapping[str, int] = field(default_factory=_nothing)
    examples: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def tested(self) -> bool:
        """Whether there is a value."""
        return not math.isnan(self.value)

    def as_json(self) -> str:
        """The finding as JSON; NaN is written as null."""
        return json.dumps(self.as_record(), ensure_ascii=False, allow_nan=False)

    def as_record(self) -> dict[str, Any]:
        """The finding as a dictionary that JSON can hold."""
        interval = None
        if self.interval is not None:
            interval = [_number(end) for end in self.interval]
        record: dict[str, Any] = {
            "measure": self.measure,
            "value": _number(self.value),
            "n": self.n,
            "interval": interval,
            "where": dict(self.where),
            "counts": dict(self.counts),
            "examples": list(self.examples),
        }
        # Most findings have none, and files of older versions never name them.
        if self.flags:
            record["flags"] = list(self.flags)
        return record


def finding_of(line: str) -> Finding:
    """Read one line of findings.jsonl."""
    entry = json.loads(line)
    interval = None
    if entry["interval"] is not None:
        low, high = entry["interval"]
        interval = (_float(low), _float(high))
    return Finding(
        measure=entry["measure"],
        value=_float(entry["value"]),
        n=entry["n"],
        interval=interval,
        where=entry["where"],
        counts=entry["counts"],
        examples=tuple(entry["examples"]),
        flags=tuple(entry.get("flags", ())),
    )


def write_jsonl(findings: Iterable[Finding], path: Path) -> None:
    """Write findings, one per line, each with the version of its form: lines are often read one by one."""
    with path.open("w", encoding="utf-8") as file:
        for finding in findings:
            record = {"schema_version": SCHEMA_VERSION, **finding.as_record()}
            file.write(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")


def read_jsonl(path: Path) -> tuple[Finding, ...]:
    """Read what `write_jsonl` wrote."""
    try:
        lines = path.read_text("utf-8").splitlines()
        return tuple(finding_of(line) for line in lines if line)
    except UNREADABLE as error:
        raise BadInput(
            f"cannot read findings ({type(error).__name__})",
            code="run.unreadable-findings",
            where=str(path),
            allowed="the findings.jsonl of a finished run",
            do="pass a run folder that psycheck wrote",
        ) from error


def write_csv(findings: Iterable[Finding], path: Path) -> None:
    """Write findings as a flat table: one column per key of `where` and of `counts`."""
    names, rows = _flat(tuple(findings))
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(map(spreadsheet_safe, names))
        for row in rows:
            table.writerow(_csv_row(row))


def _csv_row(row: Row) -> Row:
    """The cells of a row as findings.csv holds them: no list, and nothing that a spreadsheet would run."""
    measure, value, n, low, high, *keys, flags, examples = row
    words = [*keys, " ".join(flags), " ".join(examples)]
    # Numbers stay numbers: only words can be formulas.
    return [
        spreadsheet_safe(measure),
        _cell(value),
        n,
        _cell(low),
        _cell(high),
        *map(spreadsheet_safe, words),
    ]


def spreadsheet_safe(cell: Any) -> Any:
    """A string that a spreadsheet would run as a formula, with an apostrophe in front; all else as it is.

    Apostrophes in front of such a string get one more, so that removing one gives the string back.
    """
    if not isinstance(cell, str):
        return cell
    is_formula = _FORMULA.match(cell) and not _NUMBER(cell)
    return f"'{cell}" if is_formula else cell


def _flat(findings: Sequence[Finding]) -> tuple[list[str], list[Row]]:
    """The names of the columns of a flat table, and its rows; None where a finding has no such key."""
    where_keys = _keys_of(finding.where for finding in findings)
    count_keys = _keys_of(finding.counts for finding in findings)
    names = [
        "measure",
        "value",
        "n",
        "low",
        "high",
        *where_keys,
        *[_COUNT_COLUMN + key for key in count_keys],
        "flags",
        "examples",
    ]

    rows = []
    for finding in findings:
        row = [
            finding.measure,
            finding.value,
            finding.n,
            *(finding.interval or _UNKNOWN),
            *map(finding.where.get, where_keys),
            *map(finding.counts.get, count_keys),
            list(finding.flags),
            list(finding.examples),
        ]
        rows.append(row)
    return names, rows


def _keys_of(mappings: Iterable[Mapping[str, Any]]) -> list[str]:
    """The keys of all mappings, sorted."""
    keys: set[str] = set()
    for mapping in mappings:
        keys.update(mapping)
    return sorted(keys)


def _number(value: float) -> float | None:
    """JSON has no NaN and no infinity: both become null."""
    if math.isfinite(value):
        return float(value)
    return None


def _float(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _cell(value: float) -> str:
    # All digits that a float surely keeps: 17 would show 0.1 as 0.10000000000000001.
    if math.isfinite(value):
        return f"{value:.15g}"
    return ""


class Findings(tuple[Finding, ...]):
    """Findings in order: a tuple that can be filtered and turned into a table."""

    __slots__ = ()

    def where(self, **keys: str) -> "Findings":
        """The findings with this measure and these values: `where(measure="f1", corpus="posts")`.

        A measure or a key that neither the catalogue nor a finding has is an error.
        """
        refuse_unknown_names(self, keys)
        return Findings(finding for finding in self if _has(finding, keys))

    def to_polars(self) -> "pl.DataFrame":
        """A flat table with the columns of findings.csv; `flags` and `examples` are lists."""
        # Here and not above: `psycheck --help` reads this module and needs no table.
        import polars as pl

        names, rows = _flat(self)
        numbers = ["value", "low", "high"]
        lists = ["flags", "examples"]
        counts = ["n", *[name for name in names if name.startswith(_COUNT_COLUMN)]]

        # Types are stated, not guessed: the first findings may lack a key that a later one has.
        types: dict[str, Any] = dict.fromkeys(names, pl.String)
        types |= dict.fromkeys(numbers, pl.Float64)
        types |= dict.fromkeys(lists, pl.List(pl.String))
        types |= dict.fromkeys(counts, pl.Int64)

        table = pl.DataFrame(rows, types, orient="row")
        without_nan = pl.col(numbers).fill_nan(None)
        return table.with_columns(without_nan)

    def to_pandas(self) -> Any:
        """The same table as a pandas frame."""
        try:
            import pandas as pd
        except ImportError as error:
            raise BadInput(
                "to_pandas() needs pandas",
                code="extra.no-pandas",
                do="pip install pandas, or use to_polars()",
            ) from error

        # By way of lists: `to_pandas` of polars needs pyarrow.
        columns = self.to_polars().to_dict(as_series=False)
        return pd.DataFrame(columns)

    def _repr_html_(self) -> str:
        """The first findings as a table for a notebook; ids of cases are left out."""
        keys = _keys_of(finding.where for finding in self)
        head = _html_row("th", ["measure", "value", "95 %", "n", *keys])
        rows = [_html_row("td", _cells(finding, keys)) for finding in self[:_SHOWN]]
        table = f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"

        hidden_rows = len(self) - _SHOWN
        if hidden_rows <= 0:
            return table
        return f"{table}<p>{hidden_rows:,} more</p>"


def refuse_unknown_names(findings: Sequence[Finding], keys: Mapping[str, str]) -> None:
    """Refuse a measure or a key that no run has, with the nearest that one has."""
    measure = keys.get("measure")
    if measure is not None and measure not in catalogue():
        own_measures = {finding.measure for finding in findings}
        if measure not in own_measures:
            raise BadInput(
                f"there is no measure '{measure}'",
                code="finding.unknown-measure",
                allowed=nearest(measure, own_measures or catalogue()),
            )

    strange_keys = keys.keys() - {"measure"} - catalogue_keys()
    if strange_keys:
        own_keys = set(_keys_of(finding.where for finding in findings))
        for key in sorted(strange_keys - own_keys):
            raise BadInput(
                f"findings have no key '{key}'",
                code="finding.unknown-key",
                allowed=nearest(key, own_keys or catalogue_keys()),
            )


def _has(finding: Finding, keys: Mapping[str, str]) -> bool:
    """Whether a finding has these values; "measure" is a key, too."""
    values = {"measure": finding.measure, **finding.where}
    return values.items() >= keys.items()


def _html_row(tag: str, cells: Iterable[str]) -> str:
    """One row of a table in HTML; `tag` is "th" in its head, "td" in its body."""
    tagged_cells = [f"<{tag}>{escape(cell)}</{tag}>" for cell in cells]
    return f"<tr>{''.join(tagged_cells)}</tr>"


def _cells(finding: Finding, keys: Iterable[str]) -> list[str]:
    """One row of the table for a notebook."""
    value = f"{finding.value:.3g}" if finding.tested else "not tested"
    low, high = finding.interval or _UNKNOWN
    interval = ""
    if math.isfinite(low) and math.isfinite(high):
        interval = f"{low:.3g}–{high:.3g}"
    return [
        finding.measure,
        value,
        interval,
        f"{finding.n:,}",
        *[finding.where.get(key, "") for key in keys],
    ]
