import gc
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planted import MODELS, Counting, Planted
from psycheck.core.arrays import FloatArray
from psycheck.core.errors import ModelFailure, PsycheckWarning
from psycheck.core.model import Capabilities, Model
from psycheck.models import opening
from psycheck.models.opening import open_model, spec_of
from psycheck.models.python_object import PythonOptions, wrap_object
from psycheck.scoring.answers import not_scored
from psycheck.scoring.engine import gather, score_once
from psycheck.scoring.remembered import RememberedScores
from psycheck.scoring.store import Store
from psycheck.scoring.tally import Tally
from psycheck.scoring.task import ScoringTask
from psycheck.scoring.todo import Todo
from refusals import refused


def _scored(store: Store, model: Model, texts: Sequence[str]) -> tuple[Tally, RememberedScores]:
    view = RememberedScores(store, model, model.labels)
    return score_once([(model, view)], [(1.0, texts)])[model.name], view


@given(st.lists(st.text(max_size=5), max_size=60), st.integers(60, 2000))
@settings(max_examples=60)
def test_gathering_keeps_every_text_and_no_repeats_in_a_chunk(texts: list[str], budget: int) -> None:
    chunks = list(gather([(0.5, texts[: len(texts) // 2]), (1.0, texts[len(texts) // 2 :])], budget))
    assert {text for _, _, chunk in chunks for text in chunk} == set(texts)
    assert sum(asked for _, asked, _ in chunks) == len(texts)
    for _, _, chunk in chunks:
        assert len(chunk) == len(set(chunk))


def test_each_distinct_text_is_sent_once_and_a_second_run_sends_none(own_store: Path) -> None:
    store = Store(own_store)
    first, second = Counting(MODELS["oracle"]), Counting(MODELS["oracle"])
    texts = ["a", "b", "a", "c", "b"]
    tally, view = _scored(store, first, texts)
    assert sorted(first.seen) == ["a", "b", "c"]
    assert (tally.asked, tally.distinct, tally.scored, tally.remembered) == (5, 3, 3, 0)
    tally, _ = _scored(store, second, texts)
    assert second.seen == []
    assert (tally.scored, tally.remembered) == (0, 3)
    np.testing.assert_array_equal(view.of(texts), MODELS["oracle"].score(texts))


def test_a_text_that_comes_again_in_a_later_chunk_is_not_sent_again(
    own_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("psycheck.scoring.engine.gather.__defaults__", (200,))
    monkeypatch.setattr("psycheck.scoring.engine._ITEMS_AT_ONCE", 7)
    model = Counting(MODELS["oracle"])
    tally, _ = _scored(Store(own_store), model, [f"text {i % 10}" for i in range(100)])
    assert len(model.seen) == len(set(model.seen)) == 10
    assert (tally.asked, tally.distinct, tally.scored, tally.remembered) == (100, 10, 10, 0)
    tally, _ = _scored(Store(own_store), model, [f"text {i % 10}" for i in range(100)])
    assert (tally.asked, tally.distinct, tally.scored, tally.remembered) == (100, 10, 0, 10)


def test_a_changed_model_is_found_out_in_a_later_chunk_and_keeps_what_this_run_scored(
    own_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("psycheck.scoring.engine.gather.__defaults__", (200,))
    monkeypatch.setattr("psycheck.scoring.engine._ITEMS_AT_ONCE", 4)
    weight, store = [0.3], Store(own_store)
    model = wrap_object(Planted("reads a file", lambda text: weight[0]), PythonOptions())
    _scored(store, model, [f"old {i}" for i in range(20)])
    weight[0] = 0.6
    texts = [f"new {i}" for i in range(20)] + [f"old {i}" for i in range(20)]
    with pytest.warns(PsycheckWarning, match="20 stored scores dropped"):
        tally, view = _scored(store, model, texts)
    assert (tally.scored, tally.dropped) == (40, 20)
    np.testing.assert_array_equal(view.of(texts), 0.6)


def test_a_model_that_never_scores_alike_is_not_taken_for_a_changed_one(own_store: Path) -> None:
    noise = np.random.default_rng(0)
    model = wrap_object(Planted("noisy", lambda text: noise.uniform(0.4, 0.6)), PythonOptions())
    texts = [f"text {i}" for i in range(30)]
    _, first = _scored(Store(own_store), model, texts)
    tally, second = _scored(Store(own_store), model, texts)
    assert (tally.checked, tally.dropped, tally.remembered) == (8, 0, 30)
    np.testing.assert_array_equal(first.of(texts), second.of(texts))


def test_stored_scores_that_cannot_be_checked_are_kept_and_a_warning_says_so(own_store: Path) -> None:
    broken: list[str] = []
    model = wrap_object(Planted("breaks", lambda text: 0.5 if not broken else broken[9]), PythonOptions())  # type: ignore[arg-type,return-value]  # it raises
    _scored(Store(own_store), model, ["a", "b"])
    broken.append("now")
    with pytest.warns(PsycheckWarning, match="could not be checked: IndexError"):
        tally, _ = _scored(Store(own_store), model, ["a", "b"])
    assert (tally.checked, tally.remembered) == (0, 2)


def test_batches_are_ordered_by_length(own_store: Path) -> None:
    model = Counting(MODELS["oracle"])
    _scored(Store(own_store), model, ["a" * n for n in (3, 1, 9, 5, 7)])
    assert [len(text) for text in model.seen] == [9, 7, 5, 3, 1]


def _touchy(text: str) -> float:
    if "bad" in text:
        raise ValueError(f"cannot read: {text}")
    return 0.5


def test_texts_that_a_model_fails_on_are_set_apart_and_the_others_kept(own_store: Path) -> None:
    store = Store(own_store)
    texts = [f"text {i}" for i in range(20)] + ["bad one", "bad two"]
    tally, view = _scored(store, Planted("touchy", _touchy), texts)
    assert (tally.scored, tally.failed) == (20, 2)
    assert np.isnan(view.of(["bad one"])).all()
    assert list(view.complaints) == [f"ValueError at test_engine.py:{_touchy.__code__.co_firstlineno + 2}"]
    tally, _ = _scored(store, Planted("touchy", _touchy), texts)
    assert (tally.remembered, tally.scored, tally.failed) == (20, 0, 2)


def test_a_model_that_fails_on_every_text_stops_the_run_without_quoting_any(own_store: Path) -> None:
    with refused("model.fails-on-every-text") as caught:
        _scored(Store(own_store), Planted("touchy", _touchy), ["bad secret"])
    assert "ValueError at test_engine.py" in caught.value.what
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("values", "what"),
    [
        (np.zeros((1, 3)), "shape \\(1, 3\\)"),
        (np.array([[1.5]]), "outside \\[0, 1\\]"),
        (np.array([[-0.2]]), "outside \\[0, 1\\]"),
        (np.array([[np.inf]]), "outside \\[0, 1\\]"),
    ],
)
def test_a_model_that_answers_nonsense_is_told_so(own_store: Path, values: FloatArray, what: str) -> None:
    model = Counting(MODELS["oracle"])
    model.score = lambda texts: values  # type: ignore[method-assign]  # the answer is what is tested
    with pytest.raises(ModelFailure, match=what):
        _scored(Store(own_store), model, ["a"])


def test_nan_is_no_usable_answer_and_is_remembered_as_such(own_store: Path) -> None:
    store = Store(own_store)
    silent = Planted("silent", lambda text: np.nan)
    tally, view = _scored(store, silent, ["a"])
    assert (tally.scored, tally.failed) == (1, 0)
    assert np.isnan(view.of(["a"])).all()
    assert _scored(store, silent, ["a"])[0].remembered == 1


def test_what_still_needs_scores_is_listed_once(own_store: Path) -> None:
    store = Store(own_store)
    _scored(store, MODELS["oracle"], ["a", "b"])
    pieces = [(0.5, ["a", "c"]), (1.0, ["c", "d", "b"])]
    assert list(not_scored([MODELS["oracle"]], lambda: pieces, own_store)) == ["c", "d"]


def test_progress_knows_the_total_when_all_is_gathered(own_store: Path) -> None:
    told: list[tuple[int, int]] = []
    model = Planted("m", lambda text: 0.5)
    object.__setattr__(model, "capabilities", Capabilities(batch=2))
    view = RememberedScores(Store(own_store), model, model.labels)
    pieces = [(0.5, ["a", "b"]), (1.0, ["c", "d", "e"])]
    score_once([(model, view)], pieces, lambda name, done, total, s: told.append((done, total)))
    assert told == [(2, 5), (4, 5), (5, 5)]
    assert os.environ["PSYCHECK_STORE"] == str(own_store)


OTHER_PROCESS = """
import json, sys
from psycheck.models.opening import open_model

spec, texts = json.load(sys.stdin)
model = open_model(spec)
json.dump([model.fingerprint, model.score(texts).tolist()], sys.stdout)
"""


class ProcessEngine:
    """An engine that knows a model by its spec alone, as one on a cluster does."""

    def score(self, task: ScoringTask, todo: Todo, /) -> None:
        """Open the model in a process that runs in another folder, and commit what it answers."""
        answer = subprocess.run(
            [sys.executable, "-c", OTHER_PROCESS],
            cwd="/",
            input=json.dumps([task.spec, todo.items]),
            capture_output=True,
            text=True,
            check=True,
        )
        fingerprint, scores = json.loads(answer.stdout)
        assert fingerprint == task.model.fingerprint
        task.view.add(todo.items, np.array(scores), todo.hashes)
        task.tally.scored += len(todo.items)


@pytest.mark.parametrize("spec", ["python:lengths:score", "python:lengths.py:score?name=long"])
def test_an_engine_can_open_the_model_in_another_process(
    spec: str, own_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("lengths.py").write_text("def score(texts):\n    return [len(text) / 10 for text in texts]\n")
    model = open_model(spec, label="long")
    view = RememberedScores(Store(own_store), model, model.labels)

    tallies = score_once([(model, view)], [(1.0, ["one", "three", "one"])], engine=ProcessEngine())
    assert tallies[model.name].scored == 2
    np.testing.assert_allclose(view.of(["one", "three"]), [[0.3], [0.5]])
    # The key of the score includes the label, which only the keyword named.
    assert "label=long" in spec_of(model)


def test_an_object_of_this_process_has_no_spec() -> None:
    assert spec_of(open_model(_touchy)) == ""


def test_the_spec_of_a_model_is_forgotten_with_the_model(tmp_path: Path) -> None:
    file = tmp_path / "lengths.py"
    file.write_text("def score(texts):\n    return [len(text) / 10 for text in texts]\n")
    # Models of earlier tests may not have been collected yet.
    gc.collect()
    model = open_model(f"python:{file}:score")
    remembered = len(opening._SPECS)
    assert spec_of(model).startswith(f"python:{file}:score")
    del model
    gc.collect()
    assert len(opening._SPECS) == remembered - 1
