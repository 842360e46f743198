"""The dot plot: every check with its interval, pronouns first, then symptom by symptom."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from psycheck.errors import counted
from psycheck.finding import Finding
from psycheck.report.charts import GRID, empty_lane, lane, mean_line, titled_track, track
from psycheck.report.numbers import percent, rate_spans, span, spans
from psycheck.report.words import name_of, why_untested

Place = tuple[str, str]
PANELS = 3


@dataclass(frozen=True, slots=True)
class Row:
    """One check, or the mean, in each panel of a plot."""

    check: str
    word: str
    title: str
    cells: tuple[Markup, ...]


@dataclass(frozen=True, slots=True)
class Plot:
    """A dot plot, one panel per model and corpus; a group has a name, empty lanes next to it, and rows."""

    name: str
    panels: tuple[str, ...]
    groups: tuple[tuple[str, tuple[Markup, ...], tuple[Row, ...]], ...]
    places: tuple[Place, ...] = ()


def plots(
    places: list[Place],
    called: Mapping[Place, str],
    listed: list[Finding],
    cells: Mapping[tuple[str, Place], Finding],
    means: Mapping[Place, Finding],
) -> tuple[Plot, ...]:
    """Draw the checks in the order of `listed`; `cells` are their findings, `means` the DIR means."""
    out = []
    for head, part in _sheets(places):
        panels = tuple((place[1] or place[0]) if head else called[place] for place in part)
        groups = tuple(_groups(part, listed, cells, means))
        out.append(Plot(head, panels if len(called) > 1 else (), groups, tuple(part)))
    return tuple(out)


def _sheets(places: list[Place]) -> Iterator[tuple[str, list[Place]]]:
    """One plot for few places, otherwise one per model if it has several corpora; at most three panels."""
    models = dict.fromkeys(model for model, _ in places)
    split = PANELS < len(places) > len(models)
    for model in models if split else ("",):
        mine = [place for place in places if place[0] == model] if split else places
        for start in range(0, len(mine), PANELS):
            yield model, mine[start : start + PANELS]


def _groups(
    places: list[Place],
    listed: list[Finding],
    cells: Mapping[tuple[str, Place], Finding],
    means: Mapping[Place, Finding],
) -> Iterator[tuple[str, tuple[Markup, ...], tuple[Row, ...]]]:
    """The name, empty lanes and rows of each group of checks; the DIR mean precedes the first DIR check."""
    groups: dict[str, list[Row]] = {}
    directed: set[str] = set()
    for check in listed:
        where, group = check.where, _group(check)
        if where.get("kind") == "DIR":
            directed.add(group)
            if means:
                mean_cells = tuple(_mean_cell(means.get(place)) for place in places)
                groups.setdefault("", [Row("", "Mean of the DIR checks", "", mean_cells)])
        drawn = tuple(_cell(cells.get((where["check"], place)), means.get(place)) for place in places)
        word = where.get("polarity", "") if where.get("symptom") else ""
        groups.setdefault(group, []).append(Row(where["check"], word, where.get("title", ""), drawn))
    for name, rows in groups.items():
        lines = (means.get(place) if name in directed else None for place in places)
        yield name, tuple(map(empty_lane, lines)), tuple(rows)


def _group(finding: Finding) -> str:
    where = finding.where
    if symptom := where.get("symptom"):
        name = name_of("symptoms", symptom)
        item = f" · {where.get('scale', '')} item {where['item']}" if where.get("item") else ""
        return name[:1].upper() + name[1:] + item
    topic = name_of("symptoms", where.get("topic") or "other checks")
    return topic[:1].upper() + topic[1:]


def _cell(finding: Finding | None, mean: Finding | None) -> Markup:
    if finding is None:
        return Markup('<span class="none">not run</span>')
    line = mean.value if mean is not None and mean.tested and finding.where.get("kind") == "DIR" else None
    drawn = track(finding, line)
    if not finding.tested:
        return lane(drawn, Markup("not tested: {}").format(why_untested(finding)), "said none")
    return lane(drawn, rate_spans(finding))


def _mean_cell(mean: Finding | None) -> Markup:
    if mean is None or not mean.tested:
        return Markup('<span class="none">–</span>')
    value, checks = percent(mean.value, 1), counted(mean.counts.get("checks", mean.n), "check")
    drawn = titled_track(f"Mean of the DIR checks: {value}", [GRID, mean_line(mean.value)])
    return lane(drawn, spans(value, span(mean, 1), checks))
