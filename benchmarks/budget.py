"""What an audit on a tenth of the calls says, against the full run of the same simulated model.

DECK on texts of the demo generator. Models are simulated by the share of cases that fail each check, and by
how alike the texts of an author and the checks of a text are. Of each model: how often the intervals of the
sample hold the pass rate of the full run; whether the check that the verdict names first is the one that the
full run names first, or one of those that the full run cannot tell apart from it; how many checks both name;
and how often the calls would suffice if the two or three weakest checks were known beforehand.
"""

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
from scipy.stats import norm

from demo_texts import generate
from psycheck.audits.behaviour import Behaviour
from psycheck.audits.budget import Sample
from psycheck.audits.performance import Performance
from psycheck.audits.suite import Check, read_suite
from psycheck.audits.weakest import contenders, mark_weakest
from psycheck.core.arrays import FloatArray, IntArray
from psycheck.core.audit import ScoreTraits
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding, Findings
from psycheck.core.run import Run
from psycheck.report import studies
from psycheck.report.check_claims import among_checks, kept, weakest
from timing import machine, table

Random = np.random.Generator
MODELS = int(sys.argv[1]) if len(sys.argv) > 1 else 40  # simulated models per row
SHARE = float(sys.argv[2]) if len(sys.argv) > 2 else 0.1  # of the calls of a full run
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 13  # the rule of `verbs.sample` was chosen with seed 7
CHECKS = 23
TIED = 0.01  # the two weakest checks of the full run are closer than this


@dataclass(frozen=True, slots=True)
class Profile:
    """How a kind of model fails: the failing share of each check, and how alike cases are."""

    name: str
    failing: Callable[[Random], FloatArray]
    author: float = 0.1
    text: float = 0.3
    authors: int = 0  # 0: those of the corpus


def _few_weak(random: Random) -> FloatArray:
    rates = random.beta(1, 15, CHECKS)
    rates[random.permutation(CHECKS)[:3]] = random.uniform(0.15, 0.6, 3)
    return rates


def _tied(number: int, apart: float) -> Callable[[Random], FloatArray]:
    def drawn(random: Random) -> FloatArray:
        rates = random.beta(1, 12, CHECKS).clip(0, 0.25)
        high = random.uniform(0.3, 0.5)
        rates[random.permutation(CHECKS)[:number]] = high - apart * np.arange(number)
        return rates

    return drawn


def _published(random: Random) -> FloatArray:
    """One of the seven models in DECK's App-table 4, with its pass rates moved by about two points."""
    published = pl.read_csv(Path(studies.__file__).parent / "published" / "deck-app-table-4.csv")
    every = published.partition_by("model", "trained_on", maintain_order=True)
    passing = every[int(random.integers(len(every)))]["value"].to_numpy() / 100
    return np.clip(1 - passing + random.normal(0, 0.02, CHECKS), 0.001, 0.999)


PROFILES = (
    Profile("spread out", lambda random: random.uniform(0, 0.6, CHECKS)),
    Profile("a few weak checks", _few_weak),
    Profile("mostly good", lambda random: random.beta(0.7, 8, CHECKS)),
    Profile("two within 2 points", _tied(2, 0.02)),
    Profile("five, a point apart", _tied(5, 0.01)),
    Profile("all checks alike", lambda random: np.full(CHECKS, random.uniform(0.1, 0.4))),
    Profile("nearly all passes", lambda random: random.beta(0.4, 60, CHECKS)),
    Profile("nearly all fails", lambda random: 1 - random.beta(0.8, 20, CHECKS)),
    Profile("authors alike", _few_weak, author=0.5),
    Profile("60 authors, alike", lambda random: random.uniform(0, 0.5, CHECKS), author=0.5, authors=60),
    Profile("as published for DECK", _published),
)


class Simulated:
    """Scores of items that were made up beforehand; an item is looked up by its number."""

    model, labels = "simulated", ("depression",)

    def __init__(self, numbers: dict[str, int], scores: FloatArray) -> None:
        self._numbers, self._scores = numbers, scores

    @property
    def traits(self) -> ScoreTraits:
        """How the scores become decisions."""
        return ScoreTraits()

    def of(self, items: Sequence[str]) -> FloatArray:
        """The scores of items, (n, 1)."""
        numbers = [self._numbers.get(item, -1) for item in items]
        return np.where(np.array(numbers)[:, None] >= 0, self._scores[numbers, None], np.nan)

    def read(self, items: Sequence[str]) -> IntArray:
        """Every item is read whole."""
        return np.array([len(item) for item in items])


