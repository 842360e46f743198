"""Verbs that write a corpus anew never lose what is read, and say what stays behind."""

import json
import os
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from psycheck.commands.rewriting import clean_cli, redact_cli, regender_cli
from psycheck.core.errors import BadInput
from psycheck.corpora.reading import read_corpus

app = typer.Typer()
app.command("clean")(clean_cli)
app.command("redact")(redact_cli)
app.command("regender")(regender_cli)
VERBS = (("clean", "--step", "spaces"), ("redact",), ("regender",))
ROWS = """id,text,depression,age,topic,diagnosis
a,She is  tired,1,31,sleep,yes
b,,0,22,work,no
c,It rains,0,40,sky,maybe
d,   ,1,19,none,yes
"""


def run(verb: tuple[str, ...], *words: str | Path) -> Result:
    return CliRunner().invoke(app, [verb[0], *map(str, words), *verb[1:]])


@pytest.fixture
def posts(tmp_path: Path) -> Path:
    path = tmp_path / "posts.csv"
    path.write_text(ROWS)
    return path


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("through", ["path", "dots", "symbolic", "hard"])
def test_a_corpus_is_never_written_over_the_file_that_it_is_read_from(
    verb: tuple[str, ...], through: str, posts: Path
) -> None:
    out = posts.with_name("link.csv")
    if through == "symbolic":
        out.symlink_to(posts)
    elif through == "hard":
        os.link(posts, out)
    else:
        out = posts if through == "path" else posts.parent / ".." / posts.parent.name / posts.name
    done = run(verb, posts, "--out", out)
    assert isinstance(done.exception, BadInput)
    assert "the output is the input" in str(done.exception)
    assert (posts.read_text(), out.read_text()) == (ROWS, ROWS)


@pytest.mark.parametrize("verb", VERBS)
def test_a_file_that_exists_is_overwritten_only_with_force(verb: tuple[str, ...], posts: Path) -> None:
    out = posts.with_name("out.csv")
    out.write_text("mine")
    refused = run(verb, posts, "--out", out)
    assert isinstance(refused.exception, BadInput)
    assert refused.exception.do == "choose another file, or add --force to overwrite it"
    assert out.read_text() == "mine"
    assert run(verb, posts, "--out", out, "--force").exit_code == 0
    assert out.read_text().startswith('"id","text"')


def test_a_file_of_a_known_corpus_is_not_written_over(tmp_path: Path) -> None:
    rows = "text,label,subreddit\nAll  fine,0,s\n"
    for part in ("train", "test"):
        (tmp_path / f"dreaddit-{part}.csv").write_text(rows)
    done = run(VERBS[0], f"dreaddit:{tmp_path}", "--out", tmp_path / "dreaddit-test.csv")
    assert isinstance(done.exception, BadInput)
    assert (tmp_path / "dreaddit-test.csv").read_text() == rows


def test_a_kind_of_file_that_is_not_written_is_refused_before_the_corpus_is_read(tmp_path: Path) -> None:
    done = run(VERBS[0], tmp_path / "missing.csv", "--out", tmp_path / "out.xlsx")
    assert str(done.exception).startswith("cannot write '.xlsx' files")


@pytest.mark.parametrize("verb", [*VERBS, ("redact", "--check")])
def test_rows_and_columns_that_stay_behind_are_said(verb: tuple[str, ...], posts: Path) -> None:
    words = () if "--check" in verb else ("--out", posts.with_name("out.csv"))
    done = run(verb, posts, *words)
    notes = done.stderr.splitlines()
    assert notes[0].startswith("assumed: posts: ")
    assert "the labels are 'depression'" in notes[0]
    assert notes[-2:] == [
        "note: posts: 2 rows left out (empty text)",
        "note: posts: 3 columns of the file are not read, and not written: 'age', 'topic', 'diagnosis' "
        "(keep a column with --label or --group)",
    ]
    assert not any(word in done.output for word in ("tired", "rains", "maybe"))


@pytest.mark.parametrize("verb", VERBS)
def test_a_program_is_told_the_same(verb: tuple[str, ...], posts: Path) -> None:
    done = run((*verb, "--json"), posts, "--out", posts.with_name("out.csv"))
    told = json.loads(done.stdout)
    assert done.stderr == ""
    assert told["notes"][-1] == "Guessed that the labels are 'depression'."
    assert (told["left_out"], told["columns_left"]) == ({"empty text": 2}, ["age", "topic", "diagnosis"])


def test_a_named_column_comes_along_and_a_written_corpus_leaves_nothing_behind(posts: Path) -> None:
    out = posts.with_name("out.csv")
    options = ("--label", "depression", "--group", "age", "--group", "topic", "--group", "diagnosis")
    done = run(VERBS[0], posts, "--out", out, *options)
    assert "not written" not in done.stderr
    assert read_corpus(out).groups == ("age", "topic", "diagnosis")
    assert "not written" not in run(VERBS[0], out, "--out", posts.with_name("again.csv")).stderr


def test_the_notes_of_a_known_corpus_are_said(tmp_path: Path) -> None:
    (tmp_path / "dreaddit-train.csv").write_text("text,label,subreddit\nAll  fine,0,s\n ,1,s\n")
    done = run(VERBS[0], f"dreaddit:{tmp_path / 'dreaddit-train.csv'}")
    assert done.stderr == "note: dreaddit: 1 row left out (empty text)\n"


def test_names_of_columns_that_may_be_a_text_are_counted_only(tmp_path: Path) -> None:
    path = tmp_path / "posts.csv"
    path.write_text("text,I could not sleep for so many nights now,age\nAll fine,x,3\n")
    done = run(VERBS[0], path)
    assert "2 columns of the file are not read, and not written: 'age', 1 other (" in done.stderr
    assert "sleep" not in done.output


def test_texts_without_a_word_left_are_dropped_and_named(tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    path.write_text("id,text,depression\na,She,1\nb,She rests,0\n")
    done = run(("regender", "--to", "removed"), path, "--out", tmp_path / "bare.csv")
    assert "1 dropped, with nothing but gendered words: a" in done.stdout.splitlines()
    assert read_corpus(tmp_path / "bare.csv").ids == ["b"]
    told = json.loads(run(("regender", "--to", "removed", "--json"), path).stdout)
    assert (told["before"], told["after"], told["emptied"], told["emptied_ids"]) == (2, 1, 1, ["a"])
