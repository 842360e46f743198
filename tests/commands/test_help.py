"""What help shows first, what --help-all adds, and that examples are commands that run."""

import shlex
from collections.abc import Iterator
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


def commands_below(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """The commands of the program by their names; those of groups with both words."""
    names = command.list_commands(None) if hasattr(command, "list_commands") else []
    if not names:
        yield name, command
    for each in names:
        yield from commands_below(f"{name} {each}".strip(), command.get_command(None, each))


ALL_COMMANDS = dict(commands_below("", typer.main.get_command(app)))


@pytest.mark.parametrize("name", ALL_COMMANDS)
def test_at_most_ten_options_are_common(name: str) -> None:
    options = [each for each in ALL_COMMANDS[name].params if each.param_type_name == "option"]
    common = [option for option in options if option.rich_help_panel == "Common options"]
    assert len([option for option in common if option.name != "help_all"]) <= MOST_COMMON
    # The others are shown when asked for.
    text = help_of(*name.split(), "--help-all")
    assert {option.opts[0] for option in options if option.opts[0].startswith("--")} <= options_shown(text)


@pytest.mark.parametrize("name", ALL_COMMANDS)
def test_every_command_is_quiet_tries_answers_in_json_and_writes(name: str) -> None:
    flags = {flag for option in ALL_COMMANDS[name].params for flag in option.opts}
    assert {"--quiet", "--dry-run", "--json", "--out"} <= flags


def test_a_threshold_is_a_decision_threshold() -> None:
    with_threshold = {
        name
        for name, command in ALL_COMMANDS.items()
        for option in command.params
        if "--threshold" in option.opts
    }
    assert with_threshold == {"audit", "score"}
    readers = {name: command for name, command in ALL_COMMANDS.items() if name in ("audit", "explain")}
    assert all(
        "--symptoms" in {flag for option in each.params for flag in option.opts} for each in readers.values()
    )


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
