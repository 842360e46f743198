"""Comparing corpora: what the MMD test and the search for near-duplicates cost, and how real corpora compare.

    python benchmarks/compare.py            both speed figures
    python benchmarks/compare.py --data     also real corpora ($PSYCHECK_DATA); writes its page in docs

The alternatives are timed in this run and extrapolated: a few permutations of 1,000, a sample of all pairs.
"""

import os
import sys
from pathlib import Path
from random import Random
from time import perf_counter

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics.pairwise import rbf_kernel

from psycheck.commands.compare import compare_corpora
from psycheck.core.arrays import FloatArray
from psycheck.core.finding import Finding
from psycheck.core.run import Run
from psycheck.corpora.distances import Comparing
from psycheck.corpora.near_duplicates import near_duplicates
from psycheck.report.comparison_page import formatted
from psycheck.statistics.mmd import mmd_test
from psycheck.text.words import shingles
from timing import machine, table, verdict

TEXTS, DIMENSIONS, PERMUTATIONS = 5_000, 384, 1_000
TIMED = 2
SENTENCES, PLANTED, PAIRED, SPARSE = 200_000, 2_000, 1_000, 5_000
PAGE = Path(__file__).parent.parent / "docs" / "benchmarks" / "compare.md"
READ = """## How to read it

- `_chance` is what the same texts show when they are shuffled between the two sides. Laplace's smoothing
  flattens the smaller side, so JSD grows where sizes are unequal: 30 texts and 586 differ by 0.15 so.
- MMD² of single pairs (ANGST A.2) says how unlike two texts are, within a class as well as across: all rows
  are near 0.8. The paper names no bandwidth, so its figures (0.04 to 0.08) cannot be set beside ours.
- The exact 1-Wasserstein distance of some hundred texts in 384 dimensions is large by chance; what counts is
  the gap. DECK's figures (6.86 to 8.27) are of other encoders; how their vectors are scaled is not reported.
- `link`, `user` and `url` are most likely the marks by which these files hide links and names: a classifier
  knows the file by them."""
DEPRESSION = ("depression_reddit", "depression_tweets", "counselchat")
PAPER = (
    "jsd_unigram",
    "jsd_unigram_chance",
    "jsd_bigram",
    "jsd_bigram_chance",
    "mmd2_pair_mean",
    "mmd2_pair_median",
)
OURS = ("mmd2", "mmd2_chance", "mmd2_p")
FAR = ("wasserstein", "wasserstein_chance", "wasserstein_sliced")
TOLD = ("adversarial_accuracy", "adversarial_f1", "adversarial_auc", "adversarial_mcc")


def plain_estimate(x: FloatArray, y: FloatArray, sigma: float) -> float:
    """Squared MMD as one would write it down: three kernels, three sums."""
    m, n = len(x), len(y)
    xx, yy, xy = (rbf_kernel(*pair, gamma=1 / (2 * sigma**2)) for pair in ((x, x), (y, y), (x, y)))
    own = (xx.sum() - np.trace(xx)) / (m * (m - 1)) + (yy.sum() - np.trace(yy)) / (n * (n - 1))
    return float(own - 2 * xy.mean())


