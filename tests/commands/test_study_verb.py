from pathlib import Path

import pytest
from typer.testing import CliRunner

from process import psycheck
from psycheck.core.errors import BadInput
from psycheck.studies.command_line import app

SHE, HE = "She slept badly on day {}.", "He slept badly on day {}."


def written(folder: Path, rows: list[tuple[str, int]]) -> None:
    lines = [f"{text.format(i)},{mark}\n" for i, (text, mark) in enumerate(rows)]
    (folder / "notes.csv").write_text("text,depression\n" + "".join(lines))


def run_study(folder: Path, *more: str) -> tuple[int, str]:
    done = psycheck(folder, "study", "gender", "notes.csv", "--encoder", "tfidf", "--learner", "lr", *more)
    return done.returncode, done.stderr if done.returncode else done.stdout


def test_tables_are_printed_and_written(tmp_path: Path) -> None:
    rows = [(text, mark) for text in (SHE, HE) for mark in (0, 1) for _ in range(12)]
    written(tmp_path, rows)
    code, said = run_study(tmp_path, "--each", "4", "--pairs", "20", "--out", "g")
    assert code == 0, said
    assert "## logistic regression (not in the paper)" in said
    assert said.splitlines()[-1] == "report: g/report.html"
    assert (tmp_path / "g" / "findings.jsonl").is_file()


def test_mistakes_are_one_clear_line_each(tmp_path: Path) -> None:
    for rows, line in (
        (
            [("I slept badly on day {}.", i % 2) for i in range(20)],
            "error: no text names exactly one gender: 20 no",
        ),
        ([(SHE, 1), (HE, 1)] * 10, "error: one class only: 20 of 20 gendered texts are positive"),
        (
            [(SHE, 1), (SHE, 0), (HE, 0)] * 10 + [(HE, 1)],
            "error: too few texts to train on: 1 are male positive",
        ),
    ):
        written(tmp_path, rows)
        code, said = run_study(tmp_path)
        assert code == 2
        assert said.startswith(line)
        assert "Traceback" not in said
        assert "slept" not in said


@pytest.mark.parametrize(
    ("options", "what", "allowed"),
    [
        ("--epochs 1", "study gender without --start takes no --epochs", "--epochs with --start"),
        ("--preset fast", "study gender without --start takes no --preset", "--preset with --start"),
        (
            "--encoder tfidf --direct-bias",
            "study gender --encoder tfidf takes no --direct-bias",
            "--direct-bias with an encoder that has word vectors",
        ),
    ],
)
def test_options_without_effect_are_refused_even_with_their_default(
    options: str, what: str, allowed: str
) -> None:
    error = CliRunner().invoke(app, ["gender", "n.csv", *options.split()]).exception
    assert isinstance(error, BadInput)
    assert (error.what, error.allowed) == (what, allowed)


@pytest.mark.parametrize(
    "command",
    [
        "gender n.csv --texts 40",
        "gender n.csv --no-retrain",
        "gender n.csv --store s",
        "gender n.csv --seed 0",
        "deck n.csv --balance both",
        "deck n.csv --encoder minilm",
        "deck n.csv --part words",
        "deck n.csv --sample 20",
        "deck n.csv --seed 1",
        "corpora n.csv --seeds 1",
    ],
)
def test_a_study_knows_only_its_own_options(command: str) -> None:
    done = CliRunner().invoke(app, command.split())
    assert done.exit_code == 2
    assert f"No such option: {command.split()[2]}" in done.output


def test_each_study_has_its_own_help() -> None:
    pages = {
        name: CliRunner().invoke(app, [name, "--help-all"]).output for name in ("deck", "gender", "corpora")
    }
    for option, studies in {
        "--no-retrain": {"deck"},
        "--learner": {"gender"},
        "--part": {"corpora"},
        "--seeds": {"deck", "gender"},
        "--encoder": {"gender", "corpora"},
        "--label": {"deck", "gender", "corpora"},
    }.items():
        assert {
            name for name, page in pages.items() if f"{option} " in page or f"{option}\n" in page
        } == studies
    assert "deck" in CliRunner().invoke(app, []).output


def test_angst_trains_asks_and_prints_its_tables(tmp_path: Path) -> None:
    parts = ("train", "train", "dev", "test")
    lines = [
        f"day {i} {'low ' * (i % 2)}{'tense ' * (i // 2 % 2)}again,{i % 2},{i // 2 % 2},{parts[i // 4 % 4]}"
        for i in range(96)
    ]
    (tmp_path / "posts.csv").write_text("\n".join(["text,depression,anxiety,split", *lines]))
    (tmp_path / "ours.py").write_text(
        "def score(texts):\n    return [[float('low' in text)] for text in texts]\n"
    )
    words = ("study", "angst", "posts.csv", "--start", "tfidf+lr", "--task", "multi-label", "--out", "a")
    done = psycheck(tmp_path, *words, "--model", "python:ours:score?label=depression&name=ours")
    assert done.returncode == 0, done.stderr
    assert "## Table 6: all labels together" in done.stdout
    assert "| ours | ours | as given, binary | 100.0 (" in done.stdout
    assert done.stdout.splitlines()[-1] == "report: a/report.html"
    for more, line in (
        ((), "error: the study has no model"),
        (("--model", "python:ours:score?label=depression", "--preset", "fast"), "error: study angst without"),
        (("--start", "tfidf+lr", "--task", "three"), "error: unknown task 'three'"),
        (("--start", "tfidf+lr", "--label", "depression"), "error: corpus 'posts' has no label 'anxiety'"),
    ):
        failed = psycheck(tmp_path, "study", "angst", "posts.csv", *more, "--out", "b")
        assert (failed.returncode, failed.stderr.splitlines()[0][: len(line)]) == (2, line)
