"""What the parts of a symptom reader add: python benchmarks/symptom_ablation.py READER…

READER is a spec such as symptoms:default. With `train FILE FOLDER` a reader without an adapter is written:
the same layer on the encoder as it is, from the bank, its posts and what `symptom_labelled.py` wrote to FILE.

The truth is weak and of others: emotions (GoEmotions), sentences of drug reviews about unwanted effects
(PsyTAR), stressors (SAD) and topics of questions (Counsel Chat). Printed is the AUC of each label by the
largest weight among the symptoms that go with it, with 95 % bootstrap intervals over texts. The texts come
from PSYCHECK_DATA (by default ../shared/data); only figures are printed.
"""

import csv
import os
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file
from sklearn.metrics import roc_auc_score

from psycheck.core.arrays import FloatArray
from psycheck.models.hf import HfEncoder
from psycheck.models.opening import open_encoder, open_model
from psycheck.symptoms.adapted_reader import CARD_FILE, DEFAULT_FOLDER, READER_FILE, token_states
from psycheck.symptoms.bank_sentences import BANK, read_bank, read_sentences
from psycheck.symptoms.reader import SymptomModel
from psycheck.symptoms.statements import weighted
from psycheck.text.clean import split_sentences
from psycheck.training.reader_layer import refined_layer
from symptom_reader import SYMPTOMS, lifted, phrases_alone, without_rules

DRAWS: Final = 1_000  # of the bootstrap
CHARACTERS: Final = 400  # of a question: about four sentences
FEWEST: Final = 20  # texts with a label: fewer tell little
EMOTIONS: Final = {
    "sadness": ("depressed_mood",),
    "grief": ("depressed_mood",),
    "nervousness": ("anxious_mood",),
    "fear": ("panic_fear", "anxious_mood"),
    "anger": ("anger_irritability",),
    "annoyance": ("anger_irritability",),
    "remorse": ("worthlessness_and_guilty",),
    "embarrassment": ("fears_of_being_negatively_evaluated", "worthlessness_and_guilty"),
}
TOPICS: Final = {
    "Depression": ("depressed_mood", "loss_of_interest_or_motivation", "suicidal_ideas"),
    "Anxiety": ("anxious_mood", "panic_fear", "fear_about_social_situations"),
    "Self-esteem": ("worthlessness_and_guilty",),
    "Anger Management": ("anger_irritability",),
    "Trauma": ("intrusion_symptoms", "avoidance_of_stimuli"),
}
BODY: Final = (
    "decreased_energy_tiredness_fatigue",
    "sleep_disturbance",
    "gastrointestinal_symptoms",
    "somatic_muscle",
    "somatic_symptoms_others",
)
MOOD: Final = (
    "depressed_mood",
    "anxious_mood",
    "panic_fear",
    "worthlessness_and_guilty",
    "anger_irritability",
)


@dataclass(frozen=True, slots=True, eq=False)
class WeakTruth:
    """Texts, and for each label whether they have it, (n,), and the symptoms that go with it."""

    corpus: str
    texts: list[str]
    labels: Mapping[str, NDArray[np.bool_]]
    symptoms: Mapping[str, Sequence[str]]


def emotions(folder: Path, most: int = 120, others: int = 400) -> WeakTruth:
    """Comments on Reddit with at most so many of each emotion, and so many without any of them."""
    names = (folder / "goemotions" / "labels.txt").read_text("utf-8").split()
    rows = []
    for part in ("dev", "test"):
        for line in (folder / "goemotions" / f"{part}.tsv").read_text("utf-8").splitlines():
            text, numbers, _ = line.split("\t")
            rows.append((text, {names[int(number)] for number in numbers.split(",")}))
    random.Random(0).shuffle(rows)

    groups = [[row for row in rows if emotion in row[1]][:most] for emotion in EMOTIONS]
    groups.append([row for row in rows if row[1].isdisjoint(EMOTIONS)][:others])
    drawn = {text: own for group in groups for text, own in group}
    has = {emotion: np.array([emotion in own for own in drawn.values()]) for emotion in EMOTIONS}
    return WeakTruth("GoEmotions", list(drawn), has, EMOTIONS)


def reviews(folder: Path, size: int = 800) -> WeakTruth:
    """Sentences of drug reviews: unwanted effects, withdrawal and complaints, or none of them."""
    rows = _drawn(folder / "psytar_sentences.csv", size)
    has = np.array([any(float(row[label] or 0) for label in ("ADR", "WD", "SSI")) for row in rows])
    return WeakTruth("PsyTAR", [row["text"] for row in rows], {"unwanted": has}, {"unwanted": SYMPTOMS})


def stressors(folder: Path, size: int = 800) -> WeakTruth:
    """Sentences about what stresses people, by the stressor that annotators named."""
    rows = _drawn(folder / "sad.csv", size)
    symptoms = {"Health, Fatigue, or Physical Pain": BODY, "Emotional Turmoil": MOOD}
    has = {label: np.array([row["top_label"] == label for row in rows]) for label in symptoms}
    return WeakTruth("SAD", [row["text"] for row in rows], has, symptoms)


