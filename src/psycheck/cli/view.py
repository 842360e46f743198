"""`psycheck view`: open the report of a run, or an index page over several."""

import os
from pathlib import Path

import typer

from psycheck.cli import options as opt


@opt.verb("view")
def view_cli(
    runs: list[Path], redraw: bool = False, index: Path = Path("index.html"), browser: bool = True
) -> None:
    """Open the report of a run, or a page that lists several; drawing a report again needs no scoring."""
    from psycheck.report.audit import render_index
    from psycheck.runs.folder import open_run, writing
    from psycheck.runs.pages import save

    folders = [run.parent if run.name == "report.html" else run for run in runs]
    opened = {folder: open_run(folder) for folder in folders}
    for folder, run in opened.items():
        if redraw or not (folder / "report.html").is_file():
            save(run, folder)
    page = folders[0] / "report.html"
    if len(opened) > 1:
        page, home = index, index.resolve().parent
        links = {Path(os.path.relpath(folder.resolve(), home)): run for folder, run in opened.items()}
        with writing(page):
            home.mkdir(parents=True, exist_ok=True)
            content = render_index({(link / "report.html").as_posix(): run for link, run in links.items()})
            page.write_text(content, "utf-8")
    if browser:
        typer.launch(page.resolve().as_uri())
    typer.echo(f"report: {page}")
