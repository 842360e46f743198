from pathlib import Path
from urllib.parse import quote_plus

import pytest

from psycheck.audits.gates import Gate
from psycheck.audits.plan import read_plan
from psycheck.core.errors import BadInput
from psycheck.corpora.opening import CorpusPlan, corpus_plan, corpus_plans
from psycheck.corpora.reading import Columns
from psycheck.models.opening import parse_spec, paths_of_spec

WHOLE = """
models = ["python:mymodel:model", "hf:weights"]
suites = ["deck", "mine.toml"]
threshold = 0.4
variants = "one"
fit = true
trained_on = ["posts"]
out = "runs/a"
labels = ["depression"]

[[corpus]]
path = "posts.csv"
text = "body"

[[corpus]]
path = "demo:tweets"
split = "test"

[[gate]]
measure = "pass_rate"
min = 0.7
where = { kind = "DIR" }
"""


def _plan(tmp_path: Path, text: str) -> Path:
    (tmp_path / "weights").mkdir(exist_ok=True)
    path = tmp_path / "psycheck.toml"
    path.write_text(text, "utf-8")
    return path


def test_a_plan_says_all_that_options_say(tmp_path: Path) -> None:
    plan = read_plan(_plan(tmp_path, WHOLE))
    assert plan.models == ("python:mymodel:model", f"hf:{tmp_path / 'weights'}")
    assert plan.corpora == (
        CorpusPlan(str(tmp_path / "posts.csv"), columns=Columns(text="body", labels=("depression",))),
        CorpusPlan("demo:tweets", split="test", columns=Columns(labels=("depression",))),
    )
    settings = plan.settings
    assert (settings.threshold, settings.variants, settings.fit) == (0.4, "one", True)
    assert settings.trained_on == {"": ("posts",)}
    assert settings.gates == (Gate("pass_rate", min=0.7, where={"kind": "DIR"}),)
    assert plan.out == tmp_path / "runs/a"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("treshold = 0.4", "did you mean 'threshold'"),
        ("threshold = 1.5", "out of range"),
        ("threshold = 'high'", "'threshold' must be a number"),
        ("fit = 1", "true or false"),
        ("variants = 'some'", "suite, each, one"),
        ("audits = ['behavior']", "did you mean 'behaviour'"),
        ("seed = -1", "0 or more"),
        ("swap = ['pronouns', 'tittles']", "did you mean 'titles'"),
        ("swap = 3", "'swap' must be a list of strings"),
        ("swap_person = 'first'", "all, main"),
        ("[[corpus]]\ntext = 'a'", "'path' is missing"),
        ("[[corpus]]\npath = 'a.csv'\ntxt = 'a'", "did you mean 'text'"),
        ("[[gate]]\nmeasure = 'f1'", "gate 1\n  allowed: min, max or no_worse_than"),
        ("[[gate]]\nmin = 0.5", "'measure' is missing"),
        ("[[gate]]\nmeasure = 'f1'\nmin = 0.5\ntolerance = 0.1", "has a tolerance but no baseline"),
        ("[[gate]]\nmeasure = 'f1'\nmin = 'x'", "'min' must be a number"),
        ("gate = 3", "list of tables"),
        ("models = [3]", "'models' must be a string"),
        ("models = [", "not valid TOML"),
    ],
)
def test_a_mistake_in_a_plan_is_one_clear_error(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadInput, match=r"psycheck\.toml") as caught:
        read_plan(_plan(tmp_path, text))
    assert said in str(caught.value)


def test_what_is_swapped_stands_in_a_plan_as_on_the_command_line(tmp_path: Path) -> None:
    settings = read_plan(_plan(tmp_path, "swap = ['pronouns', 'nouns']\nswap_person = 'main'")).settings
    assert (settings.swap, settings.swap_person) == (("pronouns", "nouns"), "main")
    assert read_plan(_plan(tmp_path, "swap = 'pronouns,nouns'")).settings.swap == ("pronouns,nouns",)
    assert read_plan(_plan(tmp_path, "")).settings.swap == ("pronouns", "nouns", "titles")


def test_a_plan_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot read the plan file"):
        read_plan(tmp_path / "none.toml")


def test_a_corpus_may_be_given_a_name(tmp_path: Path) -> None:
    assert corpus_plan("train=posts.csv", Columns()).name == "train"
    assert corpus_plan("posts.csv", Columns()).name is None
    odd = tmp_path / "a=b.csv"
    odd.write_text("text\nx\n")
    assert corpus_plan(str(odd), Columns()).path == str(odd)


def test_modules_and_suites_beside_the_plan_are_found_from_any_folder(tmp_path: Path) -> None:
    home = tmp_path / "a plan"
    home.mkdir()
    for name in ("mymodel.py", "other.py", "mine.toml"):
        (home / name).write_text("")
    models = '"python:mymodel:model", "python:other.py:model", "python:json:loads", "python:mymodel:b?name=b"'
    plan = read_plan(_plan(home, f'models = [{models}]\nsuites = ["deck", "mine.toml"]\n'))
    folder = quote_plus(str(home))
    assert plan.models == (
        f"python:mymodel:model?folder={folder}",
        f"python:{home / 'other.py'}:model",
        "python:json:loads",
        f"python:mymodel:b?name=b&folder={folder}",
    )
    assert plan.settings.suites == ("deck", str(home / "mine.toml"))


def test_columns_are_named_for_files_and_labels_for_all() -> None:
    columns = Columns(text="body", labels=("depression",))
    file, demo = corpus_plans(["posts.csv", "demo:tweets"], columns)
    assert file.columns == columns
    assert demo.columns == Columns(labels=("depression",))
    (alone,) = corpus_plans(["demo:tweets"], columns)
    assert alone.columns == columns


def test_the_files_of_an_llm_beside_the_plan_are_found_from_any_folder(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("")
    spec = "llm:a/b?base_url=http://127.0.0.1:8/v1&prompt=mine.toml&pool=demo:forum&name=a b"
    plan = tmp_path / "psycheck.toml"
    plan.write_text(f'models = ["{spec}"]\n[[corpus]]\npath = "posts.csv"\n')
    (found,) = read_plan(plan).models
    expected = {"base_url": "http://127.0.0.1:8/v1", "prompt": f"{tmp_path}/mine.toml", "pool": "demo:forum"}
    assert parse_spec(found) == ("llm", "a/b", expected | {"name": "a b"})
    assert paths_of_spec(found) == [tmp_path / "mine.toml", Path("demo:forum")]
