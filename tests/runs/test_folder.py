"""A run's folder opens as it was written, and a full disk is one clear error."""

import resource
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from psycheck.errors import StoreFailure
from psycheck.finding import Finding, Findings
from psycheck.run import Run
from psycheck.runs.folder import open_run, save_run
from psycheck.runs.pages import pages_of

RUN = Run({"verb": "audit"}, {}, Findings([Finding("f1", 0.5, 10, (0.4, 0.6), {"model": "m"})]))


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


def test_a_disk_that_is_full_when_tables_are_written_is_one_clear_error(tmp_path: Path) -> None:
    large = {"cases": pl.DataFrame({"x": np.random.default_rng(0).random(200_000)})}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        # The largest size that a file may have plays the part of the disk: writing past it fails for real.
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
        with pytest.raises(StoreFailure, match="cannot write results: File too large"):
            save_run(replace(RUN, tables=large), tmp_path, {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not (tmp_path / "findings.jsonl").exists()


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
