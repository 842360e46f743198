"""`psycheck view`: open the report of a run."""

from pathlib import Path
from typing import Annotated

import typer


def view_cli(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")],
    redraw: Annotated[bool, typer.Option("--redraw", help="Draw the report anew from the findings.")] = False,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open it in a browser.")] = True,
) -> None:
    """Open the report of a run, drawn anew where asked for; costs no scoring."""
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
