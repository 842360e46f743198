"""Coverage, width and false alarms of the intervals and tests in `statistics/` where texts belong together.

    python benchmarks/intervals.py [DRAWS] [TABLE ...]

Methods were chosen on seeds below `REPORTING`; what is reported comes from this seed on. Each share stands
with the number of draws behind it; chance moves 95 % of 200 draws by ±1.5 (one standard error).
"""

import sys
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from psycheck.audits.weakest import Standing, contenders
from psycheck.statistics.calibration import calibration_noise, expected_calibration_error
from psycheck.statistics.cluster_tests import groups_p
from psycheck.statistics.clustered import Clusters, ratio_interval
from psycheck.statistics.intervals import exact
from psycheck.statistics.paired_change import paired_change, share_estimate
from psycheck.statistics.significance import crossed_pearson, pearson
from psycheck.statistics.usefulness import constancy, usefulness
from timing import machine, table

REPORTING = 2_000_000
DRAWS = int(sys.argv[1]) if len(sys.argv) > 1 else 200
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Random = np.random.Generator
Row = list[str]


def authors_of(random: Random, n: int, authors: int, sizes: str) -> IntArray:
    """The author of each of n texts: as many each, a few who write much, or one of half of the texts."""
    if not authors:
        return np.arange(n)
    if sizes == "equal":
        return np.arange(n) % authors
    weights = random.lognormal(0, 1, authors) if sizes == "unequal" else np.ones(authors)
    if sizes == "half":
        weights[0] = authors - 1
    return random.choice(authors, n, p=weights / weights.sum())


def traits(random: Random, authors: IntArray, alike: float) -> FloatArray:
    """A standard normal trait per text, of which authors share the part `alike`."""
    of_author = random.normal(size=int(authors.max()) + 1)[authors]
    of_text = random.normal(size=len(authors))
    drawn: FloatArray = np.sqrt(alike) * of_author + np.sqrt(1 - alike) * of_text
    return drawn


def percent(hits: list[bool]) -> str:
    """A share in percent, or a dash."""
    return f"{100 * np.mean(hits):.1f}" if hits else "–"


def rates() -> Iterator[Row]:
    """Rates of authors: coverage and mean width, and the width of the exact interval of independent texts."""
    yield ["texts, authors, likeness", *(f"{rate:.1%}" for rate in (0.995, 0.98, 0.95, 0.7))]
    designs = [(160, 40, "equal"), (2_000, 65, "unequal"), (600, 20, "unequal"), (300, 40, "half")]
    for n, author_count, sizes in designs:
        for alike in (0.0, 0.3, 0.6, 1.0):
            cells = [_rate_cell(n, author_count, sizes, alike, rate) for rate in (0.995, 0.98, 0.95, 0.7)]
            yield [f"{n}, {author_count} {sizes}, {alike}", *cells]


def _rate_cell(n: int, author_count: int, sizes: str, alike: float, rate: float) -> str:
    random = np.random.default_rng((REPORTING, n, int(1_000 * rate), int(10 * alike)))
    covered: list[bool] = []
    widths: list[float] = []
    exact_widths: list[float] = []
    for _ in range(DRAWS):
        authors = authors_of(random, n, author_count, sizes)
        right = traits(random, authors, alike) < norm.ppf(rate)
        low, high = ratio_interval(right, np.ones(n), Clusters.of(authors))
        if np.isnan(low):
            continue
        covered.append(low <= rate <= high)
        widths.append(high - low)
        exact_low, exact_high = exact(float(right.mean()), n, 1)
        exact_widths.append(exact_high - exact_low)
    return f"{percent(covered)} ({np.mean(widths):.3f}; {np.mean(exact_widths):.3f})"


