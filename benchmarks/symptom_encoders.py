"""The same layer on other encoders, side by side: python benchmarks/symptom_encoders.py FILE PARTS ENCODER…

The layer of a symptom reader learns from 1,500 sentences of FILE (written by `symptom_labelled.py`) on each
encoder as it comes, without an adapter, and is tested on PARTS of the truth. `psycheck symptoms train
--from-bank --start ENCODER` also adapts the encoder, for which a large one needs hours on two cores.
"""

import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from sklearn.metrics import average_precision_score

from psycheck.models.hf import HfEncoder
from psycheck.models.opening import open_encoder
from psycheck.symptoms.adapted_reader import AdaptedReader, token_states
from psycheck.symptoms.bank_sentences import Labelled, read_sentences
from psycheck.symptoms.reader import model_of_reader
from psycheck.symptoms.statements import weighted
from psycheck.training.reader_layer import refined_layer
from symptom_reader import SYMPTOMS, mean_auc, read_truth

SENTENCES = 1_500
WINDOW = 128


def new_layer(width: int) -> dict[str, torch.Tensor]:
    """A layer that has learned nothing: symptoms are rare."""
    outputs = 2 * len(SYMPTOMS)
    return {
        "mean.weight": torch.zeros(outputs, width),
        "mean.bias": torch.full((outputs,), -2.0),
        "token.weight": torch.zeros(outputs, width),
        "token.bias": torch.zeros(outputs),
    }


def reader_on(encoder: HfEncoder, lessons: Labelled) -> AdaptedReader:
    """A reader whose layer alone learned."""
    states = token_states(encoder, lessons.texts)
    layer = refined_layer(states, new_layer(encoder.network.config.hidden_size), lessons, seed=0)
    return AdaptedReader(encoder=encoder, layer=layer, labels=tuple(SYMPTOMS), card=Path(__file__), parts={})


def main(file: Path, parts: Sequence[str], specs: Sequence[str]) -> None:
    """Print a row per encoder."""
    labelled = read_sentences(file, SYMPTOMS)
    rows = random.Random(0).sample(range(len(labelled.texts)), SENTENCES)
    lessons = labelled.at(np.array(rows))
    truth = read_truth(*parts)
    print("| encoder | learned from | mean AUC | average precision | CPU ms per sentence |")
    print("|---|---|---|---|---|")
    for spec in specs:
        encoder = open_encoder(spec, max_length=WINDOW)
        assert isinstance(encoder, HfEncoder)
        model = model_of_reader(reader_on(encoder, lessons), spec)
        started = time.process_time()
        weights = weighted(model.tag(truth.texts))
        milliseconds = 1_000 * (time.process_time() - started) / len(truth.texts)
        precision = average_precision_score(truth.present.ravel(), weights.ravel())

        name = spec.rpartition("/")[2]
        area = mean_auc(truth, weights)
        print(f"| {name} | {SENTENCES:,} | {area:.3f} | {precision:.3f} | {milliseconds:.1f} |", flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(Path(sys.argv[1]), sys.argv[2].split(","), sys.argv[3:])
