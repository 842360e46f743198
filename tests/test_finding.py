import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psycheck.errors import BadInput
from psycheck.finding import Finding, finding_of, read_jsonl, write_csv, write_jsonl

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
        Finding("pass_rate", 0.93, 200, (0.886, 0.958), {"check": "T1"}, {"passed": 186}, ("17",)).as_json()
    )
    assert list(line) == ["measure", "value", "n", "interval", "where", "counts", "examples"]


def test_csv_has_a_column_for_each_where_and_count(tmp_path: Path) -> None:
    rows = [Finding("f1", 0.5, 4, (0.1, 0.9), {"model": "a"}, {"tp": 1}), Finding("ece", math.nan, 0)]
    write_csv(rows, tmp_path / "f.csv")
    head, first, second = (tmp_path / "f.csv").read_text("utf-8").splitlines()
    assert head == "measure,value,n,low,high,model,count_tp,flags,examples"
    assert first == "f1,0.5,4,0.1,0.9,a,1,,"
    assert second == "ece,,0,,,,,,"


def test_a_broken_file_is_one_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "findings.jsonl"
    write_jsonl([Finding("f1", 0.5, 4)], path)
    path.write_text(path.read_text("utf-8")[:-9], "utf-8")
    with pytest.raises(BadInput, match="cannot read findings"):
        read_jsonl(path)
