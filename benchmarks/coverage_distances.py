"""How often the intervals of `compare` and `bias` hold the true value: distances, classifier, word lists.

Sides are drawn from a known population, with texts of their own or of authors whose texts are alike; word
lists from a population of words. "at size" is the mean of the figure over all draws: what corpora of these
sizes show, bias included. "true" is the value of the population itself, from far more texts. Aim: at least
93 % of the quantity that the interval claims, or no interval.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from psycheck.core.corpus import Corpus
from psycheck.corpora import adversarial, vocabulary
from psycheck.corpora.vocabulary import Counted
from psycheck.statistics import distance, mmd
from psycheck.statistics import word_association as association
from psycheck.statistics.sides import Sides
from timing import machine, table

FloatArray = NDArray[np.float64]
Random = np.random.Generator
Figures = dict[str, tuple[float, tuple[float, float]]]
DRAWS = int(sys.argv[1]) if len(sys.argv) > 1 else 300
NONE = (np.nan, np.nan)
DIMENSIONS, VOCABULARY, WORDS = 20, 800, 15
vocabulary.CHANCE = distance.SHUFFLES = 1  # chance is not looked at here


@dataclass(frozen=True, slots=True)
class Population:
    """Two sides: texts and authors of each (0: every text has its own), how alike, and how far apart."""

    name: str
    first: int
    second: int
    apart: float = 0.5
    authors: int = 0
    alike: float = 0.0
    shared: int = 0  # texts that are on both sides

    def authors_of(self, random: Random) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The author of each text of either side; few write much."""
        if not self.authors:
            return np.arange(self.first), self.first + np.arange(self.second)
        sizes = random.lognormal(0.0, 0.7, (2, self.authors))
        ours, theirs = (
            random.choice(self.authors, n, p=own / own.sum())
            for n, own in zip((self.first, self.second), sizes, strict=True)
        )
        return ours, self.authors + theirs

    def clouds(self, random: Random) -> tuple[FloatArray, FloatArray, Sides]:
        """Vectors of both sides, of which the second lies `apart` standard deviations further on."""
        authors = self.authors_of(random)
        places = random.normal(0, 1, (int(authors[1].max()) + 1, DIMENSIONS))
        first, second = (
            np.sqrt(self.alike) * places[own]
            + np.sqrt(1 - self.alike) * random.normal(0, 1, (len(own), DIMENSIONS))
            for own in authors
        )
        second[:, 0] += self.apart
        second[: self.shared], authors[1][: self.shared] = first[: self.shared], authors[0][: self.shared]
        return first, second, Sides.of(self.first, self.second, np.concatenate(authors))

    def counts(self, random: Random) -> tuple[FloatArray, FloatArray, Sides]:
        """Word counts of both sides, (texts, words): authors prefer words of their own."""
        authors = self.authors_of(random)
        every = np.concatenate(authors)
        base = np.log(1 / np.arange(1, VOCABULARY + 1))
        side = np.where(np.arange(VOCABULARY) % 5 == 0, 2 * self.apart, 0.0)
        logits = base + 3 * np.sqrt(self.alike) * random.normal(0, 1, (int(every.max()) + 1, VOCABULARY))
        drawn = []
        for own, shift in ((authors[0], 0.0), (authors[1], side)):
            shares = np.exp(logits[own] + shift)
            drawn.append(random.multinomial(WORDS, shares / shares.sum(axis=1, keepdims=True)).astype(float))
        return drawn[0], drawn[1], Sides.of(self.first, self.second, every)


POPULATIONS = (
    Population("300 + 300 texts", 300, 300),
    Population("300 + 300 texts, same source", 300, 300, apart=0.0),
    Population("200 + 200 texts, 100 on both sides", 200, 200, apart=0.0, shared=100),
    Population("40 + 40 texts", 40, 40),
    Population("300 + 60 texts, far", 300, 60, apart=1.0),
    Population("40 + 40 authors, 600 texts, alike", 300, 300, authors=40, alike=0.5),
    Population("40 + 40 authors, same source", 300, 300, apart=0.0, authors=40, alike=0.5),
    Population("20 + 20 authors, 300 texts, alike", 150, 150, authors=20, alike=0.5),
)


