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
    from psycheck.errors import explained
    from psycheck.files.write import refuse_overwriting, writing, written
    from psycheck.report.audit import render_index
    from psycheck.runs.folder import FILES, open_run
    from psycheck.runs.pages import redraw as draw_again

    folders = [run.parent if run.name == "report.html" else run for run in runs]
    opened = {folder: open_run(folder) for folder in folders}
    if len(opened) > 1:
        refuse_overwriting([index], [folder / name for folder in folders for name in FILES])
    for folder in opened:
        if redraw or not (folder / "report.html").is_file():
            with explained("the report cannot be drawn", Exception, where=str(folder), do="run it again"):
                draw_again(folder)
    page = folders[0] / "report.html"
    if len(opened) > 1:
        page, home = index, index.resolve().parent
        links = {Path(os.path.relpath(folder.resolve(), home)): run for folder, run in opened.items()}
        with writing(page), written(page) as part:
            content = render_index({(link / "report.html").as_posix(): run for link, run in links.items()})
            part.write_text(content, "utf-8")
    if browser:
        typer.launch(page.resolve().as_uri())
    typer.echo(f"report: {page}")
