from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import pytest

from psycheck.core.errors import BadInput
from psycheck.corpora.label_values import looks_like_label, quoted
from psycheck.corpora.labels import Labels, read_label
from psycheck.corpora.reading import Columns, read_corpus
from psycheck.io.tables import Table
from refusals import refused


def read(cells: Sequence[object], name: str = "depression", positive: Sequence[str] = ()) -> Labels:
    return read_label(Table(Path("posts.csv"), {"mark": cells}), "mark", name, positive)


def marks(
    cells: Sequence[object], name: str = "depression", positive: Sequence[str] = ()
) -> list[float | None]:
    return read(cells, name, positive).marks[name]


def refusal(cells: Sequence[object], name: str = "depression", positive: Sequence[str] = ()) -> str:
    with pytest.raises(BadInput) as caught:
        read(cells, name, positive)
    return str(caught.value)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["0", "1", " 1 ", "1.0"], [0.0, 1.0, 1.0, 1.0]),
        ([0, 1, 1.0, Decimal("0")], [0.0, 1.0, 1.0, 0.0]),
        ([True, False], [1.0, 0.0]),
        (["true", "FALSE", "Yes", "nO"], [1.0, 0.0, 1.0, 0.0]),
        (["0.25", 0.75, "1e-1"], [0.25, 0.75, 0.1]),
        (["1", "", None, float("nan"), "NaN", "NA", "n/a", "null"], [1.0] + [None] * 7),
    ],
)
def test_a_cell_says_what_was_annotated(cells: list[object], expected: list[float | None]) -> None:
    assert marks(cells) == expected


@pytest.mark.parametrize(
    ("cells", "notes"),
    [
        (["Yes", "no", "NO", ""], ("Label 'depression': guessed that 'Yes' means 1 and 'no' means 0.",)),
        (["no", "1"], ("Label 'depression': guessed that 'no' means 0.",)),
        (["true", "false"], ()),
        ([True, False, None], ()),
        (["0", "1"], ()),
    ],
)
def test_a_meaning_that_is_guessed_is_said(cells: list[object], notes: tuple[str, ...]) -> None:
    assert read(cells).notes == notes


@pytest.mark.parametrize("wrong", ["2", -1, 1.5, "inf", 10**400])
def test_a_label_out_of_range_is_refused_with_row_and_column(wrong: object) -> None:
    said = refusal([1, 0, wrong, wrong])
    assert "out of range" in said
    assert "posts.csv, row 3, column 'mark'" in said


def test_names_that_the_user_called_positive_mean_1_and_the_others_0() -> None:
    out = read(["Depressed", "control", "", "depressed"], positive=["depressed"])
    assert out.marks == {"depression": [1.0, 0.0, None, 1.0]}
    assert out.notes == ("Label 'depression': 'Depressed' is 1, 'control' is 0.",)


def test_positive_reads_codes_outside_of_0_and_1() -> None:
    assert marks(["1", "2", 2], positive=["2"]) == [0.0, 1.0, 1.0]


def test_positive_can_turn_0_and_1_round() -> None:
    assert marks([0, 1], positive=["0"]) == [1.0, 0.0]


def test_positive_leaves_soft_labels_alone() -> None:
    assert marks([0, 0.5, 1], positive=["1"]) == [0.0, 0.5, 1.0]


def test_positive_names_that_the_column_lacks_are_refused_with_the_nearest() -> None:
    assert "did you mean 'depressed'?" in refusal(["depressed", "control"], positive=["depresed"])


@pytest.mark.parametrize(
    ("one", "zero"),
    [
        ("depressed", "non-depressed"),
        ("depressed", "nondepressed"),
        ("suicide", "non-suicide"),
        ("severely depressed", "not depressed"),
        ("depression", "no_depression"),
        ("depression", "control"),
        ("major depression", "healthy"),
    ],
)
def test_two_names_are_guessed_where_it_is_safe_and_said_aloud(one: str, zero: str) -> None:
    out = read([zero, one, one])
    assert out.marks["depression"] == [0.0, 1.0, 1.0]
    assert out.notes == (f"Label 'depression': guessed that '{one}' means 1 and '{zero}' means 0.",)


@pytest.mark.parametrize(
    "names",
    [
        ["depressed", "anxious"],
        ["control", "healthy"],
        ["no depression", "severe"],
        ["past depression", "present depression"],
        ["no depression", "not depressed"],
        ["depressed", "depressed"],
    ],
)
def test_names_that_say_nothing_safe_are_refused_with_the_option(names: list[str]) -> None:
    said = refusal(names)
    assert all(f"'{name}'" in said for name in names)
    assert "`positive=NAME`" in said


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["Y", "N", ""], [1.0, 0.0, None]),
        (["yes", "no"], [1.0, 0.0]),
        (["positive", "negative"], [1.0, 0.0]),
        (["neg", "pos"], [0.0, 1.0]),
        (["control", "depressed"], [0.0, 1.0]),
        (["healthy", "MDD"], [0.0, 1.0]),
        ([1, 2, None, 2], [0.0, 1.0, None, 1.0]),
        (["2", "1"], [1.0, 0.0]),
        ([-1, 1], [0.0, 1.0]),
        ([-1.0, 1.0], [0.0, 1.0]),
    ],
)
def test_the_usual_codes_of_two_classes_are_read_with_a_note(
    cells: list[object], expected: list[float | None]
) -> None:
    read = read_label(Table(Path("posts.csv"), {"state": cells}), "state", "state")
    assert read.marks == {"state": expected}
    assert "guessed that" in read.notes[0]