def vectors(one: Population, random: Random) -> Figures:
    """MMD², MMD² of single pairs and sliced Wasserstein."""
    first, second, sides = one.clouds(random)
    test = mmd.mmd_test(first, second, sides=sides, permutations=0)
    mean, median = mmd.pair_mmd(first, second, bandwidth=test.bandwidth, sides=sides)
    sliced, _ = distance.sliced_wasserstein(first, second, sides=sides, slices=100)
    figures = {"pair mean": mean, "pair median": median, "sliced": sliced}
    return {
        "mmd2": (test.value, test.interval),
        **{name: (figure.value, figure.interval or NONE) for name, figure in figures.items()},
    }


def words(one: Population, random: Random) -> Figures:
    """JSD of words."""
    first, second, sides = one.counts(random)
    terms = [f"w{i}" for i in range(VOCABULARY)]
    ours, theirs = (Counted(csr_array(own), terms, [None] * len(own)) for own in (first, second))
    figure, _ = vocabulary.divergence(ours, theirs, sides)
    return {"jsd": (figure.value, figure.interval or NONE)}


def classifier(one: Population, random: Random) -> Figures:
    """The domain classifier, cross-validated."""
    first, second, sides = one.counts(random)
    corpora = []
    for name, counts, of in (("a", first, sides.first), ("b", second, ~sides.first)):
        texts = [
            " ".join(f"w{w}" for w in np.repeat(np.arange(VOCABULARY), row.astype(int))) for row in counts
        ]
        authors = [f"u{unit}" for unit in sides.units[of]] if one.authors else None
        corpora.append(Corpus.of(name, texts, author=authors))
    found = adversarial.classify_sides(corpora[0], corpora[1], most=0)
    return {name: (value, found.intervals.get(name, NONE)) for name, value in found.values.items()}


@dataclass(frozen=True, slots=True)
class Lists:
    """A list of words, its contrast, and how skewed the lean of the words to one side is."""

    name: str
    size: int
    contrast: int = 40
    lean: float = 0.1
    skewed: float = 0.0


LISTS = (
    Lists("80 words", 80),
    Lists("30 words, skewed", 30, skewed=1.5),
    Lists("15 words", 15, 15),
    Lists("8 words", 8, 40),
    Lists("80 words, no lean", 80, lean=0.0),
)


def word_lists(one: Lists, random: Random) -> Figures:
    """Direct Bias, its side, RND, WEAT. The gender direction is given."""
    axis = np.eye(DIMENSIONS)[0]
    attributes = 0.3 * np.random.default_rng(1).normal(0, 1, (20, DIMENSIONS))
    female, male = attributes[:10] + axis, attributes[10:] - axis

    def drawn(count: int, lean: float) -> FloatArray:
        rows = random.normal(0, 1, (count, DIMENSIONS))
        size = random.lognormal(0, one.skewed, count) / np.exp(one.skewed**2 / 2) if one.skewed else 1.0
        rows[:, 0] += lean * np.sqrt(DIMENSIONS) * size
        return rows

    own, other = drawn(one.size, one.lean), drawn(one.contrast, 0.0)
    cosines = association.cosines(own, axis)
    norms = association.norm_distances(own, female, male)
    weat = association.weat(own, other, female, male, permutations=1)
    mean = association.words_interval
    return {
        "direct_bias": (association.direct_bias(cosines), mean(np.abs(cosines))),
        "signed_mean": (float(cosines.mean()), mean(cosines)),
        "rnd": (float(norms.mean()), mean(norms)),
        "weat": (weat.effect, weat.interval),
    }


