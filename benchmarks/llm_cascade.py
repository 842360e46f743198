"""Cost and calls of a cascade on two real corpora: MiniLM with a logistic regression, then an LLM of 135M.

Reads counselchat and depression_reddit from $PSYCHECK_DATA (default ../shared/data), writes figures only,
never a text. Of each corpus some texts choose the band, others are judged, and the rest trains the cheap
model; texts of more than 600 characters are left out, because one thread reads them slowly. Replies are
kept in FOLDER, so the same command resumes. Start a server:

    psycheck llm serve --port 8086 &
    python benchmarks/llm_cascade.py http://127.0.0.1:8086/v1 FOLDER
"""

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from psycheck.commands.llm_cascade import choose_cascade
from psycheck.core.corpus import Corpus
from psycheck.core.model import Model
from psycheck.llm.cascade import Cascade
from psycheck.llm.model import LlmModel
from psycheck.models.opening import open_model
from psycheck.scoring.answers import answers
from psycheck.statistics.calibration import expected_calibration_error
from psycheck.statistics.classification import accuracy, auc, confusion, usable
from psycheck.statistics.clustered import Clusters
from psycheck.statistics.intervals import wilson
from psycheck.statistics.label_intervals import f1_interval
from psycheck.statistics.recalibration import Platt, fit_platt
from psycheck.training.fit import train as train_model
from psycheck.training.recipe import Recipe
from timing import machine, table

LABEL = "depression"
CORPORA = ("counselchat", "depression_reddit")
DEV, TEST, LONGEST, SEED = 60, 80, 600, 0
BUDGETS = (0.1, 0.3)
LOSS = 0.02
_RECIPE = Recipe(start="encoder+lr", labels=(LABEL,), dev_share=0.1)
_HEAD = (
    "corpus",
    "decided by",
    "share of dev asked",
    f"calls of {TEST}",
    "unanswered",
    "accuracy",
    "F1",
    "AUC",
)


@dataclass(frozen=True, slots=True)
class _Parts:
    """A corpus in three parts, and what its models keep on disk."""

    name: str
    dev: Corpus
    test: Corpus
    cheap: str
    llm: str
    store: Path


def _split(name: str) -> pl.DataFrame:
    """A corpus without long texts and repeats, with a split column."""
    data = Path(os.environ.get("PSYCHECK_DATA", "../shared/data"))
    rows = (
        pl.read_csv(data / f"{name}.csv", columns=["text", LABEL])
        .drop_nulls()
        .unique("text", maintain_order=True)
    )
    short = rows.filter(pl.col("text").str.len_chars() <= LONGEST)
    shuffled = short.sample(fraction=1.0, shuffle=True, seed=SEED)

    places = pl.int_range(pl.len())
    split_of_place = (
        pl.when(places < TEST)
        .then(pl.lit("test"))
        .when(places < TEST + DEV)
        .then(pl.lit("dev"))
        .otherwise(pl.lit("train"))
    )
    return shuffled.with_columns(split=split_of_place)


def _corpus(rows: pl.DataFrame, split: str) -> Corpus:
    part = rows.filter(pl.col("split") == split)
    return Corpus.of(split, part["text"].to_list(), labels={LABEL: part[LABEL].to_list()})


def _prepared(name: str, base_url: str, folder: Path) -> _Parts:
    """The three parts of a corpus; the cheap model is trained unless an earlier run did."""
    rows = _split(name)
    cheap_folder = folder / name
    train = _corpus(rows, "train")
    if not cheap_folder.exists():
        started = time.process_time()
        train_model(train, _RECIPE, cheap_folder)
        print(
            f"{name}: trained on {len(train.texts)} texts in {time.process_time() - started:.0f} CPU s",
            flush=True,
        )

    test = _corpus(rows, "test")
    positive = test.targets([LABEL])[:, 0].mean()
    print(f"{name}: {positive:.0%} of {TEST} test texts are annotated with {LABEL}", flush=True)
    return _Parts(
        name=name,
        dev=_corpus(rows, "dev"),
        test=test,
        cheap=f"frozen:{cheap_folder}",
        llm=f"llm:smollm2?base_url={base_url}&prompt={LABEL}&max_tokens=24&temperature=0&concurrency=1",
        store=folder / "store.sqlite",
    )


