"""Tables of `intervals.py`: false alarms of tests, and what verdicts say of models that are known."""

from collections.abc import Iterator

import numpy as np
from scipy.stats import norm

from interval_draws import (
    BoolArray,
    FloatArray,
    IntArray,
    Random,
    Row,
    Rows,
    Share,
    authors_of,
    random_of,
    traits,
)
from psycheck.audits.weakest import Standing, contenders
from psycheck.statistics.calibration import calibration_noise, expected_calibration_error
from psycheck.statistics.cluster_tests import groups_p
from psycheck.statistics.clustered import Clusters
from psycheck.statistics.mmd import mmd_test
from psycheck.statistics.paired_change import paired_change, share_estimate
from psycheck.statistics.random_topics import as_tight, list_test, neighbourhoods
from psycheck.statistics.sides import Sides
from psycheck.statistics.usefulness import constancy, usefulness
from psycheck.statistics.word_association import unit

LEVEL = 0.05
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


def groups(draws: int) -> Rows:
    """Groups of authors that do not differ: how often the test says that they do."""
    cells = [(rate, alike) for rate in (0.5, 0.2, 0.05) for alike in (0.1, 0.6)]
    yield ["authors × posts", *(f"{rate:.0%}, {alike}" for rate, alike in cells)]
    for number, (first, second) in enumerate(GROUPS):
        row: Row = [f"{first[0]} × {first[1]} against {second[0]} × {second[1]}"]
        posts = np.r_[np.full(*first), np.full(*second)]
        authors = np.repeat(np.arange(len(posts)), posts)
        is_first = authors < first[0]
        for rate, alike in cells:
            random = random_of(number, int(100 * rate), int(10 * alike))
            alarms: list[bool] = []
            for draw in range(draws):
                right = traits(random, authors, alike) < norm.ppf(rate)
                every = np.ones(len(right))
                p = groups_p(right, every, is_first, Clusters.of(authors), seed=draw)
                alarms.append(p <= LEVEL)
            row.append(Share.of(alarms))
        yield row


def distances(draws: int) -> Rows:
    """Two corpora of one source, by authors: how often `mmd2_p` says that they differ."""
    yield ["authors × posts", "likeness 0.1", "likeness 0.6"]
    for number, name in enumerate(DISTANCES):
        row: Row = [name]
        for alike in (0.1, 0.6):
            random = random_of(number, int(10 * alike))
            alarms: list[bool] = []
            for draw in range(draws):
                first, second = _posts(name, random)
                posts = np.r_[first, second]
                units = np.repeat(np.arange(len(posts)), posts)
                vectors = _vectors(random, units, alike)
                m = int(first.sum())
                sides = Sides.of(m, len(units) - m, units)
                test = mmd_test(
                    vectors[:m],
                    vectors[m:],
                    sides=sides,
                    permutations=199,
                    seed=draw,
                )
                alarms.append(test.p <= LEVEL)
            row.append(Share.of(alarms))
        yield row


DISTANCES = (
    "20 × 1 against 20 × 50",
    "40 × 1 against 40 × 20",
    "10 × 1 against 30 × 30",
    "30 × 1 against 10 × 30",
    "40 unequal against 40 unequal",
    "15 unequal against 60 × 1",
    "40, one of half of the posts, against 40 × 3",
    "200 × 1 against 200 × 1",
)


def _posts(name: str, random: Random) -> tuple[IntArray, IntArray]:
    """How many posts each author of either side has, by the name of a design."""
    sides = []
    for side in name.replace(", against", " against").split(" against "):
        authors = int(side.split()[0].rstrip(","))
        if "unequal" in side:
            drawn = random.lognormal(1.5, 1.0, authors).astype(int)
            sides.append(np.maximum(drawn, 1))
        elif "half" in side:
            others = np.full(authors - 1, 3)
            sides.append(np.r_[others.sum(), others])
        else:
            sides.append(np.full(authors, int(side.split()[-1])))
    return sides[0], sides[1]


def _vectors(random: Random, units: IntArray, alike: float) -> FloatArray:
    """Vectors of 20 dimensions, of which authors share the part `alike`, (n, 20)."""
    of_author = random.normal(size=(int(units.max()) + 1, 20))[units]
    of_text = random.normal(size=(len(units), 20))
    drawn: FloatArray = np.sqrt(alike) * of_author + np.sqrt(1 - alike) * of_text
    return drawn


