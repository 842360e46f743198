"""How the tables of the gender study write a figure: one draw with its interval, several with their ends."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from psycheck.core.finding import Finding

FAVOURED_LETTER = {"favours_female": " F", "favours_male": " M"}


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """How a figure is written: its format after scaling, with a minus sign in place of a hyphen."""

    spec: str = ".2f"
    scale: float = 1

    def __call__(self, value: float) -> str:
        """The value as text."""
        return f"{self.scale * value:{self.spec}}".replace("-", "−")


DECIMAL = NumberFormat()
SIGNED = NumberFormat("+.2f")
PERCENT = NumberFormat(".1f", 100)
SIGNED_POINTS = NumberFormat("+.1f", 100)


def cell(findings: Sequence[Finding], write: NumberFormat = DECIMAL) -> str:
    """One draw with its interval and direction, or the mean over draws with the least and the most."""
    tested = [finding for finding in findings if finding.tested]
    if not tested:
        return "–"
    if len(findings) == 1:
        return _cell_of_draw(tested[0], write)

    # The spread of a few draws is told by its ends: a deviation would look more certain.
    values = [finding.value for finding in tested]
    letters: list[str] = []
    for finding in tested:
        letters += _favoured_letters(finding)
    towards = []
    for letter in FAVOURED_LETTER.values():
        if letter in letters:
            towards.append(f"{letters.count(letter)}{letter}")

    inside = f"{write(min(values))} to {write(max(values))}"
    if towards:
        inside += f"; {', '.join(towards)}"
    return f"{write(fmean(values))} ({inside})"


def _cell_of_draw(finding: Finding, write: NumberFormat) -> str:
    words = write(finding.value)
    letters = _favoured_letters(finding)
    if letters:
        words += letters[0]
    if finding.interval and not math.isnan(finding.interval[0]):
        low, high = finding.interval
        words += f" ({write(low)} to {write(high)})"
    return words


def _favoured_letters(finding: Finding) -> list[str]:
    """The letter of the favoured gender; empty text where neither is."""
    flags = [flag for flag in finding.flags if flag.startswith("favours_")]
    return [FAVOURED_LETTER.get(flag, "") for flag in flags]


def flips_in_words(flips: Sequence[Finding], *, again: bool = False) -> str:
    """How many decisions flip; several draws share test texts, so they are never added up."""
    shares = [finding.value for finding in flips]
    mean = PERCENT(fmean(shares))
    if len(flips) == 1:
        low, high = map(PERCENT, flips[0].interval or (shares[0], shares[0]))
        return f"{flips[0].counts['flipped']} of {flips[0].n} decisions, {mean} % ({low} to {high}),"

    low, high = PERCENT(min(shares)), PERCENT(max(shares))
    if again:
        return f"{mean} % ({low} to {high})"
    return f"{mean} % of the decisions ({low} to {high} over {len(shares)} draws)"


def by_draw(numbers: Iterable[int]) -> str:
    """A number draw by draw, or once if it is the same in all."""
    values = list(numbers)
    return ", ".join(map(str, values)) if len(set(values)) > 1 else str(values[0])