@dataclass(frozen=True, slots=True)
class World:
    """A corpus, its suite, and all items that a full run asks for."""

    corpus: Corpus
    audit: Behaviour
    numbers: dict[str, int]
    cases: list[list[tuple[int, list[int]]]]  # of each check: the row, and the numbers of its edited texts

    @classmethod
    def of(cls, corpus: Corpus) -> "World":
        """List the cases of DECK on a corpus."""
        audit = Behaviour(read_suite("deck"))
        numbers: dict[str, int] = {text: k for k, text in enumerate(corpus.texts)}
        cases = [
            [
                (row, [numbers.setdefault(text, len(numbers)) for text in texts[1:]])
                for row, texts in audit.cases_of(check, corpus)
            ]
            for check in audit.suite.checks
        ]
        return cls(corpus, audit, numbers, cases)

    def model(self, profile: Profile, random: Random) -> Simulated:
        """Scores by which each check fails in about its share of the cases."""
        n, gold = len(self.corpus), self.corpus.targets(["depression"])[:, 0]
        author = np.unique(self.corpus.units(), return_inverse=True)[1]
        right = random.random(n) < 0.85
        side = np.where((gold == 1) == right, 1, -1)
        scores = np.full(len(self.numbers), 0.5)
        scores[:n] = 0.5 + side * random.uniform(0.02, 0.15, n)
        failing, common = profile.failing(random), random.normal(0, 1, n)
        rest = np.sqrt(1 - profile.author - profile.text)
        for check, share, cases in zip(self.audit.suite.checks, failing, self.cases, strict=True):
            trait = np.sqrt(profile.author) * random.normal(0, 1, author.max() + 1)[author]
            trait += np.sqrt(profile.text) * common + rest * random.normal(0, 1, n)
            fails = trait < norm.ppf(share)
            for row, items in cases:
                before, which = scores[row], int(random.integers(len(items)))
                for v, item in enumerate(items):
                    scores[item] = _after(check, before, bool(fails[row]) and v == which)
        return Simulated(self.numbers, scores)