def copies() -> Iterator[Row]:
    """Texts copied among authors: coverage with authors alone, and with authors and texts."""
    yield ["texts, authors, copied from a pool", "rate", "by author", "by author and text", "group alarms"]
    designs = [(800, 40, 0.3, 5), (800, 40, 0.6, 200), (800, 400, 0.3, 60), (2_000, 200, 0.5, 20)]
    for n, author_count, share, pool in designs:
        for rate in (0.95, 0.7):
            random = np.random.default_rng((REPORTING, n, pool, int(100 * rate)))
            by_author: list[bool] = []
            by_both: list[bool] = []
            alarms: list[bool] = []
            for draw in range(DRAWS):
                authors = authors_of(random, n, author_count, "unequal")
                is_copy = random.random(n) < share
                texts = np.where(is_copy, random.integers(0, pool, n), pool + np.arange(n))
                of_text = random.normal(size=pool + n)[texts]
                trait = np.sqrt(0.4) * traits(random, authors, 0.5) + np.sqrt(0.6) * of_text
                right = trait < norm.ppf(rate)
                both = Clusters.of(authors, texts)
                for clusters, covered in ((Clusters.of(authors), by_author), (both, by_both)):
                    low, high = ratio_interval(right, np.ones(n), clusters)
                    covered.append(low <= rate <= high)
                is_first = (random.random(author_count) < 0.4)[authors]
                alarms.append(groups_p(right, np.ones(n), is_first, both, seed=draw) <= 0.05)
            name = f"{n}, {author_count}, {share:.0%} of {pool}"
            yield [name, f"{rate:.0%}", percent(by_author), percent(by_both), percent(alarms)]


GROUPS = (
    ((20, 1), (20, 50)),
    ((40, 1), (40, 20)),
    ((20, 5), (20, 5)),
    ((5, 10), (35, 10)),
    ((10, 1), (30, 30)),
    ((30, 1), (10, 30)),
    ((3, 20), (20, 20)),
    ((1, 20), (20, 20)),
)


def groups() -> Iterator[Row]:
    """Groups of authors that do not differ: how often the test says that they do."""
    yield ["authors × posts", *(f"{rate:.0%}, {alike}" for rate in (0.5, 0.2, 0.05) for alike in (0.1, 0.6))]
    for number, (first, second) in enumerate(GROUPS):
        cells: Row = []
        for rate in (0.5, 0.2, 0.05):
            for alike in (0.1, 0.6):
                random = np.random.default_rng((REPORTING, number, int(100 * rate), int(10 * alike)))
                posts = np.r_[np.full(*first), np.full(*second)]
                authors = np.repeat(np.arange(len(posts)), posts)
                alarms = []
                for draw in range(DRAWS):
                    right = traits(random, authors, alike) < norm.ppf(rate)
                    p = groups_p(right, right >= 0, authors < first[0], Clusters.of(authors), seed=draw)
                    alarms.append(p <= 0.05)
                cells.append(percent(alarms))
        yield [f"{first[0]} × {first[1]} against {second[0]} × {second[1]}", *cells]


def calibrated() -> Iterator[Row]:
    """Calibrated models: how often their calibration error is called more than chance."""
    yield ["texts, authors, likeness", "hard", "share of 3 raters", "share of 10 raters"]
    for n, author_count, alike in (
        (100, 0, 0.0),
        (3_000, 0, 0.0),
        (800, 40, 0.3),
        (800, 40, 0.6),
        (2_000, 300, 0.4),
    ):
        cells = [_calibration_alarms(n, author_count, alike, raters) for raters in (1, 3, 10)]
        yield [f"{n}, {author_count}, {alike}", *cells]


def _calibration_alarms(n: int, author_count: int, alike: float, raters: int) -> str:
    random = np.random.default_rng((REPORTING, n, author_count, raters))
    alarms: list[bool] = []
    for draw in range(DRAWS):
        authors = authors_of(random, n, author_count, "unequal")
        trait = traits(random, authors, alike)
        scores = np.clip(random.beta(0.7, 1.3, n), 1e-6, 1 - 1e-6)
        if raters == 1:
            targets = (norm.cdf(trait) < scores).astype(float)
        else:
            # The mean over the trait is the score, so that the model is calibrated.
            chance = norm.cdf(norm.ppf(scores) * np.sqrt(1.3) - trait * np.sqrt(0.3))
            targets = random.binomial(raters, chance) / raters
        noise = calibration_noise(targets, scores, Clusters.of(authors), resamples=400, seed=draw)
        alarms.append(expected_calibration_error(targets, scores) > noise)
    return percent(alarms)


