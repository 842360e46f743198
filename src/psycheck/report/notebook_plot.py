"""One small picture of a run for a notebook: rates with their intervals, drawn without a style sheet."""

import math
from collections.abc import Sequence
from html import escape

from psycheck.core.finding import Finding
from psycheck.core.run import Run
from psycheck.report.numbers import ends, plain

_RATES = ("pass_rate", "f1", "auc", "accuracy", "flip_rate")  # the first that the run has is drawn
_MOST_ROWS = 30
_ROW = 18  # pixels
_LEFT = 190
_WIDTH = 260
_LONGEST_NAME = 30  # characters


def notebook_plot(run: Run) -> str:
    """A dot and its interval for each check, or for each model and corpus; "" without such figures."""
    for measure in _RATES:
        # One measure alone: rates of several kinds on one axis would be compared.
        findings = [finding for finding in run.findings if finding.measure == measure and finding.tested]
        if findings:
            return _plot(measure, findings[:_MOST_ROWS])
    return ""


def _plot(measure: str, findings: Sequence[Finding]) -> str:
    height = _ROW * (len(findings) + 2)
    grid = [_vertical(share, height) for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    rows = [_row(finding, number) for number, finding in enumerate(findings, start=1)]
    size = f'width="{_LEFT + _WIDTH + 130}" height="{height}"'
    # The notebook's own colour: a fixed one would vanish in a dark theme.
    style = "font:12px sans-serif;fill:currentColor"
    title = f"<title>{escape(measure)}, with 95 % intervals</title>"
    content = "".join((title, *grid, *rows))
    return f'<svg {size} style="{style}" role="img">{content}</svg>'


def _vertical(share: float, height: int) -> str:
    x = _LEFT + _WIDTH * share
    line = f'<line x1="{x}" x2="{x}" y1="14" y2="{height}" stroke="currentColor" stroke-opacity=".2"/>'
    return f'{line}<text x="{x}" y="11" text-anchor="middle">{share:.0%}</text>'


def _row(finding: Finding, number: int) -> str:
    y = _ROW * (number + 0.5)
    x = _LEFT + _WIDTH * finding.value
    dot = f'<circle cx="{x:.1f}" cy="{y}" r="4"/>'
    figures = f'<text x="{_LEFT + _WIDTH + 8}" y="{y + 4}">{escape(plain(finding))}</text>'
    name = escape(_name(finding)[:_LONGEST_NAME])
    label = f'<text x="{_LEFT - 8}" y="{y + 4}" text-anchor="end">{name}</text>'

    low, high = ends(finding)
    # A dot without a whisker says that no interval is known.
    if not (math.isfinite(low) and math.isfinite(high)):
        return f"{label}{dot}{figures}"
    left = _LEFT + _WIDTH * low
    right = _LEFT + _WIDTH * high
    whisker = f'<line x1="{left:.1f}" x2="{right:.1f}" y1="{y}" y2="{y}" stroke="currentColor"/>'
    return f"{label}{whisker}{dot}{figures}"


def _name(finding: Finding) -> str:
    """The check with its title, or else the model and the corpus."""
    where = finding.where
    keys = ("check",) if where.get("check") else ("model", "corpus")
    parts = [where[key] for key in (*keys, "title") if where.get(key)]
    return " ".join(parts)
