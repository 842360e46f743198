"""Symptom models on sentences of our own words, with tiny transformers and linear models."""

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from psycheck.core.corpus import Corpus
from psycheck.core.errors import PsycheckWarning
from psycheck.models.opening import open_model
from psycheck.symptoms.graph import read_graph
from psycheck.symptoms.reader import SymptomModel
from psycheck.training import finetune
from psycheck.training.recipe import Recipe, preset, recipe_of
from psycheck.training.samplers import Balanced
from psycheck.training.symptom_models import (
    learnable,
    refuse_misfits,
    subsets,
    thresholds,
    train_each,
    train_symptoms,
    with_negatives,
)
from refusals import refused

Tiny = Callable[[str], str]
# Words that the tiny tokenizer knows: two "symptoms", each annotated in its own queue.
SAID = {"low": "i feel hopeless", "tired": "i feel tired", "none": "we had dinner"}


def sentences(n: int = 96, *, controls: bool = True) -> Corpus:
    """Queue `a` is annotated for low, queue `b` for tired; controls are 0 throughout."""
    texts, low, tired, unsure, queue, split = [], [], [], [], [], []
    for i in range(n):
        kind = ("low", "tired", "none")[i % 3]
        where = "control" if controls and i % 4 == 3 else ("a", "b")[i // 3 % 2]
        if where == "control":
            kind = "none"
        texts.append(f"{SAID[kind]} {'today' if i % 2 else 'again'} {'very ' * (i % 5)}and a day")
        low.append(None if where == "b" else float(kind == "low"))
        tired.append(None if where == "a" else float(kind == "tired"))
        found = (low[-1] or 0) + (tired[-1] or 0) > 0
        unsure.append(float(i // 6 % 2) if found else None)
        queue.append(where)
        split.append(("train", "train", "train", "dev", "test")[i // 12 % 5])
    labels = {"low": low, "tired": tired, "uncertain": unsure}
    return Corpus.of("queues", texts, labels=labels, groups={"disease": queue}, split=split)


def linear(**more: object) -> Recipe:
    return recipe_of({"start": "tfidf+lr", **more})


def test_a_model_has_the_symptoms_and_the_status(tiny: Tiny, tmp_path: Path) -> None:
    recipe = Recipe(start=tiny("bert"), epochs=1, batch=8, max_length=16, layers=1)
    trained = train_symptoms(sentences(), recipe, tmp_path / "model", missing="masked")
    model = open_model(f"symptoms:{trained.folder}")
    assert isinstance(model, SymptomModel)
    assert model.labels == ("low", "tired")
    tags = model.tag(["i feel tired", "she was tired"])
    assert tags.relevance.shape == (2, 2)
    assert not np.isnan(tags.uncertain).any()
    assert tags.own.tolist() == [True, False]
    config = open_model(f"hf:{trained.folder}").network.config  # type: ignore[attr-defined]
    assert config.num_hidden_layers == 1
    assert train_symptoms(sentences(), recipe, tmp_path / "model", missing="masked").reused


def test_a_status_of_one_side_only_is_not_learned(tmp_path: Path) -> None:
    corpus = sentences()
    sure = Corpus("sure", corpus.table.with_columns(pl.col("label:uncertain") * 0))
    with pytest.warns(PsycheckWarning, match="the status is not learned"):
        trained = train_symptoms(sure, linear(), tmp_path / "model", missing="masked")
    assert trained.labels == ("low", "tired")


def test_more_layers_than_the_start_has_are_an_error(tiny: Tiny, tmp_path: Path) -> None:
    recipe = Recipe(start=tiny("bert"), epochs=1, max_length=16, layers=3)
    with refused("train.too-many-layers", what="2 layers, not 3"):
        train_symptoms(sentences(), recipe, tmp_path / "model", missing="masked")


def test_enhancement_fills_only_missing_labels_below_the_threshold() -> None:
    corpus = Corpus.of("c", ["a", "b", "c"], labels={"s": [1.0, None, None]})
    filled = with_negatives(corpus, ["s"], np.array([[0.9], [0.2], [0.8]]) < np.array([0.5]))
    assert filled.table["label:s"].to_list() == [1.0, 0.0, None]


def test_nine_of_ten_sentences_annotated_zero_are_below_the_threshold() -> None:
    targets = np.concatenate([np.zeros((100, 1)), np.ones((20, 1)), np.full((5, 1), np.nan)])
    scores = np.concatenate([np.arange(100)[:, None] / 100, np.ones((25, 1))])
    cut = thresholds(targets, scores, targets[:0], scores[:0])
    assert cut == pytest.approx(np.quantile(np.arange(100) / 100, 0.9))
    assert (scores[:100] < cut).mean() == 0.9
    # Too few of dev: those that the teacher learned from count too; without any, nothing is enhanced.
    assert thresholds(targets[:2], scores[:2], targets, scores)[0] == pytest.approx(cut, abs=0.02)
    assert thresholds(targets[:0], scores[:0], targets[:0], scores[:0])[0] == -np.inf


def test_missing_labels_are_negative_masked_or_enhanced(tmp_path: Path) -> None:
    read = {}
    for missing in ("negative", "masked", "enhanced"):
        trained = train_symptoms(sentences(), linear(), tmp_path / missing, missing=missing)
        record = pl.read_json((trained.folder / "training.json").read_bytes())
        read[missing] = record["trained_on"][0]["train"]["annotated"]["low"]
    rows = sum(split == "train" for split in sentences().strings("split"))
    assert read["negative"] == rows
    assert read["masked"] < read["enhanced"] <= rows
    assert (tmp_path / "enhanced" / "teacher" / "training.json").is_file()
    assert not (tmp_path / "enhanced.teacher").exists()
    assert train_symptoms(sentences(), linear(), tmp_path / "enhanced", missing="enhanced").reused


def test_without_missing_labels_there_is_no_teacher(tmp_path: Path) -> None:
    whole = Corpus("whole", sentences().table.with_columns(pl.col("^label:(low|tired)$").fill_null(0.0)))
    trained = train_symptoms(whole, linear(), tmp_path / "model", missing="enhanced")
    assert not (trained.folder / "teacher").exists()


class Stopped(Exception):
    pass


def test_stopped_in_the_student_it_resumes_without_training_the_teacher_again(
    tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = Recipe(start=tiny("bert"), epochs=2, batch=8, max_length=16, balanced=True, seed=1)
    totals: list[int] = []

    def stop(done: int, total: int) -> None:
        totals.append(total)
        if len(totals) == total + 2:  # the second step of the student
            raise Stopped

    with monkeypatch.context() as patched:
        patched.setattr(finetune, "CHECKPOINT_SECONDS", 0.0)
        with pytest.raises(Stopped):
            train_symptoms(sentences(), recipe, tmp_path / "model", progress=stop)
    steps: list[int] = []
    train_symptoms(sentences(), recipe, tmp_path / "model", progress=lambda done, _: steps.append(done))
    assert steps[0] == 2
    assert steps[-1] == totals[0]
    whole = train_symptoms(sentences(), recipe, tmp_path / "whole")
    texts = sentences().texts[:8]
    one, other = (open_model(f"symptoms:{tmp_path / name}").score(texts) for name in ("model", "whole"))
    assert np.array_equal(one, other)
    assert whole.recipe.balanced


KILLED = """
import os, signal, sys
import torch
torch.set_num_threads(1)
from pathlib import Path
import polars as pl
from psycheck.core.corpus import Corpus
from psycheck.training.recipe import Recipe
from psycheck.training.symptom_models import train_symptoms

steps = []

def progress(done, total):
    steps.append(done)
    if len(steps) == total + 1:  # the first step of the student
        os.kill(os.getpid(), signal.SIGKILL)

corpus = Corpus("queues", pl.read_parquet(sys.argv[1]))
recipe = Recipe(start=sys.argv[2], epochs=1, batch=8, max_length=16)
train_symptoms(corpus, recipe, Path(sys.argv[3]), progress=progress)
"""


@pytest.mark.slow
def test_killed_in_the_student_the_teacher_is_kept(tiny: Tiny, tmp_path: Path) -> None:
    sentences().table.write_parquet(tmp_path / "corpus.parquet")
    arguments = [str(tmp_path / "corpus.parquet"), tiny("bert"), str(tmp_path / "model")]
    world = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", KILLED, *arguments], check=False, env=world)
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / "model.teacher" / "training.json").is_file()
    recipe = Recipe(start=tiny("bert"), epochs=1, batch=8, max_length=16)
    steps: list[int] = []
    trained = train_symptoms(
        sentences(), recipe, tmp_path / "model", progress=lambda *both: steps.append(both[1])
    )
    assert len(steps) <= steps[0]  # the student alone
    assert (trained.folder / "teacher" / "training.json").is_file()


def test_every_batch_is_half_controls_and_an_epoch_has_each_other_sentence_once() -> None:
    control = np.array([True] * 3 + [False] * 8)
    sampler = Balanced(control, seed=5)
    first = list(sampler)
    assert len(first) == len(sampler) == 16
    for start in range(0, 16, 4):
        assert sum(bool(control[row]) for row in first[start : start + 4]) == 2
    counts = Counter(first)
    assert all(counts[row] == 1 for row in range(3, 11))
    assert sorted(counts[row] for row in range(3)) == [2, 3, 3]  # fewer controls come again
    assert list(sampler) == first
    sampler.set_epoch(1)
    assert list(sampler) != first


def test_balanced_batches_need_controls(tiny: Tiny, tmp_path: Path) -> None:
    recipe = Recipe(start=tiny("bert"), max_length=16, balanced=True)
    with refused("train.no-controls"):
        train_symptoms(sentences(controls=False), recipe, tmp_path / "model")


def test_symptoms_without_a_class_are_all_named(tmp_path: Path) -> None:
    corpus = Corpus.of(
        "thin",
        ["a b", "c d", "e f", "g h"],
        labels={"fine": [1, 0, 1, 0], "never": [0, 0, 0, 0], "nobody": [None] * 4},
        split=["train", "train", "dev", "dev"],
    )
    with refused("train.one-class", what="annotated 1 for never, nobody"):
        train_symptoms(corpus, linear(), tmp_path / "model")


def test_of_an_export_the_symptoms_with_both_classes_are_learned() -> None:
    labels: dict[str, list[float | None]] = {
        "fine": [1, 0, 1, 0],
        "never": [0, 0, 0, 0],
        "nobody": [None] * 4,
        "dev_none": [1, 0, 0, 0],
    }
    split = ["train", "train", "dev", "dev"]
    corpus = Corpus.of("thin", ["a b", "c d", "e f", "g h"], labels=labels, split=split)
    assert learnable(corpus, linear().with_(criterion="dev_f1")) == ("fine",)
    assert set(learnable(corpus, linear().with_(criterion="dev_loss"))) == {"dev_none", "fine"}


def test_one_model_per_disease_learns_its_own_symptoms(tmp_path: Path) -> None:
    trained = train_each(sentences(), linear(), tmp_path / "each")
    assert {name: one.labels for name, one in trained.items()} == {
        "a": ("low", "uncertain"),
        "b": ("tired", "uncertain"),
    }


def test_without_a_group_sentences_of_the_same_labels_belong_together() -> None:
    corpus = sentences()
    unnamed = Corpus("c", corpus.table.drop("group:disease"))
    named, found = subsets(corpus), subsets(unnamed)
    assert sorted(map(len, found.values())) == sorted(map(len, named.values()))
    whole = Corpus.of("w", ["a", "b"], labels={"s": [1, 0]})
    assert [len(one) for one in subsets(whole).values()] == [2]


def test_labels_fit_the_graph_or_have_nothing_to_do_with_it() -> None:
    graph = read_graph()
    refuse_misfits([one.name for one in graph.symptom] + ["uncertain"], graph)
    refuse_misfits(["joy", "pride"], graph)
    with refused("symptoms.label-not-in-graph", allowed="sleep_disturbance"):
        refuse_misfits(["Sleep disturbances", "joy"], graph)
    with refused("symptoms.label-not-in-graph", what="'joy'"):
        refuse_misfits(["sleep_disturbance", "joy"], graph)


def test_later_settings_leave_the_keys_of_older_trainings_alone() -> None:
    assert {"layers", "balanced"}.isdisjoint(Recipe().as_dict())
    small = preset("symptoms-small")
    assert small.as_dict()["layers"] == 2
    assert recipe_of(small.as_dict()) == small
