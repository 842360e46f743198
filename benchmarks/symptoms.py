"""Symptom models with missing labels: as negatives, masked or enhanced; with and without balanced batches.

python benchmarks/symptoms.py [psytar psytar-any goemotions controls-psytar demo …] [--seeds 5] [--out FILE]

Labels of real corpora are hidden in disease-like blocks: each sentence belongs to one block and keeps the
labels of that block. All labels of the test sentences are the truth.
Every finished training is a line of the file, so a stopped run resumes. Prints figures, never a text.
"""

import argparse
import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray
from scipy import stats
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from demo_texts import CONTROL, generate_sentences
from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import LABEL, Corpus
from psycheck.core.errors import BadInput
from psycheck.corpora.opening import open_corpus
from psycheck.corpora.split import split_corpus
from psycheck.models.opening import open_model
from psycheck.scoring.answers import scores_of
from psycheck.scoring.vectors import encode_once
from psycheck.statistics.classification import auc, confusion, f1
from psycheck.symptoms.reader import UNCERTAIN
from psycheck.training.losses import MISSING as MISSING_MARK
from psycheck.training.losses import annotated_loss, log_chances
from psycheck.training.recipe import Recipe, preset
from psycheck.training.samplers import Balanced
from psycheck.training.symptom_models import (
    DISEASE,
    Missing,
    subsets,
    thresholds,
    train_symptoms,
    with_negatives,
)
from timing import machine, table

DATA = Path(os.environ.get("PSYCHECK_DATA", "../shared/data"))
SHARES = {"train": 5.0, "dev": 1.0, "test": 4.0}  # as in section 3.4
PSYTAR = (("ADR", "WD", "SSI"), ("EF", "INF", "DI"), ("ADR", "INF", "DI"), ("WD", "EF", "SSI"))
FEWEST = 60  # texts that a label of GoEmotions needs: a block sees a third of them
MOST = {"train": 4_000, "dev": 800, "test": 2_500}  # sentences of GoEmotions
FEW = {"train": 1_500, "dev": 300, "test": 1_500}  # sentences to fine-tune on
MISSING: Mapping[str, Missing] = {"negative": "negative", "masked": "masked", "enhanced": "enhanced"}
CONTROLS = "controls-"  # of a corpus whose sentences without a label are controls
ANY = "-any"  # a corpus whose sentences belong to any block, fitting or not
STEPS, BATCH = 1_200, 32  # of the head on frozen vectors
ARMS = ("tf-idf + LR", "one model per block", *MISSING)


def psytar(seed: int) -> tuple[Corpus, Sequence[Sequence[str]]]:
    """Sentences of drug reviews, six labels, cut by review."""
    corpus = open_corpus(f"psytar-sentences:{DATA / 'psytar_sentences.csv'}")
    return split_corpus(corpus, SHARES, seed=seed), PSYTAR


def goemotions(seed: int) -> tuple[Corpus, Sequence[Sequence[str]]]:
    """A sample of GoEmotions, its common labels in seven overlapping blocks of eight."""
    folder = DATA / "goemotions"
    labels = (folder / "labels.txt").read_text("utf-8").split()
    parts = []
    for split, most in MOST.items():
        frame = pl.read_csv(
            folder / f"{split}.tsv",
            separator="\t",
            has_header=False,
            quote_char=None,
            new_columns=["text", "y", "id"],
        )
        parts.append(frame.sample(most, seed=0))
    frame = pl.concat(parts)
    marks = np.zeros((len(frame), len(labels)))
    for row, numbers in enumerate(frame["y"].cast(pl.String)):
        marks[row, [int(one) for one in numbers.split(",")]] = 1
    common = np.flatnonzero(marks.sum(axis=0) >= FEWEST)
    known: dict[str, Sequence[float | None]] = {labels[k]: marks[:, k].tolist() for k in common}
    corpus = Corpus.of("goemotions", frame["text"].to_list(), labels=known)
    corpus = split_corpus(corpus, SHARES, seed=seed)
    order = np.random.default_rng(0).permutation([*known])  # the blocks are the same for every seed
    starts = np.linspace(0, len(order), 7, endpoint=False).astype(int)
    return corpus, [[str(order[(start + i) % len(order)]) for i in range(8)] for start in starts]


