from pathlib import Path

from process import psycheck

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
