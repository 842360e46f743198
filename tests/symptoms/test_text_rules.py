import numpy as np

from psycheck.symptoms.statements import OTHER, STATUSES
from psycheck.symptoms.text_rules import chosen_parts, read_rules

DENIED = STATUSES.index("denied")


def test_a_plain_statement_is_found_whatever_the_model_says() -> None:
    rules = read_rules(["I want to die", "I want a dog"], ["sleep_disturbance", "suicidal_ideas"])
    assert rules.stated.tolist() == [[0, 0.99], [0, 0]]
    assert read_rules(["I want to die"], ["sleep_disturbance"]).stated.tolist() == [[0]]


def test_others_come_before_the_status() -> None:
    rules = read_rules(["I don't feel depressed", "She doesn't feel depressed"], ["depressed_mood"])
    assert rules.status.tolist() == [DENIED, OTHER]


def test_each_symptom_is_read_in_the_part_that_speaks_of_it() -> None:
    # Two sentences: of two parts, the first of which denies, and of one.
    relevance = np.array([[0.9, 0.2], [0.4, 0.3], [0.1, 0.1]])
    status = np.array([DENIED, 0, 0], np.int8)
    # 0.9 / 2 is more than 0.4, but 0.2 / 2 is less than 0.3.
    assert chosen_parts(relevance, status, [2, 1]).tolist() == [[0, 1], [2, 2]]
