"""Dot plots: rates with their intervals on tracks from 0 to 100 %, which charts.html.j2 draws as SVG."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from psycheck.errors import counted
from psycheck.finding import Finding
from psycheck.report.numbers import count, ends, percent, rate, rate_spans, span, spans
from psycheck.report.words import name_of, why_untested

Place = tuple[str, str]
PANELS = 3


@dataclass(frozen=True, slots=True)
class Lane:
    """A track and the figures next to it; a low one is drawn as a diamond.

    `mean` is the place of a dashed line, `ends` are those of the interval, `marks` those of dots with titles.
    """

    title: str
    figures: Markup
    mean: float | None = None
    ends: tuple[float, float] | None = None
    marks: tuple[tuple[float, str], ...] = ()
    low: bool = False
    untested: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One check, or the mean, in each panel of a plot."""

    check: str
    word: str
    title: str
    cells: tuple[Lane | None, ...]


@dataclass(frozen=True, slots=True)
class Plot:
    """A dot plot, one panel per model and corpus; a group has a name, the mean of each panel, and rows."""

    name: str
    panels: tuple[str, ...]
    groups: tuple[tuple[str, tuple[float | None, ...], tuple[Row, ...]], ...]
    places: tuple[Place, ...] = ()


def rate_lane(finding: Finding, title: str, mean: float | None = None) -> Lane:
    """A rate with its interval; a diamond marks a check below the DIR mean."""
    if not finding.tested:
        return Lane(title, Markup("not tested: {}").format(why_untested(finding)), mean, untested=True)
    low = "below_dir_mean" in finding.flags
    return Lane(title, rate_spans(finding), mean, ends(finding), ((finding.value, ""),), low)


def plots(
    called: Mapping[Place, str],
    checks: Sequence[Finding],
    cells: Mapping[tuple[str, Place], Finding],
    means: Mapping[Place, Finding],
) -> Iterator[Plot]:
    """Draw the checks in their order; `cells` are their findings, `means` the DIR means.

    One plot for few places, otherwise one per model if it has several corpora; at most three panels.
    """
    models = dict.fromkeys(model for model, _ in called)
    split = PANELS < len(called) > len(models)
    for model in models if split else ("",):
        mine = [place for place in called if place[0] == model or not split]
        for start in range(0, len(mine), PANELS):
            part = tuple(mine[start : start + PANELS])
            panels = tuple((place[1] or place[0]) if model else called[place] for place in part)
            groups = tuple(_groups(part, checks, cells, means))
            yield Plot(model, panels if len(called) > 1 else (), groups, part)


def _groups(
    places: Sequence[Place],
    checks: Sequence[Finding],
    cells: Mapping[tuple[str, Place], Finding],
    means: Mapping[Place, Finding],
) -> Iterator[tuple[str, tuple[float | None, ...], tuple[Row, ...]]]:
    """The name, means and rows of each group of checks; the DIR mean precedes the first DIR check."""
    tested = [mean if (mean := means.get(place)) and mean.tested else None for place in places]
    lines = tuple(mean and mean.value for mean in tested)
    no_lines = (None,) * len(places)
    groups: dict[str, list[Row]] = {}
    directed = set()
    for check in checks:
        where = check.where
        name = name_of("symptoms", where.get("symptom") or where.get("topic") or "other checks")
        name = name[:1].upper() + name[1:]
        if where.get("symptom") and where.get("item"):
            name += f" · {where.get('scale', '')} item {where['item']}"
        if where.get("kind") == "DIR":
            directed.add(name)
            if means:
                groups.setdefault(
                    "", [Row("", "Mean of the DIR checks", "", tuple(m and _mean_lane(m) for m in tested))]
                )
        drawn = []
        for place, line in zip(places, lines, strict=True):
            f = cells.get((where["check"], place))
            drawn.append(f and _check_lane(f, line if f.where.get("kind") == "DIR" else None))
        word = where.get("polarity", "") if where.get("symptom") else ""
        groups.setdefault(name, []).append(Row(where["check"], word, where.get("title", ""), tuple(drawn)))
    for name, rows in groups.items():
        yield name, lines if name in directed else no_lines, tuple(rows)


def _check_lane(finding: Finding, mean: float | None) -> Lane:
    title = f"{finding.where['check']}: {rate(finding)}"
    if finding.tested:
        title += f" of {count(finding.n)} pass"
        title += ", below the mean of the DIR checks" if "below_dir_mean" in finding.flags else ""
    return rate_lane(finding, title, mean)


def _mean_lane(mean: Finding) -> Lane:
    value, checks = percent(mean.value, 1), counted(mean.counts.get("checks", mean.n), "check")
    return Lane(f"Mean of the DIR checks: {value}", spans(value, span(mean, 1), checks), mean.value)
