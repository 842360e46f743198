"""How often the 95 % intervals of performance hold the true value, by measure and kind of corpus.

Corpora are drawn from a known population; the true value is that of a corpus of 400,000 texts of it. Aim: at
least 93 % everywhere, or no interval.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from psycheck.measures import calibration, classification
from psycheck.measures.clustered import Clusters, classification_intervals
from timing import machine, table

FloatArray = NDArray[np.float64]
DRAWS = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000


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

    def draw(self, random: np.random.Generator, times: int = 1) -> tuple[FloatArray, FloatArray, Clusters]:
        """Targets, scores and clusters of one corpus, `times` as large."""
        n = self.texts * times
        if self.authors:
            sizes = random.lognormal(0.0, 1.0, self.authors * times)
            author = np.sort(random.choice(len(sizes), n, p=sizes / sizes.sum()))
        else:
            author = np.arange(n)
        own = random.normal(0, 1, (2, int(author.max()) + 1))[:, author] * np.sqrt(self.alike)
        rest = random.normal(0, 1, (2, n)) * np.sqrt(1 - self.alike)
        from scipy.stats import norm

        y = (own[0] + rest[0] < norm.ppf(self.share)).astype(float)
        logit = self.shift + self.apart * (y - 0.5) + own[1] + rest[1]
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


def figures(y: FloatArray, scores: FloatArray) -> dict[str, float]:
    """The values that intervals are checked for."""
    c = classification.confusion(y, scores)
    by: dict[str, Callable[[classification.Confusion], classification.Measured]] = {
        name: getattr(classification, name)
        for name in (
            "accuracy",
            "precision",
            "recall",
            "f1",
            "macro_f1",
            "weighted_f1",
            "hard_brier",
            "hard_auc",
        )
    }
    return {
        **{name: f(c).value for name, f in by.items()},
        "auc": classification.auc(y, scores).value,
        "average_precision": classification.average_precision(y, scores).value,
        "brier": calibration.brier(y, scores),
    }


def main() -> None:
    """Print one row per population, one column per measure; "–" where too few corpora have an interval."""
    rows, names = [], list(figures(np.array([0.0, 1.0]), np.array([0.2, 0.8])))
    for population in POPULATIONS:
        random = np.random.default_rng(7)
        y, s, _ = population.draw(random, times=max(1, 400_000 // population.texts))
        truth = figures(y, s)
        held: dict[str, list[bool]] = {name: [] for name in names}
        for _ in range(DRAWS):
            y, s, clusters = population.draw(random)
            for name, (low, high) in classification_intervals(y, s, clusters).items():
                if not np.isnan(low):
                    held[name].append(low <= truth[name] <= high)
        cells = [
            f"{100 * np.mean(h):.1f}" + ("" if len(h) > 0.9 * DRAWS else f" ({len(h)})") if h else "–"
            for h in held.values()
        ]
        rows.append([population.name, *cells])
        print(rows[-1], file=sys.stderr, flush=True)
    print(f"{machine()}; {DRAWS} corpora each\n")
    print(table(["corpus", *names], rows))


if __name__ == "__main__":
    main()
