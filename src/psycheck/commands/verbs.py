"""The table of verbs: one-line help from a data file, and modules that are imported when a verb is used."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

from psycheck.commands.verb_help import VerbCommand, examples_as_epilog


@dataclass(frozen=True, slots=True)
class Verb:
    """Where a verb is ("module:name" of a function or a typer.Typer), and what help says of it.

    `help` is its line in `psycheck --help`, under the heading `group`; `examples` end its own help.
    """

    load: str
    help: str
    group: str
    examples: tuple[str, ...] = ()


def _read_verbs() -> dict[str, Verb]:
    table = tomllib.loads(Path(__file__).with_name("verbs.toml").read_text("utf-8"))
    return {name: Verb(**entry) for name, entry in table.items()}


VERBS = _read_verbs()


class LazyCommands(Mapping[str, Any]):
    """The commands that Typer runs, by the name of their verb, each made when it is first used."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = _command(name, VERBS[name])
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(VERBS)

    def __len__(self) -> int:
        return len(VERBS)

    def __contains__(self, name: object) -> bool:
        # The method of Mapping would import the verb.
        return name in VERBS


def _command(name: str, verb: Verb) -> Any:
    """Import a verb, and make the command that Typer runs."""
    module, _, attribute = verb.load.partition(":")
    target = getattr(import_module(module), attribute)

    # `--install-completion` and `--show-completion` belong to psycheck, not to each of its verbs.
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    # A group such as `symptoms` has verbs of its own.
    if isinstance(target, typer.Typer):
        for registered in target.registered_commands:
            registered.cls = VerbCommand
        app.add_typer(target, name=name)
        command: Any = typer.main.get_group(app).commands[name]
    else:
        app.command(name, cls=VerbCommand, epilog=examples_as_epilog(verb.examples))(target)
        command = typer.main.get_command(app)

    command.short_help = verb.help
    return command
