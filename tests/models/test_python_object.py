import functools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.dummy import DummyClassifier

from psycheck.models.opening import open_model
from psycheck.models.python_object import PythonModel
from refusals import refused

MYMODEL = """
class Model:
    labels = ("depression", "anxiety")

    def score(self, texts):
        return [[len(text) / 100, 0.5] for text in texts]

    def read(self, texts):
        return [min(len(text), 10) for text in texts]


model = Model()


def by_length(texts):
    return [len(text) / 100 for text in texts]


class named:
    labels = "low mood"
    name = "mine"
    fingerprint = "v7"
    batch = 5
    parts = {"weights": "abc"}

    def __call__(self, texts):
        return [0.25 for _ in texts]


class Holder:
    inner = named()


threshold = 3


class Needy:
    def __init__(self, weights):
        self.weights = weights
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a user's module, as the current one; what it imports is forgotten afterwards."""
    (tmp_path / "mymodel.py").write_text(MYMODEL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def opened(spec: Any, **options: Any) -> PythonModel:
    model = open_model(spec, **options)
    assert isinstance(model, PythonModel)
    return model


@pytest.mark.parametrize("where", ["mymodel", "mymodel.py", "./mymodel.py"])
def test_an_object_of_a_module_or_file(where: str) -> None:
    model = opened(f"python:{where}:model")
    assert (model.name, model.labels) == ("mymodel", ("depression", "anxiety"))
    assert model.score(["ab", "abcd"]).tolist() == [[0.02, 0.5], [0.04, 0.5]]
    assert model.read(["ab", "a" * 20]).tolist() == [2, 10]
    assert model.score([]).shape == (0, 2)
    assert "covers only the source of mymodel.py" in model.capabilities.notes[0]


def test_a_function() -> None:
    model = opened("python:mymodel:by_length")
    assert (model.name, model.labels) == ("by_length", ("positive",))
    assert model.score(["a" * 7]).tolist() == [[0.07]]
    assert model.read(["abc", ""]).tolist() == [3, 0]
    assert opened("python:mymodel:by_length?label=depression").labels == ("depression",)


def test_a_class_and_what_it_says_of_itself() -> None:
    for path in ("named", "Holder.inner"):
        model = opened(f"python:mymodel:{path}")
        assert (model.name, model.labels, model.fingerprint) == ("mine", ("low mood",), "v7")
        assert (model.capabilities.batch, model.capabilities.notes) == (5, ())
        assert model.capabilities.recheck
        assert model.capabilities.parts == {"weights": "abc", "labels": "low mood"}
    assert opened("python:mymodel:named?name=other").name == "other"


def test_fingerprint_follows_the_source(folder: Path) -> None:
    first = opened("python:mymodel.py:model").fingerprint
    assert opened("python:mymodel.py:model").fingerprint == first
    assert opened("python:mymodel:model").fingerprint == first
    assert opened("python:mymodel.py:by_length").fingerprint != first
    (folder / "mymodel.py").write_text(MYMODEL.replace("/ 100, 0.5", "/ 200, 0.5"))
    assert opened("python:mymodel.py:model").fingerprint != first


@pytest.mark.parametrize(
    ("spec", "code", "more"),
    [
        ("python:mymodel", "model.no-python-object", "MODULE:OBJECT"),
        ("python:mymodle:model", "model.no-module", "did you mean 'mymodel'"),
        ("python:nothing.at.all:model", "model.no-module", "the current folder"),
        ("python:mymodle.py:model", "model.file-not-there", "did you mean 'mymodel.py'"),
        ("python:mymodel:modle", "model.no-such-object", "did you mean 'model'"),
        ("python:mymodel:threshold", "model.not-callable", "score(texts)"),
        ("python:mymodel:model?label=one", "model.label-count", "depression, anxiety"),
        ("python:mymodel:Needy", "model.code-fails", "defaults"),
    ],
)
def test_what_cannot_be_opened(spec: str, code: str, more: str) -> None:
    with refused(code) as caught:
        open_model(spec)
    assert more in str(caught.value)


@pytest.mark.parametrize(
    ("source", "message", "line"),
    [
        ("import json\nlevel = 1\njson.loads('{')\n", "JSONDecodeError", 3),
        (
            "level = 1\nimport not_installed_here\n",
            "ModuleNotFoundError: No module named 'not_installed_here'",
            2,
        ),
        ("level = 1\n\nlevel = = 2\n", "SyntaxError", 3),
        ("import sys\nsys.exit(4)\n", "SystemExit: 4", 2),
    ],
)
@pytest.mark.parametrize("where", ["broken", "broken.py"])
def test_an_import_that_fails_is_one_error_with_its_line(
    folder: Path, where: str, source: str, message: str, line: int
) -> None:
    (folder / "broken.py").write_text(source)
    with refused("model.code-fails") as caught:
        open_model(f"python:{where}:model")
    assert message in caught.value.what
    assert caught.value.where == f"{folder / 'broken.py'}, line {line}"


def test_a_file_called_like_a_library_does_not_take_its_place(folder: Path) -> None:
    (folder / "json.py").write_text("def model(texts):\n    return [0.5] * len(texts)\n")
    assert opened("python:json.py:model").score(["a"]).tolist() == [[0.5]]
    assert sys.modules["json"].__name__ == "json"
    assert hasattr(sys.modules["json"], "loads")


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        ([0.2, 1], [0.2, 1.0]),
        (np.array([[0.2], [0.4]], np.float32), [np.float64(np.float32(0.2)), np.float64(np.float32(0.4))]),
        ([True, False], [1.0, 0.0]),
        ([None, 0.4], [np.nan, 0.4]),
        ([-1e-7, 1 + 1e-7], [0.0, 1.0]),
        (torch.tensor([0.25, 0.5]), [0.25, 0.5]),
        (torch.tensor([0.25, 0.5], requires_grad=True), [0.25, 0.5]),
        ([torch.tensor(0.25), torch.tensor(0.5)], [0.25, 0.5]),
        ([[0.75, 0.25], [0.5, 0.5]], [0.25, 0.5]),
        (["yes", "no"], [1.0, 0.0]),
        ([{"label": "LABEL_1", "score": 0.75}, {"label": "LABEL_0", "score": 0.75}], [0.75, 0.25]),
    ],
)
def test_answers_are_made_into_a_column(answer: Any, wanted: list[float]) -> None:
    np.testing.assert_array_equal(opened(lambda texts: answer).score(["a", "b"])[:, 0], wanted)


