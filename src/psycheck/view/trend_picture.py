"""The picture of a gate over time: a line for each model, from the oldest run to the newest."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from psycheck.view.gate_trend import Trend, TrendPoint

_WIDTH = 720.0
_HEIGHT = 220.0
_MARGIN = 8.0
_MARK = 4.5  # half the width of the mark of a point
_PICTURE = '<svg class="trend" viewBox="{} {} {} {}" role="img" aria-label="{}">{}</svg>'
_BOUND = '<path class="bound" d="M0 {y:.1f}H{x:.1f}"/>'
# A gate that fails is a square, one that holds a dot: colour is not alone.
_DOT = '<circle cx="{x:.1f}" cy="{y:.1f}" r="4"><title>{title}</title></circle>'
_SQUARE = (
    '<rect class="fails" x="{left:.1f}" y="{top:.1f}" width="9" height="9"><title>{title}</title></rect>'
)


@dataclass(frozen=True, slots=True)
class _Axes:
    """Where runs and values are in the picture; the range always holds 0 and 1."""

    runs: Sequence[str]
    low: float
    high: float

    def x(self, point: TrendPoint) -> float:
        # A single run stands at the left edge.
        steps = max(len(self.runs) - 1, 1)
        return self.runs.index(point.run.key) / steps * _WIDTH

    def y(self, value: float) -> float:
        return (self.high - value) / (self.high - self.low) * _HEIGHT


def trend_picture(trend: Trend) -> Markup:
    """The points of a trend and the bound of its gate; empty without points."""
    if not trend.points:
        return Markup("")

    # The bound belongs to the picture even where no figure comes near it.
    values = [point.value for point in trend.points]
    if trend.bound is not None:
        values.append(trend.bound)
    runs = list(dict.fromkeys(point.run.key for point in trend.points))
    axes = _Axes(
        runs,
        low=min(0.0, *values),
        high=max(1.0, *values),
    )

    parts = []
    if trend.bound is not None:
        parts.append(Markup(_BOUND).format(y=axes.y(trend.bound), x=_WIDTH))
    for model in dict.fromkeys(point.model for point in trend.points):
        of_model = [point for point in trend.points if point.model == model]
        parts.append(_line(of_model, axes))
        parts += [_mark(point, axes) for point in of_model]

    return Markup(_PICTURE).format(
        -_MARGIN,
        -_MARGIN,
        _WIDTH + 2 * _MARGIN,
        _HEIGHT + 2 * _MARGIN,
        f"{trend.gate} over {len(runs)} runs",
        Markup("").join(parts),
    )


def _line(points: Sequence[TrendPoint], axes: _Axes) -> Markup:
    places = [f"{axes.x(point):.1f},{axes.y(point.value):.1f}" for point in points]
    return Markup('<polyline points="{}"/>').format(" ".join(places))


def _mark(point: TrendPoint, axes: _Axes) -> Markup:
    x = axes.x(point)
    y = axes.y(point.value)
    title = f"{point.run.name}, {point.model}: {point.value:.3f}"
    if point.holds:
        return Markup(_DOT).format(x=x, y=y, title=title)
    return Markup(_SQUARE).format(
        left=x - _MARK,
        top=y - _MARK,
        title=title,
    )
