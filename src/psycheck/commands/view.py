"""`psycheck view`: open the report of a run, or pages over several on this machine."""

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING

import typer

from psycheck.commands import options as opt

if TYPE_CHECKING:
    from psycheck.core.run import Run

REPORT = "report.html"


@opt.verb("view")
def view_cli(
    runs: list[Path],
    redraw: bool = False,
    index: Path | None = None,
    browser: bool = True,
    port: int = 0,
    show_texts: bool = False,
    replies: bool = False,
    unanswered: bool = False,
) -> None:
    """Open the report of a run, or browse several: list, compare two, gates over time, cases, replies."""
    from psycheck.io.writing import refuse_overwriting
    from psycheck.runs.folder import FILES, open_run

    # Shells complete to the file: a path to the report means its run.
    folders = [run.parent if run.name == REPORT else run for run in runs]
    is_several = len(folders) > 1 or _holds_runs(folders[0])
    if is_several and not (redraw or replies or index):
        _serve(folders, port=port, browser=browser, show_texts=show_texts)
        return

    # All are opened before any is drawn again: a folder that is not a run leaves the others as they are.
    opened = {folder: open_run(folder) for folder in folders}
    if replies:
        _print_replies(opened.values(), only_unanswered=unanswered)
        return
    if index is not None:
        files_of_runs = [folder / name for folder in folders for name in FILES]
        refuse_overwriting([index], files_of_runs)

    for folder in opened:
        has_report = (folder / REPORT).is_file()
        if redraw or not has_report:
            _draw_again(folder)

    page = folders[0] / REPORT
    if index is not None:
        page = index
        _write_index(page, opened)
    if browser:
        typer.launch(page.resolve().as_uri())
    typer.echo(f"report: {page}")


def _holds_runs(folder: Path) -> bool:
    """Whether a folder is not a run itself, but holds some."""
    from psycheck.view.run_index import WHOLE, listed_runs

    return not (folder / WHOLE).exists() and bool(listed_runs([folder]))


def _serve(folders: list[Path], *, port: int, browser: bool, show_texts: bool) -> None:
    """Serve pages over the runs of some folders until the person stops it."""
    from psycheck.core.errors import BadInput, counted
    from psycheck.view.pages import Places
    from psycheck.view.view_server import ViewServer

    places = Places(tuple(folders), show_texts=show_texts)
    runs = places.runs()
    if not runs:
        raise BadInput(
            "there is no finished run in these folders",
            code="view.no-runs",
            where=", ".join(map(str, folders)),
            allowed="folders of finished runs, or a folder that holds some",
        )
    with ViewServer(places, port) as server:
        typer.echo(f"{counted(len(runs), 'run')}: {server.address}")
        typer.echo("Only this machine can open it, with this address. Ctrl-C stops it.", err=True)
        if browser:
            typer.launch(server.address)
        with suppress(KeyboardInterrupt):
            server.serve_forever()


def _print_replies(runs: "Iterable[Run]", *, only_unanswered: bool) -> None:
    """Print the replies of runs, one block per reply; the words are there if the run may show texts."""
    for run in runs:
        for row in run.replies.iter_rows(named=True):
            answer = json.loads(row["answer"])
            is_answered = any(score is not None for score in answer.values())
            if only_unanswered and is_answered:
                continue

            scores = ", ".join(f"{label} {_shown(score)}" for label, score in answer.items())
            tokens = f"{row['prompt_tokens'] or 0:,} tokens in, {row['completion_tokens'] or 0:,} out"
            # Runs of earlier versions do not have it.
            agreement = row.get("agreement")
            how = row["how"] if agreement is None else f"{row['how']}, {agreement:.0%} of the samples agree"
            typer.echo(f"{row['model']} {row['corpus']} {row['id']}: {scores} ({how}; {tokens})")
            for part in ("question", "reply", "reason"):
                if row[part]:
                    typer.echo(indent(f"{part}: {row[part]}", "  "))


def _shown(score: float | None) -> str:
    return "?" if score is None else f"{score:.3g}"


def _draw_again(folder: Path) -> None:
    """Draw the report of a finished run; what an older psycheck wrote may lack anything."""
    from psycheck.core.errors import explained
    from psycheck.runs.pages import redraw

    with explained(
        "the report cannot be drawn",
        Exception,
        code="report.cannot-be-drawn",
        where=str(folder),
        do="run it again",
    ):
        redraw(folder)


def _write_index(page: Path, runs: "Mapping[Path, Run]") -> None:
    """Write a page that lists runs, with relative links: it can be moved together with them."""
    from psycheck.io.writing import writing, written
    from psycheck.report.audit_page import render_index

    home = page.resolve().parent
    runs_by_link = {}
    for folder, run in runs.items():
        relative = Path(os.path.relpath(folder.resolve(), home))
        runs_by_link[(relative / REPORT).as_posix()] = run

    with writing(page), written(page) as part:
        part.write_text(render_index(runs_by_link), "utf-8")