def questions(folder: Path, size: int = 300) -> WeakTruth:
    """Beginnings of questions to counsellors, by their topics."""
    rows = _drawn(folder / "counselchat.csv", size)
    has = {topic: np.array([topic in row["topics"] for row in rows]) for topic in TOPICS}
    return WeakTruth("Counsel Chat", [row["text"][:CHARACTERS] for row in rows], has, TOPICS)


def _drawn(file: Path, size: int) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    return random.Random(0).sample(rows, min(size, len(rows)))


def variants(model: SymptomModel, texts: Sequence[str]) -> Iterator[tuple[str, FloatArray]]:
    """The weights of texts (n, k), their largest over sentences: by the reader, and by less or more of it."""
    sentences_of_texts = [split_sentences(text) or [""] for text in texts]
    sentences = [sentence for own in sentences_of_texts for sentence in own]
    counts = [len(own) for own in sentences_of_texts]
    starts = np.cumsum([0, *counts[:-1]])
    # Thresholds only move scores; without them nothing is cut off.
    tags = replace(model.tag(sentences), thresholds=np.full(len(model.labels), 0.5))

    weights = weighted(tags)
    yield "reader", np.maximum.reduceat(weights, starts)
    yield "without rules", np.maximum.reduceat(without_rules(tags), starts)
    yield "lifted by the graph", lifted(np.maximum.reduceat(weights, starts))


def by_phrases(texts: Sequence[str]) -> FloatArray:
    """What phrases and rules alone make of texts, (n, k)."""
    rows = [phrases_alone(split_sentences(text) or [""]).max(axis=0) for text in texts]
    return np.array(rows)


def area(has: NDArray[np.bool_], scores: FloatArray) -> str:
    """The AUC with its interval."""
    chance = np.random.default_rng(0)
    areas = []
    for _ in range(DRAWS):
        rows = chance.integers(0, len(has), len(has))
        if 0 < has[rows].sum() < len(rows):
            areas.append(roc_auc_score(has[rows], scores[rows]))
    low, high = np.quantile(areas, [0.025, 0.975])
    return f"{roc_auc_score(has, scores):.3f} ({low:.3f}–{high:.3f})"


def report(truth: WeakTruth, name: str, weights: FloatArray) -> None:
    """Print a row per label with enough texts."""
    for label, has in truth.labels.items():
        if has.sum() < FEWEST:
            continue
        columns = [SYMPTOMS.index(symptom) for symptom in truth.symptoms[label]]
        scores = weights[:, columns].max(axis=1)
        numbers = f"{has.sum()} of {len(has)}"
        print(f"| {truth.corpus} | {label} | {numbers} | {name} | {area(has, scores)} |", flush=True)


def train_without_adapter(labelled: Path, folder: Path) -> None:
    """Write a reader whose encoder is as it comes: the layer alone learns."""
    lessons = read_sentences(labelled, SYMPTOMS) + read_sentences(BANK / "posts.csv", SYMPTOMS)
    lessons += read_bank("train", SYMPTOMS)
    encoder = open_encoder("minilm", max_length=128)
    assert isinstance(encoder, HfEncoder)
    outputs = 2 * len(SYMPTOMS)
    width = encoder.network.config.hidden_size
    start = {
        "mean.weight": torch.zeros(outputs, width),
        "mean.bias": torch.full((outputs,), -2.0),  # symptoms are rare
        "token.weight": torch.zeros(outputs, width),
        "token.bias": torch.zeros(outputs),
    }
    layer = refined_layer(token_states(encoder, lessons.texts), start, lessons, seed=0)

    folder.mkdir(parents=True, exist_ok=True)
    save_file({name: tensor.half() for name, tensor in layer.items()}, folder / READER_FILE)
    card = (DEFAULT_FOLDER / CARD_FILE).read_text("utf-8")
    # Its thresholds are those of another reader.
    (folder / CARD_FILE).write_text(card[: card.index("[bank]")], "utf-8")


def main(specs: Sequence[str]) -> None:
    """Print the AUC of each weak label by each variant of each reader."""
    folder = Path(os.environ.get("PSYCHECK_DATA", "../shared/data"))
    print("| corpus | label | texts | by | AUC |")
    print("|---|---|---|---|---|")
    for draw in (emotions, reviews, stressors, questions):
        truth = draw(folder)
        for spec in specs:
            model = open_model(spec)
            assert isinstance(model, SymptomModel)
            for name, weights in variants(model, truth.texts):
                report(truth, f"{spec.rpartition('/')[2]}, {name}", weights)
        report(truth, "phrases and rules alone", by_phrases(truth.texts))


if __name__ == "__main__":
    if sys.argv[1] == "train":
        train_without_adapter(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        main(sys.argv[1:])
