from pathlib import Path
from typing import Any

import pytest

from psycheck.errors import BadInput
from psycheck.models.labels import column_names, positive_class
from psycheck.models.open import open_model, parse_spec
from psycheck.models.options import ModelOptions, options_of


def test_a_spec_has_a_kind_a_target_and_options() -> None:
    assert parse_spec("hf:some/folder?positive=1&label=low+mood") == (
        "hf",
        "some/folder",
        {"positive": "1", "label": "low mood"},
    )
    assert parse_spec("python:pkg.mod:make.model") == ("python", "pkg.mod:make.model", {})


def test_a_bare_path_says_itself_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    assert parse_spec(f"{tmp_path}?batch=4") == ("hf", str(tmp_path), {"batch": "4"})
    assert parse_spec("a/b.skops")[0] == "sklearn"
    (tmp_path / "odd:name").mkdir()
    (tmp_path / "odd:name" / "config.json").write_text("{}")
    assert parse_spec(str(tmp_path / "odd:name"))[0] == "hf"


@pytest.mark.parametrize(
    ("spec", "what", "allowed"),
    [
        ("sklern:a.skops", "unknown kind of model 'sklern:'", "did you mean 'sklearn'"),
        ("hf:", "has no target", "KIND:TARGET"),
        ("posts.csv", "there is no model 'posts.csv'", "hf:"),
        ("hf:x?positve=1", "unknown key 'positve'", "did you mean 'positive'"),
        ("sklearn:x.skops?max_length=9", "do not have the option 'max_length'", "for hf:"),
        ("sklearn:x.skops?device=cuda", "do not have the option 'device'", "for hf: and frozen:"),
        ("python:mod:score?device=cuda", "do not have the option 'device'", "for hf: and frozen:"),
        ("sklearn:x.skops?trust_remote_code=true", "do not have the option 'trust_remote_code'", "for hf:"),
        ("scores:x.csv?trust_pickle=true", "do not have the option 'trust_pickle'", "for hf: and sklearn:"),
        ("hf:x?max_length=-1", "'max_length' is out of range: -1", "1 or more"),
        ("hf:x?max_length=ten", "'max_length' must be an integer", "an integer"),
        ("hf:x?trust_pickle=perhaps", "'trust_pickle' must be true or false", "true or false"),
        ("hf:x?activation=tanh", "unknown activation", "softmax, sigmoid"),
        ("hf:x?label=a&label=b", "duplicate option", ""),
        ("hf:x?label=", "'label' is empty", ""),
        ("llm:some-model", "the spec names no prompt", "depression"),
    ],
)
def test_what_is_wrong_with_a_spec(spec: str, what: str, allowed: str) -> None:
    with pytest.raises(BadInput) as caught:
        open_model(spec)
    assert what in caught.value.what
    assert allowed in caught.value.allowed


def test_unknown_keywords_are_errors_too() -> None:
    with pytest.raises(BadInput, match="unknown key 'lable'"):
        open_model(lambda texts: [0.5] * len(texts), lable="x")


@pytest.mark.parametrize(
    ("query", "given", "wanted"),
    [
        ({}, {}, ModelOptions()),
        ({"batch": "8"}, {"batch": 16, "name": None}, ModelOptions(batch=8)),
        ({"trust_pickle": ""}, {"max_length": 128}, ModelOptions(trust_pickle=True, max_length=128)),
        ({"trust_pickle": "false"}, {"trust_pickle": True}, ModelOptions()),
        ({}, {"positive": 1, "trust_remote_code": False}, ModelOptions(positive="1")),
    ],
)
def test_the_spec_wins_over_keywords(
    query: dict[str, str], given: dict[str, Any], wanted: ModelOptions
) -> None:
    assert options_of("hf", query, given, where="") == wanted


@pytest.mark.parametrize(
    ("classes", "wanted", "ordered", "index"),
    [
        (["LABEL_0", "LABEL_1"], None, True, 1),
        (["control", "depression"], None, True, 1),
        (["control", "depression"], None, False, 1),
        (["depression", "not depression"], None, False, 0),
        (["depression", "non-depressed"], "depression", True, 0),
        (["1", "0"], "0", True, 1),  # a name comes before an index
        (["a", "b"], "1", False, 1),
    ],
)
def test_the_positive_class(classes: list[str], wanted: str | None, ordered: bool, index: int) -> None:
    assert positive_class(classes, wanted, ordered=ordered, where="") == index


@pytest.mark.parametrize(
    ("classes", "ordered"), [(["depression", "control"], True), (["anxious", "low"], False)]
)
def test_the_positive_class_is_not_guessed(classes: list[str], ordered: bool) -> None:
    with pytest.raises(BadInput, match="cannot tell which") as caught:
        positive_class(classes, None, ordered=ordered, where="")
    assert f"positive={classes[0]}" in caught.value.do


def test_names_of_columns() -> None:
    assert column_names(["LABEL_1"], None, where="") == ("positive",)
    assert column_names(["LABEL_0", "LABEL_1"], None, where="") == ("LABEL_0", "LABEL_1")
    assert column_names(["a", "b"], "low mood, worry", where="") == ("low mood", "worry")
    with pytest.raises(BadInput, match="repeat"):
        column_names(["a", "b"], "x,x", where="")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("mine.py", "for example python:mine.py:OBJECT"),
        ("mine:model", "write python:mine:model"),
        ("mine.py:model", "write python:mine.py:model"),
        ("old.joblib", "for example sklearn:old.joblib"),
        ("minne.py", "did you mean 'mine.py'?"),
    ],
)
def test_a_model_without_its_kind_is_told_how_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("mine.py", "old.joblib"):
        (tmp_path / name).write_text("")
    with pytest.raises(BadInput) as caught:
        open_model(spec)
    assert message in str(caught.value)
