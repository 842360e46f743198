from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

import pytest

from psycheck.core.errors import BadInput
from psycheck.core.model import Capabilities, Model, ModelKind, capabilities_of
from psycheck.core.registry import MODEL_KINDS
from psycheck.models.hf_folder import HfOptions
from psycheck.models.label_names import column_names, positive_class
from psycheck.models.opening import open_model, parse_spec, paths_of_spec, relative_spec
from psycheck.models.options import Text, options_of
from refusals import refused


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
    ("spec", "code", "allowed"),
    [
        ("sklern:a.skops", "model.unknown-kind", "did you mean 'sklearn'"),
        ("hf:", "model.no-target", "KIND:TARGET"),
        ("posts.csv", "model.not-there", "hf:"),
        ("hf:x?positve=1", "model.unknown-option", "did you mean 'positive'"),
        ("sklearn:x.skops?max_length=9", "model.option-of-another-kind", "for hf:"),
        ("sklearn:x.skops?device=cuda", "model.option-of-another-kind", "for frozen: and hf:"),
        ("python:mod:score?device=cuda", "model.option-of-another-kind", "for frozen: and hf:"),
        ("sklearn:x.skops?trust_remote_code=true", "model.option-of-another-kind", "for hf:"),
        (
            "scores:x.csv?trust_pickle=true",
            "model.option-of-another-kind",
            "for hf: and mlflow: and setfit: and sklearn:",
        ),
        ("hf:x?label=a&label=b", "model.duplicate-option", ""),
    ],
)
def test_what_is_wrong_with_a_spec(spec: str, code: str, allowed: str) -> None:
    with refused(code, allowed=allowed):
        open_model(spec)


@pytest.mark.parametrize(
    ("spec", "what", "allowed"),
    [
        ("hf:x?max_length=-1", "'max_length' is out of range: -1", "1 or more"),
        ("hf:x?max_length=ten", "'max_length' must be an integer", "an integer"),
        ("hf:x?trust_pickle=perhaps", "'trust_pickle' must be true or false", "true or false"),
        ("hf:x?activation=tanh", "unknown activation", "softmax, sigmoid"),
        ("hf:x?label=", "'label' is empty", ""),
        ("llm:some-model", "the spec names no prompt", "depression"),
    ],
)
def test_what_is_wrong_with_the_value_of_an_option(spec: str, what: str, allowed: str) -> None:
    with pytest.raises(BadInput) as caught:
        open_model(spec)
    assert what in caught.value.what
    assert allowed in caught.value.allowed


def test_unknown_keywords_are_errors_too() -> None:
    with refused("model.unknown-option", allowed="did you mean 'label'"):
        open_model(lambda texts: [0.5] * len(texts), lable="x")


@pytest.mark.parametrize(
    ("query", "given", "wanted"),
    [
        ({}, {}, HfOptions()),
        ({"batch": "8"}, {"batch": 16, "name": None}, HfOptions(batch=8)),
        ({"trust_pickle": ""}, {"max_length": 128}, HfOptions(trust_pickle=True, max_length=128)),
        ({"trust_pickle": "false"}, {"trust_pickle": True}, HfOptions()),
        ({}, {"positive": 1, "trust_remote_code": False}, HfOptions(positive="1")),
    ],
)
def test_the_spec_wins_over_keywords(query: dict[str, str], given: dict[str, Any], wanted: HfOptions) -> None:
    assert options_of("hf", HfOptions, query, given, where="") == wanted


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
    with refused("model.positive-class-unclear", do=f"positive={classes[0]}"):
        positive_class(classes, None, ordered=ordered, where="")


def test_names_of_columns() -> None:
    assert column_names(["LABEL_1"], None, where="") == ("positive",)
    assert column_names(["LABEL_0", "LABEL_1"], None, where="") == ("LABEL_0", "LABEL_1")
    assert column_names(["a", "b"], "low mood, worry", where="") == ("low mood", "worry")
    with refused("model.labels-not-distinct"):
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


@pytest.mark.parametrize("name", MODEL_KINDS.names())
def test_every_kind_brings_an_object_that_opens_it(name: str) -> None:
    kind = MODEL_KINDS.get(name)
    assert isinstance(kind, ModelKind)
    option_names = {option.name for option in fields(kind.options)}
    assert {"name", "label", "batch"} <= option_names
    assert set(kind.files) <= option_names


@dataclass(frozen=True)
class DiceOptions:
    """Options of a kind from outside; nothing of psycheck is inherited."""

    faces: int = 6
    loaded: bool = False
    colour: Literal["red", "blue"] = "red"
    table: Text | None = None


@dataclass(frozen=True)
class Dice:
    name: str
    options: DiceOptions
    labels: tuple[str, ...] = ("six",)
    fingerprint: str = "dice"
    capabilities: Capabilities = field(default_factory=lambda: Capabilities(batch=7))

    def score(self, texts: list[str]) -> list[float]:
        return [1 / self.options.faces for _ in texts]


