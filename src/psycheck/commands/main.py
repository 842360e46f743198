"""The command line: runs one of the verbs, and prints errors in plain words."""

import os
import sys
import traceback
import warnings
from errno import ENAMETOOLONG
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option
from typer.core import TyperGroup

from psycheck import __version__
from psycheck.commands import options
from psycheck.commands.colours import heading, say
from psycheck.commands.verbs import VERBS, LazyCommands
from psycheck.core.errors import PsycheckError

_PACKAGE = Path(__file__).parents[1]
_FAULT = 4
# 128 + SIGINT and 128 + SIGPIPE, as shells count.
_STOPPED = 130
_CLOSED = 141
STOPPED = "stopped; finished scores are kept, run the same command again to resume"


class VerbGroup(TyperGroup):
    """The verbs, with one answer to Ctrl-C and to unexpected errors for all of them."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        # Typer only reads the commands of a group that is complete.
        self.commands = LazyCommands()  # type: ignore[assignment]

    def list_commands(self, ctx: Any) -> list[str]:
        """Name the verbs without importing them."""
        return list(VERBS)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the verbs without importing them."""
        # One width for all groups, so that the lines of help stand below each other.
        width = max(map(len, VERBS))
        for group in dict.fromkeys(verb.group for verb in VERBS.values()):
            with formatter.section(heading(group)):
                verbs = {name: verb for name, verb in VERBS.items() if verb.group == group}
                formatter.write_dl([(name.ljust(width), verb.help) for name, verb in verbs.items()])

    def invoke(self, ctx: Any) -> Any:
        """Run the verb."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo(STOPPED, err=True)
            raise typer.Exit(_STOPPED) from None
        except BrokenPipeError:
            # The reader of our output has gone (`psycheck ls | head`): neither an error nor a verdict.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(_CLOSED) from None
        except BaseException as error:  # a panic of Polars is not an Exception
            # Errors with an exit code are for users; SystemExit ends the program on purpose.
            if hasattr(error, "exit_code") or isinstance(error, SystemExit):
                raise
            if isinstance(error, OSError) and error.errno == ENAMETOOLONG:
                raise PsycheckError(
                    "a path is too long for this system",
                    code="path.too-long",
                    do="name a file or a folder",
                ) from error

            if ctx.params["debug"]:
                traceback.print_exc()
            say(_fault_line(error), err=True)
            raise typer.Exit(_FAULT) from None

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Accept --debug after the verb as well."""
        # Where people add it: at the end of the command that just failed.
        other_args = [word for word in args if word != "--debug"]
        if len(other_args) < len(args):
            other_args = ["--debug", *other_args]
        return super().parse_args(ctx, other_args)


def _fault_line(error: BaseException) -> str:
    """One line on an unexpected error: its type and place, not its message, which may hold a text."""
    frames = traceback.extract_tb(error.__traceback__)
    # A line of another package says little to a reader of ours; the last of our lines called it.
    our_frames = [frame for frame in frames if Path(frame.filename).is_relative_to(_PACKAGE)]
    last_frame = our_frames[-1]
    place = f"{Path(last_frame.filename).relative_to(_PACKAGE)}, line {last_frame.lineno}"

    kind = "out of memory" if isinstance(error, MemoryError) else f"unexpected {type(error).__name__}"
    return f"error: {kind} at {place}; run again with --debug for the traceback, which may quote texts"


app = typer.Typer(
    name="psycheck",
    cls=VerbGroup,
    help="Find out what a model that reads mental health from text has really learned, and help to fix it.",
    epilog="Exit codes: 0 done and all gates pass, 1 a gate fails, 2 bad input or usage, 3 incomplete, "
    "4 unexpected error, 130 stopped with Ctrl-C.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(requested: bool) -> None:
    if requested:
        typer.echo(f"psycheck {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[
        bool,
        Option("--debug", envvar="PSYCHECK_DEBUG", help="Print the traceback of an unexpected error."),
    ] = False,
) -> None:
    """Hold the options that come before any verb."""


def run() -> None:
    """Run the command line; a user's mistake ends in a few lines on standard error and an exit code."""
    warnings.showwarning = _print_warning
    try:
        app()
    except PsycheckError as error:
        say(f"error: {error}", err=True)
        sys.exit(error.exit_code)


def _print_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    say(options.with_flags(f"warning: {message}"), err=True)
