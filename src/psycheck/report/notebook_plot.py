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
    return f'<svg {size} style="{style}" role="img">{title}{"".join((*grid, *rows))}</svg>'


def _vertical(share: float, height: int) -> str:
    x = _LEFT + _WIDTH * share
    line = f'<line x1="{x}" x2="{x}" y1="14" y2="{height}" stroke="currentColor" stroke-opacity=".2"/>'
    return f'{line}<text x="{x}" y="11" text-anchor="middle">{share:.0%}</text>'


def _row(finding: Finding, number: int) -> str:
    y = _ROW * (number + 0.5)
    keys = ("check",) if finding.where.get("check") else ("model", "corpus")
    name = " ".join(finding.where[key] for key in keys if finding.where.get(key))
    if finding.where.get("title"):
        name = f"{name} {finding.where['title']}"

    x = _LEFT + _WIDTH * finding.value
    dot = f'<circle cx="{x:.1f}" cy="{y}" r="4"/>'
    figures = f'<text x="{_LEFT + _WIDTH + 8}" y="{y + 4}">{escape(plain(finding))}</text>'
    label = f'<text x="{_LEFT - 8}" y="{y + 4}" text-anchor="end">{escape(name[:30])}</text>'
    low, high = ends(finding)
    # A dot without a whisker says that no interval is known.
    if not (math.isfinite(low) and math.isfinite(high)):
        return f"{label}{dot}{figures}"
    left, right = (_LEFT + _WIDTH * end for end in (low, high))
    whisker = f'<line x1="{left:.1f}" x2="{right:.1f}" y1="{y}" y2="{y}" stroke="currentColor"/>'
    return f"{label}{whisker}{dot}{figures}"