@pytest.fixture
def dice() -> Iterator[None]:
    kind = ModelKind(
        open=Dice,
        options=DiceOptions,
        target="path",
        files=("table",),
        names=("ivory",),
        markers=("dice.json",),
        endings=(".dice",),
    )
    with MODEL_KINDS.adding("dice", kind):
        yield


def test_an_outside_kind_has_its_own_options(dice: None) -> None:
    model: Any = open_model("dice:ivory?faces=20&loaded=yes", colour="blue")
    assert model.options == DiceOptions(faces=20, loaded=True, colour="blue")
    assert capabilities_of(model).batch == 7
    with refused("model.unknown-option", allowed="did you mean 'faces'"):
        open_model("dice:ivory?face=20")
    with refused(
        "model.option-of-another-kind",
        allowed="'positive' is for hf: and http: and https: and mlflow: and onnx:",
    ):
        open_model("dice:ivory?positive=1")
    with refused("model.option-of-another-kind", allowed="'faces' is for dice:"):
        open_model("sklearn:x.skops?faces=20")
    for wrong in ("faces=many", "loaded=perhaps", "colour=green"):
        with pytest.raises(BadInput, match=wrong.partition("=")[0]):
            open_model(f"dice:ivory?{wrong}")


def test_an_outside_kind_is_known_by_its_files(dice: None, tmp_path: Path) -> None:
    (tmp_path / "box").mkdir()
    (tmp_path / "box" / "dice.json").touch()
    assert parse_spec(str(tmp_path / "box"))[0] == "dice"
    assert parse_spec("two.dice")[0] == "dice"
    with refused("model.not-there", allowed="dice.json"):
        parse_spec("nothing/such")


def test_the_files_of_a_kind_are_found_beside_the_plan(dice: None, tmp_path: Path) -> None:
    for name in ("box", "ivory", "table.csv", "words", "descriptions"):
        (tmp_path / name).mkdir() if "." not in name else (tmp_path / name).touch()
    relative = relative_spec("dice:box?table=table.csv&faces=8", tmp_path)
    assert relative == f"dice:{tmp_path / 'box'}?table={tmp_path / 'table.csv'}&faces=8"
    assert paths_of_spec(relative) == [tmp_path / "box", tmp_path / "table.csv"]
    assert relative_spec("dice:ivory", tmp_path) == "dice:ivory"  # a name, although there is a folder
    assert paths_of_spec("dice:ivory?table=table.csv") == [Path("table.csv")]
    # Kinds that a list by hand once left out.
    assert relative_spec("frozen:words", tmp_path) == f"frozen:{tmp_path / 'words'}"
    assert relative_spec("symptoms:words?graph=table.csv", tmp_path) == (
        f"symptoms:{tmp_path / 'words'}?graph={tmp_path / 'table.csv'}"
    )
    assert relative_spec("symptoms:descriptions", tmp_path) == "symptoms:descriptions"
    assert relative_spec("hf:some/hub-name?batch=4", tmp_path) == "hf:some/hub-name?batch=4"


def test_a_history_folder_with_a_pipeline_is_a_model_of_histories(tmp_path: Path) -> None:
    for name in ("history.json", "model.skops"):
        (tmp_path / name).touch()
    assert parse_spec(str(tmp_path))[0] == "history"
    (tmp_path / "history.json").unlink()
    assert parse_spec(str(tmp_path))[0] == "sklearn"


class Talking:
    """A model that replies in words, without capabilities."""

    name = "talking"
    labels = ("x",)
    fingerprint = "t"

    def ask(self, texts: list[str]) -> Iterator[Any]:
        return iter(())

    def read_reply(self, reply: object) -> object:
        return None

    def score(self, texts: list[str]) -> object:
        return None


def test_a_talking_object_must_declare_where_texts_go() -> None:
    plain: Any = Talking()
    opened: Any = open_model(plain)
    assert opened is plain
    plain.remote = "api.example.org"
    with refused("model.undeclared-capabilities", do="remote=…"):
        open_model(plain)
    plain.capabilities = Capabilities(remote="api.example.org")
    assert capabilities_of(open_model(plain)).remote == "api.example.org"


def test_capabilities_of_a_users_object_are_kept_and_checked_anew() -> None:
    wrapped = open_model(Dice("d", DiceOptions()))  # type: ignore[arg-type]  # it returns a list
    assert isinstance(wrapped, Model)
    assert capabilities_of(wrapped).batch == 7
    assert capabilities_of(wrapped).recheck


def test_what_an_object_scores_is_texts_or_histories() -> None:
    thing: Any = Dice("d", DiceOptions())
    wrong: Any = type("Wrong", (), {"score": thing.score, "takes": "history"})()
    with refused("model.unknown-items", allowed="did you mean 'histories'"):
        open_model(wrong)
