"""`psycheck view`: open the report of a run."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option


def view_cli(
    run: Annotated[Path, Argument(help="Run folder.")],
    redraw: Annotated[bool, Option("--redraw", help="Draw the report again from the findings.")] = False,
    browser: Annotated[bool, Option("--browser/--no-browser", help="Open it in a browser.")] = True,
) -> None:
    """Open the report of a run; drawing it again needs no scoring."""
    from psycheck.runs.folder import open_run
    from psycheck.runs.pages import save

    run = run.parent if run.name == "report.html" else run
    opened = open_run(run)
    page = run / "report.html"
    if redraw or not page.is_file():
        save(opened, run)
    if browser:
        typer.launch(page.resolve().as_uri())
    typer.echo(f"report: {page}")
