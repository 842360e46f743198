"""`psycheck explain` as a person meets it."""

import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from psycheck.commands.main import app
from psycheck.core.errors import BadInput


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [f"p{k},user{k % 3},2020-01-0{k + 1},Soup again. It was good.,{k % 3 % 2}" for k in range(6)]
    Path("posts.csv").write_text("\n".join(["id,who,when,text,depression", *rows]) + "\n")
    weights = [0.1, 0.9, 0.2, 0.1, 0.8, 0.2]
    tags = {"id": [f"p{k}" for k in range(6)], "sentence": [1] * 6, "weight:depressed_mood": weights}
    pl.DataFrame(tags).write_parquet("tags.parquet")
    return tmp_path


def words(*more: str) -> list[str]:
    columns = ["--author", "who", "--time", "when", "--label", "depression"]
    return ["explain", "posts.csv", *columns, "--tags", "tags.parquet", "--out", "run", *more]


def test_it_says_what_it_found_and_where_it_wrote_it(place: Path) -> None:
    done = CliRunner().invoke(app, words())
    assert done.exit_code == 0, done.output
    assert "1 of 3 authors write about at least one symptom." in done.output
    assert "report: run/report.html" in done.output
    assert (place / "run/people/user1.html").is_file()


def test_as_json_it_has_the_verdict_and_the_findings(place: Path) -> None:
    done = CliRunner().invoke(app, words("--json"))
    found = json.loads(done.stdout)
    assert found["verdict"].startswith("1 of 3 authors")
    shares = [one for one in found["findings"] if one["measure"] == "symptom_share"]
    assert {one["where"]["symptom"] for one in shares} == {"depressed_mood"}


def test_only_the_named_people_are_explained(place: Path) -> None:
    done = CliRunner().invoke(app, words("--person", "user1", "--person", "user2"))
    assert done.exit_code == 0, done.output
    assert sorted(path.stem for path in (place / "run/people").iterdir()) == ["user1", "user2"]


def test_labels_of_single_texts_are_checked_with_the_id_as_author(place: Path) -> None:
    columns = ["--author", "id", "--id", "id", "--label", "depression", "--tags", "tags.parquet"]
    done = CliRunner().invoke(app, ["explain", "posts.csv", *columns, "--out", "run"])
    assert done.exit_code == 0, done.output
    assert "2 of 6 authors write about at least one symptom." in done.output


@pytest.mark.parametrize(
    ("more", "where", "what"),
    [
        (("--person", "user9"), "--person", "no posts of author 'user9'"),
        (("--min-weight", "0"), "--min-weight", "'threshold'"),
        (("--min-posts", "0"), "--min-posts", "'min_posts'"),
        (("--symptoms", "symptoms:descriptions"), "", "takes no --symptoms"),
    ],
)
def test_what_cannot_be_done_names_the_option(
    place: Path, more: tuple[str, ...], where: str, what: str
) -> None:
    error = CliRunner().invoke(app, words(*more)).exception
    assert isinstance(error, BadInput)
    assert where in error.where
    assert what in error.what
    assert not (place / "run").exists()
