"""Measure symptom readers on hand-labelled sentences: python benchmarks/symptom_reader.py PARTS [MODEL…].

PARTS are separated by commas: "choose" (for choosing thresholds), "measure" (looked at once, with the first
reader), "random", "searched" and "suicidal" (looked at once, with the second), "final" and "final_suicidal"
(looked at once, with the third). The texts come from PSYCHECK_DATA (by default ../shared/data). Only counts
and rates are printed.
"""

import csv
import os
import re
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from psycheck.core.arrays import FloatArray
from psycheck.models.opening import open_model
from psycheck.symptoms.bank_sentences import BANK
from psycheck.symptoms.graph import read_graph
from psycheck.symptoms.reader import SymptomModel
from psycheck.symptoms.statements import (
    NAMED,
    PRESENT,
    Tags,
    weighted,
)
from psycheck.symptoms.suicidal_rule import SUICIDAL
from psycheck.symptoms.text_rules import read_rules
from psycheck.text.status import parts_of, plain
from symptom_sentences import draw, draw_second, draw_third

TRUTH = Path(__file__).with_name("symptom_truth.csv")
SYMPTOMS = [symptom.name for symptom in read_graph().symptom]
DRAWS = 2_000  # of the bootstrap over sentences
FEWEST = 10  # mentions of a symptom with figures of its own
FULL = 4  # labelled symptoms of a sentence: the guidelines stop there, so nothing is known of further ones
LIFT = 0.2  # how much of its neighbours' weight lifts a symptom that is not mentioned


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """Sentences with what they mention (n, k): "status subject" where they do, else an empty string."""

    ids: list[str]
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


def read_truth(*parts: str) -> Truth:
    """The sentences of some parts, whose texts are drawn anew, and their labels."""
    folder = Path(os.environ.get("PSYCHECK_DATA", "../shared/data"))
    drawn = draw(folder) + draw_second(folder) + draw_third(folder)
    sentences = [sentence for sentence in drawn if sentence["half"] in parts]
    texts = [sentence["text"] for sentence in sentences]
    # The texts are not ours to keep: a label finds its sentence by the hash.
    row_of = {sentence["sha256"]: number for number, sentence in enumerate(sentences)}

    statements = np.full((len(sentences), len(SYMPTOMS)), "", dtype="<U20")
    for label in _labels(parts):
        # Without a symptom a sentence mentions none.
        if label["symptom"]:
            row = row_of[label["sha256"]]
            column = SYMPTOMS.index(label["symptom"])
            statements[row, column] = f"{label['status']} {label['subject']}"
    return Truth([sentence["id"] for sentence in sentences], texts, statements)


def _labels(parts: Sequence[str]) -> list[dict[str, str]]:
    """The labels of some parts, one per symptom and sentence."""
    with TRUTH.open(encoding="utf-8", newline="") as table:
        return [row for row in csv.DictReader(table) if row["half"] in parts]


def interval(values: FloatArray, weights: FloatArray) -> str:
    """A ratio of sums over sentences, with its 95 % bootstrap interval: values (n,) over weights (n,)."""
    if not weights.sum():
        return "–"
    random = np.random.default_rng(0)
    rows = random.integers(0, len(values), (DRAWS, len(values)))
    sums = values[rows].sum(1)
    totals = weights[rows].sum(1)
    # A draw without any weight has no ratio.
    is_defined = totals > 0
    ratios = sums[is_defined] / totals[is_defined]
    low, high = np.quantile(ratios, [0.025, 0.975])
    ratio = values.sum() / weights.sum()
    return f"{ratio:.2f} ({low:.2f}–{high:.2f})"


def mean_auc(truth: Truth, weights: FloatArray) -> float:
    """The mean AUC over the symptoms that are present in at least one sentence."""
    present = truth.present
    columns = np.flatnonzero(present.any(axis=0))
    areas = [roc_auc_score(present[:, column], weights[:, column]) for column in columns]
    return float(np.mean(areas))


def report(
    name: str,
    truth: Truth,
    weights: FloatArray,
) -> None:
    """Print what a reader names, how often it is right, and what it finds."""
    is_named = weights >= NAMED
    hits = _per_sentence(is_named & truth.present)
    precision = interval(hits, _per_sentence(is_named))
    recall = interval(hits, _per_sentence(truth.present))

    # Of a sentence with `FULL` labels a further symptom that is named may be right: it was not looked for.
    is_full = truth.mentioned.sum(1) >= FULL
    is_labelled = truth.mentioned | ~is_full[:, None]
    precision_of_labelled = interval(hits, _per_sentence(is_named & is_labelled))

    auc = f"{mean_auc(truth, weights):.3f}"
    print(f"| {name} | {is_named.sum()} | {precision} | {precision_of_labelled} | {recall} | {auc} |")


