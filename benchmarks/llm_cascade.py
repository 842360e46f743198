"""Cost and calls of a cascade on two real corpora: MiniLM with a logistic regression, then an LLM of 135M.

Reads counselchat and depression_reddit from $PSYCHECK_DATA (default ../shared/data), writes figures only,
never a text. Of each corpus 30 texts choose the band, 40 others are judged, and the rest trains the cheap
model; texts of more than 1,200 characters are left out, because one thread reads them slowly. Start a server:

    psycheck llm serve --port 8086 &
    python benchmarks/llm_cascade.py http://127.0.0.1:8086/v1
"""

import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from psycheck.commands.llm_cascade import choose_cascade
from psycheck.core.corpus import Corpus
from psycheck.llm.cascade import Cascade
from psycheck.models.opening import open_model
from psycheck.scoring.answers import answers
from psycheck.statistics.clustered import Clusters
from psycheck.statistics.label_intervals import f1_interval
from psycheck.training.fit import train as train_model
from psycheck.training.recipe import Recipe
from timing import machine, table

LABEL = "depression"
CORPORA = ("counselchat", "depression_reddit")
DEV, TEST, LONGEST, SEED = 30, 40, 1_200, 0
BUDGETS = (0.1, 0.3)
_RECIPE = Recipe(start="encoder+lr", labels=(LABEL,), dev_share=0.1)


def _split(name: str) -> pl.DataFrame:
    """A corpus without long texts and repeats, with a split column."""
    data = Path(os.environ.get("PSYCHECK_DATA", "../shared/data"))
    rows = (
        pl.read_csv(data / f"{name}.csv", columns=["text", LABEL])
        .drop_nulls()
        .unique("text", maintain_order=True)
    )
    rows = rows.filter(pl.col("text").str.len_chars() <= LONGEST).sample(
        fraction=1.0, shuffle=True, seed=SEED
    )
    places = pl.int_range(pl.len())
    split_of_place = (
        pl.when(places < TEST)
        .then(pl.lit("test"))
        .when(places < TEST + DEV)
        .then(pl.lit("dev"))
        .otherwise(pl.lit("train"))
    )
    return rows.with_columns(split=split_of_place)


def _corpus(rows: pl.DataFrame, split: str) -> Corpus:
    part = rows.filter(pl.col("split") == split)
    return Corpus.of(split, part["text"].to_list(), labels={LABEL: part[LABEL].to_list()})


def _figures(targets: np.ndarray, scores: np.ndarray) -> str:
    """F1 with its interval, over answered texts."""
    decided = scores >= 0.5
    hits = decided & (targets == 1)
    wrong = decided != (targets == 1)
    low, high = f1_interval(hits, wrong, Clusters.single(len(targets)))
    f1 = 2 * hits.sum() / max(2 * hits.sum() + wrong.sum(), 1)
    return f"{f1:.2f} ({low:.2f}–{high:.2f})"


def _rows_of(name: str, base_url: str, folder: Path) -> list[tuple[str, ...]]:
    """One row per way to decide."""
    rows = _split(name)
    corpora = {split: _corpus(rows, split) for split in ("train", "dev", "test")}
    train_model(corpora["train"], _RECIPE, folder / name)
    cheap = f"frozen:{folder / name}"
    llm = f"llm:smollm2?base_url={base_url}&prompt={LABEL}&max_tokens=24&temperature=0&concurrency=1"
    store = folder / "store.sqlite"

    dev = corpora["dev"]
    texts = corpora["test"].texts
    targets = corpora["test"].targets([LABEL])[:, 0]

    specs = {"MiniLM alone": cheap, "LLM alone": llm}
    notes = {}
    for budget in BUDGETS:
        chosen = choose_cascade(cheap, llm, dev, budget=budget, store=store)
        specs[f"cascade, budget {budget:.0%}"] = chosen.spec
        notes[f"cascade, budget {budget:.0%}"] = f"{chosen.point.share:.0%} of dev"
    chosen = choose_cascade(cheap, llm, dev, loss=0.02, store=store)
    specs["cascade, loss of F1 0.02"] = chosen.spec
    notes["cascade, loss of F1 0.02"] = f"{chosen.point.share:.0%} of dev"

    printed: list[tuple[str, ...]] = []
    for way, spec in specs.items():
        model = open_model(spec)
        with answers([model], [(1.0, texts)], store=store) as answered:
            view = answered.views[0]
            scores = view.of(texts)[:, view.labels.index(LABEL)]
        calls = TEST if way == "LLM alone" else 0
        if isinstance(model, Cascade):
            with answers([model.cheap], [(1.0, texts)], store=store) as cheap_answered:
                calls = int(model.asked(cheap_answered.views[0].of(texts)).sum())
        accuracy = float(np.mean((scores >= 0.5) == (targets == 1)))
        unanswered = str(int(np.isnan(scores).sum()))
        chosen_on_dev = notes.get(way, "")
        printed.append(
            (name, way, chosen_on_dev, str(calls), unanswered, f"{accuracy:.2f}", _figures(targets, scores))
        )
    return printed


def main(base_url: str) -> None:
    """Print the table."""
    print(machine())
    rows: list[tuple[str, ...]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in CORPORA:
            rows += _rows_of(name, base_url, Path(folder))
    print(
        table(
            ("corpus", "decided by", "band holds", f"calls of {TEST}", "unanswered", "accuracy", "F1"), rows
        )
    )


if __name__ == "__main__":
    main(sys.argv[1])