def topics(draws: int) -> Rows:
    """Neutral lists of 20 words against 50 topics: how often size or side is below .05."""
    yield ["noise of the topics, of the list", "size", "side", "size, not stretched", "side, not stretched"]
    for of_topics, of_list in ((0.7, 0.7), (1.0, 0.7), (1.0, 0.4), (1.5, 0.7), (1.5, 0.4), (0.7, 1.5)):
        random = random_of(int(10 * of_topics), int(10 * of_list))
        alarms: dict[str, list[bool]] = {}
        for draw in range(draws):
            for name, p in _topic_tests(random, of_topics, of_list, draw):
                alarms.setdefault(name, []).append(p < LEVEL)
        stretched = [Share.of(alarms[name]) for name in ("size", "side")]
        as_found = [str(Share.of(alarms[f"plain {name}"])) for name in ("size", "side")]
        yield [f"{of_topics}, {of_list}", *stretched, *as_found]


def _topic_tests(
    random: Random,
    of_topics: float,
    of_list: float,
    draw: int,
) -> Iterator[tuple[str, float]]:
    """The p-values of one neutral list, against topics as tight as it is and as they are."""
    dimensions = 30
    common = 0.5 * random.normal(size=dimensions)
    middles = common + random.normal(size=(50, dimensions))
    pool = unit(np.repeat(middles, 20, axis=0) + of_topics * random.normal(size=(1_000, dimensions)))
    middle = common + random.normal(size=dimensions)
    words = unit(middle + of_list * random.normal(size=(20, dimensions)))
    # Any direction is as good as another: the first axis stands for gender.
    cosines = words[:, 0]
    pool_cosines = pool[:, 0]

    lists = neighbourhoods(pool, 20, lists=1_000, seed=draw)
    stretched = as_tight(lists, pool, words).values(pool_cosines)
    for prefix, values in (("", stretched), ("plain ", pool_cosines[lists])):
        size = list_test(float(np.abs(cosines).mean()), np.abs(values).mean(axis=1))
        side = list_test(float(cosines.mean()), values.mean(axis=1), two_sided=True)
        yield f"{prefix}size", size.p
        yield f"{prefix}side", side.p


def calibrated(draws: int) -> Rows:
    """Calibrated models: how often their calibration error is called more than chance."""
    yield ["texts, authors, likeness", "hard", "share of 3 raters", "share of 10 raters"]
    for n, author_count, alike in (
        (100, 0, 0.0),
        (3_000, 0, 0.0),
        (800, 40, 0.3),
        (800, 40, 0.6),
        (2_000, 300, 0.4),
    ):
        cells = [_calibration_alarms(n, author_count, alike, raters, draws) for raters in (1, 3, 10)]
        yield [f"{n}, {author_count}, {alike}", *cells]


def _calibration_alarms(
    n: int,
    author_count: int,
    alike: float,
    raters: int,
    draws: int,
) -> Share:
    random = random_of(n, author_count, int(10 * alike), raters)
    alarms: list[bool] = []
    for draw in range(draws):
        authors = authors_of(random, n, author_count)
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
    return Share.of(alarms)


MODELS: dict[str, tuple[float | None, float]] = {
    "95 % the same": (None, 0.95),
    "99 %": (None, 0.99),
    "99.8 %": (None, 0.998),
    "sound, .8 and .95": (0.8, 0.95),
    "weak, .5 and .9": (0.5, 0.9),
}


