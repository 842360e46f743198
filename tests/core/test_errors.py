from collections.abc import Callable
from pathlib import Path

import pytest

from process import psycheck
from psycheck.audits.gates import parse_gate
from psycheck.core.errors import BadInput, counted, neighbours
from psycheck.corpora.opening import CorpusPlan, open_corpus
from psycheck.corpora.reading import Columns, read_corpus
from psycheck.training.parts import parts_of
from psycheck.training.recipe import Recipe


def test_a_number_and_its_noun_agree() -> None:
    assert [counted(n, "text") for n in (0, 1, 2_000)] == ["0 texts", "1 text", "2,000 texts"]


def test_at_most_three_names_are_offered_and_none_that_is_far() -> None:
    names = [f"posts{i}.csv" for i in range(9)]
    assert neighbours("posts1.cvs", names).count("posts") == 3
    assert neighbours("posts1.csv", ["posts2.csv"]) == "did you mean 'posts2.csv'?"
    assert neighbours("letters.csv", ["zebra"]) == ""


POSTS = "body,mark\nI slept well,mild\nI hardly slept,severe\nNo sleep at all,none\n"


def _without_dev() -> object:
    return parts_of(read_corpus("posts.csv", Columns(labels=("mark=low",), positive=("severe",))), Recipe())


@pytest.mark.parametrize(
    ("call", "in_python", "typed", "on_the_command_line"),
    [
        (
            lambda: read_corpus("posts.csv", Columns(labels=("mark",))),
            "do: make each a label (`labels='mark=*'`), or name those that mean 1 (`positive=NAME`)",
            "compare posts.csv --warn --label mark",
            "do: make each a label (--label 'mark=*'), or name those that mean 1 (--positive NAME)",
        ),
        (
            _without_dev,
            "do: name the split column (`columns.split`), or take dev from train: `dev_share=0.1`",
            "train posts.csv --start tfidf+lr --label mark=low --positive severe --out model",
            "do: name the split column (--split-column), or take dev from train: --dev-share 0.1",
        ),
        (
            lambda: open_corpus(CorpusPlan("demo:tweets", columns=Columns(split="fold"))),
            "a demo corpus takes no `columns.split`: its columns are known",
            "audit scores:none.csv demo:tweets --split-column fold --split test",
            "a demo corpus takes no --split-column: its columns are known",
        ),
        (
            lambda: parse_gate("good"),
            "gate not understood: 'good'\n  allowed: ",
            "audit scores:none.csv demo:tweets --gate good",
            "gate not understood: 'good'\n  where: --gate\n  allowed: ",
        ),
    ],
    ids=["label", "dev", "split", "gate"],
)
def test_an_error_names_settings_in_python_and_options_on_the_command_line(
    call: Callable[[], object],
    in_python: str,
    typed: str,
    on_the_command_line: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("posts.csv").write_text(POSTS)
    with pytest.raises(BadInput) as caught:
        call()
    assert in_python in str(caught.value)
    done = psycheck(tmp_path, *typed.split())
    assert done.returncode == 2
    assert on_the_command_line in done.stderr
    assert "`" not in done.stderr


def test_notes_and_warnings_on_the_command_line_name_options(tmp_path: Path) -> None:
    (tmp_path / "posts.csv").write_text("body,mark,weather\nI slept well,1,sun\nI hardly slept,0,rain\n")
    done = psycheck(tmp_path, "clean", "posts.csv", "--preset", "plain", "--text", "body", "--label", "mark")
    assert "not written: 'weather' (keep a column with --label or --group)" in done.stderr
    (tmp_path / "own.py").write_text(
        "import warnings\nwarnings.warn('half of `threshold=0.5` or `fit`')\n"
        "def score(texts):\n    return [0.5] * len(texts)\n"
    )
    done = psycheck(tmp_path, "score", "python:own:score", "posts.csv", "--text", "body", "--out", "s.csv")
    assert "warning: half of --threshold 0.5 or `fit`\n" in done.stderr  # score has no --fit
