"""What a run says to GitHub Actions: annotations of failed gates, and a summary of the step.

Both hold sentences, figures and gates, never a text.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from psycheck.core.run import Run

# What a workflow command reads as its own marks; "%" first, because the others bring new ones.
_ESCAPED = {"%": "%25", "\r": "%0D", "\n": "%0A"}


def tell_github(run: "Run", verb: str) -> None:
    """Annotate and summarise a finished run, if GitHub Actions runs this process."""
    if os.environ.get("GITHUB_ACTIONS") == "true":
        # On standard error, which GitHub reads too: standard output may be JSON.
        for annotation in annotations(run, verb):
            typer.echo(annotation, err=True)

    summary_file = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary_file:
        _append(summary(run, verb), Path(summary_file))


def _append(text: str, file: Path) -> None:
    try:
        with file.open("a", encoding="utf-8") as lines:
            lines.write(text)
    except OSError as error:
        # The verdict and the exit code stand without it.
        typer.echo(f"warning: no step summary written ({type(error).__name__}): {file}", err=True)


def annotations(run: "Run", verb: str) -> Iterator[str]:
    """An error for each gate that fails, and a warning if texts could not be scored."""
    for gate in run.gates:
        if not gate.holds:
            message = _escaped(f"gate fails: {gate.gate} ({gate.reason})")
            yield f"::error title=psycheck {verb}::{message}"
    if run.incomplete:
        yield f"::warning title=psycheck {verb}::{run.incomplete:,} texts could not be scored"


def summary(run: "Run", verb: str) -> str:
    """The verdict and the gates in Markdown."""
    lines = [f"## psycheck {verb}", ""]
    lines += [f"- {_plain(headline.sentence)}" for headline in run.headlines]
    if run.incomplete:
        lines.append(f"- {run.incomplete:,} texts could not be scored")

    if run.gates:
        lines += ["", "| gate | | why |", "|---|---|---|"]
    for gate in run.gates:
        state = "holds" if gate.holds else "**fails**"
        lines.append(f"| {_plain(gate.gate)} | {state} | {_plain(gate.reason)} |")
    return "\n".join(lines) + "\n\n"


def _escaped(message: str) -> str:
    for character, code in _ESCAPED.items():
        message = message.replace(character, code)
    return message


def _plain(text: str) -> str:
    """A text that Markdown shows as it is: names of models and corpora may hold its marks."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "&#124;")
    for mark in "\\`*_[]":
        escaped = escaped.replace(mark, f"\\{mark}")
    return " ".join(escaped.split())