def constant(draws: int) -> Rows:
    """Near-constant and sound models: called near-constant / undecided, in percent."""
    yield ["texts, authors, prevalence", *MODELS]
    for n, author_count in ((200, 0), (600, 0), (2_000, 0), (800, 40), (2_000, 65)):
        for prevalence in (0.01, 0.05, 0.2, 0.4, 0.9):
            row: Row = [f"{n}, {author_count}, {prevalence:.0%}"]
            for sensitivity, specificity in MODELS.values():
                random = random_of(n, int(100 * prevalence), int(1_000 * specificity))
                verdicts = [
                    _constancy(random, n, author_count, prevalence, sensitivity, specificity)
                    for _ in range(draws // 2)
                ]
                near_constant = 100 * verdicts.count("near-constant") / len(verdicts)
                undecided = 100 * verdicts.count("undecided") / len(verdicts)
                row.append(f"{near_constant:.0f} / {undecided:.0f}")
            yield row


def _constancy(
    random: Random,
    n: int,
    author_count: int,
    prevalence: float,
    sensitivity: float | None,
    specificity: float,
) -> str:
    """The verdict on a model; without a sensitivity it answers the same to a share of all texts."""
    authors = authors_of(random, n, author_count)
    positive = traits(random, authors, 0.5) < norm.ppf(prevalence)
    chance = norm.cdf(traits(random, authors, 0.2))
    called: BoolArray = chance < specificity
    if sensitivity is not None:
        called = np.where(positive, chance < sensitivity, chance > specificity)
    return constancy(positive, called, Clusters.of(authors)).verdict


def useless(draws: int) -> Rows:
    """Models that know nothing: how often AUC and balanced accuracy are called other than 0.5."""
    yield ["texts, authors, prevalence", "AUC", "balanced accuracy", "tested"]
    for n, author_count in ((60, 0), (300, 0), (800, 40), (2_000, 65)):
        for prevalence in (0.5, 0.1, 0.02):
            random = random_of(n, int(100 * prevalence))
            of_auc: list[bool] = []
            of_decisions: list[bool] = []
            for _ in range(draws):
                authors = authors_of(random, n, author_count)
                positive = traits(random, authors, 0.5) < norm.ppf(prevalence)
                scores = norm.cdf(traits(random, authors, 0.5))
                decided = (scores > 0.7).astype(float)
                figures = usefulness(positive.astype(float), scores, decided, Clusters.of(authors))
                if not np.isnan(figures.auc.p):
                    of_auc.append(figures.auc.p <= LEVEL)
                    of_decisions.append(figures.balanced_accuracy.p <= LEVEL)
            yield [
                f"{n}, {author_count}, {prevalence:.0%}",
                Share.of(of_auc),
                Share.of(of_decisions),
                str(len(of_auc)),
            ]


def gates(draws: int) -> Rows:
    """A true loss of exactly the tolerance: how often it is called more than that."""
    settings = [(0.1, 0.0), (0.3, 0.0), (0.1, 0.02), (0.1, 0.05), (0.03, 0.02)]
    yield ["texts, authors", *(f"{share:.0%} differ, {tolerance} tolerated" for share, tolerance in settings)]
    for n, author_count in ((60, 0), (200, 0), (1_000, 0), (300, 40), (1_000, 65)):
        cells = [_gate_alarms(n, author_count, share, tolerance, draws) for share, tolerance in settings]
        yield [f"{n}, {author_count}", *cells]


def _gate_alarms(
    n: int,
    author_count: int,
    share: float,
    loss: float,
    draws: int,
) -> Share:
    random = random_of(n, int(1_000 * share), int(1_000 * loss))
    alarms: list[bool] = []
    for _ in range(draws):
        authors = authors_of(random, n, author_count)
        chance = norm.cdf(traits(random, authors, 0.4))
        base = random.random(n) < 0.8
        is_lost = chance < (share + loss) / 2
        is_gained = chance > 1 - (share - loss) / 2
        before = share_estimate((base | is_lost) & ~is_gained)
        now = share_estimate((base | is_gained) & ~is_lost)
        change = paired_change(before, now, Clusters.of(authors), tolerance=loss)
        alarms.append(change.p_worse <= LEVEL)
    return Share.of(alarms)


def several(draws: int) -> Rows:
    """Equal checks: how often all of them are in the set of the weakest, as a verdict names it."""
    yield ["texts, authors, checks", "5 % fail", "30 % fail"]
    for n, author_count, count in ((400, 0, 2), (100, 0, 20), (400, 0, 20), (400, 40, 20), (800, 40, 6)):
        row: Row = [f"{n}, {author_count}, {count}"]
        for rate in (0.05, 0.3):
            random = random_of(n, count, int(100 * rate))
            holds: list[bool] = []
            for _ in range(draws):
                authors = authors_of(random, n, author_count)
                ease = random.normal(size=n)
                checks = []
                for _ in range(count):
                    trait = 0.7 * ease + np.sqrt(0.51) * traits(random, authors, 0.25)
                    checks.append(_standing(trait < norm.ppf(rate), authors))
                holds.append(len(contenders(checks)) == count)
            row.append(Share.of(holds))
        yield row


def _standing(fails: BoolArray, authors: IntArray) -> Standing:
    """The standing of a check of which all cases were asked."""
    n = len(fails)
    lost = float(fails.mean())
    _, author_codes = np.unique(authors, return_inverse=True)
    errors = np.bincount(author_codes, (fails - lost) / n)
    return Standing(
        upper_end=1 - lost,
        possible=True,
        lost=lost,
        n=n,
        errors=errors.astype(np.float32),
    )
