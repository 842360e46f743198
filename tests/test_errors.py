from psycheck.errors import counted, neighbours


def test_a_number_and_its_noun_agree() -> None:
    assert [counted(n, "text") for n in (0, 1, 2_000)] == ["0 texts", "1 text", "2,000 texts"]


def test_at_most_three_names_are_offered_and_none_that_is_far() -> None:
    names = [f"posts{i}.csv" for i in range(9)]
    assert neighbours("posts1.cvs", names).count("posts") == 3
    assert neighbours("posts1.csv", ["posts2.csv"]) == "did you mean 'posts2.csv'?"
    assert neighbours("letters.csv", ["zebra"]) == ""
