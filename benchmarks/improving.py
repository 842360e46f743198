"""Does retraining on failed checks help on other corpora? MiniLM, three corpora, six directions, several seeds.

python benchmarks/improving.py [--seeds 3] [--out runs/improving] [--tables] [--demo]

Reads depression_reddit, depression_tweets and counselchat from $PSYCHECK_DATA (default ../shared/data). What is
finished is kept in the folder, figures only, never a text: the same command goes on after a kill. `--tables`
prints the tables of what is finished; `--demo` tries everything on the shipped corpora.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import polars as pl

from psycheck.audits.suite import read_suite, shipped_suites
from psycheck.corpus import Corpus
from psycheck.line import open_corpus
from psycheck.models.open import open_model
from psycheck.study.asking import additions_of, dir_checks, sample, scored, sentence_rates
from psycheck.train.augment import augmented, reader_of
from psycheck.train.fit import train
from psycheck.train.recipe import preset
from psycheck.train.threshold import best_threshold

NAMES = ("depression_reddit", "depression_tweets", "counselchat")
LABEL = "depression"
# The arms and how each changes the texts: share of texts, whose sentences.
ARMS: dict[str, dict[str, Any] | None] = {
    "plain": None,
    "augmented": {"share": 1.0},
    "random": {"share": 1.0, "sentences": "random"},
    "half": {"share": 0.5},
}
RECIPE = preset("fast", epochs=2, max_length=64, labels=(LABEL,))
MOST = {"train": 600, "dev": 200, "test": 300}  # texts a corpus trains on, chooses on and is measured on
SAMPLE = 16  # dev texts that sentences are appended to


def corpora(folder: Path, *, demo: bool) -> list[Corpus]:
    """The three corpora, cut by their split column or 60/20/20 by class."""
    if demo:
        return [bounded(open_corpus(f"demo:{name}"), 96) for name in ("forum", "tweets", "interviews")]
    read = []
    for name in NAMES:
        table = pl.read_csv(folder / f"{name}.csv", infer_schema_length=None).unique(
            "text", maintain_order=True
        )
        split = table["split"].replace({"val": "dev"}).to_list() if "split" in table.columns else None
        corpus = Corpus.of(name, table["text"].to_list(), labels={LABEL: table[LABEL].to_list()}, split=split)
        read.append(bounded(corpus if split else cut(corpus)))
    return read


def cut(corpus: Corpus) -> Corpus:
    """60 % train, 20 % dev, 20 % test, each class alike."""
    random = np.random.default_rng(0)
    target = corpus.targets([LABEL])[:, 0]
    split = np.full(len(corpus), "train", dtype=object)
    for mark in (0.0, 1.0):
        rows = random.permutation(np.flatnonzero(target == mark))
        fifth = round(len(rows) / 5)
        split[rows[:fifth]], split[rows[fifth : 2 * fifth]] = "test", "dev"
    return replace(corpus, table=corpus.table.with_columns(pl.Series("split", split.tolist(), pl.String)))


def bounded(corpus: Corpus, most: int | None = None) -> Corpus:
    """At most so many texts of each split."""
    parts = []
    for split in ("train", "dev", "test"):
        parts.append(sample(corpus.part(split), most or MOST[split], seed=0).table)
    return replace(corpus, table=pl.concat(parts))


def one_seed(seed: int, home: list[Corpus], out: Path, results: "Results") -> None:
    """All arms from all corpora with one seed; what is there is not done again."""
    suite = dir_checks(read_suite("deck"))
    recipe = replace(RECIPE, seed=seed)
    read = reader_of(recipe)
    for corpus in home:
        asked = sample(corpus.part("dev"), SAMPLE, seed=0)
        chosen: list[str] = []
        for arm, how in ARMS.items():
            key = {"seed": seed, "trained_on": corpus.name, "arm": arm}
            if results.has("arm", key) and arm != "plain":
                continue
            began, data = monotonic(), corpus
            counts: dict[str, int] = {}
            if how is not None:
                additions = additions_of([check for check in suite.checks if check.id in chosen])
                done = augmented(corpus, additions, LABEL, read=read, seed=seed, **how)
                data, counts = done.corpus, dict(done.counts)
            trained = train((data.part("train"), data.part("dev")), recipe, out / "models" / name_of(key))
            model = open_model(trained.spec)
            store = out / "scores.sqlite"
            if arm == "plain":
                rates = sentence_rates(model, asked, [suite], store)
                below = [f.where["check"] for f in rates if "below_dir_mean" in f.flags]
                # A model that passes all alike has no check below the mean: then all are appended.
                chosen = below or [check.id for check in suite.checks]
            if results.has("arm", key):
                continue
            # The threshold is chosen on dev as it was written: the texts it will meet have no sentence added.
            dev = corpus.part("dev")
            on_dev, *tests = scored(model, [dev, *(c.part("test") for c in home)], LABEL, store)
            results.add(
                "arm",
                key
                | {
                    "checks": chosen,
                    "counts": counts,
                    "threshold": best_threshold(dev.targets([LABEL])[:, 0], on_dev),
                    "seconds": monotonic() - began,
                    "scores": {c.name: np.round(s, 6).tolist() for c, s in zip(home, tests, strict=True)},
                },
            )


def sentences(seed: int, home: list[Corpus], out: Path, results: "Results", arms: Sequence[str]) -> None:
    """Pass rates on DECK and on sentences that training never saw."""
    suites = [dir_checks(read_suite(name)) for name in ("deck", "deck-unseen") if name in shipped_suites()]
    for corpus in home:
        asked = sample(corpus.part("dev"), SAMPLE, seed=0)
        for arm in arms:
            for suite in suites:
                key = {"seed": seed, "trained_on": corpus.name, "arm": arm}
                if results.has("rates", key | {"suite": suite.name}):
                    continue
                model = open_model(f"hf:{out / 'models' / name_of(key)}")
                rates = sentence_rates(model, asked, [suite], out / "scores.sqlite")
                rows = [
                    {k: f.where.get(k, "") for k in ("check", "symptom", "polarity")}
                    | {"passed": f.counts["passed"], "n": f.n}
                    for f in rates
                ]
                results.add("rates", key | {"suite": suite.name, "rates": rows})


class Results:
    """Lines of JSON, one a finished piece of work."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def read(self, kind: str) -> list[dict[str, Any]]:
        """All finished lines of a kind."""
        path = self.folder / f"{kind}.jsonl"
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []

    def has(self, kind: str, key: dict[str, Any]) -> bool:
        """Whether this piece is finished."""
        return any(all(row.get(k) == v for k, v in key.items()) for row in self.read(kind))

    def add(self, kind: str, row: dict[str, Any]) -> None:
        """Write a finished piece down at once."""
        with (self.folder / f"{kind}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        shown = {
            k: v for k, v in row.items() if k in ("seed", "trained_on", "arm", "suite", "seconds", "checks")
        }
        print(json.dumps({"kind": kind, **shown}), flush=True)


def name_of(key: dict[str, Any]) -> str:
    """The folder of a model."""
    return f"{key['trained_on']}-{key['arm']}-{key['seed']}"


def main() -> int:
    """Run what is missing."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--out", type=Path, default=Path("runs/improving"))
    options.add_argument("--demo", action="store_true")
    options.add_argument("--tables", action="store_true")
    given = options.parse_args()
    data = Path(os.environ.get("PSYCHECK_DATA", "../shared/data"))
    if not given.demo and not all((data / f"{name}.csv").is_file() for name in NAMES):
        print(f"skipped: {', '.join(NAMES)} are not in {data}; set PSYCHECK_DATA")
        return 0
    home = corpora(data, demo=given.demo)
    results = Results(given.out)
    for seed in range(given.seeds):
        one_seed(seed, home, given.out, results)
        sentences(seed, home, given.out, results, ("plain", "augmented"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
