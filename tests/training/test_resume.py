import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from psycheck.core.corpus import Corpus
from psycheck.training import finetune
from psycheck.training.fit import train
from psycheck.training.recipe import Recipe

Tiny = Callable[[str], str]
# 16 texts of train: 4 steps an epoch.
RECIPE = Recipe(epochs=3, batch=4, learning_rate=5e-3, max_length=16, seed=3)

KILLED = """
import os, signal, sys
import torch
torch.set_num_threads(1)
from pathlib import Path
import polars as pl
from psycheck.core.corpus import Corpus
from psycheck.training import finetune
from psycheck.training.fit import train
from psycheck.training.recipe import Recipe

finetune.CHECKPOINT_SECONDS = 0.0
corpus = Corpus("mixed", pl.read_parquet(sys.argv[1]))
recipe = Recipe(start=sys.argv[2], epochs=3, batch=4, learning_rate=5e-3, max_length=16, seed=3)

def progress(done, total):
    if done == 7:
        os.kill(os.getpid(), signal.SIGKILL)

train(corpus, recipe, Path(sys.argv[3]), progress=progress)
"""


def assert_same_weights(one: Path, other: Path) -> None:
    a, b = load_file(one / "model.safetensors"), load_file(other / "model.safetensors")
    assert a.keys() == b.keys()
    assert all(torch.equal(a[key], b[key]) for key in a)


@pytest.mark.slow
def test_a_killed_training_goes_on_to_the_same_weights(tiny: Tiny, corpus: Corpus, tmp_path: Path) -> None:
    corpus.table.write_parquet(tmp_path / "corpus.parquet")
    arguments = [str(tmp_path / "corpus.parquet"), tiny("bert"), str(tmp_path / "killed")]
    world = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", KILLED, *arguments], check=False, env=world)
    assert done.returncode == -signal.SIGKILL
    assert not (tmp_path / "killed").exists()
    left = sorted((tmp_path / "killed.training").glob("*/checkpoints/checkpoint-*"))
    # Killed in step 7, in the middle of the second epoch: the checkpoint after step 6 is whole.
    assert "checkpoint-6" in [path.name for path in left]
    # As if the kill had come while a checkpoint was written.
    cut = left[0].with_name("checkpoint-7")
    cut.mkdir(exist_ok=True)
    (cut / "model.safetensors").write_bytes(b"half")
    steps: list[int] = []
    recipe = RECIPE.with_(start=tiny("bert"))
    resumed = train(corpus, recipe, tmp_path / "killed", progress=lambda done, _: steps.append(done))
    assert steps == [7, 8, 9, 10, 11, 12]
    whole = train(corpus, recipe, tmp_path / "whole")
    assert_same_weights(tmp_path / "killed", tmp_path / "whole")
    assert resumed.curve == whole.curve
    assert not (tmp_path / "killed.training").exists()


class Stopped(Exception):
    pass


@pytest.mark.parametrize(("at", "patience"), [(5, 0), (8, 0), (10, 2)])
def test_stopped_anywhere_it_goes_on_to_the_same_weights(
    at: int, patience: int, tiny: Tiny, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = RECIPE.with_(start=tiny("bert"), patience=patience)

    def stop(done: int, total: int) -> None:
        if done == at:
            raise Stopped

    with monkeypatch.context() as patched:
        patched.setattr(finetune, "CHECKPOINT_SECONDS", 0.0)
        with pytest.raises(Stopped):
            train(corpus, recipe, tmp_path / "stopped", progress=stop)
    steps: list[int] = []
    train(corpus, recipe, tmp_path / "stopped", progress=lambda done, _: steps.append(done))
    assert steps[0] == at
    train(corpus, recipe, tmp_path / "whole")
    assert_same_weights(tmp_path / "stopped", tmp_path / "whole")


@pytest.mark.parametrize(("epochs", "patience"), [(1.5, 0), (20, 1)])
def test_stopped_after_the_last_step_nothing_is_trained_again(
    epochs: float,
    patience: int,
    tiny: Tiny,
    corpus: Corpus,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recipe = RECIPE.with_(start=tiny("bert"), epochs=epochs, patience=patience)
    dev = corpus.part("dev")
    opposite = Corpus.of("dev", dev.texts, labels={"low": list(1 - dev.targets()[:, 0])})
    data = (corpus.part("train"), opposite)

    def full(*_: object) -> None:
        raise Stopped

    with monkeypatch.context() as patched:
        patched.setattr("psycheck.training.fit.write_record", full)
        with pytest.raises(Stopped):
            train(data, recipe, tmp_path / "stopped")
    steps: list[int] = []
    train(data, recipe, tmp_path / "stopped", progress=lambda done, _: steps.append(done))
    assert steps == []
    train(data, recipe, tmp_path / "whole")
    assert_same_weights(tmp_path / "stopped", tmp_path / "whole")
