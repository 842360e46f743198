from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from process import psycheck
from psycheck.cli.study import study_cli
from psycheck.errors import BadInput

SHE, HE = "She slept badly on day {}.", "He slept badly on day {}."


def written(folder: Path, rows: list[tuple[str, int]]) -> None:
    lines = [f"{text.format(i)},{mark}\n" for i, (text, mark) in enumerate(rows)]
    (folder / "notes.csv").write_text("text,depression\n" + "".join(lines))


def asked(folder: Path, *more: str) -> tuple[int, str]:
    done = psycheck(
        folder, "study", "gender", "notes.csv", "--encoder", "tfidf", "--learner", "logistic", *more
    )
    return done.returncode, done.stderr if done.returncode else done.stdout


def test_tables_are_printed_and_written(tmp_path: Path) -> None:
    rows = [(text, mark) for text in (SHE, HE) for mark in (0, 1) for _ in range(12)]
    written(tmp_path, rows)
    code, said = asked(tmp_path, "--each", "4", "--pairs", "20", "--out", "g")
    assert code == 0, said
    assert "## logistic regression (not in the paper)" in said
    assert said.splitlines()[-1] == "report: g/report.html"
    assert (tmp_path / "g" / "findings.jsonl").is_file()


def test_mistakes_are_one_clear_line_each(tmp_path: Path) -> None:
    for rows, line in (
        (
            [("I slept badly on day {}.", i % 2) for i in range(20)],
            "error: no text speaks of one gender: 20 no",
        ),
        ([(SHE, 1), (HE, 1)] * 10, "error: one class only: 20 of 20 gendered texts are positive"),
        (
            [(SHE, 1), (SHE, 0), (HE, 0)] * 10 + [(HE, 1)],
            "error: too few texts to train on: 1 are male positive",
        ),
    ):
        written(tmp_path, rows)
        code, said = asked(tmp_path)
        assert code == 2
        assert said.startswith(line)
        assert "Traceback" not in said
        assert "slept" not in said


@pytest.mark.parametrize(
    ("given", "what", "allowed"),
    [
        ("gender n.csv --texts 40", "study gender takes no --texts", "--texts with study deck"),
        ("gender n.csv --no-retrain", "study gender takes no --no-retrain", "--no-retrain with study deck"),
        ("gender n.csv --store s", "study gender takes no --store", "--store with study deck"),
        (
            "gender n.csv --epochs 1",
            "study gender without --start takes no --epochs",
            "--epochs with --start, for what is trained besides",
        ),
        (
            "gender n.csv --preset fast",
            "study gender without --start takes no --preset",
            "--preset with --start, for what is trained besides",
        ),
        (
            "gender n.csv --encoder tfidf --direct-bias",
            "study gender --encoder tfidf takes no --direct-bias",
            "--direct-bias with vectors that know the words",
        ),
        ("gender n.csv --seed 0", "study gender takes no --seed", "--seed with study corpora"),
        ("deck n.csv --balance both", "study deck takes no --balance", "--balance with study gender"),
        (
            "deck n.csv --encoder minilm",
            "study deck takes no --encoder",
            "--encoder with study gender or corpora",
        ),
        ("corpora n.csv --seeds 1", "study corpora takes no --seeds", "--seeds with study deck or gender"),
    ],
)
def test_options_of_another_study_are_refused_even_with_their_default(
    given: str, what: str, allowed: str
) -> None:
    app = typer.Typer()
    app.command()(study_cli)
    error = CliRunner().invoke(app, given.split()).exception
    assert isinstance(error, BadInput)
    assert (error.what, error.allowed) == (what, allowed)
