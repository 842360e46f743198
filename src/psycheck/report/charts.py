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


def reliability(bins: Sequence[tuple[float, Finding]], name: str) -> Markup:
    """Share annotated 1 against the mean score: one dot per bin, its Wilson interval, its area by n."""
    most = max((finding.n for _, finding in bins), default=1) or 1
    words = "; ".join(f"score {score:.2f}: {plain(finding)} of {count(finding.n)}" for score, finding in bins)
    parts = []
    for score, finding in bins:
        if not finding.tested:
            continue
        low, high = ends(finding)
        parts.append(
            Markup(
                '<line class="whisker" x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}"/>'
                '<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}"><title>{title}</title></circle>'
            ).format(
                x=_x(score),
                y=_y(finding.value),
                low=_y(low),
                high=_y(high),
                r=2.5 + 4 * (finding.n / most) ** 0.5,
                title=f"score {score:.2f}: {plain(finding)} annotated 1, {counted(finding.n, 'text')}",
            )
        )
    ticks = [
        Markup(
            '<text class="mid" x="{x:.0f}" y="{under}">{t}</text>'
            '<text class="end" x="{left}" y="{y:.0f}">{t}</text>'
        ).format(x=_x(t), under=SIDE + 26, left=EDGE - 6, y=_y(t) + 4, t=f"{t:g}")
        for t in (0.0, 0.5, 1.0)
    ]
    return Markup(
        '<svg class="square" viewBox="0 0 {wide} {tall}" role="img"><title>{name}</title><desc>{words}</desc>'
        '<rect class="frame" x="{edge}" y="10" width="{side}" height="{side}"/>'
        '<line class="ideal" x1="{edge}" y1="{foot}" x2="{right}" y2="10"/>'
        '<text class="faint" x="{edge}" y="26" dx="8">scores too low</text>'
        '<text class="faint end" x="{right}" y="{foot}" dx="-8" dy="-10">scores too high</text>'
        '{ticks}{parts}<text class="mid" x="{middle}" y="{end}">mean score of the model</text></svg>'
    ).format(
        wide=SIDE + EDGE + 14,
        tall=SIDE + 50,
        name=f"Reliability, {name}",
        words=words,
        edge=EDGE,
        side=SIDE,
        foot=SIDE + 10,
        right=SIDE + EDGE,
        ticks=Markup().join(ticks),
        parts=Markup().join(parts),
        middle=EDGE + SIDE / 2,
        end=SIDE + 44,
    )


def _x(value: float) -> float:
    return EDGE + SIDE * value


def _y(value: float) -> float:
    return 10 + SIDE * (1 - value)
