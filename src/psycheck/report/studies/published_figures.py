"""How the studies set ours next to what the papers printed: published figures, cells, Markdown documents."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean, stdev

from psycheck.core.finding import Finding
from psycheck.report.display_names import words_of
from psycheck.report.numbers import p_value
from psycheck.report.tables import Table

PUBLISHED = Path(__file__).with_name("published")
MARK = "†"
# Pixels of a plot: its width, where tracks begin, the height of a line, the length of a track.
_WIDTH, _LEFT, _LINE = 720, 290, 20
_TRACK = _WIDTH - _LEFT - 60


@cache
def published(name: str) -> tuple[dict[str, str], ...]:
    """The rows of a published table by its file name, such as "deck-table-4"."""
    with (PUBLISHED / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def marked(row: Mapping[str, str], column: str = "value") -> str:
    """A figure as printed, with a mark where its paper contradicts it."""
    figure = row[column]
    return figure + MARK if row["mark"] else figure


def contradicted(*tables: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    """The rows of tables, such as "deck-*", that their paper contradicts, each with its paper and table."""
    for pattern in tables:
        for path in sorted(PUBLISHED.glob(f"{pattern}.csv")):
            paper, _, table = path.stem.partition("-")
            for row in published(path.stem):
                if row["mark"]:
                    yield paper, table.replace("-", " "), row


def intro_of(study: str, **values: str) -> list[str]:
    """The lines that introduce the tables of a study, from studies.toml."""
    template = str(words_of("studies")[study]["intro"])
    return template.format(mark=MARK, **values).splitlines()


def document(intro: Sequence[str], tables: Iterable[Table], notes: Sequence[str]) -> str:
    """A Markdown document: the introduction line by line, the tables, the notes as a list."""
    introduction = "\n".join([*intro, ""])
    markdown = [table.to_markdown() for table in tables]
    note_lines = [f"- {note}" for note in notes]
    return "\n".join([introduction, *markdown, "## Notes", "", *note_lines]) + "\n"


def dots(groups: Mapping[str, Mapping[str, Sequence[Finding]]]) -> dict[str, object]:
    """Groups of figures as dots with their intervals, a line each; of several seeds the means."""
    # Room for the ticks above the first line.
    y = 20
    titles = []
    rows = []
    for title, lines in groups.items():
        titles.append((y + 14, title))
        y += _LINE
        for name, findings in lines.items():
            tested = [finding for finding in findings if finding.tested]
            if not tested:
                continue

            # A line without length where no interval is known.
            value = fmean(finding.value for finding in tested)
            low, high = _mean_interval(tested) or (value, value)
            places = [_LEFT + _TRACK * share for share in (low, high, value)]
            rows.append(
                (
                    y + _LINE // 2,
                    name,
                    places,
                    f"{value:.2f}",
                )
            )
            y += _LINE

    ticks = [(_LEFT + _TRACK * share, f"{share:g}") for share in (0.0, 0.5, 1.0)]
    return {
        "titles": titles,
        "rows": rows,
        "ticks": ticks,
        "width": _WIDTH,
        "height": y + 6,
        "end": _WIDTH - 40,
    }


def _mean_interval(findings: Iterable[Finding]) -> tuple[float, float] | None:
    """The mean of the lower ends and of the upper ends; None if no finding has an interval."""
    intervals = [finding.interval for finding in findings if finding.interval]
    if not intervals:
        return None
    return fmean(low for low, _ in intervals), fmean(high for _, high in intervals)


def p_values(findings: Iterable[Finding]) -> str:
    """The p-value of each seed: "0.032, <0.001"."""
    return ", ".join(p_value(finding.value) for finding in findings if finding.tested)


def over_seeds(findings: Sequence[Finding], *, scale: float = 1, digits: int = 3) -> str:
    """One seed with its interval, or the mean over seeds with the standard deviation; "–" without a value."""
    tested = [finding for finding in findings if finding.tested]
    if not tested:
        return "–"
    values = [scale * finding.value for finding in tested]

    # Seeds of one recipe are judged on the same texts: what differs between them is the training.
    if len(values) > 1:
        return f"{fmean(values):.{digits}f} (sd {stdev(values):.{digits}f})"

    interval = interval_of(
        tested[0],
        scale=scale,
        digits=digits - 1,
    )
    value = f"{values[0]:.{digits}f}"
    return f"{value} ({interval})" if interval else value


def interval_of(finding: Finding, *, scale: float = 1, digits: int = 2) -> str:
    """The interval: "0.41 to 0.57", with signs where it reaches below 0, or "" where there is none."""
    if finding.interval is None:
        return ""

    # "-0.02 to 0.05" is easily read as two positive numbers.
    low, high = finding.interval
    sign = "+" if low < 0 else ""
    return f"{scale * low:{sign}.{digits}f} to {scale * high:{sign}.{digits}f}"
