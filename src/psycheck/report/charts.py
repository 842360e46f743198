"""Charts as inline SVG; tracks use per cents, so that they reflow and their type does not shrink."""

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from psycheck.errors import counted
from psycheck.finding import Finding
from psycheck.report.numbers import count, ends, plain, rate

DOT = "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z"
DIAMOND = "M0 -7L7 0L0 7L-7 0z"
GRID = Markup().join(
    Markup('<line class="grid" x1="{0}%" x2="{0}%" y1="0" y2="100%"/>').format(x)
    for x in (0, 25, 50, 75, 100)
)
SIDE, EDGE = 240, 34  # the reliability plot: inner side, room for the axes


def track(finding: Finding, mean: float | None, title: str = "") -> Markup:
    """A rate with its interval on a track from 0 to 100 %; a diamond marks a check below the DIR mean.

    `title` describes the track where it is not a check.
    """
    below = "below_dir_mean" in finding.flags
    parts = [GRID] if mean is None else [GRID, mean_line(mean)]
    words = f"{finding.where.get('check', '')}: {rate(finding)}"
    if finding.tested:
        words += f" of {count(finding.n)} pass" + (", below the mean of the DIR checks" if below else "")
        low, high = ends(finding)
        parts.append(whisker(100 * low, 100 * high, low=below))
        parts.append(mark(100 * finding.value, DIAMOND if below else DOT, low=below))
    return titled_track(title or words, parts)


def titled_track(title: str, parts: Iterable[Markup]) -> Markup:
    """A track with a title for screen readers."""
    return Markup('<svg class="track" role="img"><title>{}</title>{}</svg>').format(
        title, Markup().join(parts)
    )


def whisker(start: float, end: float, *, low: bool = False) -> Markup:
    """The line of an interval, in per cent of the track."""
    return Markup('<line class="whisker{}" x1="{:.2f}%" x2="{:.2f}%" y1="50%" y2="50%"/>').format(
        " low" if low else "", start, end
    )


def mark(at: float, shape: str, title: str = "", *, low: bool = False, faint: bool = False) -> Markup:
    """A dot or diamond, in per cent of the track."""
    inside = Markup("<title>{}</title>").format(title) if title else Markup()
    return Markup('<svg x="{:.2f}%" y="50%" class="at"><path class="dot{}" d="{}"{}>{}</path></svg>').format(
        at, " low" if low else "", shape, Markup(' fill-opacity=".5"') if faint else "", inside
    )


def lane(drawn: Markup, figures: Markup, css: str = "said") -> Markup:
    """A track and the figures next to it."""
    return Markup('<span class="lane">{}</span><span class="{}">{}</span>').format(drawn, css, figures)


def empty_lane(mean: Finding | None = None) -> Markup:
    """A track without a dot, so that the lines of the scale continue next to a heading."""
    line = mean_line(mean.value) if mean is not None and mean.tested else ""
    return Markup('<span class="lane" aria-hidden="true"><svg class="track">{}{}</svg></span>').format(
        GRID, line
    )


def mean_line(mean: float, y1: str = "0", y2: str = "100%") -> Markup:
    """The dashed line of a mean."""
    return Markup('<line class="mean" x1="{0:.2f}%" x2="{0:.2f}%" y1="{1}" y2="{2}"/>').format(
        100 * mean, y1, y2
    )


def scale(ticks: Iterable[tuple[float, str, str]]) -> Markup:
    """The scale above tracks: place in per cent, class and text of each tick."""
    texts = Markup().join(Markup('<text x="{}%" y="14" class="{}">{}</text>').format(*tick) for tick in ticks)
    return Markup('<svg class="axis" aria-hidden="true">{}</svg>').format(texts)


def axis() -> Markup:
    """The scale from 0 to 100 %."""
    places = ((0, "", "0"), (25, "mid quarter", "25"), (50, "mid", "50"), (75, "mid quarter", "75"))
    return scale([*places, (100, "end", "100 %")])


def reliability(bins: Sequence[tuple[float, Finding]], name: str) -> dict[str, object]:
    """Share annotated 1 against the mean score: one dot per bin, its Wilson interval, its area by n."""
    most = max((finding.n for _, finding in bins), default=1) or 1
    dots = [
        {
            "x": _x(score),
            "y": _y(finding.value),
            "whisker": [_y(end) for end in ends(finding)],
            "r": 2.5 + 4 * (finding.n / most) ** 0.5,
            "title": f"score {score:.2f}: {plain(finding)} annotated 1, {counted(finding.n, 'text')}",
        }
        for score, finding in bins
        if finding.tested
    ]
    words = "; ".join(f"score {score:.2f}: {plain(finding)} of {count(finding.n)}" for score, finding in bins)
    ticks = [(_x(t), _y(t) + 4, f"{t:g}") for t in (0.0, 0.5, 1.0)]
    return {"name": name, "words": words, "dots": dots, "ticks": ticks, "side": SIDE, "edge": EDGE}


def _x(value: float) -> float:
    return EDGE + SIDE * value


def _y(value: float) -> float:
    return 10 + SIDE * (1 - value)