def _per_sentence(marks: NDArray[np.bool_]) -> FloatArray:
    """How many symptoms of each sentence are marked, (n,), from marks (n, k)."""
    return np.asarray(marks.sum(1).astype(float))


def details(truth: Truth, weights: FloatArray) -> None:
    """Print what is named of each status, and each symptom with enough mentions."""
    is_named = weights >= NAMED
    statements = sorted(set(truth.statements[truth.mentioned]))
    for statement in statements:
        is_stated = truth.statements == statement
        number_named = (is_named & is_stated).sum()
        print(f"{statement}: named {number_named} of {is_stated.sum()}")

    not_evidence = truth.mentioned & ~truth.present
    wrong_status = (is_named & not_evidence).sum()
    print(f"denied, past, uncertain or other people's: named {wrong_status} of {not_evidence.sum()}")

    mentions = truth.mentioned.sum(axis=0)
    for column, symptom in enumerate(SYMPTOMS):
        # Suicidal ideas are rare, and yet what no reader may miss.
        if mentions[column] < FEWEST and symptom != SUICIDAL:
            continue
        named = is_named[:, column]
        present = truth.present[:, column]
        hits = (named & present).astype(float)
        precision = interval(hits, named.astype(float))
        recall = interval(hits, present.astype(float))
        print(
            f"{symptom}: {named.sum()} named, {present.sum()} present, precision {precision}, recall {recall}"
        )


def without_rules(tags: Tags) -> FloatArray:
    """The weights of a reader that is not told what the words of the text say."""
    all_present = np.full_like(tags.status, PRESENT)
    return weighted(replace(tags, status=all_present))


def lifted(weights: FloatArray) -> FloatArray:
    """Weights in which a symptom is lifted a little by those that share its diseases (scores only)."""
    diseases = [set(symptom.diseases) for symptom in read_graph().symptom]
    shared = np.zeros((len(diseases), len(diseases)))
    for row, column in permutations(range(len(diseases)), 2):
        first = diseases[row]
        second = diseases[column]
        shared[row, column] = len(first & second) / len(first | second)
    neighbours = weights @ shared / shared.sum(0)
    # As if the neighbours were further evidence, independent of the sentence.
    doubt = (1 - weights) * (1 - LIFT * neighbours)
    return np.asarray(1 - doubt)


def phrases_alone(texts: Sequence[str]) -> FloatArray:
    """What rules name alone: a phrase of the bank, in a part that holds for the writer, (n, k)."""
    phrases = tomllib.loads((BANK / "phrases.toml").read_text("utf-8"))["phrases"]
    patterns = [
        re.compile("|".join(rf"\b{re.escape(plain(phrase))}\b" for phrase in phrases[symptom]))
        for symptom in SYMPTOMS
    ]
    weights = np.zeros((len(texts), len(SYMPTOMS)))
    for row, text in enumerate(texts):
        for part in parts_of(text):
            rules = read_rules([part], SYMPTOMS)
            if rules.status[0] == PRESENT:
                has_phrase = [pattern.search(plain(part)) is not None for pattern in patterns]
                weights[row] = np.maximum(weights[row], np.maximum(has_phrase, rules.stated[0]))
    return weights


def main(parts: Sequence[str], models: Sequence[str]) -> None:
    """Print a row per reader and ablation, then details of the first one."""
    truth = read_truth(*parts)
    mentioned = truth.mentioned.sum()
    present = truth.present.sum()
    print(f"{len(truth.texts)} sentences, {mentioned} mentions, {present} present in the writer")
    print("| reader | named | precision | of known | recall | mean AUC |")
    print("|---|---|---|---|---|---|")
    first_weights = None
    for spec in models:
        model = open_model(spec)
        assert isinstance(model, SymptomModel)
        tags = model.tag(truth.texts)
        weights = weighted(tags)
        if first_weights is None:
            first_weights = weights
        report(spec, truth, weights)
        report(f"{spec}, without rules", truth, without_rules(tags))
        report(f"{spec}, lifted by the graph", truth, lifted(weights))
        if model.naming is not None:
            # Without the limits that a reader learned for each symptom.
            unlimited = replace(tags, thresholds=np.full(len(SYMPTOMS), NAMED))
            report(f"{spec}, all named from 0.5 on", truth, weighted(unlimited))
    report("phrases and rules alone", truth, phrases_alone(truth.texts))
    if first_weights is not None:
        details(truth, first_weights)


if __name__ == "__main__":
    main(sys.argv[1].split(","), sys.argv[2:] or ["symptoms:default", "symptoms:descriptions"])
