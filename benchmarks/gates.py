"""How often a `no_worse_than` gate fails without a loss, and finds one (docs/benchmarks/gates.md).

Models are multi-layer perceptrons on TF-IDF of the generated demo texts, which differ in nothing but their
seed. Seeds and corpora here were not used to choose the tolerance or the test.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import polars as pl
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.neural_network import MLPClassifier

from psycheck import audit
from psycheck.audits.baseline_gates import StoredAnswers
from psycheck.audits.gates import Gate, judge_gates
from psycheck.core.corpus import Corpus
from psycheck.core.run import Run
from psycheck.statistics.intervals import wilson
from tools.demo_corpora.domains import generate

TRAIN_TEXTS = 1_500
SEEDS = range(500, 520)
SIZES = (200, 500, 1_000)
CORPORA = 10  # test corpora per size
LABEL = "depression"
MEASURES = ("accuracy", "macro_f1", "auc", "brier")
LOSSES = (0.03, 0.05, 0.1)  # of accuracy, planted
CHECK = "T3"  # of which cases are made to fail
CHECK_LOSSES = (0.1, 0.15, 0.2, 0.3)

Outcomes = dict[str, list[bool]]
"""Whether each gate failed, by what was tried."""
Scores = Callable[[Sequence[str]], np.ndarray]


def trained(seed: int) -> Scores:
    """A model of one seed, which sees the same training texts as all others."""
    corpus = generate("tweets", TRAIN_TEXTS, 77)
    vectorizer = TfidfVectorizer(min_df=2)
    features = vectorizer.fit_transform(corpus.texts)
    network = MLPClassifier((32,), max_iter=60, random_state=seed, early_stopping=False)
    network.fit(features, corpus.targets([LABEL])[:, 0] > 0.5)
    return lambda texts: network.predict_proba(vectorizer.transform(list(texts)))[:, 1]


def with_loss(run: Run, loss: float, seed: int) -> Run:
    """The run of a model whose answers are wrong on a further share of the texts, each drawn by itself."""
    table = run.tables["predictions"]
    right = (table["target"] > 0.5) == (table["decided"] == 1)
    chance = loss / max(float(right.to_numpy().mean()), loss)
    turned = right & (pl.Series(np.random.default_rng(seed).random(len(table))) < chance)
    worse = table.with_columns(
        score=pl.when(turned).then(1 - pl.col("score")).otherwise(pl.col("score")),
        decided=pl.when(turned).then(1 - pl.col("decided")).otherwise(pl.col("decided")),
    )
    return replace(run, tables={**run.tables, "predictions": worse})


def with_failing_check(run: Run, loss: float, seed: int) -> Run:
    """The run of a model that fails a further share of the cases of one check."""
    cases = run.tables["cases"]
    outcome = cases["outcome"].cast(pl.String)
    passed = (cases["check"].cast(pl.String) == CHECK) & (outcome == "passed")
    drawn = pl.Series(np.random.default_rng(seed).random(len(cases))) < loss
    worse = cases.with_columns(outcome=pl.when(passed & drawn).then(pl.lit("failed")).otherwise(outcome))
    return replace(run, tables={**run.tables, "cases": worse})


def fails(measure: str, now: Run, before: Run, *, paired: bool = True) -> bool:
    """Whether a gate on a measure of two runs fails, at the default tolerance."""
    stored = {"old": StoredAnswers(before.tables, now.tables)} if paired else {}
    gate = Gate(measure, no_worse_than="old")
    earlier = {"old": list(before.findings)}
    (result,) = judge_gates([gate], list(now.findings), earlier, answers=stored)
    return not result.holds


def share(failures: Sequence[bool]) -> str:
    """A share of failures with its binomial interval."""
    low, high = wilson(sum(failures), len(failures))
    return f"{100 * np.mean(failures):.1f} % ({100 * low:.1f}–{100 * high:.1f}, {len(failures)})"


def runs(models: Sequence[Scores], corpus: Corpus, *, audits: Sequence[str]) -> Iterator[Run]:
    """The run of each model on one corpus."""
    for model in models:
        yield audit(
            model,
            corpus,
            labels=LABEL,
            audits=list(audits),
            split="all",
            variants="one",
        )


def main() -> None:
    """Print the tables of docs/benchmarks/gates.md."""
    models = [trained(seed) for seed in SEEDS]
    for size in SIZES:
        outcomes: Outcomes = {}
        for draw in range(CORPORA):
            corpus = generate("tweets", size, 9_000 + draw + size)
            # Checks are costly: all seeds are tried on two of the corpora.
            with_checks = draw < 2
            audits = ("performance", "behaviour") if with_checks else ("performance",)
            judged = list(runs(models, corpus, audits=audits))
            for before, now in pairwise(judged):
                compare_performance(outcomes, before, now, seed=draw)
                if with_checks:
                    compare_checks(outcomes, before, now, seed=draw)

        print(f"n {size:,}; accuracy {np.mean([accuracy_of(run) for run in judged]):.3f}")
        for name, failures in outcomes.items():
            print(f"  {name}: {share(failures)}")


def compare_performance(outcomes: Outcomes, before: Run, now: Run, *, seed: int) -> None:
    """Add whether gates on performance fail: for another seed, and for planted losses of accuracy."""
    for name in MEASURES:
        add(outcomes, f"other seed, {name}", fails(name, now, before))
    unpaired = fails("accuracy", now, before, paired=False)
    add(outcomes, "other seed, accuracy by intervals", unpaired)
    for loss in LOSSES:
        worse = with_loss(now, loss, seed)
        add(outcomes, f"accuracy {loss:.2f} lower", fails("accuracy", worse, before))


def compare_checks(outcomes: Outcomes, before: Run, now: Run, *, seed: int) -> None:
    """The same for a gate on all pass rates, and planted failures of one check."""
    add(outcomes, "other seed, pass_rate", fails("pass_rate", now, before))
    for loss in CHECK_LOSSES:
        worse = with_failing_check(now, loss, seed)
        add(outcomes, f"{CHECK} {loss:.2f} lower", fails("pass_rate", worse, before))


def add(outcomes: Outcomes, name: str, failed: bool) -> None:
    """Add one outcome under its name."""
    outcomes.setdefault(name, []).append(failed)


def accuracy_of(run: Run) -> float:
    """The accuracy of a run."""
    return run.findings.where(measure="accuracy")[0].value


if __name__ == "__main__":
    main()