@pytest.mark.parametrize("cells", [[1, 2, 3], [0, 2], [-1, 0, 1]])
def test_other_codes_are_refused(cells: list[object]) -> None:
    with refused("label.out-of-range"):
        read_label(Table(Path("posts.csv"), {"state": cells}), "state", "state")


def test_three_names_are_refused_and_the_way_out_is_said() -> None:
    said = refusal(["mild", "severe", "none"])
    assert "3 different names" in said
    assert "'mild', 'none', 'severe'" in said
    assert "mark=*" in said


def test_a_star_makes_a_label_of_each_name() -> None:
    out = read(["mild", "severe", "", "Mild"], name="*")
    assert out.marks == {"mild": [1.0, 0.0, None, 1.0], "severe": [0.0, 1.0, None, 0.0]}


def test_a_star_takes_numbers_as_names_of_classes() -> None:
    assert read([0, 2, 1], name="*").marks["2"] == [0.0, 1.0, 0.0]


def test_answers_that_are_neither_are_not_annotated_and_said_aloud() -> None:
    out = read(["depressed", "not depressed", "Unknown"])
    assert out.marks["depression"] == [1.0, 0.0, None]
    assert "Column 'mark': 'Unknown' means not annotated." in out.notes


def test_a_name_among_numbers_is_refused_with_its_row() -> None:
    said = refusal(["0", "1", "l"])
    assert "'l', where other rows hold numbers" in said
    assert "row 3" in said


@pytest.mark.parametrize("wrong", [[1], {"a": 1}, b"1"])
def test_a_label_that_is_no_single_value_is_refused(wrong: object) -> None:
    assert "row 2" in refusal([1, wrong])


def test_no_more_than_ten_values_are_listed() -> None:
    said = refusal([f"kind {i:02}" for i in range(12)])
    assert "'kind 09' and 2 more" in said
    assert "'kind 10'" not in said


def test_what_may_be_a_text_is_never_quoted() -> None:
    texts = [f"I have not slept well for {i} nights" for i in range(3)]
    for name in ("depression", "*"):
        assert "slept" not in refusal(texts, name)
    assert "slept" not in refusal([*texts, "1"])
    assert "slept" not in refusal(texts, positive=["tired"])
    assert "word" not in refusal([f"word{i}" for i in range(101)])


def test_a_column_without_annotations_is_read_and_said_aloud() -> None:
    out = read(["", None])
    assert out.marks == {"depression": [None, None]}
    assert out.notes == ("Column 'mark' is empty: no text is annotated.",)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["0", "1", ""], True),
        ([0.2, None, 0.9], True),
        (["yes", "no"], True),
        (["1", "1"], False),
        (["0", "1", "2"], False),
        (["", None], False),
        (["0", "x"], False),
        ([[0], [1]], False),
    ],
)
def test_a_column_looks_like_a_label_if_it_holds_only_0_to_1_and_varies(
    cells: list[object], expected: bool
) -> None:
    assert looks_like_label(cells) is expected


def test_a_scale_is_1_from_the_named_level_on_and_never_a_share() -> None:
    items = [0, 1, "2", 3.0, None]
    out = read(items, "sleep@2")
    assert out.marks == {"sleep": [0.0, 0.0, 1.0, 1.0, None]}
    assert out.notes == ("Label 'sleep': '2', '3' is 1, '0', '1' is 0.",)
    assert read(items, "sleep@1").marks == {"sleep": [0.0, 1.0, 1.0, 1.0, None]}
    # A sample may hold the lowest levels alone, or look like shares: the named level still decides.
    assert read([0, 1, 1], "sleep@2").marks == {"sleep": [0.0, 0.0, 0.0]}
    assert read([0, 0.5, 1], "sleep@0.5").marks == {"sleep": [0.0, 1.0, 1.0]}
    assert "the level is 'often', not a number" in refusal([0, "often"], "sleep@2")


def test_a_scale_without_a_level_is_refused_with_the_way_to_name_one() -> None:
    assert "name the lowest level that means 1 (`labels='mark=sleep@2'`)" in refusal([0, 1, 2, 3], "sleep")
    assert "lowest level" not in refusal([0, 1.5], "sleep")


def test_a_column_whose_own_name_ends_like_a_level_is_no_scale() -> None:
    out = read_label(Table(Path("posts.csv"), {"label:x@2": [0, 1]}), "label:x@2", "x@2")
    assert out.marks == {"x@2": [0.0, 1.0]}


def test_a_positive_value_does_not_apply_to_a_scale() -> None:
    out = read([0, 1, 2, 3], "sleep@2", positive=["1"])
    assert (out.marks, out.positive) == ({"sleep": [0.0, 0.0, 1.0, 1.0]}, frozenset())


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("not depressed", "'not depressed'"),
        ("none/minimal (0-4)", "'none/minimal (0-4)'"),
        ("moderately depressed.", "a value of 21 characters"),
        ("I cried. A lot", "a value of 14 characters"),
        ("he does not call me", "a value of 19 characters"),
        ("see @moonwalker", "a value of 15 characters"),
    ],
)
def test_a_message_quotes_only_what_looks_like_a_label(value: str, shown: str) -> None:
    assert quoted(value) == shown


def test_a_group_that_is_a_sentence_is_refused_without_quoting_it(tmp_path: Path) -> None:
    path = tmp_path / "posts.csv"
    path.write_text("text,gender\nI ran home,f\nI ran,She never knew how I cried in the old quarry\n")
    with refused("corpus.group-not-a-name", what="44 characters") as caught:
        read_corpus(path, Columns(groups=("gender",)))
    assert "quarry" not in str(caught.value)
    assert "row 2" in str(caught.value)
