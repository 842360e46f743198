"""Dot plots: rates with their intervals on tracks from 0 to 100 %, which charts.html.j2 draws as SVG."""

from dataclasses import dataclass

from markupsafe import Markup

from psycheck.core.finding import Finding
from psycheck.report.display_names import name_of, why_untested
from psycheck.report.numbers import ends, rate_spans

Means = tuple[float | None, ...]  # one per panel


@dataclass(frozen=True, slots=True)
class Lane:
    """A track and the figures next to it; a low one is drawn as a diamond.

    `mean` is the place of a dashed line, `ends` are those of the interval, `marks` those of dots with titles,
    `cases` is the anchor of the cases behind the figures, `most` what the right end of the track is called.
    """

    title: str
    figures: Markup
    mean: float | None = None
    ends: tuple[float, float] | None = None
    marks: tuple[tuple[float, str], ...] = ()
    low: bool = False
    untested: bool = False
    cases: str = ""
    most: str = "100 %"


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
    groups: tuple[tuple[str, Means, tuple[Row, ...]], ...]


def rate_lane(finding: Finding, title: str, mean: float | None = None, cases: str = "") -> Lane:
    """A rate with its interval; a diamond marks a check below the DIR mean."""
    # An empty track says that it was not tested; no track would look forgotten.
    if not finding.tested:
        reason = Markup("not tested: {}").format(why_untested(finding))
        return Lane(
            title=title,
            figures=reason,
            mean=mean,
            untested=True,
        )
    figures = rate_spans(finding)
    if "not_evidence" in finding.flags:
        figures += Markup(' <span class="flag">{}</span>').format(name_of("flags", "not_evidence"))
    return Lane(
        title=title,
        figures=figures,
        mean=mean,
        ends=ends(finding),
        marks=((finding.value, ""),),
        low="below_dir_mean" in finding.flags,
        cases=cases,
    )
