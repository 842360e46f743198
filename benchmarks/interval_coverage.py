"""Tables of `intervals.py`: how often intervals hold the true value, and how wide they are."""

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
    holds,
    random_of,
    traits,
)
from psycheck.statistics.cluster_tests import groups_p
from psycheck.statistics.clustered import Clusters, ratio_interval
from psycheck.statistics.intervals import exact
from psycheck.statistics.label_intervals import classification_intervals
from psycheck.statistics.multilabel import label_figures
from psycheck.statistics.rater_agreement import Level, alpha
from psycheck.statistics.significance import crossed_pearson, pearson

RATES = (0.995, 0.98, 0.95, 0.7)


def rates(draws: int) -> Rows:
    """Rates of authors: coverage (mean width; width of the exact interval of as many independent texts)."""
    yield ["texts, authors, likeness", *(f"{rate:.1%}" for rate in RATES)]
    designs = [(160, 40, "equal"), (2_000, 65, "unequal"), (600, 20, "unequal"), (300, 40, "half")]
    for n, author_count, sizes in designs:
        for alike in (0.0, 0.3, 0.6, 1.0):
            row: Row = [f"{n}, {author_count} {sizes}, {alike}"]
            for rate in RATES:
                random = random_of(n, int(1_000 * rate), int(10 * alike))
                covered: list[bool] = []
                widths: list[float] = []
                exact_widths: list[float] = []
                for _ in range(draws):
                    authors = authors_of(random, n, author_count, sizes)
                    right = traits(random, authors, alike) < norm.ppf(rate)
                    low, high = ratio_interval(right, np.ones(n), Clusters.of(authors))
                    if np.isnan(low):
                        continue
                    covered.append(low <= rate <= high)
                    widths.append(high - low)
                    exact_low, exact_high = exact(float(right.mean()), n, 1)
                    exact_widths.append(exact_high - exact_low)
                row.append(Share.of(covered, widths, exact_widths))
            yield row


def prolific(draws: int) -> Rows:
    """Authors who write more have other rates: coverage (mean width). The aim is not met here."""
    yield ["texts, authors, likeness, effect of size", *(f"{rate:.0%}" for rate in (0.98, 0.9, 0.7))]
    for n, author_count in ((2_000, 65), (600, 20), (800, 40)):
        for alike, effect in ((0.0, 0.5), (0.3, 0.5), (0.6, -0.5), (0.0, 1.0)):
            row: Row = [f"{n}, {author_count}, {alike}, {effect}"]
            for rate in (0.98, 0.9, 0.7):
                population = np.random.default_rng(5)
                means = [
                    _prolific_texts(population, n, author_count, alike, effect, rate)[1].mean()
                    for _ in range(1_500)
                ]
                truth = float(np.mean(means))
                random = random_of(n, int(1_000 * rate), int(10 * alike), int(10 * abs(effect)))
                covered: list[bool] = []
                widths: list[float] = []
                for _ in range(draws):
                    authors, right = _prolific_texts(random, n, author_count, alike, effect, rate)
                    low, high = ratio_interval(right, np.ones(n), Clusters.of(authors))
                    covered.append(low <= truth <= high)
                    widths.append(high - low)
                row.append(Share.of(covered, widths))
            yield row


def _prolific_texts(
    random: Random,
    n: int,
    author_count: int,
    alike: float,
    effect: float,
    rate: float,
) -> tuple[IntArray, BoolArray]:
    """The author of each text and whether it is right; the log of an author's size moves the trait."""
    log_sizes = random.normal(size=author_count)
    weights = np.exp(log_sizes)
    authors = random.choice(author_count, n, p=weights / weights.sum())
    # Texts of an author of mean size per text are at the rate.
    moved = effect * (log_sizes[authors] - 1)
    return authors, traits(random, authors, alike) + moved < norm.ppf(rate)