def hidden(
    corpus: Corpus, blocks: Sequence[Sequence[str]], seed: int, *, fitting: bool
) -> tuple[Corpus, FloatArray]:
    """The corpus with the labels outside each sentence's block hidden, and all its labels, (n, k).

    A fitting block is drawn among those that have a label of the sentence, as a sentence is annotated for the
    disease whose descriptions it resembled: few labels that are hidden are then 1. Otherwise any is drawn.
    """
    truth, labels = corpus.targets(), corpus.labels
    inside = np.array([[label in block for label in labels] for block in blocks])
    fits = truth @ inside.T > (0 if fitting else np.inf)
    fits[~fits.any(axis=1)] = True
    rng = np.random.default_rng(seed)
    drawn = np.array([rng.choice(np.flatnonzero(row)) for row in fits])
    seen = np.where(inside[drawn], truth, np.nan)
    columns = [pl.Series(LABEL + one, seen[:, k], nan_to_null=True) for k, one in enumerate(labels)]
    group = pl.Series(f"group:{DISEASE}", [f"block {b + 1}" for b in drawn])
    return replace(corpus, table=corpus.table.with_columns(*columns, group)), truth


@cache
def generated() -> tuple[Corpus, Corpus]:
    """Generated sentences as annotated, and their truth; each seed cuts them anew."""
    return generate_sentences(3_000, 0)


def demo(seed: int) -> tuple[Corpus, FloatArray]:
    """The generated sentences without controls, cut by the seed, and their truth, (n, k)."""
    rows = [name != CONTROL for name in generated()[0].group(DISEASE)]
    annotated, truth = (split_corpus(one.only(rows), SHARES, stratify=[], seed=seed) for one in generated())
    return annotated, truth.targets([one for one in truth.labels if one != UNCERTAIN])


LOADED = {"psytar": psytar, "goemotions": goemotions}


def mean_auc(truth: FloatArray, scores: FloatArray) -> float:
    """The mean AUC over the labels, targets and scores (n, k)."""
    return float(np.nanmean([auc(truth[:, k], scores[:, k]).value for k in range(truth.shape[1])]))


def mean_f1(truth: FloatArray, scores: FloatArray) -> float:
    """The mean F1 at 0.5 over the labels, targets and scores (n, k)."""
    tables = [confusion(truth[:, k], scores[:, k]) for k in range(truth.shape[1])]
    return float(np.nanmean([f1(one).value for one in tables]))


def by_block(corpus: Corpus, scores: FloatArray, labels: Sequence[str]) -> float:
    """The mean AUC over the labels annotated in each block, then over blocks: averaged as in Table 2."""
    rows = {one: row for row, one in enumerate(corpus.ids)}
    means = []
    for part in subsets(corpus).values():
        at = [rows[one] for one in part.ids]
        targets = part.targets(labels)
        known = ~np.isnan(targets).all(axis=0)
        means.append(mean_auc(targets[:, known], scores[at][:, known]))
    return float(np.mean(means))


def tuned_scores(corpus: Corpus, arm: str, recipe: Recipe, folder: Path) -> FloatArray:
    """Fine-tune one arm and score the test sentences, (n, k); the masked model is also the teacher."""
    if arm == "enhanced" and (folder / "masked").exists():
        shutil.copytree(folder / "masked", folder / "enhanced.teacher")
    train_symptoms(corpus, recipe, folder / arm, missing=MISSING[arm])
    model = open_model(f"hf:{folder / arm}")
    labels = [one for one in corpus.labels if one != UNCERTAIN]
    return scores_of(model, corpus.part("test").texts)[:, [model.labels.index(one) for one in labels]]


def head_scores(
    vectors: FloatArray, targets: FloatArray, control: NDArray[np.bool_] | None, others: Any, seed: int
) -> list[FloatArray]:
    """Train one head of two layers for all labels on frozen vectors, and score other vectors, each (n, k).

    Targets are NaN where they are missing: the loss is that of fine-tuning, and so are balanced batches.
    """
    torch.manual_seed(seed)
    x = torch.tensor(vectors).float()
    t = torch.tensor(np.where(np.isnan(targets), MISSING_MARK, targets)).float()
    known = (t != MISSING_MARK).any(dim=1).nonzero().ravel().tolist()
    net = torch.nn.Sequential(
        torch.nn.Linear(x.shape[1], 128), torch.nn.Tanh(), torch.nn.Linear(128, max(2, t.shape[1]))
    )
    steps = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=0.01)
    balanced = None if control is None else Balanced(control, seed)
    order: list[int] = []
    for step in range(STEPS):
        if len(order) < BATCH:
            if balanced is None:
                order += np.random.default_rng([seed, step]).permutation(known).tolist()
            else:
                balanced.set_epoch(step)
                order += list(balanced)
        rows, order = order[:BATCH], order[BATCH:]
        steps.zero_grad()
        loss: Any = annotated_loss(net(x[rows]), t[rows])
        loss.backward()
        steps.step()
    with torch.inference_mode():
        logits = [net(torch.tensor(some).float()) for some in others]
        return [np.asarray(log_chances(one, t.shape[1])[0].exp().double()) for one in logits]


