from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput
from psycheck.corpora.judgements import read_judgements, with_judgements
from refusals import refused

TEXTS = Corpus.of("texts", ["I lie awake.", "Lunch was fine.", "Perhaps I worry."], ids=["a", "b", "c"])
HEAD = "item,annotator,label,value,status,time,seconds\n"


def table(tmp_path: Path, *rows: str) -> Path:
    path = tmp_path / "judgements.csv"
    path.write_text(HEAD + "".join(f"{row},2026-01-01,3\n" for row in rows))
    return path


def test_any_positive_wins_and_status_is_the_share_of_uncertain(tmp_path: Path) -> None:
    path = table(
        tmp_path,
        *("a,x,sleep,1,present", "a,y,sleep,0,", "a,z,sleep,1,uncertain"),
        *("b,x,sleep,0,", "b,y,sleep,0,"),
        *("c,x,worry,1,uncertain", "c,y,worry,1,uncertain", "c,z,worry,1,present"),
    )
    merged = with_judgements(TEXTS, read_judgements(path))
    assert merged.table["label:sleep"].to_list() == [1.0, 0.0, None]  # nobody judged c for sleep
    assert merged.table["label:worry"].to_list() == [None, None, 1.0]
    assert merged.table["label:uncertain"].to_list() == pytest.approx([1 / 2, None, 2 / 3])
    assert merged.ids == TEXTS.ids


def test_an_annotator_who_found_two_labels_counts_once(tmp_path: Path) -> None:
    path = table(tmp_path, "a,x,sleep,1,uncertain", "a,x,worry,1,uncertain", "a,y,sleep,1,present")
    merged = with_judgements(TEXTS, read_judgements(path))
    assert merged.table["label:uncertain"].to_list() == [0.5, None, None]


def test_without_a_status_there_is_no_label_uncertain(tmp_path: Path) -> None:
    merged = with_judgements(TEXTS, read_judgements(table(tmp_path, "a,x,sleep,1,")))
    assert merged.labels == ("sleep",)


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ("a,x,sleep,2,", "neither 0 nor 1"),
        ("a,x,sleep,1,perhaps", "unknown status"),
        ("a,,sleep,1,", "the cell is empty"),
    ],
)
def test_a_wrong_cell_is_an_error_with_its_place(row: str, what: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=what) as error:
        read_judgements(table(tmp_path, "a,x,sleep,0,", row))
    assert "row 2" in str(error.value)


def test_items_that_are_no_texts_and_missing_columns_are_errors(tmp_path: Path) -> None:
    judged = read_judgements(table(tmp_path, "q,x,sleep,1,present"))
    with refused("judgements.unknown-items", what="1 of 1 "):
        with_judgements(TEXTS, judged)
    path = tmp_path / "other.csv"
    path.write_text("item,annotator,label\na,x,sleep\n")
    with refused("judgements.no-column", what="'value'"):
        read_judgements(path)


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"), st.sampled_from(["s", "t"]), st.booleans()),
        min_size=1,
        unique_by=lambda row: row[:3],
    )
)
def test_a_label_is_one_exactly_where_somebody_said_so(rows: list[tuple[str, str, str, bool]]) -> None:
    columns = list(zip(*rows, strict=True))
    judged = pl.DataFrame(
        {"item": columns[0], "annotator": columns[1], "label": columns[2]}
        | {"value": [float(one) for one in columns[3]], "status": [None] * len(rows)},
        schema_overrides={"status": pl.String},
    )
    merged = with_judgements(TEXTS, judged)
    for label in merged.labels:
        for item, mark in zip(merged.ids, merged.table[f"label:{label}"], strict=True):
            said = [value for one, _, name, value in rows if (one, name) == (item, label)]
            assert mark == (float(any(said)) if said else None)
