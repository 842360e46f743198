"""How numbers are written: never more digits than they carry, never 100 % where something failed."""

import math
import re

from markupsafe import Markup, escape

from psycheck.finding import Finding
from psycheck.measure import described
from psycheck.report.words import name_of

FEW, NARROW = 100, 0.02
_FIGURE = re.compile(r"(?:[<>]|&[lg]t;)?\d[\d.,]* %(?: \([\d.–]+\))?|\d\.\d+ \([\d.–]+\)|n \d[\d,]*")


def count(number: float) -> str:
    """A whole number with thousands set apart: 2,000."""
    return f"{number:,.0f}"


def percent(value: float, digits: int = 0) -> str:
    """61 %; a value that only rounds to 0 or 100 says so: ">99 %"."""
    return f"{_hundredths(value, digits)} %"


def rate(finding: Finding, *, prose: bool = False) -> str:
    """61.2 % (58.9–63.4), with whole per cents for few texts and in prose where the interval is wide."""
    if not finding.tested:
        return "not tested"
    digits = rate_digits(finding, prose=prose)
    value = percent(finding.value, digits)
    return f"{value} ({span(finding, digits)})" if finding.interval else value


def rate_digits(finding: Finding, *, prose: bool = False) -> int:
    """How many decimals a rate in per cent carries."""
    if finding.n < FEW:
        return 0
    low, high = finding.interval or (0.0, 1.0)
    return 1 if not prose or high - low < NARROW else 0


def span(finding: Finding, digits: int) -> str:
    """The interval of a rate: 58.9–63.4."""
    if finding.interval is None or any(math.isnan(end) for end in finding.interval):
        return ""
    return "–".join(f"{100 * end:.{digits}f}" for end in finding.interval)


def decimal(value: float, digits: int = 3) -> str:
    """0.831; "–" where there is no value."""
    return f"{value:.{digits}f}".replace("-", "−") if math.isfinite(value) else "–"


def p_value(value: float) -> str:
    """0.032, or <0.001."""
    return "–" if math.isnan(value) else "<0.001" if value < 0.001 else f"{value:.3f}"


def plain(finding: Finding, *, prose: bool = False) -> str:
    """Any finding as text with its interval; the catalogue tells per cents, p-values, counts and decimals."""
    measure = described(finding.measure)
    if measure.unit == "%":
        return rate(finding, prose=prose)
    if not finding.tested:
        return "not tested"
    if measure.kind == "p_value":
        return p_value(finding.value)
    if measure.kind == "count":
        return count(finding.value)
    digits = 2 if prose else 3 if abs(finding.value) < 100 else 1
    value = decimal(finding.value, digits)
    if finding.interval is None or any(math.isnan(end) for end in finding.interval):
        return value
    between = " to " if min(finding.interval) < 0 else "–"
    return f"{value} ({between.join(decimal(end, digits) for end in finding.interval)})"


def figure(finding: Finding | None) -> Markup:
    """A finding as a table cell: value, interval and n, each kept on one line."""
    if finding is None:
        return Markup('<span class="none">–</span>')
    marks = ", ".join(name_of("flags", flag) for flag in finding.flags if flag != "not_tested")
    if not finding.tested:
        return Markup('<span class="none">{}</span>').format(
            f"not tested: {marks}" if marks else "not tested"
        )
    value, _, interval = plain(finding).partition(" (")
    inside = Markup('<span class="i">{}</span> ').format(interval.rstrip(")")) if interval else ""
    said = Markup(' <span class="flag">{}</span>').format(marks) if marks else ""
    return Markup('<span class="v">{}</span> {}<span class="n">n {}</span>{}').format(
        value, inside, count(finding.n), said
    )


def unbroken(sentence: str) -> Markup:
    """A sentence, escaped, whose figures are each kept on one line."""
    return Markup(_FIGURE.sub(r'<span class="fig">\g<0></span>', str(escape(sentence))))


def _hundredths(value: float, digits: int) -> str:
    shown = f"{100 * value:.{digits}f}"
    step = 10**-digits
    if 0 < value < 1 and float(shown) == 100:
        return f">{100 - step:.{digits}f}"
    if 0 < value < 1 and float(shown) == 0:
        return f"<{step:.{digits}f}"
    return shown