def _after(check: Check, before: float, fails: bool) -> float:
    """The score of an edited text."""
    expect = check.expect
    if expect.kind == "not_down":
        return before - 0.3 if fails else before + 0.03
    if expect.kind == "not_up":
        return before + 0.3 if fails else before - 0.03
    if expect.kind == "label" and fails:
        return 0.9 if expect.label == 0 else 0.1
    return 1 - before if fails else before


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one simulated model.

    Whether each pass rate is held by its interval, all of them by those that allow for a choice, and each
    mean; half the width of the intervals; the checks that sample and full run name; how far the two weakest
    checks of the full run are apart, and the first of each; whether the sample finds the weakest if it is
    told the two, or the three, weakest.
    """

    rates: list[bool]
    together: bool
    means: list[bool]
    widths: list[float]
    named: list[str]
    full: list[str]
    apart: float
    lost: float
    told: list[bool]


def one(world: World, profile: Profile, random: Random, seed: int) -> Result:
    """The full run and the sample of one model."""
    scores = world.model(profile, random)
    whole = judged(world.audit, world.corpus, scores)
    full = {key(f): f for f in whole}
    kept_by = {f.where["check"]: kept(f) for f in among_checks(Run({}, {}, Findings(whole)))}
    corpus, calls = world.corpus.shuffled(seed), int(SHARE * len(world.numbers))
    sample = Sample([(Performance(), corpus), (world.audit, corpus)], calls)
    spent = sum(len(list(items)) for _, items in sample.pieces(scores))
    assert calls - 6 < spent <= calls, spent  # the largest case takes six
    audit = sample.jobs()[1][0]
    assert isinstance(audit, Behaviour)
    found = judged(audit, corpus, scores)
    rates, wide, means = (
        [f for f in found if f.measure == measure and f.interval]
        for measure in ("pass_rate", "pass_rate_among_checks", "pass_rate_mean")
    )
    truth, names = named_in(whole), named_in(found)
    ranked = sorted(kept_by, key=lambda name: (name != truth[0], kept_by[name]))
    return Result(
        [holds(f, full) for f in rates],
        all(holds(f, full) for f in wide),
        [holds(f, full) for f in means],
        [(f.interval[1] - f.interval[0]) / 2 for f in rates if f.interval],
        names,
        truth,
        kept_by[ranked[1]] - kept_by[ranked[0]],
        kept_by[names[0]] - kept_by[truth[0]],
        [told(world.audit, corpus, scores, calls, ranked[:m]) == truth[0] for m in (2, 3)],
    )


def judged(audit: Behaviour, corpus: Corpus, scores: Simulated) -> list[Finding]:
    """The findings of an audit, the weakest checks marked."""
    judgement = audit.judge(corpus, scores)
    return mark_weakest(judgement.findings, judgement.standings)


def named_in(findings: Sequence[Finding]) -> list[str]:
    """The checks that a verdict names, the weakest first."""
    checks = among_checks(Run({}, {}, Findings(findings)))
    first = weakest(checks)
    assert first is not None
    others = [f for f in checks if f is not first and {"weakest", "maybe_weakest"} & set(f.flags)]
    return [f.where["check"] for f in (first, *others)]


def told(audit: Behaviour, corpus: Corpus, scores: Simulated, calls: int, weak: Sequence[str]) -> str:
    """The check that is named if all calls are spent on the weakest, known beforehand, in equal numbers."""
    checks = tuple(check for check in audit.suite.checks if check.id in weak)
    few = replace(audit, suite=replace(audit.suite, checks=checks), others=CHECKS - len(checks))
    sample = Sample([(few, corpus)], calls)
    for _ in sample.pieces(None):
        pass
    return checks[contenders(sample.standings(scores))[0]].id


def key(f: Finding) -> tuple[str, ...]:
    """A finding by its measure and place."""
    return f.measure, *sorted(f"{name}={value}" for name, value in f.where.items())


def holds(found: Finding, full: dict[tuple[str, ...], Finding]) -> bool:
    """Whether an interval holds the value of the full run."""
    low, high = found.interval or (0, 1)
    return low - 1e-9 <= full[key(found)].value <= high + 1e-9


def main() -> None:
    """Print the table."""
    corpus, begun = generate("tweets", 1_000, 3), time.monotonic()
    worlds = {0: World.of(corpus)}
    rows, everything = [], list[Result]()
    for number, profile in enumerate(PROFILES):
        if profile.authors not in worlds:
            names = np.random.default_rng(1).integers(0, profile.authors, len(corpus)).astype(str)
            whose = corpus.table.with_columns(author=pl.Series(names.tolist()))
            worlds[profile.authors] = replace(worlds[0], corpus=replace(corpus, table=whose))
        random = np.random.default_rng([SEED, number])
        results = [one(worlds[profile.authors], profile, random, SEED * 1_000 + k) for k in range(MODELS)]
        everything += results
        rows.append([profile.name, *figures(results)])
        print(profile.name, f"{time.monotonic() - begun:.0f} s", file=sys.stderr)
    rows.append([f"all {len(everything)}", *figures(everything)])
    print(f"{machine()}; {MODELS} models per row, {SHARE:.0%} of {len(worlds[0].numbers):,} calls")
    print(table(["models", *HEADS], rows))


HEADS = (
    *("rates held", "all rates held together", "means held", "half-width"),
    *("first name the same", "the same, if not tied", "the same, if the full run names one"),
    *("in the full run's group", "in the group, if it names several"),
    *("weakest named", "checks named", "full run names", "points off, mean", "95th percentile"),
    *("told the two weakest", "told the three"),
)


def figures(results: Sequence[Result]) -> list[str]:
    """The figures of one row."""
    apart = [r for r in results if r.apart >= TIED]
    decided, several = ([r for r in results if (len(r.full) == 1) == one] for one in (True, False))
    lost = 100 * np.array([r.lost for r in results])
    return [
        share(hit for r in results for hit in r.rates),
        share(r.together for r in results),
        share(hit for r in results for hit in r.means),
        f"{100 * float(np.median([width for r in results for width in r.widths])):.0f} points",
        share(r.full[0] == r.named[0] for r in results),
        f"{share(r.full[0] == r.named[0] for r in apart)} of {len(apart)}",
        f"{share(r.full == r.named[:1] for r in decided)} of {len(decided)}",
        share(r.named[0] in r.full for r in results),
        f"{share(r.named[0] in r.full for r in several)} of {len(several)}",
        share(r.full[0] in r.named for r in results),
        f"{np.mean([len(r.named) for r in results]):.1f}",
        f"{np.mean([len(r.full) for r in results]):.1f}",
        f"{lost.mean():.1f}",
        f"{np.quantile(lost, 0.95):.1f}",
        *(share(r.told[m] for r in results) for m in (0, 1)),
    ]


def share(hits: Iterable[bool]) -> str:
    """A share in per cent."""
    every = list(hits)
    return f"{100 * sum(every) / len(every):.1f} %" if every else "–"


if __name__ == "__main__":
    main()