def copies(draws: int) -> Rows:
    """Texts copied among authors: coverage by author (not used) and by author and text; group alarms."""
    yield ["texts, authors, copied from a pool, rate", "by author (not used)", "by author and text", "alarms"]
    designs = [(800, 40, 0.3, 5), (800, 40, 0.6, 200), (800, 400, 0.3, 60), (2_000, 200, 0.5, 20)]
    for n, author_count, share, pool in designs:
        for rate in (0.95, 0.7):
            random = random_of(n, pool, int(100 * rate))
            by_author: list[bool] = []
            by_both: list[bool] = []
            alarms: list[bool] = []
            for draw in range(draws):
                authors = authors_of(random, n, author_count)
                texts = _copied_texts(random, n, share, pool)
                of_text = random.normal(size=pool + n)[texts]
                trait = np.sqrt(0.4) * traits(random, authors, 0.5) + np.sqrt(0.6) * of_text
                right = trait < norm.ppf(rate)
                both = Clusters.of(authors, texts)
                by_author.append(holds(ratio_interval(right, np.ones(n), Clusters.of(authors)), rate))
                by_both.append(holds(ratio_interval(right, np.ones(n), both), rate))
                is_first = (random.random(author_count) < 0.4)[authors]
                alarms.append(groups_p(right, np.ones(n), is_first, both, seed=draw) <= 0.05)
            name = f"{n}, {author_count}, {share:.0%} of {pool}, {rate:.0%}"
            # As text: what is not used does not count in the summary.
            yield [name, str(Share.of(by_author)), Share.of(by_both), str(Share.of(alarms))]


def _copied_texts(
    random: Random,
    n: int,
    share: float,
    pool: int,
) -> IntArray:
    """The number of the text of each post; a share of the posts are of a small pool of texts."""
    is_copy = random.random(n) < share
    return np.where(is_copy, random.integers(0, pool, n), pool + np.arange(n))


AUC_DESIGNS = (
    (300, 0, "equal"),
    (800, 40, "equal"),
    (2_000, 65, "unequal"),
    (600, 20, "unequal"),
    (600, 40, "half"),
)


def ranking(draws: int) -> Rows:
    """AUC and Brier score of authors: coverage (mean width)."""
    yield ["texts, authors, likeness", "AUC .76", "AUC .98", "Brier score"]
    for n, author_count, sizes in AUC_DESIGNS:
        for alike in (0.2, 0.6):
            if not author_count and alike > 0.2:
                continue
            row: Row = [f"{n}, {author_count} {sizes}, {alike}"]
            for apart in (1.0, 3.0):
                shares = _ranking_shares(n, author_count, sizes, alike, apart, draws)
                row += shares if apart == 1.0 else shares[:1]
            # The Brier score of the first population stands last.
            yield [row[0], row[1], row[3], row[2]]


def _ranking_shares(
    n: int,
    author_count: int,
    sizes: str,
    alike: float,
    apart: float,
    draws: int,
) -> list[Share]:
    """Coverage of AUC and Brier score where the scores of the classes are so many deviations apart."""
    random = random_of(n, author_count, int(10 * alike), int(apart))
    true_auc = float(norm.cdf(apart / np.sqrt(2)))
    of_auc: list[bool] = []
    of_brier: list[bool] = []
    auc_widths: list[float] = []
    brier_widths: list[float] = []
    true_brier = _true_brier(apart)
    for _ in range(draws):
        authors = authors_of(random, n, author_count, sizes)
        positive = traits(random, authors, alike) < norm.ppf(0.3)
        latent = traits(random, authors, alike) + apart * positive
        intervals = classification_intervals(
            positive.astype(float),
            _probabilities(latent, apart),
            Clusters.of(authors),
        )
        for name, truth, held, widths in (
            ("auc", true_auc, of_auc, auc_widths),
            ("brier", true_brier, of_brier, brier_widths),
        ):
            low, high = intervals.get(name, (np.nan, np.nan))
            if not np.isnan(low):
                held.append(low <= truth <= high)
                widths.append(high - low)
    return [Share.of(of_auc, auc_widths), Share.of(of_brier, brier_widths)]


