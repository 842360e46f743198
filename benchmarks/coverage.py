"""How often the 95 % intervals hold the true value, by kind of figure and of corpus.

Corpora are drawn from a known population: ordinary ones, small ones, extreme ones (rare labels, models that
almost always answer 1 or are nearly perfect) and ones in which texts of an author are alike. The true value
is that of a corpus of 400,000 texts. Aim: at least 93 % everywhere, or no interval. With 1,500 corpora chance
moves a share of 95 % by ±0.6 (one standard error), with 600 by ±0.9.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from psycheck.audits import failure_length as length
from psycheck.audits.summary import by_groups
from psycheck.core.finding import Finding
from psycheck.statistics import calibration, classification, cluster_tests
from psycheck.statistics.classification import gold
from psycheck.statistics.clustered import (
    Clusters,
    change_interval,
    effective_share,
    mean_interval,
    median_interval,
    ratio_interval,
    skewed_interval,
)
from psycheck.statistics.group_rates import (
    group_difference,
    paired_difference,
    score_shift,
)
from psycheck.statistics.intervals import percentiles
from psycheck.statistics.label_intervals import classification_intervals, figure_influences
from psycheck.statistics.miss_ratio import fnr_ratio
from psycheck.statistics.model_agreement import cohen_kappa, kappa_interval
from psycheck.statistics.multilabel import label_figures
from timing import machine, table

FloatArray = NDArray[np.float64]
Interval = tuple[float, float]
Random = np.random.Generator
Figures = dict[str, tuple[float, Interval]]  # value and interval by measure
DRAWS = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
WHOLE = 400_000  # texts that stand for the population
NONE = (np.nan, np.nan)
cluster_tests.SHUFFLES, cluster_tests.BLOCKS = 1, 1  # p-values are not looked at here


@dataclass(frozen=True, slots=True)
class Population:
    """How corpora are drawn: texts, share annotated 1, how far scores part the classes, and authors."""

    name: str
    texts: int
    share: float = 0.3
    apart: float = 1.5
    shift: float = 0.0
    authors: int = 0
    alike: float = 0.0

    def authors_of(self, random: Random, times: int) -> NDArray[np.int64]:
        """The author of each text, (n,); few write much."""
        n = self.texts * times
        if not self.authors:
            return np.arange(n)
        sizes = random.lognormal(0.0, 1.0, self.authors * times)
        return np.sort(random.choice(len(sizes), n, p=sizes / sizes.sum()))

    def traits(self, random: Random, author: NDArray[np.int64], number: int) -> FloatArray:
        """Standard normal traits of texts that are alike within authors, (number, n)."""
        own = random.normal(0, 1, (number, int(author.max()) + 1))[:, author]
        rest = random.normal(0, 1, (number, len(author)))
        drawn: FloatArray = own * np.sqrt(self.alike) + rest * np.sqrt(1 - self.alike)
        return drawn

    def draw(self, random: Random, times: int, number: int = 1) -> tuple[FloatArray, FloatArray, Clusters]:
        """Targets and scores of `number` labels, both (number, n), and clusters of one corpus."""
        author = self.authors_of(random, times)
        own = self.traits(random, author, 2 * number)
        y = (own[:number] < norm.ppf(self.share)).astype(float)
        logit = self.shift + self.apart * (y - 0.5) + own[number:]
        return y, 1 / (1 + np.exp(-2 * logit)), Clusters.of(author)


POPULATIONS = (
    Population("ordinary, 500 texts", 500),
    Population("small, 60 texts", 60),
    Population("small, 30 texts", 30, share=0.5),
    Population("rare, 400 texts, 5 %", 400, share=0.05),
    Population("almost always 1, 300 texts", 300, shift=2.0),
    Population("almost never 1, 300 texts", 300, shift=-2.5),
    Population("nearly perfect, 300 texts", 300, share=0.4, apart=5.0),
    Population("guessing, 300 texts", 300, apart=0.0),
    Population("65 authors, 2,000 texts, alike", 2_000, authors=65, alike=0.6),
    Population("65 authors, 2,000 texts, somewhat", 2_000, authors=65, alike=0.2),
    Population("30 authors, 300 texts, alike", 300, share=0.5, authors=30, alike=0.5),
    Population("60 authors, almost always 1", 600, shift=2.0, authors=60, alike=0.4),
    Population("60 authors, nearly perfect", 600, share=0.4, apart=5.0, authors=60, alike=0.4),
)


def performance(one: Population, random: Random, times: int) -> Figures:
    """The figures of one label."""
    targets, scores, clusters = one.draw(random, times)
    y, s = targets[0], scores[0]
    c = classification.confusion(y, s)
    names = ("accuracy", "precision", "recall", "f1", "macro_f1", "weighted_f1", "hard_auc")
    values = {name: getattr(classification, name)(c).value for name in names}
    values["auc"] = classification.auc(y, s).value
    values["average_precision"] = classification.average_precision(y, s).value
    values["brier"] = calibration.brier(y, s)
    intervals = classification_intervals(y, s, clusters) if times == 1 else {}
    return {name: (value, intervals.get(name, NONE)) for name, value in values.items()}


def calibrated(one: Population, random: Random, times: int) -> Figures:
    """The share annotated 1 in five of the fifteen reliability bins."""
    targets, scores, clusters = one.draw(random, times)
    yes, at, out = targets[0] == 1, calibration.bin_of(scores[0]), {}
    for number in (0, 3, 7, 11, 14):
        inside = at == number
        share = float(yes[inside].mean()) if inside.any() else np.nan
        out[f"bin {number + 1}"] = (share, ratio_interval(yes & inside, inside, clusters))
    return out


def lengths(one: Population, random: Random, times: int) -> Figures:
    """Words per text of a corpus, lengths of the texts that fail a check, and shares of texts and of words.

    Long texts fail more often. Lengths are lognormal, as whole numbers; `mean_word_length` is not whole.
    """
    author = one.authors_of(random, times)
    clusters, n = Clusters.of(author), len(author)
    size, fails, letters, rare = one.traits(random, author, 4)
    words = np.round(np.exp(3 + 0.8 * size)) + 1
    failed = (0.3 * size + fails) < norm.ppf(one.share) * np.sqrt(1.09)
    unknown = random.binomial(words.astype(int), norm.cdf(-2 + 0.3 * rare))
    repeated = one.traits(random, author, 1)[0] < norm.ppf(0.1)
    share = float(unknown.sum() / words.sum())
    of_words = skewed_interval(share, (unknown - share * words) / words.sum(), clusters)
    out = {
        "words_mean": (float(words.mean()), mean_interval(words, clusters, low=0.0)),
        "words_median": (float(np.median(words)), median_interval(words, clusters)),
        "share of texts": (float(repeated.mean()), ratio_interval(repeated, np.ones(n), clusters)),
        "share of words": (share, of_words),
    }
    for name, values in (("words", words), ("mean_word_length", 4 + 0.5 * letters)):
        mine = values[failed]
        median = float(np.median(mine)) if len(mine) else np.nan
        out[f"{name}, failed: median"] = (median, median_interval(mine, clusters.at(failed)))
        effect, ends = length.compare_lengths(values, failed, clusters)[1:3]
        out[f"{name}: effect"] = (effect, ends)
    return out


def several_labels(one: Population, random: Random, times: int) -> Figures:
    """Figures over four labels."""
    targets, scores, clusters = one.draw(random, times, 4)
    figures = label_figures(gold(targets).T, scores.T >= 0.5, np.ones(targets.T.shape, bool), clusters)
    return {name: (found.value, ends if times == 1 else NONE) for name, (found, _, ends) in figures.items()}


def groups(one: Population, random: Random, times: int, within: bool) -> Figures:
    """Two groups: of authors, or (`within`) of texts of the same authors; one is decided 1 more often."""
    targets, scores, clusters = one.draw(random, times)
    y, n = targets[0], targets.shape[1]
    by = random.random(clusters.count)[clusters.codes] if not within else random.random(n)
    name = np.where(by < 0.4, "a", "b")
    decided = (scores[0] >= np.where(by < 0.4, 0.4, 0.5)).astype(float)
    parity = group_difference(decided, name, "a", "b", clusters)
    chance = group_difference(decided, name, "a", "b", clusters, among=y == 1)
    missed, positive = (y == 1) & (decided == 0), y == 1
    out = {
        "parity difference": (parity.value, parity.interval),
        "opportunity difference": (chance.value, chance.interval),
        "rate of a group": (
            float(decided[name == "a"].mean()),
            ratio_interval((name == "a") & (decided == 1), name == "a", clusters),
        ),
    }
    counts = [int(np.sum(side & (name == group))) for group in "ab" for side in (missed, positive)]
    if min(counts) > 0:
        share = effective_share(missed, positive, clusters)
        ratio = fnr_ratio(*counts, share=share, names=("a", "b"))
        # The interval is of the group that is missed less over the other: turn it to a over b.
        low, high = ratio.interval
        turned = ratio.favoured == "b"
        value = (counts[0] / counts[1]) / (counts[2] / counts[3])
        ends = (1 / max(high, 1e-12), 1 / max(low, 1e-12)) if turned else (low, high)
        out["FNR ratio"] = (value, ends)
    return out


def wordings(one: Population, random: Random, times: int, moved: float) -> Figures:
    """Two wordings of every text; a share `moved` of the scores changes, mostly upwards in the first."""
    targets, scores, clusters = one.draw(random, times)
    y, second = targets[0], scores[0]
    changed = one.traits(random, clusters.codes, 1)[0] < norm.ppf(moved)
    first = np.where(changed, np.clip(second + 0.3 * random.random(len(y)) - 0.05, 0, 1), second)
    decided = [(first >= 0.5).astype(float), (second >= 0.5).astype(float)]
    gap = paired_difference(decided[0], decided[1], clusters)
    shift = score_shift(first, second, clusters)
    flipped = decided[0] != decided[1]
    return {
        "flip_rate": (float(flipped.mean()), ratio_interval(flipped, np.ones(len(y)), clusters)),
        "wording difference": (gap.value, gap.interval),
        "score_shift": (shift.size, shift.size_interval),
        "score_difference": (shift.difference, shift.interval),
    }


def arms(one: Population, random: Random, times: int, noise: float) -> Figures:
    """Two models on the same texts, the second with more noise in its scores."""
    targets, scores, clusters = one.draw(random, times)
    y, s = targets[0], scores[0]
    other = 1 / (1 + np.exp(-(np.log(s / (1 - s)) + noise * one.traits(random, clusters.codes, 1)[0])))
    now, before = figure_influences(y, s, 0.5), figure_influences(y, other, 0.5)
    out = {}
    for name, (value, influence) in now.items():
        change, moved = value - before[name][0], influence - before[name][1]
        known = times == 1 and not np.isnan(change)
        ends = change_interval(before[name][0], value, moved, clusters) if known else NONE
        out[f"{name}_change"] = (change, ends)
    return out


def two_models(one: Population, random: Random, times: int, noise: float) -> Figures:
    """What `diff` says of two models; beside it the percentile bootstrap of the difference of F1."""
    targets, scores, clusters = one.draw(random, times)
    y, s = targets[0] == 1, scores[0]
    other = 1 / (1 + np.exp(-(np.log(s / (1 - s)) + noise * one.traits(random, clusters.codes, 1)[0])))
    a, b, ones = s >= 0.5, other >= 0.5, np.ones(len(y))
    mine, apart = a == y, a != b
    gap = paired_difference(mine, b == y, clusters)
    sums = [clusters.sums(part * 1.0) for called in (a, b) for part in (y & called, y != called)]

    def change(tp: FloatArray, wrong: FloatArray, tp_b: FloatArray, wrong_b: FloatArray) -> FloatArray:
        drawn: FloatArray = 2 * tp / (2 * tp + wrong) - 2 * tp_b / (2 * tp_b + wrong_b)
        return drawn

    ends = NONE
    if times == 1:
        weights = random.multinomial(clusters.count, np.full(clusters.count, 1 / clusters.count), 400)
        with np.errstate(invalid="ignore"):
            ends = percentiles(change(*(weights @ part for part in sums)))
    return {
        "kappa": (cohen_kappa(a, b)[0], kappa_interval(a, b, clusters) if times == 1 else NONE),
        "agreement": (float((~apart).mean()), ratio_interval(~apart, ones, clusters)),
        "right where apart": (
            float((mine & apart).sum() / max(apart.sum(), 1)),
            ratio_interval(mine & apart, apart, clusters),
        ),
        "accuracy_difference": (gap.value, gap.interval),
        "F1, bootstrap": (float(change(*(np.array([part.sum()]) for part in sums))[0]), ends),
    }


def pass_rates(one: Population, random: Random, times: int, rates: tuple[float, ...]) -> Figures:
    """Checks on the same texts; what passes one tends to pass the others."""
    author = one.authors_of(random, times)
    clusters = Clusters.of(author)
    ease = one.traits(random, author, 1)[0]
    own = random.normal(0, 1, (len(rates), len(author)))
    failed = (ease + own) / np.sqrt(2) >= norm.ppf(np.array(rates))[:, None]
    outcomes = failed.astype(np.int8)
    share = 1 - failed.mean(axis=1)
    where = {**dict.fromkeys(("audit", "model", "corpus", "suite", "label"), "x"), "kind": "DIR"}
    found = [Finding("pass_rate", float(value), len(author), where=where) for value in share]
    means = by_groups(found, outcomes, clusters) if times == 1 else ()
    ends = next((f.interval for f in means if f.measure == "pass_rate_mean"), None)
    return {
        "pass_rate": (float(share[0]), ratio_interval(~failed[0], np.ones(len(author)), clusters)),
        "pass_rate_mean": (float(share.mean()), ends or NONE),
    }


Kind = Callable[[Population, Random, int], Figures]
KINDS: Mapping[str, Kind] = {
    "one label": performance,
    "reliability bins": calibrated,
    "lengths": lengths,
    "several labels": several_labels,
    "groups of authors": partial(groups, within=False),
    "groups within authors": partial(groups, within=True),
    "wordings, a third moved": partial(wordings, moved=0.33),
    "wordings, 3 % moved": partial(wordings, moved=0.03),
    "arms, far apart": partial(arms, noise=1.5),
    "arms, close": partial(arms, noise=0.3),
    "two models, far apart": partial(two_models, noise=1.5),
    "two models, close": partial(two_models, noise=0.3),
    "pass rates, ordinary": partial(pass_rates, rates=(0.5, 0.6, 0.7, 0.8, 0.9)),
    "pass rates, extreme": partial(pass_rates, rates=(0.97, 0.98, 0.99, 0.995)),
}


def covered(kind: Kind, one: Population, draws: int) -> dict[str, str]:
    """The share of intervals with the true value, in percent; in brackets how many corpora have one."""
    random = np.random.default_rng(7)
    times = max(1, WHOLE // one.texts)
    truth = {name: value for name, (value, _) in kind(one, random, times).items()}
    held: dict[str, list[bool]] = {name: [] for name in truth}
    for _ in range(draws):
        for name, (_, (low, high)) in kind(one, random, 1).items():
            if not np.isnan(low + high) and name in truth:
                held[name].append(low - 1e-12 <= truth[name] <= high + 1e-12)
    return {
        name: f"{100 * np.mean(h):.1f}" + ("" if len(h) > 0.9 * draws else f" ({len(h)})") if h else "–"
        for name, h in held.items()
    }


def main() -> None:
    """Print a table for each kind of figure; "–" where no corpus has an interval."""
    wanted = sys.argv[2:] or list(KINDS)
    print(f"{machine()}; {DRAWS} corpora each\n")
    for name in wanted:
        rows = []
        for population in POPULATIONS:
            found = covered(KINDS[name], population, DRAWS)
            rows.append([population.name, *found.values()])
        print(f"**{name}**\n\n{table(['corpus', *found], rows)}\n", flush=True)


if __name__ == "__main__":
    main()
