"""How the studies set ours next to what the papers printed: published figures, cells, Markdown documents."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean, stdev

from psycheck.finding import Finding
from psycheck.report.numbers import p_value
from psycheck.report.tables import Table
from psycheck.report.words import words_of

PUBLISHED = Path(__file__).with_name("published")
MARK = "†"
_WIDTH, _LEFT, _LINE = 720, 290, 20  # of a plot
_SPAN = _WIDTH - _LEFT - 60


@cache
def published(name: str) -> tuple[dict[str, str], ...]:
    """The rows of a published table by its file name, such as "deck-table-4"."""
    with (PUBLISHED / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def marked(row: Mapping[str, str], column: str = "value") -> str:
    """A figure as printed, with a mark where its paper contradicts it."""
    return row[column] + (MARK if row["mark"] else "")


def contradicted(*tables: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    """The rows of tables, such as "deck-*", that their paper contradicts, each with its paper and table."""
    for path in (path for name in tables for path in sorted(PUBLISHED.glob(f"{name}.csv"))):
        paper, _, table = path.stem.partition("-")
        yield from ((paper, table.replace("-", " "), row) for row in published(path.stem) if row["mark"])


def intro_of(study: str, **values: str) -> list[str]:
    """The lines that introduce the tables of a study, from studies.toml."""
    return str(words_of("studies")[study]["intro"]).format(mark=MARK, **values).splitlines()


def document(intro: Sequence[str], tables: Iterable[Table], notes: Sequence[str]) -> str:
    """A Markdown document: the introduction line by line, the tables, the notes as a list."""
    listed = ["## Notes", "", *(f"- {note}" for note in notes)]
    return "\n".join(["\n".join([*intro, ""]), *(table.to_markdown() for table in tables), *listed]) + "\n"


def dots(groups: Mapping[str, Mapping[str, Sequence[Finding]]]) -> dict[str, object]:
    """Groups of figures as dots with their intervals, a line each; of several seeds the means."""
    y, titles, rows = 20, [], []
    for title, mine in groups.items():
        titles.append((y + 14, title))
        y += _LINE
        for name, several in mine.items():
            if not (tested := [f for f in several if f.tested]):
                continue
            value, known = fmean(f.value for f in tested), [f.interval for f in tested if f.interval]
            low, high = (fmean(end) for end in zip(*known, strict=True)) if known else (value, value)
            places = [_LEFT + _SPAN * at for at in (low, high, value)]
            rows.append((y + _LINE // 2, name, places, f"{value:.2f}"))
            y += _LINE
    ticks = [(_LEFT + _SPAN * share, f"{share:g}") for share in (0.0, 0.5, 1.0)]
    return {
        "titles": titles,
        "rows": rows,
        "ticks": ticks,
        "width": _WIDTH,
        "height": y + 6,
        "end": _WIDTH - 40,
    }


def p_values(findings: Iterable[Finding]) -> str:
    """The p-value of each seed: "0.032, <0.001"."""
    return ", ".join(p_value(f.value) for f in findings if f.tested)


def over_seeds(findings: Sequence[Finding], *, scale: float = 1, digits: int = 3) -> str:
    """One seed with its interval, or the mean over seeds with the standard deviation; "–" without a value."""
    tested = [f for f in findings if f.tested]
    if not tested:
        return "–"
    values = [scale * f.value for f in tested]
    if len(values) > 1:
        return f"{fmean(values):.{digits}f} (sd {stdev(values):.{digits}f})"
    ends = interval_of(tested[0], scale=scale, digits=digits - 1)
    return f"{values[0]:.{digits}f}" + (f" ({ends})" if ends else "")


def interval_of(finding: Finding, *, scale: float = 1, digits: int = 2) -> str:
    """The interval: "0.41 to 0.57", with signs where it reaches below 0, or "" where there is none."""
    if finding.interval is None:
        return ""
    sign = "+" if finding.interval[0] < 0 else ""
    return " to ".join(f"{scale * end:{sign}.{digits}f}" for end in finding.interval)
