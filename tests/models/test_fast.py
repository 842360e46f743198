import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from psycheck.models import fast
from psycheck.models.fast import Calibration
from psycheck.models.hf import HfModel
from psycheck.models.opening import open_encoder, open_model, spec_of
from refusals import refused

TEXTS = ["I cannot sleep at all.", "We had a good day at the lake.", ""]


@pytest.fixture
def opened(tiny_bert: Path) -> HfModel:
    """A tiny classifier with random weights, in 32 bits."""
    model = open_model(f"hf:{tiny_bert}?activation=sigmoid")
    assert isinstance(model, HfModel)
    return model


def record_of(folder: Path) -> Path:
    (record,) = folder.rglob("*.json")
    return record


@pytest.mark.slow
def test_a_model_in_8_bits_is_another_model_whose_scores_hardly_move(
    opened: HfModel, tiny_bert: Path, own_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The scores of random weights are all near the threshold.
    monkeypatch.setattr(fast, "MOST_DIFFERENT", 0.1)
    quick = open_model(f"hf:{tiny_bert}?activation=sigmoid&fast=true")
    assert quick.fingerprint != opened.fingerprint
    assert spec_of(quick).endswith("fast=true")
    scores = quick.score(TEXTS)
    assert np.abs(scores - opened.score(TEXTS)).max() < 0.02
    assert not np.array_equal(scores, opened.score(TEXTS))

    # Kept: the second opening neither exports nor calibrates.
    record = record_of(own_store.parent)
    calibration = json.loads(record.read_text("utf-8"))
    assert calibration["labels"] == fast.SAMPLE * len(opened.labels)
    times = [file.stat().st_mtime_ns for file in (record, record.with_suffix(".onnx"))]
    again = open_model(f"hf:{tiny_bert}?activation=sigmoid&fast=true")
    assert [file.stat().st_mtime_ns for file in (record, record.with_suffix(".onnx"))] == times
    np.testing.assert_array_equal(again.score(TEXTS), scores)


@pytest.mark.slow
def test_more_different_labels_than_allowed_are_refused(
    opened: HfModel, own_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    differing = Calibration(labels=400, different=3, largest_shift=0.2, speed=2.0)
    monkeypatch.setattr(fast, "_calibrated", lambda *models: differing)
    with refused("fast.labels-differ"):
        fast.fast_model(opened)

    # Of two that are kept, the second has only the products of attention in 8 bits.
    records = list(own_store.parent.rglob("*.json"))
    assert len(records) == len(fast.PRODUCTS)
    for record in records:
        record.write_text(json.dumps({**_values(differing), "different": 2}), "utf-8")
    assert "2 of 400 labels differ" in fast.fast_model(opened).capabilities.notes[-1]


def _values(calibration: Calibration) -> dict[str, float]:
    names = ("labels", "different", "largest_shift", "speed")
    return {name: getattr(calibration, name) for name in names}


def test_labels_are_those_of_the_largest_class_or_of_the_threshold(opened: HfModel) -> None:
    scores = np.array([[0.4, 0.35, 0.25], [0.2, 0.2, 0.6]])
    classes = replace(opened, capabilities=replace(opened.capabilities, exclusive=True))
    assert fast._decided(classes, scores).tolist() == [[True, False, False], [False, False, True]]
    labels = replace(opened, capabilities=replace(opened.capabilities, exclusive=False))
    assert fast._decided(labels, scores).tolist() == [[False, False, False], [False, False, True]]


def test_encoders_and_other_kinds_of_models_are_refused(tiny_bert: Path) -> None:
    with refused("fast.encoder"):
        open_encoder(f"hf:{tiny_bert}?fast=true")
    with refused("model.option-of-another-kind"):
        open_model("python:planted:oracle?fast=true")