def _probabilities(latent: FloatArray, apart: float) -> FloatArray:
    """Scores in 0..1 from latent values around 0 and around `apart`."""
    scores: FloatArray = norm.cdf(latent - apart / 2)
    return scores


def _true_brier(apart: float) -> float:
    """The Brier score of the population, from two million texts of their own."""
    random = np.random.default_rng(0)
    positive = random.random(2_000_000) < 0.3
    latent = random.normal(size=len(positive)) + apart * positive
    return float(np.mean((_probabilities(latent, apart) - positive) ** 2))


LABELS = (
    (100, (0.3, 0.1)),
    (300, (0.3, 0.1, 0.03)),
    (300, (0.3, 0.2, 0.1, 0.05, 0.02)),
    (1_000, (0.2, 0.05, 0.01, 0.005)),
)
MEANS = ("weighted_precision", "weighted_recall")


def labels(draws: int) -> Rows:
    """Means over labels of which some are rare: coverage (mean width), independent texts and 60 authors."""
    heads = [f"{name}, {authors} authors" for name in MEANS for authors in (0, 60)]
    yield ["texts, share of each label, sensitivity, false calls", *heads]
    for n, prevalences in LABELS:
        for sensitivity, false_calls in ((0.7, 0.3), (0.9, 0.05), (0.5, 1.0)):
            cells = {
                authors: _label_shares(n, prevalences, sensitivity, false_calls, authors, draws)
                for authors in (0, 60)
            }
            shares = ", ".join(f"{share:g}" for share in prevalences)
            row: Row = [f"{n}: {shares}; {sensitivity}, {false_calls}"]
            row += [cells[authors][name] for name in MEANS for authors in (0, 60)]
            yield row


def _label_shares(
    n: int,
    prevalences: tuple[float, ...],
    sensitivity: float,
    false_calls: float,
    author_count: int,
    draws: int,
) -> dict[str, Share]:
    """Coverage of weighted precision and recall; false calls of a label are in proportion to its share."""
    random = random_of(n, len(prevalences), int(100 * sensitivity), author_count)
    share = np.array(prevalences)
    precision = sensitivity / (sensitivity + (1 - share) * false_calls)
    truths = {
        "weighted_precision": float(precision @ share / share.sum()),
        "weighted_recall": sensitivity,
    }
    held: dict[str, list[bool]] = {name: [] for name in MEANS}
    widths: dict[str, list[float]] = {name: [] for name in MEANS}
    for _ in range(draws):
        authors = authors_of(random, n, author_count)
        alike = 0.3 if author_count else 0.0
        yes, called = _marks(random, authors, share, sensitivity, false_calls, alike)
        # A label that no text has leaves the mean, which is then of other labels.
        if not yes.any(axis=0).all():
            continue
        figures = label_figures(yes, called, np.ones_like(yes), Clusters.of(authors))
        for name in MEANS:
            low, high = figures[f"{name}_across_labels"][2]
            if not np.isnan(low):
                held[name].append(low <= truths[name] <= high)
                widths[name].append(high - low)
    return {name: Share.of(held[name], widths[name]) for name in MEANS}


def _marks(
    random: Random,
    authors: IntArray,
    prevalences: FloatArray,
    sensitivity: float,
    false_calls: float,
    alike: float,
) -> tuple[BoolArray, BoolArray]:
    """What is annotated and what is called, (n, labels) each."""
    annotated = []
    called = []
    for prevalence in prevalences:
        positive = traits(random, authors, alike) < norm.ppf(prevalence)
        chance = norm.cdf(traits(random, authors, alike))
        annotated.append(positive)
        called.append(np.where(positive, chance < sensitivity, chance < prevalence * false_calls))
    return np.column_stack(annotated), np.column_stack(called)


RATINGS: tuple[tuple[str, int, Level, float, float], ...] = (
    ("two values, half and half", 2, "nominal", 0.5, 0.6),
    ("two values, 15 %", 2, "nominal", 0.15, 0.6),
    ("two values, nearly equal", 2, "nominal", 0.5, 0.9),
    ("five ordered values", 5, "ordinal", 0.5, 0.6),
)


