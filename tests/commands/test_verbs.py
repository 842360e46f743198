"""The table of verbs, and how little of the package its help needs."""

import subprocess
import sys

import pytest
import typer

from psycheck.commands.verbs import VERBS, LazyCommands

MOST_LINES = 12_000
WIDEST_HELP = 80 - len("  retrieve  ")  # a terminal of 80 columns without a second line

HELP_OF_A_VERB = """
import sys
from pathlib import Path
import psycheck
from psycheck.commands.main import app

try:
    app([sys.argv[1], "--help"])
except SystemExit as ended:
    assert not ended.code, ended.code
package = Path(psycheck.__file__).parent
files = {Path(module.__file__) for module in list(sys.modules.values()) if getattr(module, "__file__", None)}
ours = [file for file in files if file.is_relative_to(package)]
print("lines", sum(len(file.read_text("utf-8").splitlines()) for file in ours))
print("verbs", *sorted(file.stem for file in ours if file.parent.name == "commands"))
"""


def python(code: str, *words: str) -> list[str]:
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.parametrize(
    "verb",
    [
        "audit", "compare", "bias", "curate", "demo", "diff", "explain", "improve", "retrieve",
        "score", "train",
    ],
)  # fmt: skip
def test_the_help_of_a_verb_imports_little(verb: str) -> None:
    *_, lines, modules = python(HELP_OF_A_VERB, verb)
    assert int(lines.split()[1]) < MOST_LINES
    others = VERBS.keys() - {verb}
    assert not others & set(modules.split())


def test_the_help_of_psycheck_imports_no_verb() -> None:
    code = "import sys; from psycheck.commands.main import app\n"
    code += "try: app(['--help'])\nexcept SystemExit: print(*sys.modules)"
    *help_lines, modules = python(code)
    assert not {f"psycheck.commands.{verb}" for verb in VERBS} & set(modules.split())
    shown = "\n".join(help_lines)
    assert [verb for verb, entry in VERBS.items() if entry.help not in shown] == []


def test_import_is_light() -> None:
    heavy = {"numpy", "polars", "typer"}
    assert not heavy & set(python("import sys, psycheck; print(*sys.modules, sep='\\n')"))


def test_every_verb_can_be_loaded_and_has_help_of_its_own() -> None:
    commands = LazyCommands()
    assert list(commands) == list(VERBS)
    for name, verb in VERBS.items():
        assert commands[name].name == name
        assert commands[name].help, name
        assert commands[name].short_help == verb.help
        assert len(verb.help) <= WIDEST_HELP, name


def test_a_verb_is_loaded_once_and_only_when_it_is_used() -> None:
    commands = LazyCommands()
    assert "view" in commands
    assert commands._made == {}
    assert commands["view"] is commands["view"]
    assert list(commands._made) == ["view"]
    assert "no-such-verb" not in commands


def test_the_shipped_table_names_what_exists() -> None:
    """Each entry is a function of the command line or a typer.Typer."""
    for name, verb in VERBS.items():
        module, _, attribute = verb.load.partition(":")
        loaded = getattr(sys.modules.get(module) or __import__(module, fromlist=[attribute]), attribute)
        assert isinstance(loaded, typer.Typer) or attribute.endswith("_cli"), name
