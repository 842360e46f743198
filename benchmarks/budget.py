"""What an audit on a tenth of the calls says, against the full run of the same simulated model.

DECK on texts of the demo generator. Models are simulated by the share of cases that fail each check, and by
how alike the texts of an author and the checks of a text are. Of each model: how often the intervals of the
sample hold the pass rate of the full run, whether the verdict names the check that the full run names, first
or among the checks that it says may be as weak, and how many checks it names.
"""

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from scipy.stats import norm

from psycheck.audits.behaviour import Behaviour
from psycheck.audits.performance import Performance
from psycheck.audits.standing import contenders
from psycheck.audits.suite import Check, read_suite
from psycheck.corpus import Corpus
from psycheck.demo.generate import generate
from psycheck.finding import Finding, Findings
from psycheck.model import FloatArray, IntArray
from psycheck.report.headlines import among_checks, kept, weakest
from psycheck.run import Run
from psycheck.verbs.sample import Sample
from timing import machine, table

Random = np.random.Generator
MODELS = int(sys.argv[1]) if len(sys.argv) > 1 else 40  # simulated models per row
SHARE = float(sys.argv[2]) if len(sys.argv) > 2 else 0.1  # of the calls of a full run
CHECKS = 23


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
)


class Simulated:
    """Scores of items that were made up beforehand; an item is looked up by its number."""

    model, labels = "simulated", ("depression",)

    def __init__(self, numbers: dict[str, int], scores: FloatArray) -> None:
        self._numbers, self._scores = numbers, scores

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


@dataclass(slots=True)
class Result:
    """What came of one simulated model."""

    covered: list[bool]
    all_covered: bool
    means: list[bool]
    first: bool
    among: bool
    named: int
    close: bool
    spent: int
    rounds: int


def one(world: World, profile: Profile, random: Random, seed: int) -> Result:
    """The full run and the sample of one model."""
    scores = world.model(profile, random)
    full = {key(f): f for f in world.audit.judge(world.corpus, scores).findings}
    calls = int(SHARE * len(world.numbers))
    corpus = world.corpus.shuffled(seed)
    sample = Sample([(Performance(), corpus), (world.audit, corpus)], calls)
    pieces = list(sample.pieces(scores))
    audit, _ = sample.jobs()[1]
    found = audit.judge(corpus, scores).findings
    rates, wide, means = (
        [f for f in found if f.measure == measure and f.interval]
        for measure in ("pass_rate", "pass_rate_among_checks", "pass_rate_mean")
    )
    names = [check.id for check in world.audit.suite.checks]
    named = [names[k] for k in contenders(sample.standings(scores))]
    checks = among_checks(run(full.values()))
    truth = weakest(checks)
    assert truth is not None
    second = sorted(map(kept, checks))[1]
    return Result(
        [holds(f, full) for f in rates],
        all(holds(f, full) for f in wide),
        [holds(f, full) for f in means],
        named[0] == truth.where["check"],
        truth.where["check"] in named,
        len(named),
        second - kept(truth) < 0.01,
        sum(len(items) for _, items in pieces),
        len(pieces),
    )


def key(f: Finding) -> tuple[str, ...]:
    """A finding by its measure and place."""
    return f.measure, *sorted(f"{name}={value}" for name, value in f.where.items())


def run(findings: Iterable[Finding]) -> Run:
    """A run of some findings."""
    return Run({}, {}, Findings(findings))


def holds(found: Finding, full: dict[tuple[str, ...], Finding]) -> bool:
    """Whether an interval holds the value of the full run."""
    low, high = found.interval or (0, 1)
    return low - 1e-9 <= full[key(found)].value <= high + 1e-9


def main() -> None:
    """Print the table."""
    corpus = generate("tweets", 1_000, 3)
    worlds = {0: World.of(corpus)}
    rows, begun = [], time.monotonic()
    everything: list[Result] = []
    for profile in PROFILES:
        if profile.authors not in worlds:
            names = [str(k) for k in np.random.default_rng(1).integers(0, profile.authors, len(corpus))]
            table_ = corpus.table.with_columns(author=pl.Series(names))
            worlds[profile.authors] = replace(worlds[0], corpus=replace(corpus, table=table_))
        random = np.random.default_rng([7, len(rows)])
        results = [one(worlds[profile.authors], profile, random, seed) for seed in range(MODELS)]
        everything += results
        rows.append([profile.name, *figures(results)])
        print(f"{profile.name}: {rows[-1][1:]} {time.monotonic() - begun:.0f} s", file=sys.stderr)
    rows.append(["all", *figures(everything)])
    print(machine(), f"{MODELS} models per row, {SHARE:.0%} of {len(worlds[0].numbers):,} calls")
    heads = (
        "pass rates held",
        "all of a model",
        "means held",
        "first named",
        "named",
        "checks named",
        "first named, not tied",
        "tied",
    )
    print(table(["models", *heads], rows))


def figures(results: Sequence[Result]) -> list[str]:
    """The figures of one row."""
    covered = [hit for one in results for hit in one.covered]
    means = [hit for one in results for hit in one.means]
    shares = [covered, [one.all_covered for one in results], means]
    shares += [[one.first for one in results], [one.among for one in results]]
    named = f"{np.mean([one.named for one in results]):.1f}"
    clear = [one.first for one in results if not one.close]
    named += f" | {100 * np.mean(clear):.1f} % of {len(clear)}" if clear else " | –"
    return [*(f"{100 * np.mean(one):.1f} %" for one in shares), named, str(sum(one.close for one in results))]


if __name__ == "__main__":
    main()
