"""What every command can do besides its work: say what it would do, answer in JSON, save what it prints.

A command whose function has a parameter for one of these does it in its own way.
"""

import io
import json
import sys
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import typer

from psycheck.core.errors import BadInput, counted
from psycheck.core.finding import SCHEMA_VERSION

if TYPE_CHECKING:
    from psycheck.corpora.opening import CorpusPlan

# Parameters that name corpora, and files that a command makes if they do not exist.
_CORPORA = ("corpus", "corpora", "dev", "train_on", "sentences", "people", "unlabelled")
_MADE = ("out", "store", "key_file", "index")
# What else a command writes.
_WRITTEN = {"curate": ("corpus",), "annotate backup": ("file",)}
# They run until they are stopped: what they print is wanted at once.
_SERVERS = ("annotate serve", "annotate demo", "llm serve", "view")


@dataclass(frozen=True, slots=True)
class Switches:
    """The switches that a command does not handle by itself."""

    dry_run: bool = False
    as_json: bool = False
    file: Path | None = None


def switches_of(values: Mapping[str, Any], own: Container[str]) -> Switches:
    """The switches among the options of a command, without those that its function takes (`own`)."""
    others = {name: value for name, value in values.items() if name not in own}
    return Switches(
        dry_run=bool(others.get("dry_run")),
        as_json=bool(others.get("json_")),
        file=others.get("out"),
    )


@contextmanager
def printing(switches: Switches, command: str, run: Path | None = None) -> Iterator[None]:
    """Print as the switches say; `run` is the folder of the run that the command writes, if it writes one."""
    if switches.file is not None and switches.file.exists():
        raise BadInput(
            f"'{switches.file}' already exists",
            code="file.already-exists",
            where="--out",
            allowed="a new file for what is printed",
        )
    if not (switches.as_json or switches.file):
        yield
        return

    printed = _Printed(sys.stdout, command, switches)
    ending: typer.Exit | None = None
    with redirect_stdout(printed):
        try:
            yield
        # A gate that fails is a result, too; an error has none.
        except typer.Exit as exit_:
            ending = exit_

    if switches.as_json and command not in _SERVERS:
        result = json.dumps(_result(command, printed.getvalue(), run), indent=1, ensure_ascii=False)
        typer.echo(result)
    else:
        result = printed.getvalue().rstrip("\n")
    if switches.file is not None:
        _write(switches.file, f"{result}\n")
    if ending is not None:
        raise ending


class _Printed(io.StringIO):
    """Standard output of a command, kept; whoever looks on still sees what needs not wait for the end."""

    def __init__(self, screen: TextIO, command: str, switches: Switches) -> None:
        super().__init__()
        self._screen = screen
        self._command = command
        self._as_json = switches.as_json

    def write(self, text: str) -> int:
        """Keep a text, and show it."""
        if not self._as_json:
            self._show(text)
        elif self._command in _SERVERS and text.strip():
            text = f"{json.dumps(_result(self._command, text), ensure_ascii=False)}\n"
            self._show(text)
        return super().write(text)

    def _show(self, text: str) -> None:
        self._screen.write(text)
        self._screen.flush()


def _result(command: str, printed: str, run: Path | None = None) -> dict[str, Any]:
    """What a command printed, and the findings of the run that it wrote, for programs."""
    content: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "command": command}
    if run is not None:
        from psycheck.runs.folder import open_run

        opened = open_run(run)
        content["report"] = str(run / "report.html")
        content["findings"] = [finding.as_record() for finding in opened.findings]
        content["notes"] = list(opened.notes)
    return content | {"printed": printed.splitlines()}


def _write(file: Path, content: str) -> None:
    from psycheck.io.writing import writing, written

    with writing(file), written(file) as part:
        part.write_text(content, "utf-8")


def print_intentions(command: str, values: Mapping[str, Any], *, as_json: bool) -> None:
    """Print what a command would read and write: corpora are opened, other files are looked for."""
    written_names = (*_MADE, *_WRITTEN.get(command, ()))
    corpora = {plan.path: _texts(plan) for plan in _corpus_plans(values, written_names)}
    files = [path for name, path in _paths(values) if name not in written_names]
    for file in files:
        _refuse_missing(file)
    targets = [path for name, path in _paths(values) if name in written_names and name != "store"]

    if as_json:
        content = {
            "schema_version": SCHEMA_VERSION,
            "command": command,
            "dry_run": True,
            "corpora": [{"corpus": corpus, "texts": texts} for corpus, texts in corpora.items()],
            "files": [str(file) for file in files],
            "writes": [str(target) for target in targets],
        }
        typer.echo(json.dumps(content, indent=1, ensure_ascii=False))
        return
    for corpus, texts in corpora.items():
        typer.echo(f"would read {corpus}: {counted(texts, 'text')}")
    for file in files:
        typer.echo(f"would read {file}")
    for target in targets:
        typer.echo(f"would write {target}{' (exists)' if target.exists() else ''}")
    typer.echo("the options are valid; nothing was done")


def _corpus_plans(values: Mapping[str, Any], written_names: tuple[str, ...]) -> "list[CorpusPlan]":
    """The corpora among the options of a command, with the columns that it names."""
    from psycheck.corpora.columns import Columns
    from psycheck.corpora.opening import corpus_plans

    specs = [
        str(spec)
        for name in _CORPORA
        if name not in written_names
        for spec in _listed(values.get(name))
        # `clean --sentences` is a switch; `study psysym --people none` leaves a corpus out.
        if isinstance(spec, str | Path) and spec != "none"
    ]
    # `explain` takes a model before the corpus.
    specs += [str(spec) for spec in _listed(values.get("inputs"))[-1:]]
    return corpus_plans(specs, values.get("columns") or Columns(), values.get("split"), values.get("format_"))


def _texts(plan: "CorpusPlan") -> int:
    from psycheck.corpora.opening import open_corpus

    return len(open_corpus(plan))


def _paths(values: Mapping[str, Any]) -> Iterator[tuple[str, Path]]:
    for name, value in values.items():
        for each in _listed(value):
            if isinstance(each, Path):
                yield name, each


def _listed(value: object) -> list[object]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _refuse_missing(path: Path) -> None:
    if not path.exists():
        raise BadInput(f"there is no file or folder '{path}'", code="file.missing")
