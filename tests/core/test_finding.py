import csv
import json
import math
import re
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psycheck.core.finding import Finding, Findings, finding_of, read_jsonl, write_csv, write_jsonl
from psycheck.core.run import GateResult, Run
from refusals import refused

words = st.text(st.characters(codec="utf-8"), max_size=8)
floats = st.floats(allow_infinity=False)


@given(
    st.builds(
        Finding,
        measure=words,
        value=floats,
        n=st.integers(0, 10**9),
        interval=st.none() | st.tuples(floats, floats),
        where=st.dictionaries(words, words, max_size=3),
        counts=st.dictionaries(words, st.integers(0, 99), max_size=3),
        examples=st.lists(words, max_size=3).map(tuple),
        flags=st.lists(words, max_size=2).map(tuple),
    )
)
def test_a_finding_is_read_back_as_it_was_written(finding: Finding) -> None:
    again = finding_of(finding.as_json())
    assert again.as_json() == finding.as_json()
    assert (again.where, again.counts, again.examples, again.flags) == (
        finding.where,
        finding.counts,
        finding.examples,
        finding.flags,
    )


def test_what_was_not_measured_is_null_and_comes_back_as_nan() -> None:
    line = Finding("auc", math.nan, 0, (math.nan, 1.0)).as_json()
    assert json.loads(line)["value"] is None
    assert json.loads(line)["interval"] == [None, 1.0]
    assert math.isnan(finding_of(line).value)
    assert not finding_of(line).tested


def test_the_line_has_the_keys_of_the_contract() -> None:
    line = json.loads(
        Finding(
            "pass_rate",
            0.93,
            200,
            interval=(0.886, 0.958),
            where={"check": "T1"},
            counts={"passed": 186},
            examples=("17",),
        ).as_json()
    )
    assert list(line) == ["measure", "value", "n", "interval", "where", "counts", "examples"]


def test_csv_has_a_column_for_each_where_and_count(tmp_path: Path) -> None:
    rows = [
        Finding("f1", 0.5, 4, interval=(0.1, 0.9), where={"model": "a"}, counts={"tp": 1}),
        Finding("ece", math.nan, 0),
    ]
    write_csv(rows, tmp_path / "f.csv")
    head, first, second = (tmp_path / "f.csv").read_text("utf-8").splitlines()
    assert head == "measure,value,n,low,high,model,count_tp,flags,examples"
    assert first == "f1,0.5,4,0.1,0.9,a,1,,"
    assert second == "ece,,0,,,,,,"


def test_a_broken_file_is_one_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "findings.jsonl"
    write_jsonl([Finding("f1", 0.5, 4)], path)
    path.write_text(path.read_text("utf-8")[:-9], "utf-8")
    with refused("run.unreadable-findings", where="findings.jsonl"):
        read_jsonl(path)


FOUND = Findings(
    [
        Finding(
            "f1",
            0.5,
            20,
            interval=(0.4, 0.6),
            where={"corpus": "posts", "model": "m"},
            counts={"left": 2},
            examples=("a",),
            flags=("small",),
        ),
        Finding("f1", math.nan, 0, where={"corpus": "<tweets>"}),
        Finding("pass_rate", 0.75, 4, interval=(0.3, 0.95), where={"check": "T1", "corpus": "posts"}),
    ]
)


def test_findings_are_filtered_by_measure_and_where() -> None:
    assert [one.value for one in FOUND.where(corpus="posts")] == [0.5, 0.75]
    assert FOUND.where(measure="f1", corpus="posts") == FOUND[:1]
    with refused("finding.unknown-key"):
        FOUND.where(nothing="known")


def test_findings_become_a_table() -> None:
    table = FOUND.to_polars()
    assert table.columns == [
        *(
            "measure",
            "value",
            "n",
            "low",
            "high",
            "check",
            "corpus",
            "model",
            "count_left",
            "flags",
            "examples",
        )
    ]
    assert table.row(0) == ("f1", 0.5, 20, 0.4, 0.6, None, "posts", "m", 2, ["small"], ["a"])
    assert table["value"].to_list() == [0.5, None, 0.75]
    assert Findings().to_polars().height == 0


def test_findings_become_a_pandas_frame() -> None:
    frame = FOUND.to_pandas()
    assert list(frame["corpus"]) == ["posts", "<tweets>", "posts"]
    assert list(frame.columns) == FOUND.to_polars().columns


def test_without_pandas_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with refused("extra.no-pandas", do="to_polars()"):
        FOUND.to_pandas()


def test_a_notebook_shows_escaped_tables_and_no_ids_of_cases() -> None:
    page = FOUND._repr_html_()
    assert "&lt;tweets&gt;" in page
    assert "<td>0.5</td><td>0.4–0.6</td><td>20</td>" in page
    assert "not tested" in page
    assert "<td>a</td>" not in page


def test_a_run_in_a_notebook_names_gates_the_weakest_check_and_the_report() -> None:
    gates = (GateResult("f1>=0.9", False, 1, (), "1 of 1 <below>"), GateResult("auc>=0.1", True, 1, (), ""))
    run = Run({}, {}, FOUND, gates=gates, folder=Path("runs/a"))
    page = run._repr_html_()
    assert "1 of 2 gates hold" in page
    assert "gate fails: f1&gt;=0.9 (1 of 1 &lt;below&gt;)" in page
    assert "weakest check: T1, pass rate 75%" in page
    assert "report: runs/a/report.html" in page
    assert run.to_polars().equals(FOUND.to_polars())


risky = st.text("=+-@\t\r\n'＝ab1. ", max_size=5) | words.filter(lambda word: "\0" not in word)


@given(st.lists(st.tuples(risky, risky), min_size=1, max_size=4))
def test_no_cell_of_findings_csv_is_a_formula_and_its_text_can_be_read_back(
    cells: list[tuple[str, str]],
) -> None:
    findings = [
        Finding("f1", -0.5, 3, interval=(-1.0, 0.25), where={"label": one}, examples=(two,))
        for one, two in cells
    ]
    with tempfile.TemporaryDirectory() as folder:
        write_csv(findings, Path(folder) / "findings.csv")
        with (Path(folder) / "findings.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    assert [row["value"] for row in rows] == ["-0.5"] * len(rows)  # numbers stay numbers
    number = re.compile(r"[+-]?\d+(\.\d+)?").fullmatch
    for row in rows:
        assert not [
            cell for cell in row.values() if cell[:1] in set("=+-@\t\r\n＝＋－＠") and not number(cell)
        ]
    # As docs/reference/run-folder.md says: one apostrophe in front of such a character was added.
    back = [
        [re.sub("^'(?='*[=+\\-@\t\r\n＝＋－＠])", "", row[k]) for k in ("label", "examples")] for row in rows
    ]
    assert back == [list(pair) for pair in cells]
