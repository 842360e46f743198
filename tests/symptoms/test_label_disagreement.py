import numpy as np

from psycheck.symptoms.label_disagreement import disagreements

SAD = [f"I feel sad and low on day {day}" for day in range(20)]
GLAD = [f"we went to the lake on day {day}" for day in range(20)]


def test_the_author_with_the_wrong_label_is_doubted_the_most() -> None:
    values = np.array([1.0] * 20 + [0.0] * 20)
    values[3] = 0.0
    doubts = disagreements(SAD + GLAD, {"gloom": values})["gloom"]
    assert doubts.argmax() == 3
    assert doubts[3] > 0.5


def test_authors_without_a_label_have_no_doubt_and_change_none() -> None:
    values = np.array([1.0] * 20 + [0.0] * 20)
    all_doubts = disagreements(SAD + GLAD, {"gloom": values})["gloom"]
    texts = ["unknown", *SAD, *GLAD, "undecided"]
    with_unlabelled = disagreements(texts, {"gloom": np.array([np.nan, *values, 0.5])})["gloom"]
    assert np.isnan(with_unlabelled[[0, -1]]).all()
    assert with_unlabelled[1:-1].tolist() == all_doubts.tolist()


def test_few_authors_on_one_side_are_no_ground_for_doubt() -> None:
    values = np.array([1.0] * 14 + [0.0] * 26)
    assert disagreements(SAD + GLAD, {"gloom": values}) == {}
