from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psycheck.core.errors import BadInput
from psycheck.corpora.columns import (
    Columns,
    Roles,
    as_typed,
    assign,
    columns_of,
    source_of,
    source_of_older_run,
    split_name,
)
from psycheck.io.tables import Table
from refusals import refused

TEXTS = ["I slept well", "Nothing helps any more"]


def table(**columns: Sequence[object]) -> Table:
    return Table(Path("posts.csv"), columns)


def guessed(**columns: Sequence[object]) -> Roles:
    return assign(table(**columns), Columns())


def refusal(columns: Columns, **cells: Sequence[object]) -> str:
    with pytest.raises(BadInput) as caught:
        assign(table(**cells), columns)
    return str(caught.value)


@pytest.mark.parametrize("name", ["text", "Tweet", "body", "selftext"])
def test_the_text_is_guessed_by_a_known_name(name: str) -> None:
    roles = guessed(comments_of_the_annotator=["x" * 100, "y" * 100], **{name: TEXTS})
    assert roles.text == name
    assert f"Guessed that column '{name}' holds the texts." in roles.notes


def test_the_likelier_name_wins_whatever_the_order() -> None:
    assert guessed(message=TEXTS, post=TEXTS, text=TEXTS).text == "text"


def test_a_known_name_over_numbers_holds_no_text() -> None:
    assert guessed(post=[17, 18], words=TEXTS).text == "words"


def test_else_the_longest_strings_are_the_text() -> None:
    assert guessed(topic=["sleep", "mood"], words=TEXTS).text == "words"


def test_no_string_column_means_no_text() -> None:
    assert "no column holds texts" in refusal(Columns(), a=["1", "2"], b=[0, 1])


def test_a_first_row_that_may_be_data_is_not_quoted() -> None:
    said = refusal(Columns(), **{"I have not slept since the spring": TEXTS, "no": ["no", "yes"]})
    assert "may be data" in said
    assert "slept" not in said


def test_an_id_column_in_which_each_row_has_its_own_is_guessed_first() -> None:
    assert guessed(text=TEXTS, post_id=["a", "b"]).id == "post_id"
    assert guessed(text=TEXTS, post_id=["a", "a"], uuid=["x", "y"]).id == "uuid"
    assert guessed(text=TEXTS, post_id=["a", None], uuid=["x", "y"]).id == "uuid"


def test_a_column_called_like_an_id_is_taken_though_it_repeats_so_that_the_reader_refuses_it() -> None:
    assert guessed(text=TEXTS, post_id=["a", "a"]).id == "post_id"


@pytest.mark.parametrize("none", ["", "none"])
def test_rows_are_numbered_where_that_is_asked_for(none: str) -> None:
    roles = assign(table(text=TEXTS, id=["a", "a"]), Columns(id=none))
    assert roles.id is None
    assert "The ids are row numbers from 1." in roles.notes


def test_a_column_that_is_called_none_can_be_named() -> None:
    assert assign(table(text=TEXTS, none=["a", "b"]), Columns(id="none")).id == "none"


def test_author_time_split_and_groups_are_guessed_and_said_aloud() -> None:
    roles = guessed(
        text=TEXTS,
        user_id=["u", "v"],
        created_utc=[1, 2],
        fold=["train", "valid"],
        gender=["f", "m"],
        city=["a", "b"],
    )
    assert roles.plain == {"author": "user_id", "time": "created_utc", "split": "fold"}
    assert roles.groups == ("gender",)
    for column in ("user_id", "created_utc", "fold", "gender"):
        assert any(f"'{column}'" in note for note in roles.notes)


def test_a_fold_of_numbers_is_no_split() -> None:
    assert guessed(text=TEXTS, fold=["1", "2"]).plain == {}


def test_sources_that_are_nearly_all_different_are_no_groups() -> None:
    many = [f"http://example.org/{i}" for i in range(60)]
    assert guessed(text=TEXTS * 30, source=many).groups == ()


def test_labels_are_guessed_by_name_or_by_content() -> None:
    roles = guessed(
        text=TEXTS,
        depression=["1", "1"],
        is_covid=["0", "1"],
        hopeless=[0.2, 0.8],
        confidence=[0.5, 0.9],
        votes=["3", "4"],
        row_index=["0", "1"],
        postId=["0", "1"],
        constant=["1", "1"],
    )
    assert roles.labels == (("depression", "depression"), ("is_covid", "is_covid"), ("hopeless", "hopeless"))
    assert "Guessed that the labels are 'depression', 'is_covid', 'hopeless'." in roles.notes