MODELS: dict[str, tuple[float | str, float]] = {
    "95 % the same": ("same", 0.95),
    "99 %": ("same", 0.99),
    "99.8 %": ("same", 0.998),
    "sound, .8 and .95": (0.8, 0.95),
    "weak, .5 and .9": (0.5, 0.9),
}


def constant() -> Iterator[Row]:
    """Near-constant and sound models: called near-constant / undecided, in percent."""
    yield ["texts, authors, prevalence", *MODELS]
    for n, author_count in ((200, 0), (600, 0), (2_000, 0), (800, 40), (2_000, 65)):
        for prevalence in (0.01, 0.05, 0.2, 0.4, 0.9):
            cells = [_constancy_cell(n, author_count, prevalence, *model) for model in MODELS.values()]
            yield [f"{n}, {author_count}, {prevalence:.0%}", *cells]


def _constancy_cell(
    n: int, author_count: int, prevalence: float, sensitivity: float | str, specificity: float
) -> str:
    random = np.random.default_rng((REPORTING, n, int(100 * prevalence), int(1_000 * specificity)))
    verdicts: list[str] = []
    for _ in range(DRAWS // 2):
        authors = authors_of(random, n, author_count, "unequal")
        positive = traits(random, authors, 0.5) < norm.ppf(prevalence)
        chance = norm.cdf(traits(random, authors, 0.2))
        if isinstance(sensitivity, str):
            called = chance < specificity
        else:
            called = np.where(positive, chance < sensitivity, chance > specificity)
        verdicts.append(constancy(positive, called, Clusters.of(authors)).verdict)
    shares = [
        100 * np.mean([verdict == name for verdict in verdicts]) for name in ("near-constant", "undecided")
    ]
    return f"{shares[0]:.0f} / {shares[1]:.0f}"


def useless() -> Iterator[Row]:
    """Models that know nothing: how often AUC and balanced accuracy are called other than 0.5."""
    yield ["texts, authors, prevalence", "AUC", "balanced accuracy", "tested"]
    for n, author_count in ((60, 0), (300, 0), (800, 40), (2_000, 65)):
        for prevalence in (0.5, 0.1, 0.02):
            random = np.random.default_rng((REPORTING, n, int(100 * prevalence)))
            of_auc: list[bool] = []
            of_decisions: list[bool] = []
            for _ in range(DRAWS):
                authors = authors_of(random, n, author_count, "unequal")
                positive = traits(random, authors, 0.5) < norm.ppf(prevalence)
                scores = norm.cdf(traits(random, authors, 0.5))
                decided = (scores > 0.7).astype(float)
                figures = usefulness(positive.astype(float), scores, decided, Clusters.of(authors))
                if not np.isnan(figures.auc.p):
                    of_auc.append(figures.auc.p <= 0.05)
                    of_decisions.append(figures.balanced_accuracy.p <= 0.05)
            yield [
                f"{n}, {author_count}, {prevalence:.0%}",
                percent(of_auc),
                percent(of_decisions),
                str(len(of_auc)),
            ]


def gates() -> Iterator[Row]:
    """A true loss of exactly the tolerance: how often it is called more than that."""
    settings = [(0.1, 0.0), (0.3, 0.0), (0.1, 0.02), (0.1, 0.05), (0.03, 0.02)]
    yield ["texts, authors", *(f"{share:.0%} differ, {tolerance} tolerated" for share, tolerance in settings)]
    for n, author_count in ((60, 0), (200, 0), (1_000, 0), (300, 40), (1_000, 65)):
        cells = [_gate_alarms(n, author_count, share, tolerance) for share, tolerance in settings]
        yield [f"{n}, {author_count}", *cells]


def _gate_alarms(n: int, author_count: int, share: float, loss: float) -> str:
    random = np.random.default_rng((REPORTING, n, int(1_000 * share), int(1_000 * loss)))
    alarms: list[bool] = []
    for _ in range(DRAWS):
        authors = authors_of(random, n, author_count, "unequal")
        chance = norm.cdf(traits(random, authors, 0.4))
        base = random.random(n) < 0.8
        is_lost = chance < (share + loss) / 2
        is_gained = chance > 1 - (share - loss) / 2
        before = (base | is_lost) & ~is_gained
        now = (base | is_gained) & ~is_lost
        change = paired_change(
            share_estimate(before), share_estimate(now), Clusters.of(authors), tolerance=loss
        )
        alarms.append(change.p_worse <= 0.05)
    return percent(alarms)


def several() -> Iterator[Row]:
    """Equal checks that are all in the set of the weakest, as a verdict names it."""
    yield ["texts, authors, checks", "5 % fail", "30 % fail"]
    for n, author_count, count in ((400, 0, 2), (100, 0, 20), (400, 0, 20), (400, 40, 20), (800, 40, 6)):
        holds = [_set_holds(n, author_count, count, rate) for rate in (0.05, 0.3)]
        yield [f"{n}, {author_count}, {count}", *holds]


def _set_holds(n: int, author_count: int, count: int, rate: float) -> str:
    random = np.random.default_rng((REPORTING, n, count, int(100 * rate)))
    holds: list[bool] = []
    for _ in range(DRAWS):
        authors = authors_of(random, n, author_count, "unequal")
        ease = random.normal(size=n)
        checks = []
        for _ in range(count):
            trait = 0.7 * ease + np.sqrt(0.51) * traits(random, authors, 0.25)
            checks.append(_standing(trait < norm.ppf(rate), authors))
        holds.append(len(contenders(checks)) == count)
    return percent(holds)


def _standing(fails: NDArray[np.bool_], authors: IntArray) -> Standing:
    """The standing of a check of which all cases were asked."""
    n = len(fails)
    lost = float(fails.mean())
    _, author_codes = np.unique(authors, return_inverse=True)
    errors = np.bincount(author_codes, (fails - lost) / n)
    return Standing(upper_end=1 - lost, possible=True, lost=lost, n=n, errors=errors.astype(np.float32))


def correlations() -> Iterator[Row]:
    """Correlations over models × corpora: coverage clustered by both, and as independent pairs."""
    yield ["models × corpora", "share of models, corpora", "by both", "as independent pairs"]
    for models, corpora in ((10, 5), (6, 10), (5, 3)):
        for of_model, of_corpus in ((0.6, 0.2), (0.2, 0.6), (0.0, 0.0)):
            random = np.random.default_rng((REPORTING, models, int(10 * of_model)))
            draw = partial(_crossed_pair, random, models, corpora, of_model, of_corpus)
            covered: list[bool] = []
            as_independent: list[bool] = []
            for _ in range(DRAWS):
                x, y, rows, columns = draw()
                for found, hits in (
                    (crossed_pearson(x, y, rows, columns), covered),
                    (pearson(x, y), as_independent),
                ):
                    hits.append(found.interval[0] <= 0.5 <= found.interval[1])
            yield [
                f"{models} × {corpora}",
                f"{of_model}, {of_corpus}",
                percent(covered),
                percent(as_independent),
            ]


def _crossed_pair(
    random: Random, models: int, corpora: int, of_model: float, of_corpus: float
) -> tuple[FloatArray, FloatArray, IntArray, IntArray]:
    """Two figures that correlate with 0.5, of each model on each corpus."""
    rows = np.repeat(np.arange(models), corpora)
    columns = np.tile(np.arange(corpora), models)
    x = np.zeros(len(rows))
    y = np.zeros(len(rows))
    parts = ((of_model, rows), (of_corpus, columns), (1 - of_model - of_corpus, np.arange(len(rows))))
    for share, codes in parts:
        first = random.normal(size=int(codes.max()) + 1)
        second = 0.5 * first + np.sqrt(0.75) * random.normal(size=len(first))
        x += np.sqrt(share) * first[codes]
        y += np.sqrt(share) * second[codes]
    return x, y, rows, columns


TABLES: dict[str, Callable[[], Iterator[Row]]] = {
    "rates": rates,
    "copies": copies,
    "groups": groups,
    "calibrated": calibrated,
    "constant": constant,
    "useless": useless,
    "gates": gates,
    "several": several,
    "correlations": correlations,
}


def main() -> None:
    """Print the tables that are named, or all."""
    print(f"{machine()}; {DRAWS} draws each\n")
    for name in sys.argv[2:] or TABLES:
        head, *rows = TABLES[name]()
        print(f"**{name}**: {TABLES[name].__doc__}\n\n{table(head, rows)}\n", flush=True)


if __name__ == "__main__":
    main()