def frozen_scores(corpus: Corpus, arm: str, seed: int) -> FloatArray:
    """Train an arm on frozen MiniLM vectors, or on tf-idf, and score the test sentences, (n, k)."""
    labels = [one for one in corpus.labels if one != UNCERTAIN]
    learned, dev, test = (corpus.part(split) for split in SHARES)
    if arm == "tf-idf + LR":
        words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"(?u)\b\w+\b")
        x, y = words.fit_transform(learned.texts), learned.targets(labels)
        out = np.full((len(test), len(labels)), np.nan)
        for k in range(len(labels)):
            rows = ~np.isnan(y[:, k])
            head = LogisticRegression(C=10.0, max_iter=500).fit(x[rows], y[rows, k] > 0.5)
            out[:, k] = head.predict_proba(words.transform(test.texts))[:, 1]
        return out
    features = [encode_once("minilm", part.texts) for part in (learned, dev, test)]
    if arm == "one model per block":
        out, tests = np.full((len(test), len(labels)), np.nan), subsets(test)
        for name, part in subsets(learned).items():
            own = np.isin(learned.ids, part.ids)
            places = np.flatnonzero(~np.isnan(part.targets(labels)).all(axis=0))
            at = np.flatnonzero(np.isin(test.ids, tests[name].ids))
            y = part.targets([labels[k] for k in places])
            out[np.ix_(at, places)] = head_scores(features[0][own], y, None, [features[2][at]], seed)[0]
        return out
    if arm == "negative":
        learned = with_negatives(learned, labels, np.isnan(learned.targets(labels)))
    elif arm == "enhanced":
        own_scores, known = head_scores(features[0], learned.targets(labels), None, features[:2], seed)
        cuts = thresholds(dev.targets(labels), known, learned.targets(labels), own_scores)
        learned = with_negatives(learned, labels, own_scores < cuts)
    return head_scores(features[0], learned.targets(labels), None, features[2:], seed)[0]


def compare_missing(
    name: str, seed: int, arms: Sequence[str], recipe: Recipe | None, done: set[str], out: Path
) -> None:
    """All arms on one corpus with one seed; what is in the file already is not repeated."""
    if name == "demo":
        corpus, truth = demo(seed)
    else:
        corpus, blocks = LOADED[name.removesuffix(ANY)](seed)
        corpus, truth = hidden(corpus, blocks, seed, fitting=not name.endswith(ANY))
    if recipe is not None:  # fewer sentences, so that a seed takes minutes
        kept = {one for split, most in FEW.items() for one in corpus.part(split).sample(most, seed).ids}
        rows = np.array([one in kept for one in corpus.ids])
        corpus, truth = corpus.only(rows), truth[rows]
    at = np.array([split == "test" for split in corpus.strings("split")])
    with tempfile.TemporaryDirectory() as place:
        for arm in MISSING if recipe else arms:
            key = f"{name}{' tuned' if recipe else ''}"
            if f"{key} {seed} {arm}" in done:
                continue
            if recipe is not None:
                scores = tuned_scores(corpus, arm, recipe.with_(seed=seed), Path(place))
            else:
                scores = frozen_scores(corpus, arm, seed)
            labels = [one for one in corpus.labels if one != UNCERTAIN]
            found = {"auc_by_block": by_block(corpus.part("test"), scores, labels)}
            if not np.isnan(scores).any():
                found |= {"auc": mean_auc(truth[at], scores), "f1": mean_f1(truth[at], scores)}
            note(out, key, seed, arm, found)