def true_vectors(one: Population, random: Random) -> dict[str, float]:
    """The distances of the population: the same, of texts that all have an author of their own."""
    large = replace(one, first=1_000, second=1_000, authors=0, alike=0.0, shared=0)
    sets = [vectors(large, random) for _ in range(12)]
    return {name: float(np.mean([one[name][0] for one in sets])) for name in sets[0]}


def true_words(one: Population, random: Random) -> dict[str, float]:
    """JSD of 600,000 words of each side."""
    large = replace(one, first=4_000, second=4_000, authors=2_000 if one.authors else 0)
    sums = np.sum([large.counts(random)[:2] for _ in range(10)], axis=(0, 2))
    return {"jsd": distance.jensen_shannon(*sums)}


def no_truth(one: Population, random: Random) -> dict[str, float]:
    """A figure that only exists at a size."""
    return {}


def true_lists(one: Lists, random: Random) -> dict[str, float]:
    """The figures of 200,000 words."""
    large = Lists(one.name, 2_000, 2_000, one.lean, one.skewed)
    sets = [word_lists(large, random) for _ in range(100)]
    return {name: float(np.mean([one[name][0] for one in sets])) for name in sets[0]}


KINDS: Mapping[str, tuple[Callable[..., Figures], Callable[..., dict[str, float]], tuple[Any, ...]]] = {
    "vectors": (vectors, true_vectors, POPULATIONS),
    "words": (words, true_words, tuple(one for one in POPULATIONS if not one.shared)),
    "classifier": (classifier, no_truth, tuple(one for one in POPULATIONS if not one.shared)),
    "lists": (word_lists, true_lists, LISTS),
}


def covered(kind: str, one: Any, draws: int) -> dict[str, str]:
    """For each figure: shares at size and of the truth in percent, how many draws have an interval, bias."""
    draw, true, _ = KINDS[kind]
    truth = true(one, np.random.default_rng(8))
    random = np.random.default_rng(7)
    found = [draw(one, random) for _ in range(draws)]
    out = {}
    for name in found[0]:
        values = np.array([figures[name][0] for figures in found])
        ends = np.array([figures[name][1] for figures in found])
        has = ~np.isnan(ends).any(axis=1)
        at_size = float(np.nanmean(values))
        cells = [
            f"{100 * np.mean((ends[has, 0] <= aim + 1e-12) & (ends[has, 1] >= aim - 1e-12)):.1f}"
            if has.any()
            else "–"
            for aim in (at_size, truth.get(name, np.nan))
        ]
        if name not in truth:
            cells[1] = ""
        some = "" if has.mean() > 0.9 else f" ({has.sum()})"
        out[name] = f"{cells[0]} / {cells[1]}{some}".removesuffix(" / ")
    return out


def false_alarms(one: Population, draws: int) -> float:
    """The share of draws of the same source in which `mmd2_p` is at most 0.05, in percent."""
    random = np.random.default_rng(9)
    found = []
    for seed in range(draws):
        first, second, sides = one.clouds(random)
        found.append(mmd.mmd_test(first, second, sides=sides, permutations=199, seed=seed).p <= 0.05)
    return 100 * float(np.mean(found))


def main() -> None:
    """Print a table for each kind of figure: coverage at size / of the truth; then false alarms."""
    print(f"{machine()}; {DRAWS} draws each; at size / true\n")
    if sys.argv[2:] in ([], ["alarms"]):
        same = [replace(one, apart=0.0) for one in POPULATIONS]
        print(table(["", "mmd2_p"], [[one.name, f"{false_alarms(one, DRAWS):.1f}"] for one in same]))
    for kind in [kind for kind in KINDS if not sys.argv[2:] or kind in sys.argv[2:]]:
        rows = []
        for one in KINDS[kind][2]:
            found = covered(kind, one, DRAWS)
            rows.append([one.name, *found.values()])
            print(rows[-1], file=sys.stderr, flush=True)
        print(f"**{kind}**\n\n{table(['', *found], rows)}\n", flush=True)


if __name__ == "__main__":
    main()