def mmd() -> list[str]:
    """1,000 permutations at once against one kernel after the other, and against one kernel re-indexed."""
    random = np.random.default_rng(0)
    x, y = random.standard_normal((2, TEXTS, DIMENSIONS))
    pooled = np.concatenate([x, y])
    started = perf_counter()
    found = mmd_test(x, y, permutations=PERMUTATIONS)
    ours = perf_counter() - started
    started = perf_counter()
    for _ in range(TIMED):
        order = random.permutation(len(pooled))
        plain_estimate(pooled[order[:TEXTS]], pooled[order[TEXTS:]], found.bandwidth)
    again = (perf_counter() - started) / TIMED * PERMUTATIONS
    kernel = rbf_kernel(pooled, gamma=1 / (2 * found.bandwidth**2))
    started = perf_counter()
    for _ in range(TIMED):
        order = random.permutation(len(pooled))
        here, there = order[:TEXTS], order[TEXTS:]
        _ = [kernel[np.ix_(a, b)].sum() for a, b in ((here, here), (there, there), (here, there))]
    indexed = (perf_counter() - started) / TIMED * PERMUTATIONS
    rows = [
        ["all permutations in matrix products", f"{ours:.1f}", "1"],
        [f"NumPy, kernel computed for each ({TIMED} timed)", f"{again:,.0f}", f"{again / ours:.0f}"],
        [f"NumPy, one kernel, indexed for each ({TIMED} timed)", f"{indexed:,.0f}", f"{indexed / ours:.0f}"],
    ]
    head = f"MMD, {PERMUTATIONS:,} permutations, {TEXTS:,} + {TEXTS:,} × {DIMENSIONS}"
    return [
        table([head, "seconds", "times ours"], rows),
        verdict(
            "MMD: a re-computation for each permutation takes times ours", again / ours, 20, at_least=True
        ),
    ]


def sentences() -> list[str]:
    """Made-up sentences, some words far more frequent than others; the last are near copies of the first."""
    random, choose = np.random.default_rng(1), Random(1)
    drawn = np.minimum(random.zipf(1.3, SENTENCES * 20), 50_000)
    words = [f"w{word}" for word in drawn]
    made = [" ".join(words[i * 20 : i * 20 + choose.randint(12, 20)]) for i in range(SENTENCES - PLANTED)]
    return made + [f"{text} indeed" for text in made[:PLANTED]]


def near() -> list[str]:
    """MinHash against all pairs, which are timed on a sample."""
    texts = sentences()
    started = perf_counter()
    pairs = set(near_duplicates(texts))
    ours = perf_counter() - started
    sets = [shingles(text) for text in texts[:PAIRED]]
    started = perf_counter()
    for i, one in enumerate(sets):
        for other in sets[i + 1 :]:
            _ = len(one & other) >= 0.8 * len(one | other)
    share = SENTENCES * (SENTENCES - 1) / (PAIRED * (PAIRED - 1))
    every = (perf_counter() - started) * share
    product = _sparse_seconds(texts[:SPARSE]) * (SENTENCES / SPARSE) ** 2
    planted = [(i, SENTENCES - PLANTED + i) for i in range(PLANTED)]
    wanted = [pair for pair in planted if _alike(texts[pair[0]], texts[pair[1]])]
    found = sum(pair in pairs for pair in wanted)
    rows = [
        ["MinHash, bands, exact check", f"{ours:.1f}", f"{found:,} of {len(wanted):,}"],
        [f"all pairs, Python sets (from {PAIRED:,} sentences)", f"{every:,.0f}", "all"],
        [f"all pairs, sparse product (from {SPARSE:,} sentences)", f"{product:,.0f}", "all"],
    ]
    return [
        table([f"near-duplicates among {SENTENCES:,} sentences", "seconds", "planted pairs found"], rows),
        verdict(
            "near-duplicates: the faster of all pairs takes times ours",
            min(every, product) / ours,
            10,
            at_least=True,
        ),
    ]


def real(folder: Path) -> list[str]:
    """Three corpora of depression against each other, the classes of counselchat, and all cautions."""
    how = Comparing(sample=400, permutations=1_000, parts=("words", "vectors", "adversarial"))
    between = compare_corpora([folder / f"{name}.csv" for name in DEPRESSION], how=how, warn=True)
    classes = compare_corpora([folder / "counselchat.csv"], by=["depression", "anxiety"], how=how)
    lines = []
    for title, run in (("Three corpora of depression", between), ("The classes of counselchat", classes)):
        lines += [f"## {title}", _sizes(run), _pairs(run, PAPER, "As in ANGST, Table 2 (JSD, MMD² of pairs)")]
        lines += [_pairs(run, OURS, "MMD², unbiased"), _pairs(run, FAR, "1-Wasserstein, as in DECK, Table 3")]
        lines += [_pairs(run, TOLD, "Told apart by words and pairs, as in ANGST, Table 8"), _profile(run)]
        lines += [_words(run)]
    found = [f for f in between.findings if f.measure == "caution"]
    lines += ["## Cautions", *(f"- {f.where['corpus']}: {f.where['sentence']}" for f in found)]
    return [*lines, "" if found else "None: no figure reaches its threshold (corpora/cautions.toml).", READ]


