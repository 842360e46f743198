"""What help shows first, what --help-all adds, and that examples are commands that run."""

import shlex
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from process import psycheck
from psycheck.commands.main import app
from psycheck.commands.verbs import VERBS

MAIN_VERBS = ("audit", "train", "improve", "compare")
MOST_LINES = 40
MOST_COMMON = 10


def help_of(*words: str) -> str:
    done = CliRunner().invoke(app, list(words), terminal_width=80)
    assert done.exit_code == 0, done.output
    return done.output


def command(verb: str) -> Any:
    group: Any = typer.main.get_command(app)
    return group.commands[verb]


def flags(verb: str) -> set[str]:
    return {option.opts[0] for option in command(verb).params if option.param_type_name == "option"}


def options_shown(text: str) -> set[str]:
    words = text.partition("Examples:")[0].replace(",", " ").replace("/", " ").split()
    return {word for word in words if word.startswith("-")}


def test_the_four_main_verbs_come_first() -> None:
    assert tuple(VERBS)[:4] == MAIN_VERBS
    text = help_of("--help")
    assert text.index("Start here:") < text.index("Corpora:") < text.index("Housekeeping:")
    listed = {line.split()[0] for line in text.splitlines() if line.startswith("  ") and line.split()}
    assert set(VERBS) <= listed


@pytest.mark.parametrize("verb", MAIN_VERBS)
def test_the_short_help_fits_a_screen_and_the_long_one_has_every_option(verb: str) -> None:
    short, everything = help_of(verb, "--help"), help_of(verb, "--help-all")
    assert len(short.splitlines()) <= MOST_LINES
    assert max(map(len, short.splitlines())) <= 80
    assert options_shown(short) < options_shown(everything)
    assert {flag for flag in flags(verb) if flag.startswith("--")} <= options_shown(everything)


@pytest.mark.parametrize("verb", ["audit", "train", "improve", "compare", "score", "explain"])
def test_at_most_ten_options_are_common(verb: str) -> None:
    common = [option for option in command(verb).params if option.rich_help_panel == "Common options"]
    assert 0 < len([option for option in common if option.name != "help_all"]) <= MOST_COMMON


def test_rare_options_work_without_being_shown() -> None:
    assert "--max-cost" not in help_of("audit", "--help")
    context = command("audit").make_context("audit", ["a.py", "a.csv", "--max-cost", "2.5"])
    assert context.params["max_cost"] == 2.5


@pytest.mark.parametrize("verb", MAIN_VERBS)
def test_two_examples_are_shown_as_they_are_typed_and_are_understood(verb: str) -> None:
    examples = VERBS[verb].examples
    assert len(examples) == 2
    lines = [line.strip() for line in help_of(verb, "--help").splitlines()]
    for example in examples:
        assert example in lines
        _, name, *words = shlex.split(example)
        assert command(name).make_context(name, words).params


@pytest.mark.slow
def test_every_example_runs(tmp_path: Path) -> None:
    for verb in ("train", "audit", "improve", "compare"):
        for example in VERBS[verb].examples:
            done = psycheck(tmp_path, *shlex.split(example)[1:])
            assert done.returncode == 0, (example, done.stderr)
