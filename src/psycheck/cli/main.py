"""The command line: gathers the verbs, one file each, and prints errors in plain words."""

import os
import sys
import warnings
from typing import Annotated, Any

import typer
from typer import Option
from typer.core import TyperGroup

from psycheck import __version__
from psycheck.cli import (
    audit,
    bias,
    compare,
    curate,
    demo,
    improve,
    ls,
    options,
    rewriting,
    score,
    study,
    suite,
    train,
    view,
)
from psycheck.errors import PsycheckError

STOPPED = "stopped; finished scores are kept, run the same command again to resume"


class _Verbs(TyperGroup):
    """The verbs, with one answer to Ctrl-C and to errors for all of them."""

    def invoke(self, ctx: Any) -> Any:
        """Run the verb."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo(STOPPED, err=True)
            raise typer.Exit(130) from None
        except PsycheckError as error:
            options.name_option(error, self.commands[ctx.invoked_subcommand])
            raise


app = typer.Typer(
    name="psycheck",
    cls=_Verbs,
    help="Find out what a model that reads mental health from text has really learned, and help to fix it.",
    epilog="Exit codes: 0 done and all gates pass, 1 a gate fails, 2 bad input or usage, 3 incomplete.",
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
) -> None:
    """Hold the options that come before any verb."""


app.command("audit")(audit.audit_cli)
app.command("train")(train.train_cli)
app.command("improve")(improve.improve_cli)
app.command("compare")(compare.compare_cli)
app.command("curate")(curate.curate_cli)
app.command("bias")(bias.bias_cli)
app.command("score")(score.score_cli)
app.command("clean")(rewriting.clean_cli)
app.command("redact")(rewriting.redact_cli)
app.command("regender")(rewriting.regender_cli)
app.add_typer(study.app, name="study")
app.command("demo")(demo.demo_cli)
app.add_typer(suite.app, name="suite")
app.command("ls")(ls.ls_cli)
app.command("view")(view.view_cli)


def run() -> None:
    """Run the command line; a user's mistake ends in a few lines on standard error and an exit code."""
    warnings.showwarning = lambda message, *_, **__: typer.echo(f"warning: {message}", err=True)
    try:
        app()
    except PsycheckError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader of our output has gone (`psycheck ls | head`), which is not an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