def _sparse_seconds(texts: list[str]) -> float:
    """All overlaps as one product of the sparse table of words and pairs with itself, in blocks of rows."""
    held = CountVectorizer(analyzer=lambda text: list(shingles(text)), binary=True).fit_transform(texts)
    sizes = np.asarray(held.sum(axis=1)).ravel()
    started = perf_counter()
    for at in range(0, len(texts), 1_000):
        both = (held[at : at + 1_000] @ held.T).tocoo()
        _ = both.data >= 0.8 * (sizes[at + both.row] + sizes[both.col] - both.data)
    return perf_counter() - started


def _alike(one: str, other: str) -> bool:
    a, b = shingles(one), shingles(other)
    return len(a & b) >= 0.8 * len(a | b)


def _sizes(run: Run) -> str:
    texts = ", ".join(f"{corpus['name']} {corpus['texts']:,}" for corpus in run.plan["corpora"])
    return f"Texts: {texts}. Vectors of {run.plan['encoder']}, at most {run.plan['sample']} texts a side."


def _pairs(run: Run, measures: tuple[str, ...], title: str) -> str:
    names = dict.fromkeys((f.where["first"], f.where["second"]) for f in run.findings if "first" in f.where)
    rows = [[*pair, *(formatted(_one(run, measure, *pair)) for measure in measures)] for pair in names]
    return f"{title}:\n\n" + table(["first", "second", *measures], rows)


def _one(run: Run, measure: str, first: str, second: str) -> Finding:
    return next(
        f
        for f in run.findings
        if f.measure == measure and (f.where["first"], f.where["second"]) == (first, second)
    )


def _profile(run: Run) -> str:
    own = [f for f in run.findings if f.where.get("part") == "profile"]
    measures = list(dict.fromkeys(f.measure for f in own))
    rows = [
        [name, *(formatted(f) for f in own if f.where["corpus"] == name)]
        for name in dict.fromkeys(f.where["corpus"] for f in own)
    ]
    return "Length and vocabulary:\n\n" + table(["", *measures], rows)


def _words(run: Run) -> str:
    """The words by which a classifier tells two sides apart; each stands in at least 5 texts of its side."""
    sides: dict[tuple[str, str, str], list[str]] = {}
    for f in run.findings:
        if f.measure == "adversarial_weight":
            sides.setdefault((f.where["first"], f.where["second"], f.where["speaks_for"]), []).append(
                f.where["word"]
            )
    rows = [[f"{a} and {b}", side, ", ".join(words)] for (a, b, side), words in sides.items()]
    return "Words that give it away (each in at least 20 texts):\n\n" + table(
        ["between", "for", "words"], rows
    )


def main() -> None:
    """Print the speed figures; with --data also compare the real corpora and write the page."""
    lines = [
        "# Comparing corpora",
        f"`python benchmarks/compare.py --data`: {machine()}. Slower ways are extrapolated.",
        *mmd(),
        *near(),
    ]
    print("\n\n".join(lines))
    if "--data" not in sys.argv[1:]:
        return
    folder = Path(os.environ.get("PSYCHECK_DATA", "../shared/data"))
    absent = [name for name in DEPRESSION if not (folder / f"{name}.csv").is_file()]
    if absent:
        print(f"the real corpora are left out: {', '.join(absent)} not found (set PSYCHECK_DATA)")
        return
    lines += real(folder)
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text("\n\n".join(line for line in lines if line) + "\n", "utf-8")
    print(f"written: {PAGE.name}")


if __name__ == "__main__":
    main()
