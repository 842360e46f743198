"""The pages over several runs: from an address to HTML; nothing is written, texts appear only if allowed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from psycheck.report.display_names import file_text
from psycheck.view.gate_trend import Trend, gates_of, trend_of
from psycheck.view.run_index import ListedRun, listed_runs, texts_of_cases
from psycheck.view.trend_picture import trend_picture
from psycheck.view.two_runs import TablePage, changed_cases, rows_of, shared_figures, values_in

PAGE_ROWS = 100
_MOST_FIGURES = 200
_CASES = ("check", "kind", "corpus", "model", "id", "outcome", "before", "after")
_CHOICES = ("check", "outcome")
_REPLIES = ("model", "corpus", "id", "answer", "how", "prompt_tokens", "completion_tokens")
_WORDS = ("question", "reply", "reason")  # of a reply: texts, or what may quote them
_REPORT = "report.html"


class NoSuchPage(Exception):
    """An address that leads nowhere."""


@dataclass(frozen=True, slots=True)
class Places:
    """What is viewed: the folders of runs, and whether their texts may be shown."""

    folders: tuple[Path, ...]
    show_texts: bool = False

    def runs(self) -> list[ListedRun]:
        """The runs of now: one that was added meanwhile is there when the page is loaded again."""
        return listed_runs(self.folders)

    def run(self, key: str) -> ListedRun:
        """The run of a key; another one is not to be had."""
        for run in self.runs():
            if run.key == key:
                return run
        raise NoSuchPage


def page_of(places: Places, path: Sequence[str], query: Mapping[str, str]) -> str:
    """The page at a path, "" for the list; an unknown one raises `NoSuchPage`."""
    # The empty end stands for the list, which has no name.
    name, *below = [*path, ""]
    draw = _PAGES.get(name)
    if draw is None:
        raise NoSuchPage
    return draw(places, [part for part in below if part], query)


def _list(places: Places, _below: Sequence[str], _query: Mapping[str, str]) -> str:
    runs = places.runs()
    return _drawn(
        "list",
        runs=runs,
        gates=gates_of(runs),
    )


def _report(places: Places, below: Sequence[str], _query: Mapping[str, str]) -> str:
    """The report of a run as it was drawn."""
    file = _only(places, below).folder / _REPORT
    if not file.is_file():
        raise NoSuchPage
    return file.read_text("utf-8")


def _cases(places: Places, below: Sequence[str], query: Mapping[str, str]) -> str:
    run = _only(places, below)
    choices = {name: query.get(name, "") for name in _CHOICES}
    number = _number(query)
    table = rows_of(
        run,
        "cases",
        choices=choices,
        columns=_CASES,
        page=number,
        size=PAGE_ROWS,
    )

    # A run may hold texts; whether they appear is decided where the server was started.
    texts = texts_of_cases(run) if places.show_texts else {}
    for row in table.rows:
        case = (str(row["check"]), str(row["id"]))
        row["text"] = texts.get(case, "")

    # Without a table there is nothing to choose from.
    values = {}
    if "cases" in run.tables:
        values = {name: values_in(run, "cases", name) for name in _CHOICES}
    return _drawn(
        "cases",
        run=run,
        shown=table,
        page=number,
        pages=_pages(table),
        choices=choices,
        values=values,
    )


def _replies(places: Places, below: Sequence[str], query: Mapping[str, str]) -> str:
    run = _only(places, below)
    number = _number(query)
    # Not even read: a column that is not asked for cannot be shown by mistake.
    columns = (*_REPLIES, *_WORDS) if places.show_texts else _REPLIES
    table = rows_of(
        run,
        "replies",
        choices={},
        columns=columns,
        page=number,
        size=PAGE_ROWS,
    )
    return _drawn(
        "replies",
        run=run,
        shown=table,
        page=number,
        pages=_pages(table),
        words=_WORDS if places.show_texts else (),
        columns=_REPLIES,
    )


def _compare(places: Places, _below: Sequence[str], query: Mapping[str, str]) -> str:
    first = places.run(query.get("first", ""))
    second = places.run(query.get("second", ""))
    number = _number(query)
    changed = changed_cases(first, second, page=number, size=PAGE_ROWS)
    figures = shared_figures(first, second)
    return _drawn(
        "two",
        first=first,
        second=second,
        figures=figures[:_MOST_FIGURES],
        all_figures=len(figures),
        shown=changed,
        page=number,
        pages=_pages(changed),
    )


def _trend(places: Places, _below: Sequence[str], query: Mapping[str, str]) -> str:
    runs = places.runs()
    gates = gates_of(runs)
    # The gate of most runs, as the one that somebody most likely follows.
    chosen = query.get("gate") or (gates[0] if gates else "")
    if gates and chosen not in gates:
        raise NoSuchPage
    trend = trend_of(chosen, runs) if gates else Trend("", None, ())
    return _drawn(
        "trend",
        gates=gates,
        trend=trend,
        picture=trend_picture(trend),
    )


def _only(places: Places, below: Sequence[str]) -> ListedRun:
    if len(below) != 1:
        raise NoSuchPage
    return places.run(below[0])


def _number(query: Mapping[str, str]) -> int:
    number = query.get("page", "0")
    # A page that was typed wrongly is the first one, rather than an error.
    return int(number) if number.isdecimal() and len(number) < 9 else 0


def _pages(table: TablePage) -> int:
    full_pages, further_rows = divmod(table.total, PAGE_ROWS)
    return max(1, full_pages + bool(further_rows))


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["figure"] = _figure
    return environment


def _figure(value: object) -> str:
    """A number with three digits behind the point; a dash where there is none."""
    # NaN is not equal to itself.
    return f"{value:.3f}" if isinstance(value, float) and value == value else "–"


def _drawn(template: str, **parts: object) -> str:
    # The reports' own style: pages over runs look like what they lead to.
    style = Markup(file_text("report.css") + Path(__file__).with_name("view.css").read_text("utf-8"))
    return _templates().get_template(f"{template}.html.j2").render(style=style, **parts)


_PAGES: Mapping[str, Callable[[Places, Sequence[str], Mapping[str, str]], str]] = {
    "": _list,
    "run": _report,
    "cases": _cases,
    "replies": _replies,
    "compare": _compare,
    "trend": _trend,
}
