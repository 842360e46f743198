"""A page that is drawn again and again: how often it claims what is not so, and how often it names a flaw."""

import sys
from collections.abc import Callable
from dataclasses import dataclass

from claim_rates import Share, counted

# Of a seed, the rules of the claims of one page.
Draw = Callable[[int], set[str]]
Rates = dict[str, dict[str, Share]]  # by rule, then by setting


@dataclass(frozen=True, slots=True)
class Trial:
    """A setting, the page drawn in it, and the rules that are false there, or that must name a flaw."""

    setting: str
    rules: tuple[str, ...]
    draw: Draw
    is_flaw: bool = False


def rates_of(trial: Trial, draws: int, first: int) -> Rates:
    """How often each rule of a trial is printed."""
    printed = [trial.draw(first + k) for k in range(draws)]
    shares = counted(printed, trial.rules)
    seen = ", ".join(f"{rule} {share.count}" for rule, share in shares.items() if share.count)
    print(trial.setting, seen or "none", sep=": ", file=sys.stderr, flush=True)
    return {rule: {trial.setting: share} for rule, share in shares.items()}