def test_lists_under_the_name_of_a_label_are_left_and_it_is_said() -> None:
    in_json = guessed(text=TEXTS, labels=[[1], [1, 2]])
    in_parquet = assign(Table(Path("a"), {"text": TEXTS}, unread={"labels": "lists"}), Columns())
    for roles in (in_json, in_parquet):
        assert roles.labels == ()
        assert "Column 'labels' holds several values per row, so it is not a label." in roles.notes


def test_a_text_column_with_one_number_in_it_is_still_the_text() -> None:
    assert guessed(text=["I slept", 5], topic=["sleep and mood", "sleep"]).text == "text"


def test_that_no_column_looks_like_a_label_is_said() -> None:
    assert "No column looks like a label." in guessed(text=TEXTS).notes


def test_named_columns_are_taken_and_not_guessed() -> None:
    columns = Columns("body", "key", ("low=depression", "fear"), "who", "when", "part", ("city",))
    cells = {
        name: ["0", "1"] for name in ("key", "low", "fear", "who", "when", "part", "city", "label", "id")
    }
    roles = assign(table(text=TEXTS, body=TEXTS, **cells), columns)
    assert (roles.text, roles.id, roles.groups) == ("body", "key", ("city",))
    assert roles.labels == (("low", "depression"), ("fear", "fear"))
    assert roles.plain == {"author": "who", "time": "when", "split": "part"}
    assert roles.notes == ()


@pytest.mark.parametrize("asked", ["low", "label:low", "low=low", "label:low=low"])
def test_a_label_that_psycheck_wrote_is_named_without_its_prefix(asked: str) -> None:
    cells: dict[str, Sequence[object]] = {"text": ["one text", "another text"], "label:low": [0, 1]}
    roles = assign(Table(Path("x.csv"), cells), Columns(labels=(asked,)))
    assert roles.labels == (("label:low", "low"),)


def test_a_column_name_may_hold_an_equals_sign() -> None:
    assert assign(table(text=TEXTS, **{"a=b": [0, 1]}), Columns(labels=("a=b",))).labels == (("a=b", "a=b"),)


@pytest.mark.parametrize(
    "columns",
    [
        Columns(text="depresion"),
        Columns(id="depresion"),
        Columns(labels=("depresion",)),
        Columns(labels=("depresion=low",)),
        Columns(author="depresion"),
        Columns(groups=("depresion",)),
    ],
)
def test_a_column_that_is_not_there_is_refused_with_the_nearest_name(columns: Columns) -> None:
    said = refusal(columns, text=TEXTS, depression=[0, 1])
    assert "there is no column 'depresion'" in said
    assert "did you mean 'depression'?" in said


def test_column_names_that_may_be_texts_are_not_listed() -> None:
    cells: dict[str, Sequence[object]] = {"I have not slept since the spring": TEXTS, "label": [0, 1]}
    assert "slept" not in refusal(Columns(text="text"), **cells)


def test_the_text_cannot_be_a_label_too() -> None:
    assert "named as the text column and for another role" in refusal(
        Columns("text", labels=("text",)), text=TEXTS
    )


def test_a_column_of_lists_is_refused_by_what_it_holds() -> None:
    held = Table(Path("a.parquet"), {"text": TEXTS}, unread={"vector": "lists"})
    with refused("columns.not-single-values", what="'vector'"):
        assign(held, Columns(labels=("vector",)))


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("val", "dev"),
        ("valid", "dev"),
        ("Validation", "dev"),
        ("Train", "train"),
        ("test", "test"),
        ("7", "7"),
    ],
)
def test_splits_have_one_name_each(given: str, name: str) -> None:
    assert split_name(given) == name


def test_an_id_is_never_taken_for_a_text() -> None:
    with refused("columns.no-text"):
        guessed(id=["a17", "a18"], text=["", ""])


def test_a_text_column_that_is_named_for_something_else_is_said() -> None:
    said = refusal(Columns(id="text"), text=TEXTS, label=[0, 1])
    assert "no column holds texts other than those named for another role" in said


NAMES = st.text(min_size=1).filter(lambda name: not name.startswith("-"))


@given(NAMES, st.none() | NAMES, st.none() | NAMES, st.lists(NAMES), st.none() | NAMES)
def test_the_source_of_a_corpus_keeps_its_columns_and_that_of_an_older_run_is_read(
    path: str, text: str | None, author: str | None, labels: list[str], split: str | None
) -> None:
    columns = Columns(text=text, author=author, labels=tuple(labels), split=author, groups=tuple(labels[:1]))
    source = source_of(path, columns, split=split)
    assert columns_of(source) == columns
    assert source_of_older_run(as_typed(source)) == source
