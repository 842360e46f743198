"""The size of the study: the published one, and what a smaller one leaves out."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from psycheck import Corpus, Finding, Recipe
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
                raise BadInput(
                    f"{name} = {value}",
                    code=f"study.too-few-{name}",
                    allowed=f"{least} or more",
                )


# For a first look: what it leaves out is said.
SMALL = Size(
    seeds=1,
    trials=0,
    texts=40,
)


def left_out(
    size: Size,
    recipes: Sequence[Recipe],
    tests: Sequence[Corpus],
    *,
    retrain: bool,
) -> list[str]:
    """What a run leaves out of the published design, in sentences."""
    sentences = [*_less_training(size, recipes)]
    if not retrain:
        sentences.append("no retraining on failed checks (Table 6)")
    for test in tests:
        sentences += _fewer_texts(size, test)
    return [f"of the published design left out: {sentence}" for sentence in sentences]


def _less_training(size: Size, recipes: Sequence[Recipe]) -> Iterator[str]:
    """Fewer seeds or trials than published; only what is fine-tuned has something to search."""
    if size.seeds < PUBLISHED_SEEDS:
        yield f"{counted(size.seeds, 'seed')} instead of {PUBLISHED_SEEDS}"

    fine_tuned = [recipe.short_name for recipe in recipes if recipe.kind == "hf"]
    if fine_tuned and size.trials < PUBLISHED_TRIALS:
        search = f"a search of {counted(size.trials, 'trial')}" if size.trials else "no search"
        yield f"{search} for {', '.join(fine_tuned)} instead of one of {PUBLISHED_TRIALS} trials"


def _fewer_texts(size: Size, test: Corpus) -> Iterator[str]:
    """Checks on a part of the test texts, and intervals that are wider than 10 points."""
    tried = min(size.texts, len(test))
    if tried < len(test):
        yield f"checks are tried on {tried:,} of {len(test):,} test texts of {test.name}"

    # That of a pass rate near one half, in points: twice 1.96 standard errors.
    width = 100 * 2 * 1.96 * math.sqrt(0.25 / tried)
    if width > _WIDEST:
        why = "it has no more" if tried == len(test) else "see `texts`"
        yield (
            f"on {tried:,} texts of {test.name} a pass rate near one half has an interval of "
            f"{width:.0f} points ({why})"
        )


def wide_intervals(rates: Sequence[Finding]) -> list[str]:
    """Of each model and corpus the checks whose pass rate has an interval of more than 10 points, and why."""
    by_model: dict[tuple[str, str], list[Finding]] = {}
    for rate in rates:
        if rate.measure == "pass_rate" and rate.tested and _points(rate) > _WIDEST:
            by_model.setdefault((rate.where["model"], rate.where["corpus"]), []).append(rate)

    notes = []
    for (model, corpus), wide in by_model.items():
        checks = ", ".join(rate.where["check"] for rate in wide)
        widest = max(wide, key=_points)
        notes.append(
            f"{model}, {corpus}: intervals of more than {_WIDEST} points for {checks} "
            f"(widest: {widest.where['check']}, {_points(widest):.0f} points, n {widest.n}); a check counts "
            "texts that it changes, MFT checks those of one class"
        )
    return notes


def _points(rate: Finding) -> float:
    """The width of the interval of a pass rate, in points."""
    if rate.interval is None:
        return 0.0
    low, high = rate.interval
    return 100 * (high - low)
