"""What the values of a group column are read as, and what is said of those that are left out."""

import pytest

from psycheck.audits.group_columns import compared_groups


def test_small_groups_and_texts_of_no_group_are_counted_and_not_compared() -> None:
    found = compared_groups(["a"] * 5 + ["b"] * 4 + [None, " "], "source")
    assert found.names.tolist() == ["a"] * 5 + [""] * 6
    assert (found.counts["in_small_groups"], found.counts["unknown"]) == (4, 2)
    assert found.counts["read_as_not_given"] == 0


@pytest.mark.parametrize(
    "word", ["NA", "N/A", "unknown", "nan", "none", "NULL", "-", " n/a ", "Unknown", "Not known"]
)
def test_a_word_for_nothing_known_is_no_group(word: str) -> None:
    found = compared_groups(["women"] * 5 + [word] * 6 + [""], "gender")
    assert set(found.names.tolist()) == {"women", ""}
    assert (found.counts["unknown"], found.counts["read_as_not_given"]) == (7, 6)
    assert found.counts["in_small_groups"] == 0


def test_spellings_that_differ_in_case_or_space_are_one_group_under_the_commonest() -> None:
    found = compared_groups(["f"] * 2 + ["F", "F ", " F"] + ["M"] * 5, "gender")
    assert found.names.tolist() == ["F"] * 5 + ["M"] * 5
    assert found.counts["other_spelling"] == 2


def test_the_groups_beyond_the_20_largest_are_counted_apart_from_the_small_ones() -> None:
    members = [f"g{i:02d}" for i in range(25) for _ in range(5 + (i < 3))] + ["few"] * 4
    found = compared_groups(members, "source")
    kept = set(found.names.tolist()) - {""}
    assert len(kept) == 20
    assert {"g00", "g01", "g02"} <= kept
    assert (found.counts["beyond_largest"], found.counts["in_small_groups"]) == (25, 4)


def test_numbers_of_an_age_column_become_bands_and_other_columns_stay() -> None:
    ages = ["17", "18", "24.5", "65", "90"] * 5
    assert set(compared_groups(ages, "Age").names.tolist()) == {"0–17", "18–24", "65+"}
    assert set(compared_groups(ages, "ward").names.tolist()) == set(ages)
    odd = compared_groups([*ages, "9-month"], "age")
    assert (set(odd.names.tolist()), odd.counts["in_small_groups"]) == ({"0–17", "18–24", "65+", ""}, 1)
    assert "not_banded" not in odd.counts


def test_a_code_is_no_age_and_keeps_no_age_from_its_band() -> None:
    ages = ["30"] * 10 + ["-1"] * 5 + ["999"] * 5 + ["n/a"] * 5
    found = compared_groups(ages, "age")
    assert set(found.names.tolist()) == {"25–34", ""}
    assert (found.counts["unknown"], found.counts["read_as_not_given"]) == (15, 15)
    assert "999" in compared_groups(ages, "ward").names.tolist()


def test_ages_with_many_words_among_them_are_not_banded_and_the_count_says_so() -> None:
    mixed = compared_groups(["30"] * 15 + ["adult"] * 5 + ["NA"] * 5, "age")
    assert set(mixed.names.tolist()) == {"30", "adult", ""}
    assert mixed.counts["not_banded"] == 5  # of 20 given values: a quarter
    words = compared_groups(["young", "old"] * 5, "age")
    assert set(words.names.tolist()) == {"young", "old"}
    assert "not_banded" not in words.counts
