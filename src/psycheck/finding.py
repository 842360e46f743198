"""One measured value, and its file formats."""

import csv
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from psycheck.errors import BadInput

Interval = tuple[float, float]
_NOTHING: Mapping[str, Any] = MappingProxyType({})


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
    where: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    counts: Mapping[str, int] = field(default_factory=lambda: _NOTHING)
    examples: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def tested(self) -> bool:
        """Whether there is a value."""
        return not math.isnan(self.value)

    def as_json(self) -> str:
        """One line of findings.jsonl; NaN is written as null."""
        line: dict[str, Any] = {
            "measure": self.measure,
            "value": _number(self.value),
            "n": self.n,
            "interval": None if self.interval is None else [_number(end) for end in self.interval],
            "where": dict(self.where),
            "counts": dict(self.counts),
            "examples": list(self.examples),
        }
        if self.flags:
            line["flags"] = list(self.flags)
        return json.dumps(line, ensure_ascii=False, allow_nan=False)


def finding_of(line: str) -> Finding:
    """Read one line of findings.jsonl."""
    raw = json.loads(line)
    ends = raw["interval"]
    return Finding(
        measure=raw["measure"],
        value=_float(raw["value"]),
        n=raw["n"],
        interval=None if ends is None else (_float(ends[0]), _float(ends[1])),
        where=raw["where"],
        counts=raw["counts"],
        examples=tuple(raw["examples"]),
        flags=tuple(raw.get("flags", ())),
    )


def write_jsonl(findings: Iterable[Finding], path: Path) -> None:
    """Write findings, one per line."""
    with path.open("w", encoding="utf-8") as file:
        for finding in findings:
            file.write(finding.as_json() + "\n")


def read_jsonl(path: Path) -> tuple[Finding, ...]:
    """Read what `write_jsonl` wrote."""
    try:
        return tuple(finding_of(line) for line in path.read_text("utf-8").splitlines() if line)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f"cannot read findings ({type(error).__name__})",
            where=str(path),
            allowed="the findings.jsonl of a finished run",
            do="pass a run folder that psycheck wrote",
        ) from error


def write_csv(findings: Iterable[Finding], path: Path) -> None:
    """Write findings as a flat table: one column per key of `where` and of `counts`."""
    rows = list(findings)
    where = sorted({key for row in rows for key in row.where})
    counts = sorted({key for row in rows for key in row.counts})
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        head = ["measure", "value", "n", "low", "high", *where, *(f"count_{key}" for key in counts)]
        out.writerow([*head, "flags", "examples"])
        for row in rows:
            low, high = row.interval or (math.nan, math.nan)
            out.writerow(
                [row.measure, _cell(row.value), row.n, _cell(low), _cell(high)]
                + [row.where.get(key, "") for key in where]
                + [row.counts.get(key, "") for key in counts]
                + [" ".join(row.flags), " ".join(row.examples)]
            )


def _number(value: float) -> float | None:
    """JSON has no NaN and no infinity: both become null."""
    return float(value) if math.isfinite(value) else None


def _float(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _cell(value: float) -> str:
    return "" if not math.isfinite(value) else f"{value:.15g}"