@pytest.mark.parametrize(
    ("answer", "code", "value"),
    [
        ([0.1], "model.scores-shape", "(1,) for 2 texts"),
        ([[0.1, 0.8], [0.2, 0.8]], "model.scores-shape", "(2, 2) for 2 texts"),
        (0.5, "model.scores-shape", "() for 2 texts"),
        ([0.2, 1.1], "model.scores-out-of-range", "from 0.2 to 1.1"),
        ([np.nan, -3.0], "model.scores-out-of-range", "from -3 to -3"),
        ([0.2, np.inf], "model.scores-out-of-range", "1 score"),
        ([[0.1], [0.2, 0.3]], "model.scores-not-numbers", "list"),
        (None, "model.scores-not-numbers", "NoneType"),
    ],
)
def test_answers_that_are_refused(answer: Any, code: str, value: str) -> None:
    with refused(code) as caught:
        opened(lambda texts: answer, name="mine").score(["secret one", "secret two"])
    assert value in caught.value.what
    assert "'mine'" in caught.value.what
    assert "secret" not in str(caught.value)
    assert "private" not in str(caught.value)


def test_of_two_columns_that_add_up_to_1_the_second_is_used_with_a_note() -> None:
    both = opened(lambda texts: [[0.25, 0.75]] * len(texts))
    assert both.score(["a"]).tolist() == [[0.75]]
    assert "second of its two columns" in both.capabilities.notes[-1]
    assert opened(lambda texts: [[0.1, 0.9]] * len(texts), label="no,yes").labels == ("no", "yes")


