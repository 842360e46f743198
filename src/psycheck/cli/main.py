"""The command line: gathers the verbs, one file each, and prints errors in plain words."""

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
from psycheck.cli import (
    annotate,
    audit,
    bias,
    compare,
    curate,
    demo,
    diff,
    explain,
    improve,
    ls,
    options,
    prompt,
    retrieve,
    rewriting,
    score,
    store,
    study,
    suite,
    symptoms,
    train,
    view,
)
from psycheck.errors import PsycheckError

_PACKAGE = Path(__file__).parents[1]
_FAULT, _STOPPED, _CLOSED = 4, 130, 141  # 128 + SIGINT and 128 + SIGPIPE, as shells count
STOPPED = "stopped; finished scores are kept, run the same command again to resume"


class _Verbs(TyperGroup):
    """The verbs, with one answer to Ctrl-C for all of them."""

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
            if hasattr(error, "exit_code") or isinstance(error, SystemExit):  # ended on purpose, or misused
                raise
            if isinstance(error, OSError) and error.errno == ENAMETOOLONG:
                raise PsycheckError(
                    "a path is too long for this system", do="name a file or a folder"
                ) from error
            if ctx.params["debug"]:
                traceback.print_exc()
            typer.echo(_fault(error), err=True)
            raise typer.Exit(_FAULT) from None

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Accept --debug after the verb as well."""
        rest = [word for word in args if word != "--debug"]
        return super().parse_args(ctx, ["--debug"] * (len(rest) < len(args)) + rest)


def _fault(error: BaseException) -> str:
    """One line on an unexpected error: its type and place, not its message, which may hold a text."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [one for one in frames if Path(one.filename).is_relative_to(_PACKAGE)]
    place = f"{Path(own[-1].filename).relative_to(_PACKAGE)}, line {own[-1].lineno}"
    kind = "out of memory" if isinstance(error, MemoryError) else f"unexpected {type(error).__name__}"
    return f"error: {kind} at {place}; run again with --debug for the traceback, which may quote texts"


app = typer.Typer(
    name="psycheck",
    cls=_Verbs,
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


app.command("audit")(audit.audit_cli)
app.command("train")(train.train_cli)
app.command("improve")(improve.improve_cli)
app.command("compare")(compare.compare_cli)
app.command("diff")(diff.diff_cli)
app.command("explain")(explain.explain_cli)
app.command("curate")(curate.curate_cli)
app.command("retrieve")(retrieve.retrieve_cli)
app.command("bias")(bias.bias_cli)
app.command("score")(score.score_cli)
app.command("clean")(rewriting.clean_cli)
app.command("redact")(rewriting.redact_cli)
app.command("regender")(rewriting.regender_cli)
app.add_typer(study.app, name="study")
app.command("demo")(demo.demo_cli)
app.add_typer(suite.app, name="suite")
app.add_typer(symptoms.app, name="symptoms")
app.add_typer(prompt.app, name="prompt")
app.add_typer(store.app, name="store")
app.add_typer(annotate.app, name="annotate")
app.command("ls")(ls.ls_cli)
app.command("view")(view.view_cli)


def run() -> None:
    """Run the command line; a user's mistake ends in a few lines on standard error and an exit code."""
    warnings.showwarning = lambda what, *_, **__: typer.echo(options.with_flags(f"warning: {what}"), err=True)
    try:
        app()
    except PsycheckError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(error.exit_code)