def raters(draws: int) -> Rows:
    """Krippendorff's alpha of three raters: coverage (mean width)."""
    yield ["texts, clusters", *(name for name, *_ in RATINGS)]
    designs = [(40, 0), (200, 0), (100, 20), (200, 20), (200, 30), (400, 40), (600, 55), (1_000, 100)]
    for n, cluster_count in designs:
        row: Row = [f"{n}, {cluster_count or 'single texts'}"]
        for number, (_, values, level, share, reliable) in enumerate(RATINGS):
            random = random_of(n, cluster_count, number)
            truth_of = np.random.default_rng(number)
            everyone = _ratings(truth_of, np.arange(100_000), values, share, reliable, 0.0)
            truth = alpha(everyone[:20_000], level).value
            held: list[bool] = []
            widths: list[float] = []
            for _ in range(draws):
                clusters = authors_of(random, n, cluster_count)
                ratings = _ratings(random, clusters, values, share, reliable, 0.3)
                low, high = alpha(ratings, level, Clusters.of(clusters)).interval
                if not np.isnan(low):
                    held.append(low <= truth <= high)
                    widths.append(high - low)
            row.append(Share.of(held, widths))
        yield row


def _ratings(
    random: Random,
    clusters: IntArray,
    values: int,
    share: float,
    reliable: float,
    alike: float,
) -> FloatArray:
    """Ratings of three raters, (n, 3), of which the text makes up the part `reliable`."""
    trait = traits(random, clusters, alike)
    of_raters = random.normal(size=(len(trait), 3))
    seen = np.sqrt(reliable) * trait[:, None] + np.sqrt(1 - reliable) * of_raters
    steps = np.array([1 - share]) if values == 2 else np.arange(1, values) / values
    rated: FloatArray = np.searchsorted(norm.ppf(steps), seen).astype(float)
    return rated


def correlations(draws: int) -> Rows:
    """Correlations over models × corpora: coverage by both (mean width), and as independent pairs."""
    yield ["models × corpora", "share of models, corpora", "by both", "as independent pairs (not used)"]
    for models, corpora in ((10, 5), (6, 10), (5, 3)):
        for of_model, of_corpus in ((0.6, 0.2), (0.2, 0.6), (0.0, 0.0)):
            random = random_of(models, int(10 * of_model), int(10 * of_corpus))
            covered: list[bool] = []
            widths: list[float] = []
            as_independent: list[bool] = []
            for _ in range(draws):
                x, y, rows, columns = _crossed_pair(random, models, corpora, of_model, of_corpus)
                low, high = crossed_pearson(x, y, rows, columns).interval
                covered.append(low <= 0.5 <= high)
                widths.append(high - low)
                as_independent.append(holds(pearson(x, y).interval, 0.5))
            yield [
                f"{models} × {corpora}",
                f"{of_model}, {of_corpus}",
                Share.of(covered, widths),
                str(Share.of(as_independent)),
            ]


def _crossed_pair(
    random: Random,
    models: int,
    corpora: int,
    of_model: float,
    of_corpus: float,
) -> tuple[FloatArray, FloatArray, IntArray, IntArray]:
    """Two figures that correlate with 0.5, of each model on each corpus."""
    rows = np.repeat(np.arange(models), corpora)
    columns = np.tile(np.arange(corpora), models)
    x = np.zeros(len(rows))
    y = np.zeros(len(rows))
    of_pair = 1 - of_model - of_corpus
    parts = ((of_model, rows), (of_corpus, columns), (of_pair, np.arange(len(rows))))
    for share, codes in parts:
        first = random.normal(size=int(codes.max()) + 1)
        second = 0.5 * first + np.sqrt(0.75) * random.normal(size=len(first))
        x += np.sqrt(share) * first[codes]
        y += np.sqrt(share) * second[codes]
    return x, y, rows, columns