def with_controls(name: str, seed: int, done: set[str], out: Path) -> None:
    """F1 on all test sentences, trained without controls, with all of them, and in balanced batches.

    Controls are the sentences without any label. PsySym has ten for each annotated sentence; here annotated
    ones are left out of train until there are about three.
    """
    corpus, _ = LOADED[name.removeprefix(CONTROLS)](seed)
    labels = [one for one in corpus.labels if one != "neutral"]
    x, y = encode_once("minilm", corpus.texts), corpus.targets(labels)
    control = (y == 0).all(axis=1)
    split = np.array(corpus.strings("split"))
    share = (control & (split == "train")).sum() / 3 / (~control & (split == "train")).sum()
    few = control | (np.random.default_rng(seed).uniform(size=len(control)) < share)
    learned, test = few & (split == "train"), split == "test"
    for arm in ("without controls", "with controls", "with controls, balanced"):
        if f"{name} {seed} {arm}" in done:
            continue
        rows = learned & ~control if arm == "without controls" else learned
        marked = control[rows] if arm.endswith("balanced") else None
        (scores,) = head_scores(x[rows], y[rows], marked, [x[test]], seed)
        note(out, name, seed, arm, {"auc": mean_auc(y[test], scores), "f1": mean_f1(y[test], scores)})


def note(out: Path, name: str, seed: int, arm: str, found: Mapping[str, float]) -> None:
    """Add a line to the file of results."""
    print(name, seed, arm, {key: round(value, 4) for key, value in found.items()}, flush=True)
    with out.open("a") as file:
        file.write(json.dumps({"corpus": name, "seed": seed, "arm": arm, **found}) + "\n")


def interval(values: NDArray[np.float64]) -> str:
    """A mean with its 95 % interval over seeds (Student's t)."""
    half = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return f"{values.mean():.4f} ± {half:.4f}"


def report(out: Path) -> None:
    """Print means over seeds, and paired differences from missing-as-negative."""
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    for name in dict.fromkeys(line["corpus"] for line in lines):
        mine = [line for line in lines if line["corpus"] == name]
        arms = list(dict.fromkeys(line["arm"] for line in mine))
        measures = [key for key in mine[0] | mine[-1] if key not in ("corpus", "seed", "arm")]
        values = {
            (arm, key): {line["seed"]: line[key] for line in mine if line["arm"] == arm and key in line}
            for arm in arms
            for key in measures
        }
        first = "negative" if "negative" in arms else arms[0]
        rows = []
        for arm in arms:
            cells = []
            for key in measures:
                own, other = values[arm, key], values[first, key]
                both = sorted(own.keys() & other.keys())
                cells.append(interval(np.array([*own.values()])) if len(own) > 1 else "–")
                apart = np.array([own[seed] - other[seed] for seed in both])
                cells.append(interval(apart) if len(both) > 1 and arm != first else "–")
            rows.append([arm, len(values[arm, measures[0]]), *cells])
        head = [part for key in measures for part in (key, f"{key} − {first}")]
        print(f"\n{name}\n" + table(["arm", "seeds", *head], rows))


def main() -> None:
    """Run what the file does not have yet, then print the tables."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("corpora", nargs="*", default=["psytar", "goemotions"])
    options.add_argument("--seeds", type=int, default=5)
    options.add_argument("--out", type=Path, default=Path("symptoms.jsonl"))
    options.add_argument("--arms", nargs="+", default=ARMS, choices=ARMS)
    options.add_argument("--tuned", action="store_true", help="fine-tune, on fewer sentences")
    options.add_argument("--layers", type=int, default=2)
    options.add_argument("--epochs", type=float, default=6)
    options.add_argument("--rate", type=float, default=3e-4)
    wanted = options.parse_args()
    if not DATA.is_dir():
        raise BadInput(f"there is no folder '{DATA}'", do="set PSYCHECK_DATA")
    steps = {"layers": wanted.layers, "epochs": wanted.epochs, "learning_rate": wanted.rate}
    recipe = preset("symptoms", **steps, patience=0) if wanted.tuned else None
    lines = wanted.out.read_text().splitlines() if wanted.out.exists() else []
    done = {"{corpus} {seed} {arm}".format(**json.loads(line)) for line in lines}
    print(machine(), flush=True)
    for seed in range(wanted.seeds):
        for name in wanted.corpora:
            if name.startswith(CONTROLS):
                with_controls(name, seed, done, wanted.out)
                continue
            compare_missing(name, seed, wanted.arms, recipe, done, wanted.out)
    report(wanted.out)


if __name__ == "__main__":
    main()
