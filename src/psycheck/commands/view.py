"""`psycheck view`: open the report of a run, or an index page over several."""

import json
import os
from collections.abc import Iterable, Mapping
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
    index: Path = Path("index.html"),
    browser: bool = True,
    replies: bool = False,
    unanswered: bool = False,
) -> None:
    """Open the report of a run, or a page that lists several; drawing a report again needs no scoring."""
    from psycheck.io.writing import refuse_overwriting
    from psycheck.runs.folder import FILES, open_run

    # Shells complete to the file: a path to the report means its run.
    folders = [run.parent if run.name == REPORT else run for run in runs]

    # All are opened before any is drawn again: a folder that is not a run leaves the others as they are.
    opened = {folder: open_run(folder) for folder in folders}
    if replies:
        _print_replies(opened.values(), only_unanswered=unanswered)
        return
    if len(opened) > 1:
        files_of_runs = [folder / name for folder in folders for name in FILES]
        refuse_overwriting([index], files_of_runs)

    for folder in opened:
        has_report = (folder / REPORT).is_file()
        if redraw or not has_report:
            _draw_again(folder)

    page = folders[0] / REPORT
    if len(opened) > 1:
        page = index
        _write_index(page, opened)
    if browser:
        typer.launch(page.resolve().as_uri())
    typer.echo(f"report: {page}")


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
