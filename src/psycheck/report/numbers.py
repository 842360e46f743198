"""Number formats: no more digits than the interval supports, and never 100 % where something failed."""

import math
import re

from markupsafe import Markup, escape

from psycheck.finding import Finding
from psycheck.measure import described
from psycheck.report.words import name_of

FEW, NARROW = 100, 0.02
_FIGURE = re.compile(
    r"(?:[<>]|&[lg]t;)?\d[\d.,]* %(?: \([\d.–]+\))?|[+−]?\d\.\d+ \([\d.–+−to ]+\)|\bn \d[\d,]*"
)
_WHOLE = re.compile(r"\S+ [FM]\b|\([^()]*\)|\S+ to \S+")


def count(number: float) -> str:
    """A whole number with thousands separators: 2,000."""
    return f"{number:,.0f}"


def percent(value: float, digits: int = 0) -> str:
    """61 %; a value that only rounds to 0 or 100 is shown as "<1 %" or ">99 %"."""
    shown = f"{100 * value:.{digits}f}"
    step = 10**-digits
    if 0 < value < 1 and float(shown) == 100:
        shown = f">{100 - step:.{digits}f}"
    elif 0 < value < 1 and float(shown) == 0:
        shown = f"<{step:.{digits}f}"
    return f"{shown} %"


def rate(finding: Finding, *, prose: bool = False) -> str:
    """61.2 % (58.9–63.4); no decimals for few texts, or in prose where the interval is wide."""
    if not finding.tested:
        return "not tested"
    low, high = finding.interval or (0.0, 1.0)
    digits = 1 if finding.n >= FEW and (not prose or high - low < NARROW) else 0
    value = percent(finding.value, digits)
    return f"{value} ({span(finding, digits)})" if finding.interval else value


def known_interval(finding: Finding) -> tuple[float, ...]:
    """Both ends of the interval; empty where there is none."""
    interval = finding.interval or ()
    return () if any(map(math.isnan, interval)) else interval


def ends(finding: Finding) -> tuple[float, float]:
    """The interval, or the value twice where there is none."""
    return finding.interval or (finding.value, finding.value)


def span(finding: Finding, digits: int) -> str:
    """The interval of a rate: 58.9–63.4."""
    return "–".join(f"{100 * end:.{digits}f}" for end in known_interval(finding))


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
    interval = known_interval(finding)
    between = " to " if min(interval, default=0) < 0 else "–"
    return f"{value} ({between.join(decimal(end, digits) for end in interval)})" if interval else value


def figure(finding: Finding | None, without: str = "") -> Markup:
    """A finding as a table cell: value, interval and n, each unbroken, and its flags except `without`."""
    if finding is None:
        return Markup('<span class="none">–</span>')
    marks = ", ".join(name_of("flags", flag) for flag in finding.flags if flag not in ("not_tested", without))
    if not finding.tested:
        return Markup('<span class="none">{}</span>').format(
            f"not tested: {marks}" if marks else "not tested"
        )
    flags = Markup(' <span class="flag">{}</span>').format(marks) if marks else ""
    return _in_spans(plain(finding), finding.n) + flags


def rate_spans(finding: Finding) -> Markup:
    """A rate in per cent with its interval and n."""
    return _in_spans(rate(finding), finding.n)


def _in_spans(text: str, n: int) -> Markup:
    value, _, interval = text.partition(" (")
    return spans(value, interval.rstrip(")"), f"n {count(n)}")


def spans(value: str, interval: str = "", note: str = "") -> Markup:
    """A value, its interval and its n or a note, each unbroken; what is empty is left out."""
    parts = (("v", value), ("i", interval), ("n", note))
    return Markup(" ").join(Markup('<span class="{}">{}</span>').format(*part) for part in parts if part[1])


def whole(cell: str) -> Markup:
    """A number in a table, escaped, with minus signs; it breaks before an interval, not within it."""
    if isinstance(cell, Markup):
        return cell
    signed = re.sub(r"(?<![\w.])-(?=\d)", "−", str(escape(cell)))
    return Markup(_WHOLE.sub(r'<span class="fig">\g<0></span>', signed))


def unbroken(sentence: str) -> Markup:
    """A sentence, escaped, whose figures are each kept unbroken."""
    return Markup(_FIGURE.sub(r'<span class="fig">\g<0></span>', str(escape(sentence))))