def _scores(spec: str, corpus: Corpus, store: Path) -> tuple[Model, np.ndarray]:
    """A model and its scores of the label."""
    model = open_model(spec)
    with answers([model], [(1.0, corpus.texts)], store=store) as answered:
        view = answered.views[0]
        scores = view.of(corpus.texts)[:, view.labels.index(LABEL)]
        tally = answered.tallies[model.name]
    if tally.requests:
        tokens = f"{tally.prompt_tokens:,} tokens in, {tally.completion_tokens:,} out"
        print(f"{model.name}: {tally.requests} requests, {tokens}, {tally.seconds:.0f} s", flush=True)
    return model, scores


def _ways(parts: _Parts) -> dict[str, tuple[str, str]]:
    """Each way to decide: its spec, and the share of dev that its band holds."""
    # The replies of an LLM lean to one answer: calibration on dev moves its threshold, and costs no request.
    _, dev_scores = _scores(parts.llm, parts.dev, parts.store)
    dev_targets = parts.dev.targets([LABEL])[:, 0]
    platt = fit_platt(dev_targets, dev_scores)
    calibrated_llm = f"{parts.llm}&platt={platt.slope:.6f}:{platt.intercept:.6f}"
    _print_calibration(parts, platt)

    ways = {
        "MiniLM alone": (parts.cheap, ""),
        "LLM alone": (parts.llm, ""),
        "LLM alone, calibrated": (calibrated_llm, ""),
    }
    for budget in BUDGETS:
        chosen = choose_cascade(parts.cheap, calibrated_llm, parts.dev, budget=budget, store=parts.store)
        ways[f"cascade, budget {budget:.0%}"] = (chosen.spec, f"{chosen.point.share:.0%}")
    chosen = choose_cascade(parts.cheap, calibrated_llm, parts.dev, loss=LOSS, store=parts.store)
    ways[f"cascade, loss of F1 {LOSS}"] = (chosen.spec, f"{chosen.point.share:.0%}")
    # What a user gets who does not choose the band on dev.
    plain = f"cascade:{parts.cheap},{calibrated_llm}&band=0.25:0.75"
    ways["cascade, band 0.25 to 0.75"] = (plain, "not chosen")
    return ways


def _print_calibration(parts: _Parts, platt: Platt) -> None:
    """The calibration error of the LLM on the test texts, before and after."""
    _, scores = _scores(parts.llm, parts.test, parts.store)
    targets = parts.test.targets([LABEL])[:, 0]
    errors = [expected_calibration_error(targets, each) for each in (scores, platt(scores))]
    print(f"{parts.name}: ECE of the LLM {errors[0]:.2f}, calibrated on dev {errors[1]:.2f}", flush=True)


def _row(parts: _Parts, way: str, spec: str, share: str) -> tuple[str, ...]:
    """The figures of one way to decide."""
    model, scores = _scores(spec, parts.test, parts.store)
    targets = parts.test.targets([LABEL])[:, 0]
    is_usable = usable(targets, scores)
    counts = confusion(targets, scores, 0.5)
    right = counts.tp + counts.tn
    low, high = wilson(right, int(is_usable.sum()))
    return (
        parts.name,
        way,
        share,
        str(_calls(parts, model)),
        str(int(np.isnan(scores).sum())),
        f"{accuracy(counts).value:.2f} ({low:.2f}–{high:.2f})",
        _f1(targets[is_usable], scores[is_usable]),
        f"{auc(targets, scores).value:.2f}",
    )


def _f1(targets: np.ndarray, scores: np.ndarray) -> str:
    """F1 with its interval, over answered texts."""
    decided = scores >= 0.5
    hits = decided & (targets == 1)
    wrong = decided != (targets == 1)
    low, high = f1_interval(hits, wrong, Clusters.single(len(targets)))
    f1 = 2 * hits.sum() / max(2 * hits.sum() + wrong.sum(), 1)
    return f"{f1:.2f} ({low:.2f}–{high:.2f})"


def _calls(parts: _Parts, model: Model) -> int:
    """How many test texts the LLM is asked about."""
    texts = parts.test.texts
    if isinstance(model, LlmModel):
        return len(texts)
    if not isinstance(model, Cascade):
        return 0
    with answers([model.cheap], [(1.0, texts)], store=parts.store) as answered:
        asked = model.asked(answered.views[0].of(texts))
    return int(asked.sum())


def main(base_url: str, folder: Path) -> None:
    """Print the table."""
    print(machine(), flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    rows: list[tuple[str, ...]] = []
    for name in CORPORA:
        parts = _prepared(name, base_url, folder)
        for way, (spec, share) in _ways(parts).items():
            rows.append(_row(parts, way, spec, share))
            print(table(_HEAD, rows[-1:]), flush=True)
    print(table(_HEAD, rows))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
