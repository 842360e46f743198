"""The pages of the papers: no row is empty, every published table has a row, every command of a row runs."""

import re
from pathlib import Path

import pytest

from docs_blocks import blocks
from psycheck.report.studies.published_figures import PUBLISHED

PAPERS = Path(__file__).parents[1] / "docs" / "papers"
NAMES = ("deck", "angst", "psysym", "gender")
COLUMNS = 5
# They need a server or a database, and run in the tests of their how-to.
RUN_ELSEWHERE = {"annotate", "annotate export"}


def rows_of(name: str) -> list[list[str]]:
    lines = (PAPERS / f"{name}.md").read_text("utf-8").splitlines()
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines if line.startswith("| ")]
    return [[cell.strip() for cell in row] for row in rows[1:]]


@pytest.mark.parametrize("name", NAMES)
def test_no_cell_is_empty(name: str) -> None:
    rows = rows_of(name)
    assert len(rows) >= 15
    assert [row for row in rows if len(row) != COLUMNS or not all(row)] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_command_of_a_row_is_in_a_block_that_runs(name: str) -> None:
    run = " ".join(block.text for block in blocks(PAPERS / f"{name}.md") if block.language == "sh")
    commands = {command for row in rows_of(name) for command in re.findall(r"`([^`]+)`", row[1])}
    missing = {command for command in commands - RUN_ELSEWHERE if f"psycheck {command}" not in run}
    assert missing == set()


@pytest.mark.parametrize("name", NAMES)
def test_every_published_table_has_a_row(name: str) -> None:
    named = " ".join(row[0] for row in rows_of(name))
    numbers = {int(number) for number in re.findall(r"\d+", named)}
    typed = [path.stem.removeprefix(f"{name}-") for path in PUBLISHED.glob(f"{name}-*.csv")]
    assert typed
    for table in typed:
        kind, _, number = table.rpartition("-")
        assert int(number) in numbers, table
        assert kind in ("table", "app-table", "section")
