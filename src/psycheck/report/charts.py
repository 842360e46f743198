"""Charts as inline SVG; a track is placed in per cents, so that it reflows and its type does not shrink."""

from collections.abc import Sequence

from markupsafe import Markup

from psycheck.errors import counted
from psycheck.finding import Finding
from psycheck.report.numbers import count, percent, plain, rate

DOT = "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z"
DIAMOND = "M0 -7L7 0L0 7L-7 0z"
GRID = Markup().join(
    Markup('<line class="grid" x1="{0}%" x2="{0}%" y1="0" y2="100%"/>').format(x)
    for x in (0, 25, 50, 75, 100)
)
SIDE, EDGE = 240, 34  # the reliability plot: inner side, room for the axes


def track(finding: Finding, mean: float | None, title: str = "") -> Markup:
    """One check's rate with its interval on a track from 0 to 100 %; a diamond lies below the DIR mean.

    `title` says in words what the track shows where it is no check.
    """
    below = "below_dir_mean" in finding.flags
    parts = [GRID]
    if mean is not None:
        parts.append(
            Markup('<line class="mean" x1="{0:.2f}%" x2="{0:.2f}%" y1="0" y2="100%"/>').format(100 * mean)
        )
    said = f"{finding.where.get('check', '')}: {rate(finding)}"
    if finding.tested:
        said += f" of {count(finding.n)} pass" + (", below the mean of the DIR checks" if below else "")
        low, high = finding.interval or (finding.value, finding.value)
        parts.append(
            Markup(
                '<line class="whisker{mark}" x1="{low:.2f}%" x2="{high:.2f}%" y1="50%" y2="50%"/>'
                '<svg x="{at:.2f}%" y="50%" class="at"><path class="dot{mark}" d="{shape}"/></svg>'
            ).format(
                mark=" low" if below else "",
                low=100 * low,
                high=100 * high,
                at=100 * finding.value,
                shape=DIAMOND if below else DOT,
            )
        )
    return Markup('<svg class="track" role="img"><title>{}</title>{}</svg>').format(
        title or said, Markup().join(parts)
    )


def lane(mean: float | None) -> Markup:
    """A track without a dot, so that the lines of the scale run on beside a heading."""
    line = _mean_line(mean) if mean is not None else ""
    return Markup('<svg class="track">{}{}</svg>').format(GRID, line)


def mean_track(mean: float) -> Markup:
    """The row that names the dashed line of the DIR mean."""
    return Markup('<svg class="track" role="img"><title>Mean of the DIR checks: {}</title>{}{}</svg>').format(
        percent(mean, 1), GRID, _mean_line(mean)
    )


def axis() -> Markup:
    """The scale above the tracks."""
    ticks = Markup().join(
        Markup('<text x="{}%" y="14" class="{}">{}</text>').format(
            x, "end" if x == 100 else "" if not x else "mid" if x == 50 else "mid quarter", said
        )
        for x, said in ((0, "0"), (25, "25"), (50, "50"), (75, "75"), (100, "100 %"))
    )
    return Markup('<svg class="axis" aria-hidden="true">{}</svg>').format(ticks)


def reliability(bins: Sequence[tuple[float, Finding]], name: str) -> Markup:
    """Share annotated 1 against the mean score, a dot a bin with its Wilson interval; its area follows n."""
    most = max((finding.n for _, finding in bins), default=1) or 1
    told = "; ".join(f"score {score:.2f}: {plain(finding)} of {count(finding.n)}" for score, finding in bins)
    parts = []
    for score, finding in bins:
        if not finding.tested:
            continue
        low, high = finding.interval or (finding.value, finding.value)
        parts.append(
            Markup(
                '<line class="whisker" x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}"/>'
                '<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}"><title>{said}</title></circle>'
            ).format(
                x=_x(score),
                y=_y(finding.value),
                low=_y(low),
                high=_y(high),
                r=2.5 + 4 * (finding.n / most) ** 0.5,
                said=f"score {score:.2f}: {plain(finding)} annotated 1, {counted(finding.n, 'text')}",
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
        '<svg class="square" viewBox="0 0 {wide} {tall}" role="img"><title>{name}</title><desc>{told}</desc>'
        '<rect class="frame" x="{edge}" y="10" width="{side}" height="{side}"/>'
        '<line class="ideal" x1="{edge}" y1="{foot}" x2="{right}" y2="10"/>'
        '<text class="faint" x="{edge}" y="26" dx="8">scores too low</text>'
        '<text class="faint end" x="{right}" y="{foot}" dx="-8" dy="-10">scores too high</text>'
        '{ticks}{parts}<text class="mid" x="{middle}" y="{end}">mean score of the model</text></svg>'
    ).format(
        wide=SIDE + EDGE + 14,
        tall=SIDE + 50,
        name=f"Reliability, {name}",
        told=told,
        edge=EDGE,
        side=SIDE,
        foot=SIDE + 10,
        right=SIDE + EDGE,
        ticks=Markup().join(ticks),
        parts=Markup().join(parts),
        middle=EDGE + SIDE / 2,
        end=SIDE + 44,
    )


def _mean_line(mean: float) -> Markup:
    return Markup('<line class="mean" x1="{0:.2f}%" x2="{0:.2f}%" y1="0" y2="100%"/>').format(100 * mean)


def _x(value: float) -> float:
    return EDGE + SIDE * value


def _y(value: float) -> float:
    return 10 + SIDE * (1 - value)
