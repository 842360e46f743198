"""Does deciding from symptom evidence rank texts of other corpora better? Three corpora, six directions.

python benchmarks/grounding.py [--seeds 3] [--only ARM ...] [--out runs/grounding] [--parts] [--tables]

The corpora, splits and set-up of benchmarks/improving.py, from $PSYCHECK_DATA (default ../shared/data). What
is finished is kept in the folder, figures only, never a text: run the same command again to resume. `--parts`
asks what the evidence is good for: its parts, other symptoms, and no training at all. `--tables` prints the
tables of what is finished.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

import improving
from improving import LABEL, NAMES, RECIPE, Results, drawn, name_of, spread
from psycheck.core.arrays import FloatArray, IntArray
from psycheck.core.corpus import Corpus
from psycheck.models.opening import open_model
from psycheck.scoring.vectors import encode_once
from psycheck.statistics.clustered import Clusters
from psycheck.statistics.thresholds import best_threshold
from psycheck.symptoms.evidence import asked_symptoms, log_odds, open_evidence
from psycheck.symptoms.frozen_model import FrozenModel
from psycheck.symptoms.graph import read_graph
from psycheck.training.arm_figures import Scored
from psycheck.training.arms import score_label
from psycheck.training.augment import reader_of
from psycheck.training.fit import train
from psycheck.training.linear import evidence_of, fit_heads
from psycheck.training.parts import parts_of
from psycheck.training.recipe import Recipe, preset
from timing import machine, table

WEIGHT = 0.5  # of the second task in the loss, set before any result of this arm was seen
WINDOW = RECIPE.max_length
SHORT = "symptoms-short"  # learns from and reads only what the fine-tuned arms read of a text
LINEAR: dict[str, Recipe] = {
    "tfidf": preset("tfidf", labels=(LABEL,)),
    "vectors": preset("frozen", labels=(LABEL,), max_length=WINDOW),
    "symptoms": preset("grounded", labels=(LABEL,)),
    "symptoms-balanced": preset("grounded", labels=(LABEL,), class_weights=True),
    SHORT: preset("grounded", labels=(LABEL,)),
    "vectors+symptoms": preset("frozen-grounded", labels=(LABEL,), max_length=WINDOW),
}
ARMS: dict[str, Recipe] = {
    "plain": RECIPE,
    "balanced": RECIPE.with_(class_weights=True),
    "task": RECIPE.with_(symptom_task=WEIGHT),
    "task-balanced": RECIPE.with_(symptom_task=WEIGHT, class_weights=True),
    **LINEAR,
}
REFERENCES = ("plain", "balanced", "vectors")
WHAT = (("auc", "ranking"), ("macro_f1", "0.5"), ("macro_f1", "dev"))
RESAMPLES = 500
DRAWS = 3  # sets of nine other symptoms


def one_arm(arm: str, seed: int, corpus: Corpus, tests: list[Corpus], out: Path, results: Results) -> None:
    """Train one arm on one corpus, and keep its scores of all test splits."""
    key = {"seed": seed, "trained_on": corpus.name, "arm": arm}
    if results.has("arm", key):
        return
    if arm == SHORT:
        corpus, tests = shortened(corpus), [shortened(test) for test in tests]
    began, dev = monotonic(), corpus.part("dev")
    recipe = replace(ARMS[arm], seed=seed)
    trained = train((corpus.part("train"), dev), recipe, out / "models" / name_of(key))
    seconds = monotonic() - began
    model, asked = open_model(trained.spec), [dev, *(c.part("test") for c in tests)]
    if isinstance(model, FrozenModel):
        found = [_from_store(model, one.texts) for one in asked]
    else:
        found = score_label(model, asked, LABEL, out / "scores.sqlite")
    results.add("arm", key | {"seconds": seconds} | kept(dev, found, tests))


def shortened(corpus: Corpus) -> Corpus:
    """The corpus with the part of each text that a fine-tuned arm reads."""
    read = reader_of(RECIPE)
    assert read is not None
    texts = [text[:end] for text, end in zip(corpus.texts, read(corpus.texts), strict=True)]
    return replace(corpus, table=corpus.table.with_columns(pl.Series("text", texts, pl.String)))


def kept(dev: Corpus, found: list[FloatArray], tests: list[Corpus]) -> dict[str, Any]:
    """The threshold from dev, and the scores of all tests."""
    on_dev, *on_tests = found
    return {
        "threshold": best_threshold(dev.targets([LABEL])[:, 0], on_dev),
        "scores": {c.name: np.round(s, 6).tolist() for c, s in zip(tests, on_tests, strict=True)},
    }


def _from_store(model: FrozenModel, texts: list[str]) -> FloatArray:
    """The scores that the model gives, from evidence and vectors that the store shares between models."""
    found = [log_odds(evidence_of(model.evidence, texts))] if model.evidence else []
    found += [encode_once(model.encoder, texts)] if model.encoder else []
    return np.asarray(1 / (1 + np.exp(-(np.hstack(found) @ model.weights[0] + model.intercepts[0]))))


def parts_of_evidence(home: list[Corpus], results: Results) -> None:
    """Which part of the evidence ranks: largest or mean relevance, one number, other symptoms."""
    graph, asked = read_graph(), asked_symptoms()
    every = tuple(one.name for one in graph.symptom)
    others = [name for name in every if name not in asked and name not in {s.name for s in graph.of(LABEL)}]
    whole = replace(open_evidence(), symptoms=every, fingerprint=f"{open_evidence().fingerprint}:all")
    odds = {
        (corpus.name, split): log_odds(evidence_of(whole, corpus.part(split).texts))
        for corpus in home
        for split in ("train", "dev", "test")
    }

    def columns(how: Iterable[str], names: Iterable[str]) -> Callable[[FloatArray], FloatArray]:
        places = [whole.labels.index(f"{one}:{name}") for one in how for name in names]
        return lambda values: values[:, places]

    means = columns(["mean"], asked)
    forms: dict[str, Callable[[FloatArray], FloatArray]] = {
        "most and mean (the arm symptoms)": columns(["most", "mean"], asked),
        "most alone": columns(["most"], asked),
        "mean alone": means,
        "one number: the sum of the nine means": lambda values: means(values).mean(axis=1, keepdims=True),
        "all 38 symptoms": columns(["most", "mean"], every),
    }
    for draw in range(DRAWS):
        drawn_names = np.random.default_rng(draw).permutation(others)[: len(asked)].tolist()
        forms[f"nine symptoms that depression does not have, draw {draw}"] = columns(
            ["most", "mean"], drawn_names
        )
    for corpus in home:
        recipe = LINEAR["symptoms"]
        parts = parts_of((corpus.part("train"), corpus.part("dev")), recipe)
        for name, take in forms.items():
            fitted, dev = take(odds[corpus.name, "train"]), take(odds[corpus.name, "dev"])
            (model,) = fit_heads(fitted, dev, parts, recipe).models
            asked_for = [dev, *(take(odds[test.name, "test"]) for test in home)]
            found = [model.predict_proba(features)[:, 1] for features in asked_for]
            key = {"seed": 0, "trained_on": corpus.name, "arm": name}
            if not results.has("parts", key):
                results.add("parts", key | kept(corpus.part("dev"), found, home))


def rows_of(results: Results, kind: str, home: list[Corpus]) -> list[Scored]:
    """What is finished, as rows; a line that stands twice counts once."""
    tests = {corpus.name: corpus.part("test") for corpus in home}
    found = {(r["arm"], r["trained_on"], r["seed"]): r for r in results.read(kind)}
    out = []
    for (arm, trained_on, seed), row in found.items():
        for name, given in row["scores"].items():
            test = tests[name]
            targets = test.targets([LABEL])[:, 0]
            clusters = Clusters.of(test.units(), test.copies())
            place = ("grounding", arm, "", trained_on, name, LABEL, seed, row["threshold"])
            out.append(Scored(*place, targets, np.array(given), clusters))
    return out


def mean_table(rows: list[Scored]) -> str:
    """AUC and macro-F1 of each arm: mean over the six directions (sd over seeds), then the own corpora."""
    lines = []
    for arm in dict.fromkeys(one.arm for one in rows):
        cells: list[object] = [arm]
        for own in (False, True):
            seeds: dict[int, list[Scored]] = {}
            for one in rows:
                if one.arm == arm and one.own == own:
                    seeds.setdefault(one.seed, []).append(one)
            whole = [group for group in seeds.values() if len(group) == (3 if own else 6)]
            cells += [len(whole)] * (not own)
            for what in WHAT[: 1 if own else 3]:
                cells.append(
                    spread([float(np.mean([drawn(one, *what) for one in group])) for group in whole])
                )
        lines.append(cells)
    head = ["arm", "seeds", "AUC", "macro-F1 at 0.5", "macro-F1, dev threshold", "AUC, own corpus"]
    return table(head, lines)


def direction_table(rows: list[Scored]) -> str:
    """AUC of each arm in each direction, mean (sd) over seeds."""
    places = sorted({(one.trained_on, one.corpus) for one in rows if not one.own})
    lines = []
    for arm in dict.fromkeys(one.arm for one in rows):
        groups = [[r for r in rows if (r.arm, r.trained_on, r.corpus) == (arm, *place)] for place in places]
        lines.append([arm, *(spread([drawn(one, *WHAT[0]) for one in group]) for group in groups)])
    return table(["arm", *(f"{a} → {b}" for a, b in places)], lines)


def change_table(rows: list[Scored]) -> str:
    """AUC against each reference: pairs of one direction and seed; an arm without seeds pairs with them all.

    The first interval is that of other texts (bootstrap within each test corpus); the second takes the pairs
    as independent, the third the means of the directions (t). Only seeds with all six directions count.
    """
    at = {(one.arm, one.seed, one.trained_on, one.corpus): one for one in rows if not one.own}
    lines = []
    for reference in REFERENCES:
        for arm in [arm for arm in ARMS if arm not in ("plain", "balanced", "tfidf", reference)]:
            pairs = []
            for (name, seed, *place), old in at.items():
                new = at.get((arm, 0 if arm in LINEAR else seed, place[0], place[1]))
                if name == reference and new is not None:
                    pairs.append((old, new))
            seeds = [old.seed for old, _ in pairs]
            pairs = [pair for pair in pairs if seeds.count(pair[0].seed) == 6]
            directions: dict[tuple[str, str], list[float]] = {}
            for old, new in pairs:
                gain = drawn(new, *WHAT[0]) - drawn(old, *WHAT[0])
                directions.setdefault((old.trained_on, old.corpus), []).append(gain)
            if len(directions) < 6:
                continue
            gains = [gain for group in directions.values() for gain in group]
            up = sum(gain > 0 for gain in gains)
            means = [float(np.mean(group)) for group in directions.values()]
            intervals = [_over_texts(pairs), _interval(gains), _interval(means)]
            mean = f"{np.mean(gains):+.3f}"
            lines.append([f"{arm} − {reference}", len(gains), mean, f"{up}/{len(gains) - up}", *intervals])
    head = ["comparison", "pairs", "AUC", "up/down", "95 % over texts", "over pairs", "over six directions"]
    return table(head, lines)


def _over_texts(pairs: list[tuple[Scored, Scored]]) -> str:
    """The percentiles of the mean gain over resampled texts; all pairs of a test share the resample."""
    random, gains = np.random.default_rng(0), []
    sizes = {old.corpus: len(old.targets) for old, _ in pairs}
    for _ in range(RESAMPLES):
        rows = {name: random.integers(0, n, n) for name, n in sizes.items()}
        gains.append(np.mean([_area(b, rows[b.corpus]) - _area(a, rows[a.corpus]) for a, b in pairs]))
    low, high = np.percentile(gains, [2.5, 97.5])
    return f"{low:+.3f} to {high:+.3f}"


def _area(one: Scored, rows: IntArray) -> float:
    """AUC of some rows, by ranks."""
    positive, ranks = one.targets[rows] == 1, stats.rankdata(one.scores[rows])
    n, m = int(positive.sum()), int((~positive).sum())
    return float((ranks[positive].sum() - n * (n + 1) / 2) / (n * m))


def _interval(values: list[float]) -> str:
    low, high = stats.t.interval(0.95, len(values) - 1, np.mean(values), stats.sem(values))
    return f"{low:+.3f} to {high:+.3f}"


def main() -> int:
    """Run what is missing."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--only", nargs="+", choices=ARMS, default=list(ARMS))
    options.add_argument("--out", type=Path, default=Path("runs/grounding"))
    options.add_argument("--parts", action="store_true")
    options.add_argument("--tables", action="store_true")
    given = options.parse_args()
    data = Path(os.environ.get("PSYCHECK_DATA", "../shared/data"))
    if not all((data / f"{name}.csv").is_file() for name in NAMES):
        print(f"skipped: {', '.join(NAMES)} are not in {data}; set PSYCHECK_DATA")
        return 0
    home = improving.corpora(data, demo=False)
    results = Results(given.out)
    if given.tables:
        rows = rows_of(results, "arm", home)
        rows.sort(key=lambda one: list(ARMS).index(one.arm))
        parts = rows_of(results, "parts", home)
        shown = [mean_table(rows), direction_table(rows), change_table(rows), mean_table(parts)]
        print("\n\n".join([machine(), *shown, direction_table(parts)]))
        return 0
    if given.parts:
        parts_of_evidence(home, results)
        return 0
    for seed in range(given.seeds):
        for arm in [arm for arm in given.only if seed == 0 or arm not in LINEAR]:  # those have no seed
            for corpus in home:
                one_arm(arm, seed, corpus, home, given.out, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
