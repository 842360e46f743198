"""A run's folder opens as it was written, and a full disk is one clear error."""

import json
import os
import resource
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from psycheck.core.finding import Finding, Findings
from psycheck.core.run import Run, Shown
from psycheck.io.writing import sole_writer
from psycheck.runs.folder import open_run, save_run
from psycheck.runs.pages import pages_of, redraw
from refusals import refused

RUN = Run(
    {"verb": "audit"}, {}, Findings([Finding("f1", 0.5, 10, interval=(0.4, 0.6), where={"model": "m"})])
)


def test_tables_that_an_earlier_run_left_in_the_folder_are_not_taken_for_its_own(tmp_path: Path) -> None:
    two = {"cases": pl.DataFrame({"id": ["1"]}), "map": pl.DataFrame({"x": [0.5]})}
    save_run(replace(RUN, tables=two), tmp_path, {})
    save_run(replace(RUN, tables={"cases": two["cases"]}), tmp_path, {})
    assert set(open_run(tmp_path).tables) == {"cases"}


def test_a_run_that_replaces_another_leaves_none_of_its_tables_and_all_files_of_the_user(
    tmp_path: Path,
) -> None:
    table = pl.DataFrame({"id": ["1"]})
    table.write_parquet(tmp_path / "mine.parquet")
    save_run(replace(RUN, tables={"cases": table, "pairs": table}), tmp_path, {})
    save_run(replace(RUN, tables={"predictions": table}), tmp_path, {})
    assert {path.name for path in tmp_path.glob("*.parquet")} == {"mine.parquet", "predictions.parquet"}


def test_a_run_that_replaces_another_removes_its_pages_and_nothing_outside_the_folder(tmp_path: Path) -> None:
    folder, mine = tmp_path / "run", [tmp_path / "mine.html", tmp_path / "run/people/mine.txt"]
    save_run(RUN, folder, {"report.html": "all", "people/a.html": "one", "people/b.html": "two"})
    for path in mine:
        path.write_text("mine")
    facts = json.loads((folder / "run.json").read_text())
    facts["pages"] += ["../mine.html", str(mine[0]), "people/../../mine.html", "people/mine.txt"]
    (folder / "run.json").write_text(json.dumps(facts))
    save_run(RUN, folder, {"report.html": "all", "people/b.html": "two"})
    assert sorted(path.name for path in (folder / "people").iterdir()) == ["b.html", "mine.txt"]
    assert all(path.is_file() for path in mine)


@contextmanager
def full_disk(most: int) -> Iterator[None]:
    """The largest size that a file may have plays the part of the disk: writing past it fails for real."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("full", ["tables", "pages"])
def test_on_a_full_disk_the_error_is_clear_and_the_earlier_run_stays_whole(tmp_path: Path, full: str) -> None:
    save_run(replace(RUN, tables={"cases": pl.DataFrame({"id": ["1"]})}), tmp_path, {"report.html": "old"})
    before = content(tmp_path)
    large = {"predictions": pl.DataFrame({"x": np.random.default_rng(0).random(200_000)})}
    run = replace(RUN, tables=large if full == "tables" else {})
    with full_disk(50_000), refused("output.cannot-write") as caught:
        save_run(run, tmp_path, {"report.html": "x" * 60_000 if full == "pages" else "new"})
    assert "File too large" in caught.value.what
    assert content(tmp_path) == before


def test_drawing_pages_again_changes_nothing_else_and_a_full_disk_changes_nothing(tmp_path: Path) -> None:
    save_run(replace(RUN, tables={"cases": pl.DataFrame({"id": ["1"]})}), tmp_path, {"report.html": "old"})
    before = content(tmp_path)
    with full_disk(1_000), refused("output.cannot-write") as caught:
        redraw(tmp_path)
    assert "File too large" in caught.value.what
    assert content(tmp_path) == before
    redraw(tmp_path)
    after = content(tmp_path)
    assert {name for name in after if after[name] != before.get(name)} == {"report.html", "junit.xml"}


def marked(mark: str) -> Run:
    """A run all of whose files say which run they are of."""
    shown = Shown(mark, "c", "s", "k", "1", "failed", 0.1, 0.9, 1)
    finding = Finding("f1", 0.5, 10, interval=(0.4, 0.6), where={"model": mark})
    return Run({"verb": "audit", "mark": mark}, {}, Findings([finding]), shown=(shown,))


def marks(folder: Path) -> set[str]:
    """The marks of all files of a finished run; none if it is not finished."""
    if not (folder / "findings.jsonl").exists():
        with refused("run.not-finished", allowed="findings.jsonl"):
            open_run(folder)
        return set()
    run = open_run(folder)
    flat = (folder / "findings.csv").read_text("utf-8")
    page = (folder / "report.html").read_text("utf-8")
    found = {run.plan["mark"], run.findings[0].where["model"], run.shown[0].model, page}
    return found | {mark for mark in ("old", "new") if mark in flat}


def die_at(step: int, folder: str) -> None:
    """Kill this process at its step-th opening, removing or renaming of a file in the folder."""
    seen = count(1)

    def watch(event: str, args: tuple[object, ...]) -> None:
        touches = event in ("open", "os.remove", "os.rename") and folder in str(args[0])
        if touches and next(seen) == step:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


def test_a_run_killed_at_any_step_of_saving_is_the_old_one_the_new_one_or_not_finished(
    tmp_path: Path,
) -> None:
    earlier = replace(marked("old"), tables={"cases": pl.DataFrame({"id": ["1"]})})
    save_run(earlier, tmp_path / "old", {"report.html": "old"})
    states = []
    for step in count(1):
        folder = tmp_path / f"killed-{step}"
        shutil.copytree(tmp_path / "old", folder)
        child = os.fork()
        if child == 0:
            die_at(step, str(folder))
            save_run(marked("new"), folder, {"report.html": "new"})
            os._exit(0)
        _, status = os.waitpid(child, 0)
        found = marks(folder)
        assert len(found) <= 1, (step, found)
        states.append("".join(found) or "not finished")
        if os.WIFEXITED(status):
            break
        with sole_writer(folder):  # the next run cleans up after it
            save_run(marked("last"), folder, {"report.html": "last"})
        assert marks(folder) == {"last"}
        assert not [path for path in folder.iterdir() if path.name.startswith(".")]
    assert states[-1] == "new"
    assert len(states) > 15
    assert sorted(set(states[:-1]), key=states.index)[:2] == ["old", "not finished"]
    assert states == sorted(states, key=["old", "not finished", "new"].index)


def test_a_folder_written_before_audits_had_names_in_it_still_opens() -> None:
    run = open_run(Path(__file__).with_name("old_run"))
    assert run.own_audits == ()
    (rate,) = [finding for finding in run.findings if finding.measure == "pass_rate"]
    assert (rate.value, rate.n) == (1.0, 3)  # three texts, one DIR check that none fails
    assert [case.id for case in run.shown] == ["2", "3", "1"]
    assert run.tables["cases"].height == 3
    assert run.holds
    pages = pages_of(run)
    assert "Length of texts that failed and that passed DIR checks" in pages["report.html"]
    assert 'tests="2"' in pages["junit.xml"]
