"""Number formats: no more digits than the interval supports, and never 100 % where something failed."""

import math
import re

from markupsafe import Markup, escape

from psycheck.core.finding import Finding
from psycheck.core.measure import described
from psycheck.report.display_names import name_of

FEW = 100  # texts: a rate of fewer has no decimals
NARROW = 0.02  # in prose, an interval that is wider takes no decimals
# Figures in a sentence: "61 % (59–63)", "0.83 (0.81 to 0.85)", "n 1,990".
_FIGURE = re.compile(
    r"(?:[<>]|&[lg]t;)?\d[\d.,]* %(?: \([\d.–]+\))?|[+−]?\d\.\d+ \([\d.–+−to ]+\)|\bn \d[\d,]*"
)
# Parts of a cell that must not be broken: "0.61 F", "(0.55 to 0.67)", "0.1 to 0.2".
_WHOLE = re.compile(r"\S+ [FM]\b|\([^()]*\)|\S+ to \S+")
_HYPHEN_AS_MINUS = re.compile(r"(?<![\w.])-(?=\d)")


def count(number: float) -> str:
    """A whole number with thousands separators: 2,000."""
    return f"{number:,.0f}"


def percent(value: float, digits: int = 0) -> str:
    """61 %; a value that only rounds to 0 or 100 is shown as "<1 %" or ">99 %"."""
    text = f"{100 * value:.{digits}f}"
    step = 10**-digits
    # "100 %" would say that nothing failed, and "0 %" that nothing passed.
    is_between = 0 < value < 1
    if is_between and float(text) == 100:
        text = f">{100 - step:.{digits}f}"
    elif is_between and float(text) == 0:
        text = f"<{step:.{digits}f}"
    return f"{text} %"


def rate(finding: Finding, *, prose: bool = False) -> str:
    """61.2 % (58.9–63.4); no decimals for few texts, or in prose where the interval is wide."""
    if not finding.tested:
        return "not tested"

    # A decimal that the interval does not support would claim a precision that is not there.
    low, high = finding.interval or (0.0, 1.0)
    narrow_enough = not prose or high - low < NARROW
    digits = 1 if finding.n >= FEW and narrow_enough else 0
    value = percent(finding.value, digits)
    return f"{value} ({span(finding, digits)})" if finding.interval else value


def known_interval(finding: Finding) -> tuple[float, ...]:
    """Both ends of the interval; empty where there is none."""
    interval = finding.interval or ()
    # An interval that could not be computed is (NaN, NaN).
    if any(math.isnan(end) for end in interval):
        return ()
    return interval


def ends(finding: Finding) -> tuple[float, float]:
    """The interval, or the value twice where there is none."""
    return finding.interval or (finding.value, finding.value)


def span(finding: Finding, digits: int) -> str:
    """The interval of a rate: 58.9–63.4."""
    return "–".join(f"{100 * end:.{digits}f}" for end in known_interval(finding))


def decimal(value: float, digits: int = 3) -> str:
    """0.831; "–" where there is no value."""
    if not math.isfinite(value):
        return "–"
    return f"{value:.{digits}f}".replace("-", "−")


def p_value(value: float) -> str:
    """0.032, or <0.001."""
    if math.isnan(value):
        return "–"
    return "<0.001" if value < 0.001 else f"{value:.3f}"


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
    return _decimal_with_interval(finding, prose=prose)


def _decimal_with_interval(finding: Finding, *, prose: bool) -> str:
    # Lengths and counts of words are large, and need no three decimals.
    digits = 3 if abs(finding.value) < 100 else 1
    if prose:
        digits = 2
    value = decimal(finding.value, digits)
    interval = known_interval(finding)
    if not interval:
        return value
    # A dash before a minus sign would be hard to read.
    between = " to " if min(interval) < 0 else "–"
    low_to_high = between.join(decimal(end, digits) for end in interval)
    return f"{value} ({low_to_high})"


def figure(finding: Finding | None, without: str = "") -> Markup:
    """A finding as a table cell: value, interval and n, each unbroken, and its flags except `without`."""
    if finding is None:
        return Markup('<span class="none">–</span>')

    # "not tested" is what the cell says anyway.
    flags = [flag for flag in finding.flags if flag not in ("not_tested", without)]
    flag_names = ", ".join(name_of("flags", flag) for flag in flags)
    if not finding.tested:
        reason = f"not tested: {flag_names}" if flag_names else "not tested"
        return Markup('<span class="none">{}</span>').format(reason)

    cell = _in_spans(plain(finding), finding.n)
    if flag_names:
        cell += Markup(' <span class="flag">{}</span>').format(flag_names)
    return cell


def rate_spans(finding: Finding) -> Markup:
    """A rate in per cent with its interval and n."""
    return _in_spans(rate(finding), finding.n)


def bare_rate(finding: Finding) -> Markup:
    """A rate in per cent with its interval, without n: for tables whose cells are small."""
    value, _, interval = rate(finding).partition(" (")
    return spans(value, interval.rstrip(")"))


def _in_spans(text: str, n: int) -> Markup:
    value, _, interval = text.partition(" (")
    return spans(
        value,
        interval.rstrip(")"),
        f"n {count(n)}",
    )


def spans(value: str, interval: str = "", note: str = "") -> Markup:
    """A value, its interval and its n or a note, each unbroken; what is empty is left out."""
    parts = {
        "v": value,
        "i": interval,
        "n": note,
    }
    marked = []
    for style, text in parts.items():
        if text:
            marked.append(Markup('<span class="{}">{}</span>').format(style, text))
    return Markup(" ").join(marked)


def whole(cell: str) -> Markup:
    """A number in a table, escaped, with minus signs; it breaks before an interval, not within it."""
    # Markup is safe already; escaping it again would show its tags.
    if isinstance(cell, Markup):
        return cell
    signed = _HYPHEN_AS_MINUS.sub("−", str(escape(cell)))
    return Markup(_WHOLE.sub(r'<span class="fig">\g<0></span>', signed))


def unbroken(sentence: str) -> Markup:
    """A sentence, escaped, whose figures are each kept unbroken."""
    return Markup(_FIGURE.sub(r'<span class="fig">\g<0></span>', str(escape(sentence))))
