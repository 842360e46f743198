"""The size of the study: the published one, and what a smaller one leaves out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from psycheck import Corpus, Recipe
from psycheck.core.errors import BadInput, counted

# DECK, section 4.1 and App-table 3.
PUBLISHED_SEEDS = 6
PUBLISHED_TRIALS = 10
# A pass rate near one half is then known to 9.8 points in all: 2 × 1.96 × sqrt(0.25 / 400).
TRIED_TEXTS = 400
_WIDEST = 10


@dataclass(frozen=True, slots=True)
class Size:
    """How many seeds and trials of the search, and on how many texts every check is tried."""

    seeds: int = PUBLISHED_SEEDS
    trials: int = PUBLISHED_TRIALS
    texts: int = TRIED_TEXTS

    def __post_init__(self) -> None:
        for name, least in (("seeds", 1), ("trials", 0), ("texts", 1)):
            value = getattr(self, name)
            if value < least:
                raise BadInput(f"{name} = {value}", code=f"study.too-few-{name}", allowed=f"{least} or more")


# For a first look: what it leaves out is said.
SMALL = Size(seeds=1, trials=0, texts=40)


def left_out(size: Size, recipes: Sequence[Recipe], tests: Sequence[Corpus], *, retrain: bool) -> list[str]:
    """What a run leaves out of the published design, in sentences."""
    sentences = []
    if size.seeds < PUBLISHED_SEEDS:
        sentences.append(f"{counted(size.seeds, 'seed')} instead of {PUBLISHED_SEEDS}")

    fine_tuned = [recipe for recipe in recipes if recipe.kind == "hf"]
    if fine_tuned and size.trials < PUBLISHED_TRIALS:
        names = ", ".join(recipe.short_name for recipe in fine_tuned)
        done = f"a search of {counted(size.trials, 'trial')}" if size.trials else "no search"
        sentences.append(f"{done} for {names} instead of one of {PUBLISHED_TRIALS} trials")
    if not retrain:
        sentences.append("no retraining on failed checks (Table 6)")

    for test in tests:
        tried = min(size.texts, len(test))
        width = 200 * 1.96 * math.sqrt(0.25 / tried)
        if tried < len(test):
            sentences.append(f"checks are tried on {tried:,} of {len(test):,} test texts of {test.name}")
        if width > _WIDEST:
            why = "it has no more" if tried == len(test) else "see `texts`"
            sentences.append(
                f"on {tried:,} texts of {test.name} a pass rate near one half has an interval of "
                f"{width:.0f} points ({why})"
            )
    return [f"of the published design left out: {sentence}" for sentence in sentences]
