"""Confidence is the probability of yes against no at the token where the answer begins."""

import json
import math

import pytest

from psycheck.core.model import Reply
from psycheck.llm.parsing import read_reply
from psycheck.llm.prompts import read_prompt

Row = tuple[str, float, dict[str, float]]


def logprobs(*rows: Row) -> str:
    return json.dumps(
        [
            [token, math.log(p), [[other, math.log(q)] for other, q in others.items()]]
            for token, p, others in rows
        ]
    )


def scores(text: str, *rows: Row, prompt: str = "depression") -> list[float]:
    return [
        float(one) for one in read_reply(Reply(text, logprobs=logprobs(*rows)), read_prompt(prompt)).scores
    ]


def test_the_masses_of_all_spellings_are_summed() -> None:
    alternatives = {"yes": 0.5, "Yes": 0.1, "no": 0.15, " No": 0.05, "maybe": 0.2}
    found = scores(
        '{"depression": "yes"}', ('{"depression": "', 1, {}), ("yes", 0.5, alternatives), ('"}', 1, {})
    )
    assert found == pytest.approx([0.6 / 0.8])


def test_the_text_and_its_probability_may_disagree() -> None:
    assert scores("no", ("no", 0.3, {"no": 0.3, "yes": 0.6})) == pytest.approx([0.6 / 0.9])


def test_each_label_has_the_token_of_its_own_answer() -> None:
    rows: list[Row] = [
        ('{"depression":', 1, {}),
        (' "yes', 0.9, {' "yes': 0.9, ' "no': 0.1}),
        ('", "anxiety": "', 1, {}),
        ("n", 0.8, {"n": 0.8, "y": 0.2}),
        ('o"}', 1, {}),
    ]
    found = scores('{"depression": "yes", "anxiety": "no"}', *rows, prompt="comorbidity")
    assert found == pytest.approx([0.9, 0.2])


def test_an_answer_that_is_not_listed_gets_half_of_what_it_can_have() -> None:
    # At most min(1 - 0.9, 0.9) = 0.1 is left for "no".
    assert scores("yes", ("yes", 0.9, {"yes": 0.9})) == pytest.approx([0.9 / 0.95])
    assert scores("no", ("no", 0.3, {"no": 0.3})) == pytest.approx([0.15 / 0.45])


def test_tokens_of_a_thought_are_passed_over() -> None:
    rows: list[Row] = [("<think>no</think>", 1, {}), ("yes", 0.7, {"yes": 0.7, "no": 0.3})]
    assert scores("<think>no</think>yes", *rows) == pytest.approx([0.7])


@pytest.mark.parametrize(
    "stored", ["", "[]", "{", '[["other", 0, []]]', '[["yes"]]', "[[1, null, []]]", "7", '[["yes", NaN, []]]']
)
def test_without_the_tokens_of_the_reply_the_score_is_hard(stored: str) -> None:
    assert read_reply(Reply("yes", logprobs=stored), read_prompt("depression")).scores.tolist() == [1.0]


def test_an_unreadable_reply_has_no_confidence() -> None:
    assert math.isnan(scores("maybe", ("maybe", 0.5, {"yes": 0.4}))[0])


def test_items_that_are_asked_as_yes_or_no_have_a_probability_and_the_verdict_counts_answers() -> None:
    text = json.dumps({str(n): "no" for n in range(1, 10)})
    head, tail = text[:7], text[9:]
    reply = Reply(text, logprobs=logprobs((head, 1, {}), ("no", 0.6, {"no": 0.6, "yes": 0.4}), (tail, 1, {})))
    found = read_reply(reply, read_prompt("phq9")).scores
    assert found[:3].tolist() == pytest.approx([0, 0.4, 0])