def test_names_without_a_meaning_are_refused_and_not_quoted() -> None:
    with refused("model.positive-name-unclear", do="positive=NAME") as caught:
        opened(lambda texts: ["private", "words"]).score(["a", "b"])
    assert "private" not in str(caught.value)
    chosen = opened(lambda texts: ["private", "words"], positive="words")
    assert chosen.score(["a", "b"]).tolist() == [[0.0], [1.0]]


def test_a_wrong_read_is_refused() -> None:
    class Short:
        labels = ("x",)

        def score(self, texts: list[str]) -> list[float]:
            return [0.5] * len(texts)

        def read(self, texts: list[str]) -> list[int]:
            return [1]

    with refused("model.read-shape"):
        opened(Short()).read(["a", "b"])


def test_an_estimator_that_is_not_fitted_is_refused() -> None:
    with refused("model.no-raw-texts", where="DummyClassifier"):
        open_model(DummyClassifier())


def test_an_opened_model_is_taken_as_it_is() -> None:
    model = opened("python:mymodel:model")
    assert open_model(model) is model
    assert opened(model, name="again").score(["ab"]).tolist() == [[0.02, 0.5]]


WEIGHT = 0.5
ESTIMATOR = DummyClassifier()


def constant(texts: list[str]) -> list[float]:
    return [WEIGHT for _ in texts]


def shifted(texts: list[str], by: float = 0.0) -> list[float]:
    return [by] * len(texts)


def with_estimator(texts: list[str]) -> Any:
    return [ESTIMATOR for _ in texts]


def closed(value: Any) -> Any:
    return lambda texts: [value] * len(texts)


class Constant:
    labels = ("x",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def score(self, texts: list[str]) -> list[float]:
        return [self.value * WEIGHT] * len(texts)


def test_a_function_is_named_by_its_source_and_the_plain_values_it_uses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def prints() -> list[str]:
        things: list[Any] = [
            constant,
            shifted,
            functools.partial(shifted, by=0.5),
            functools.partial(shifted, by=0.7),
        ]
        things += [
            closed(0.1),
            closed(0.2),
            closed(np.array([1.0])),
            closed(np.array([2.0])),
            Constant(1),
            Constant(2),
        ]
        things += [Constant(0.1).score]
        models = [opened(thing) for thing in things]
        assert all("covers its source" in model.capabilities.notes[0] for model in models)
        return [model.fingerprint for model in models]

    before = prints()
    assert before == prints()
    assert len(set(before)) == len(before)
    monkeypatch.setitem(globals(), "WEIGHT", 0.6)
    changed = [old != new for old, new in zip(before, prints(), strict=True)]
    assert changed == [True, False, False, False, False, False, False, False, True, True, True]


@pytest.mark.parametrize("thing", [with_estimator, closed(DummyClassifier()), Constant(DummyClassifier())])
def test_what_may_change_unseen_is_not_remembered(thing: Any) -> None:
    first, second = opened(thing), opened(thing)
    assert first.fingerprint != second.fingerprint
    assert "not reused between runs" in first.capabilities.notes[0]


def test_a_module_is_looked_for_in_the_folder_that_is_named_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, here = tmp_path / "a plan", tmp_path / "here"
    for place, value in ((other, 0.25), (here, 0.75)):
        place.mkdir()
        (place / "twice_there.py").write_text(f"def model(texts):\n    return [{value} for _ in texts]\n")
    monkeypatch.chdir(here)
    opened = open_model("python:twice_there:model", folder=str(other))
    del sys.modules["twice_there"]
    assert opened.score(["x"]).tolist() == [[0.25]]
    opened = open_model("python:twice_there:model")
    del sys.modules["twice_there"]
    assert opened.score(["x"]).tolist() == [[0.75]]
