"""`psycheck view`: open the report of a run."""

from pathlib import Path

import typer

from psycheck.cli import options as opt


@opt.verb("view")
def view_cli(run: Path, redraw: bool = False, browser: bool = True) -> None:
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
