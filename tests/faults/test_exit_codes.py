"""Exit code 1 means that a gate fails; what nobody expected is one line and exit code 4."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from faults.attack import MODEL, SECRET, posts, psycheck

# A fault of our own in a verb; its message holds a text, as messages of memory and encoding errors do.
BROKEN = """
import psycheck.runs.folder
from psycheck.commands.main import run

def open_run(folder):
    raise {error}({message!r})

psycheck.runs.folder.open_run = open_run
run()
"""
DEEP = "[" * 100_000 + "]" * 100_000


def broken(place: Path, error: str, *words: str, **environment: str) -> tuple[int, list[str]]:
    (place / "broken.py").write_text(BROKEN.format(error=error, message=SECRET))
    done = subprocess.run(
        [sys.executable, "broken.py", *words],
        cwd=place,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.returncode, done.stderr.splitlines()


@pytest.mark.parametrize(
    ("error", "kind"), [("KeyError", "unexpected KeyError"), ("MemoryError", "out of memory")]
)
def test_an_unexpected_error_is_one_line_without_its_message_and_exit_code_4(
    error: str, kind: str, tmp_path: Path
) -> None:
    code, lines = broken(tmp_path, error, "view", "run")
    assert code == 4
    [line] = lines
    assert line.startswith(f"error: {kind} at commands/view.py, line ")
    assert line.endswith("run again with --debug for the traceback, which may quote texts")


@pytest.mark.parametrize("words", [("--debug", "view", "run"), ("view", "run", "--debug")])
def test_debug_prints_the_traceback_before_or_after_the_verb(words: tuple[str, ...], tmp_path: Path) -> None:
    code, lines = broken(tmp_path, "KeyError", *words)
    assert (code, lines[0]) == (4, "Traceback (most recent call last):")
    assert broken(tmp_path, "KeyError", "view", "run", PSYCHECK_DEBUG="1") == (4, lines)


def test_ctrl_c_and_usage_keep_their_codes(tmp_path: Path) -> None:
    code, lines = broken(tmp_path, "KeyboardInterrupt", "view", "run")
    assert (code, len(lines)) == (130, 1)
    assert psycheck(tmp_path, "view").code == 2
    assert psycheck(tmp_path, "nothing").code == 2


def test_output_that_nobody_reads_is_not_a_failed_gate(tmp_path: Path) -> None:
    script = f"{sys.executable} -m psycheck ls | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("141\n", "")


@pytest.mark.parametrize("model", ["python:..:x", "python:.:x", "python:/:x"])
def test_a_model_that_is_no_module_is_bad_input(model: str, tmp_path: Path) -> None:
    rows = posts()
    (tmp_path / "posts.csv").write_text("text\n" + "".join(f"{row['text']}\n" for row in rows))
    assert psycheck(tmp_path, "score", model, "posts.csv").code == 2


def test_descriptions_that_nest_too_deeply_are_bad_input(tmp_path: Path) -> None:
    for folder, name in (
        ("a", "config.json"),
        ("b", "frozen.json"),
        ("c", "training.json"),
        ("d", "state.json"),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(DEEP)
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "config.json").write_text('{"architectures": ["BertForSequenceClassification"]}')
    (tmp_path / "e" / "model.safetensors.index.json").write_text(DEEP)
    (tmp_path / "scores.jsonl").write_text(f'{{"text": "a", "score": {DEEP}}}\n')
    (tmp_path / "words.toml").write_text(f"group = {DEEP}\n")
    for words in (
        *(("score", spec, "demo:tweets") for spec in ("hf:a", "hf:e", "frozen:b", "scores:scores.jsonl")),
        ("improve", "c", "demo:tweets", "demo:forum"),
        ("redact", "d", "--check"),
        ("audit", "--plan", "words.toml"),
        ("suite", "check", "words.toml"),
        ("bias", "vectors:none.txt", "--words", "words.toml"),
    ):
        ended = psycheck(tmp_path, *words)
        assert ended.code == 2, (words, ended.err)


def test_a_plan_that_names_a_python_model_says_that_it_runs_code(tmp_path: Path) -> None:
    (tmp_path / "mymodel.py").write_text(MODEL.replace("import os", "print('code ran')\nimport os"))
    (tmp_path / "posts.csv").write_text("text,depression\nI ran,0\nI am low,1\n")
    (tmp_path / "plan.toml").write_text('models = ["python:mymodel:model"]\n[[corpus]]\npath = "posts.csv"\n')
    done = subprocess.run(
        [sys.executable, "-u", "-m", "psycheck", "audit", "--plan", "plan.toml", "--quiet", "--dry-run"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
    )
    said = done.stdout
    note = "note: the plan plan.toml runs Python code: python:mymodel:model\n"
    assert 0 <= said.index(note) < said.index("code ran")
    assert note not in psycheck(tmp_path, "audit", "python:mymodel:model", "posts.csv", "--dry-run").err
