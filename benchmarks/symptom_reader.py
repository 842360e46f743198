"""Measure symptom readers on hand-labelled sentences: python benchmarks/symptom_reader.py HALF [MODEL…].

HALF is "choose" (for choosing thresholds) or "measure" (looked at once, when everything is frozen). The texts
come from PSYCHECK_DATA (by default ../shared/data). Only counts and rates are printed.
"""

import csv
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from psycheck.core.arrays import FloatArray
from psycheck.models.opening import open_model
from psycheck.symptoms.graph import read_graph
from psycheck.symptoms.reader import SymptomModel
from psycheck.symptoms.statements import NAMED, PRESENT, Tags, weighted
from psycheck.symptoms.suicidal_rule import SUICIDAL
from symptom_sentences import draw

TRUTH = Path(__file__).with_name("symptom_truth.csv")
SYMPTOMS = [symptom.name for symptom in read_graph().symptom]
DRAWS = 2_000  # of the bootstrap over sentences
FEWEST = 10  # mentions of a symptom with figures of its own
FULL = 4  # labelled symptoms of a sentence: the guidelines stop there, so nothing is known of further ones
LIFT = 0.2  # how much of its neighbours' weight lifts a symptom that is not mentioned


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """Sentences with what they mention (n, k): "status subject" where they do, else an empty string."""

    texts: list[str]
    statements: NDArray[np.str_]

    @property
    def present(self) -> NDArray[np.bool_]:
        """What is present in the writer, (n, k)."""
        return np.asarray(self.statements == "present writer")

    @property
    def mentioned(self) -> NDArray[np.bool_]:
        """What is mentioned, (n, k)."""
        return np.asarray(self.statements != "")


def read_truth(half: str) -> Truth:
    """The sentences of a half, whose texts are drawn anew, and their labels."""
    with TRUTH.open(encoding="utf-8", newline="") as table:
        rows = [row for row in csv.DictReader(table) if row["half"] == half]
    folder = Path(os.environ.get("PSYCHECK_DATA", "../shared/data"))
    sentences = [sentence for sentence in draw(folder) if sentence["half"] == half]

    row_of = {sentence["sha256"]: number for number, sentence in enumerate(sentences)}
    statements = np.full((len(sentences), len(SYMPTOMS)), "", dtype="<U20")
    for row in rows:
        if row["symptom"]:
            column = SYMPTOMS.index(row["symptom"])
            statements[row_of[row["sha256"]], column] = f"{row['status']} {row['subject']}"
    return Truth([sentence["text"] for sentence in sentences], statements)


def interval(values: FloatArray, weights: FloatArray) -> str:
    """A ratio of sums over sentences, with its 95 % bootstrap interval: values (n,) over weights (n,)."""
    if not weights.sum():
        return "–"
    rng = np.random.default_rng(0)
    rows = rng.integers(0, len(values), (DRAWS, len(values)))
    totals = weights[rows].sum(1)
    ratios = values[rows].sum(1)[totals > 0] / totals[totals > 0]
    low, high = np.quantile(ratios, [0.025, 0.975])
    return f"{values.sum() / weights.sum():.2f} ({low:.2f}–{high:.2f})"


def mean_auc(truth: Truth, weights: FloatArray) -> float:
    """The mean AUC over the symptoms that are present in at least one sentence."""
    present = truth.present
    columns = np.flatnonzero(present.any(axis=0))
    return float(np.mean([roc_auc_score(present[:, k], weights[:, k]) for k in columns]))


def report(name: str, truth: Truth, weights: FloatArray) -> None:
    """Print what a reader names, how often it is right, and what it finds."""
    named = weights >= NAMED
    right = (named & truth.present).sum(1).astype(float)
    precision = interval(right, named.sum(1).astype(float))
    recall = interval(right, truth.present.sum(1).astype(float))
    is_full = truth.mentioned.sum(1) >= FULL
    known = named & (~is_full[:, None] | truth.mentioned)
    known_precision = interval(right, known.sum(1).astype(float))
    auc = f"{mean_auc(truth, weights):.3f}"
    print(f"| {name} | {named.sum()} | {precision} | {known_precision} | {recall} | {auc} |")


def details(truth: Truth, weights: FloatArray) -> None:
    """Print what is named of each status, and each symptom with enough mentions."""
    named = weights >= NAMED
    for statement in sorted(set(truth.statements[truth.mentioned])):
        here = truth.statements == statement
        print(f"{statement}: named {(named & here).sum()} of {here.sum()}")
    not_evidence = truth.mentioned & ~truth.present
    wrong_status = (named & not_evidence).sum()
    print(f"denied, past, uncertain or other people's: named {wrong_status} of {not_evidence.sum()}")

    for column, symptom in enumerate(SYMPTOMS):
        present = truth.present[:, column]
        if truth.mentioned[:, column].sum() >= FEWEST or symptom == SUICIDAL:
            hits = int((named[:, column] & present).sum())
            print(f"{symptom}: {hits} right of {named[:, column].sum()} named and {present.sum()} present")


def without_rules(tags: Tags) -> FloatArray:
    """The weights of a reader that is not told what the words of the text say."""
    return weighted(replace(tags, status=np.full_like(tags.status, PRESENT)))


def lifted(weights: FloatArray) -> FloatArray:
    """Weights in which a symptom is lifted a little by those that share its diseases (scores only)."""
    diseases = [set(symptom.diseases) for symptom in read_graph().symptom]
    shared = np.array([[len(a & b) / len(a | b) for b in diseases] for a in diseases])
    np.fill_diagonal(shared, 0)
    neighbours = weights @ shared / shared.sum(0)
    return np.asarray(1 - (1 - weights) * (1 - LIFT * neighbours))


def main(half: str, models: Sequence[str]) -> None:
    """Print a row per reader and ablation, then details of the first one."""
    truth = read_truth(half)
    mentions = f"{truth.mentioned.sum()} mentions, {truth.present.sum()} present in the writer"
    print(f"{len(truth.texts)} sentences, {mentions}")
    print("| reader | named | precision | of known | recall | mean AUC |")
    print("|---|---|---|---|---|---|")
    first = None
    for spec in models:
        model = open_model(spec)
        assert isinstance(model, SymptomModel)
        tags = model.tag(truth.texts)
        weights = weighted(tags)
        first = weights if first is None else first
        report(spec, truth, weights)
        report(f"{spec}, without rules", truth, without_rules(tags))
        report(f"{spec}, lifted by the graph", truth, lifted(weights))
        if model.naming is not None:
            unlimited = replace(tags, thresholds=np.full(len(SYMPTOMS), NAMED))
            report(f"{spec}, all named from 0.5 on", truth, weighted(unlimited))
    if first is not None:
        details(truth, first)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:] or ["symptoms:default", "symptoms:descriptions"])
