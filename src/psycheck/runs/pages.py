"""The pages of a run's folder, drawn from the run alone by the page that is registered for its verb.

A page is a `psycheck.core.run.Page`: how to draw the files, and how to make the headlines.
"""

import sys
from dataclasses import replace
from pathlib import Path

from psycheck.core.registry import PAGES
from psycheck.core.run import Page, Run
from psycheck.io.writing import together, writing
from psycheck.runs.folder import open_run, save_run, writes_run

DEFAULT_PAGE = "audit"


def save(run: Run, folder: Path | None) -> Run:
    """Give the run its headlines and write its folder with all pages, if it has a folder; return the run."""
    # Imported when a run is saved: the help of a verb needs no gates and no suites.
    from psycheck.runs.run_reader import readable

    run = readable(with_headlines(run))
    if folder is not None:
        save_run(run, folder, pages_of(run))
    return run


@writes_run(draws_again=True)
def redraw(out: Path) -> None:
    """Draw the pages of a finished run again; nothing else in its folder changes."""
    pages = pages_of(open_run(out))
    with writing(out), together() as part_of:
        for name, page in pages.items():
            part_of(out / name).write_text(page, "utf-8")


def pages_of(run: Run) -> dict[str, str]:
    """The text of each page by its file name."""
    return page_of(run).draw(with_headlines(run))


def with_headlines(run: Run) -> Run:
    """The run with its verdict; folders of older versions hold none, so it is made again."""
    if run.headlines:
        return run
    verdict = page_of(run).verdict
    if verdict is None:
        return run
    return replace(run, headlines=tuple(verdict(run)))


def page_of(run: Run) -> Page:
    """The page of the run's verb; that of an audit if it names none, or one of a package that is gone."""
    verb = str(run.plan.get("verb") or DEFAULT_PAGE)
    return registered_page(verb if verb in PAGES else DEFAULT_PAGE)


def registered_page(verb: str) -> Page:
    """The page that is registered for a verb; a plain function draws, and makes no headlines."""
    registered: Page = PAGES.get(verb)
    if isinstance(registered, Page):
        return registered

    # An installation made before pages were declared names `MODULE:pages`, where PAGE is declared today.
    declared = getattr(sys.modules.get(registered.__module__), "PAGE", None)
    if isinstance(declared, Page):
        return declared
    return Page(draw=registered)
