"""Replies are read as the corpus of shapes says; nothing raises, and the unreadable is never 0."""

import json
import math
from functools import cache
from hashlib import blake2b
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psycheck.core.model import Reply
from psycheck.llm.completion import completion_of
from psycheck.llm.parsing import Reading, read_reply
from psycheck.llm.prompts import Prompt, read_prompt, shipped_prompts

HERE = Path(__file__).parent
LABELS = ("depression", "anxiety")
prompt_of = cache(read_prompt)


def shapes(file: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (HERE / file).read_text("utf-8").splitlines()]


def read(text: str, prompt: str = "depression", finish: str = "stop", **parts: str) -> list[float | None]:
    """The scores with None for NaN."""
    scores = read_reply(Reply(text, finish=finish, **parts), prompt_of(prompt)).scores  # type: ignore[arg-type]  # texts only
    return [None if math.isnan(score) else float(score) for score in scores]


def shown(shape: dict[str, str]) -> str:
    """The reading of a shape as the corpus writes it: one character per label or item, ? for NaN."""
    prompt = prompt_of(shape["prompt"])
    reading = read_reply(Reply(shape["reply"], finish=shape["finish"]), prompt)
    return shown_values(reading, prompt)


def shown_values(reading: Reading, prompt: Prompt) -> str:
    values = reading.scores
    if prompt.scale is not None:
        values = reading.items / (prompt.scale.yes or 1) if prompt.items == "yes_no" else reading.items
    return "".join("?" if math.isnan(value) else f"{value:g}" for value in values)


@pytest.mark.parametrize("shape", shapes("replies.jsonl"), ids=lambda shape: shape["id"])
def test_a_reply_is_read_as_the_corpus_says(shape: dict[str, str]) -> None:
    assert shown(shape) == shape["expect"]


def test_the_shapes_that_were_held_back_are_read_no_worse_than_measured() -> None:
    """Measured once (docs/reference/replies.md); the one wrong reading was mended after that."""
    held = shapes("replies_held.jsonl")
    pairs = [(shown(shape), shape["expect"]) for shape in held]
    wrong = [got for got, want in pairs if any(g not in ("?", w) for g, w in zip(got, want, strict=True))]
    assert len(held) == 165
    assert sum(got == want for got, want in pairs) >= 164
    assert wrong == []


def test_shapes_of_modern_servers_are_read_no_worse_than_measured() -> None:
    """Written before the reader knew them, and measured once: 109 of 110 (docs/reference/replies.md)."""
    modern = [json.loads(line) for line in (HERE / "replies_modern.jsonl").read_text("utf-8").splitlines()]
    misread: dict[str, str] = {}
    for shape in modern:
        name = str(HERE / "letters.toml") if shape["prompt"] == "letters" else shape["prompt"]
        choice = {"message": shape["message"], "finish_reason": shape["finish"]}
        reply = completion_of(json.dumps({"choices": [choice]}).encode(), 0.1)
        reading = read_reply(reply, prompt_of(name))

        values = shown_values(reading, prompt_of(name))
        is_unanswered = set(shape["expect"]) == {"?"}
        if is_unanswered:
            # The number of labels is not what the shape is about: why there is no answer is.
            expected, values = shape["how"] or reading.how, reading.how if set(values) == {"?"} else values
        else:
            expected = shape["expect"]
        if values != expected:
            misread[shape["id"]] = values

    assert len(modern) == 110
    assert misread == {"strict-11": "?"}  # invalid JSON with a break before its colon: unanswered, not wrong


@given(
    answers=st.dictionaries(st.sampled_from(["depression", "anxiety"]), st.sampled_from(["yes", "no"])),
    space=st.text(alphabet=" \n\r\t", max_size=4),
)
def test_white_space_between_the_tokens_of_json_changes_nothing(answers: dict[str, str], space: str) -> None:
    compact = json.dumps(answers, separators=(",", ":"))
    for mark in "{}:,":
        compact = compact.replace(mark, f"{space}{mark}{space}")
    expected = [None if label not in answers else float(answers[label] == "yes") for label in LABELS]
    assert read(compact, "comorbidity") == expected


def test_the_held_part_is_a_third_by_the_hash_of_the_id() -> None:
    for file, held in (("replies.jsonl", False), ("replies_held.jsonl", True)):
        for shape in shapes(file):
            number = int(blake2b(shape["id"].encode(), digest_size=8).hexdigest(), 16)
            assert (number % 3 == 0) == held or shape["id"].startswith("later-")  # written while tuning


def test_the_corpus_has_no_shape_twice_and_its_parts_are_disjoint() -> None:
    every = [(one["prompt"], one["finish"], one["reply"]) for one in tuned_and_held()]
    assert len(set(every)) == len(every) >= 300


def tuned_and_held() -> list[dict[str, str]]:
    return shapes("replies.jsonl") + shapes("replies_held.jsonl")


def test_readings_are_scores_with_one_column_per_label() -> None:
    for shape in tuned_and_held():
        prompt = prompt_of(shape["prompt"])
        reading = read_reply(Reply(shape["reply"], finish=shape["finish"]), prompt)
        assert reading.scores.shape == (len(prompt.labels),)
        known = reading.scores[~np.isnan(reading.scores)]
        assert ((known >= 0) & (known <= 1)).all()


NOISE = st.text() | st.text(alphabet="{}[]\"':,=|-\n\\<>/ 0123yesnodprian.!?*`")


@settings(max_examples=150, deadline=None)
@given(text=NOISE, finish=st.sampled_from(["stop", "length", "content_filter", ""]), noise=NOISE)
def test_no_string_raises(text: str, finish: str, noise: str) -> None:
    for name in shipped_prompts():
        prompt = prompt_of(name)
        reply = Reply(text, finish=finish, logprobs=noise, others=(noise,))
        first = read_reply(reply, prompt)
        np.testing.assert_array_equal(first.scores, read_reply(reply, prompt).scores)  # pure
        assert first.scores.shape == (len(prompt.labels),)


@settings(max_examples=100, deadline=None)
@given(text=st.text(alphabet="abc xwz,.!\n", max_size=80))
def test_words_without_an_answer_are_unreadable(text: str) -> None:
    assert read(text) == [None]
    assert read(text, "comorbidity") == [None, None]


HOSTILE = {
    "braces": "{" * 1_000_000,
    "quotes": '{"' + '\\"' * 500_000,
    "colons": "a:" * 500_000,
    "list": "[" + "1," * 500_000,
    "marks": "<think>" * 140_000,
    "spaces": "{" + " " * 1_000_000,
    "sentences": "The post does not indicate depression. " * 25_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_reply_of_a_megabyte_is_read_in_seconds(name: str) -> None:
    begun = perf_counter()
    for prompt in ("comorbidity", "gad7", "dsm5"):
        read(HOSTILE[name], prompt)
    assert perf_counter() - begun < 60  # quadratic time would take hours


def test_an_answer_after_a_megabyte_of_prose_is_found() -> None:
    assert read("The writer went for a walk. " * 40_000 + '{"depression": "yes"}') == [1.0]


@pytest.mark.parametrize("name", shipped_prompts())
def test_an_echo_of_the_prompt_is_not_an_answer(name: str) -> None:
    prompt = prompt_of(name)
    if not prompt.examples:  # examples are answers, and their echo cannot be told from one
        echo = prompt.messages("We had soup for lunch.")[-1]["content"]
        for text in (echo, echo.partition("Post:")[0], echo.partition("<post")[0]):
            assert np.isnan(read_reply(Reply(text, finish="stop"), prompt).scores).all()


def test_why_a_reply_has_no_answer_is_told() -> None:
    def how(text: str, finish: str = "stop") -> str:
        return read_reply(Reply(text, finish=finish), prompt_of("depression")).how

    assert how("") == "empty"
    assert how('{"depression": "yes"}', "content_filter") == "filtered"
    assert how("I'm sorry, but I can't help with that.") == "refusal"
    assert how('{"depression": "', "length") == "cut"
    assert how("The writer went for a walk.") == "unreadable"
    assert [how(text) for text in ('{"depression": "yes"}', "depression: yes", "yes")] == [
        "json",
        "lines",
        "words",
    ]


def test_samples_give_the_share_of_yes_among_those_that_answer() -> None:
    def share(*texts: str) -> float:
        return float(read_reply(Reply(texts[0], others=texts[1:]), prompt_of("depression")).scores[0])

    assert share("yes", "no", "no", "yes", "yes") == pytest.approx(3 / 5)
    assert share("maybe", "no", "yes") == pytest.approx(1 / 2)
    assert math.isnan(share("maybe", "perhaps"))


def test_samples_of_a_scale_are_averaged_before_the_verdict() -> None:
    low, high = ({str(n): points for n in range(1, 8)} for points in (1, 2))
    reading = read_reply(Reply(json.dumps(low), others=(json.dumps(high),)), prompt_of("gad7"))
    assert reading.total == pytest.approx((7 + 14) / 2)
    assert reading.scores[0] == pytest.approx(0.5 + 0.5 * 0.5 / 11)
    assert reading.band == "moderate"
    np.testing.assert_allclose(reading.items, 1.5)


def test_the_verdict_of_a_scale_stands_before_its_items() -> None:
    answers = {str(n): "yes" if n <= 5 else "no" for n in range(1, 10)}
    reading = read_reply(Reply(json.dumps(answers)), prompt_of("phq9"))
    assert reading.total == 10  # five symptoms of two points: exactly the cut-off
    assert reading.scores.tolist() == [0.5, 1, 1, 1, 1, 1, 0, 0, 0, 0]
    assert reading.band == "moderate"


def test_the_open_answer_keeps_its_rationale() -> None:
    head = "Mental Health Disorder: Yes\nName of Mental Health Disorder: Depression\n"
    text = head + "DSM5 Rationale: Low mood.\nNo sleep."
    assert read_reply(Reply(text), prompt_of("dsm5")).rationale == "Low mood.\nNo sleep."


@pytest.mark.parametrize(
    ("verdict", "name", "disorder"),
    [
        ("Yes", "Bipolar II disorder", "Bipolar II disorder"),
        ("Yes", "Major depressive disorder, panic disorder", "Major depressive disorder, panic disorder"),
        ("No", "None", ""),
        ("Yes", "Unknown", ""),
    ],
)
def test_the_open_answer_keeps_the_disorder_that_it_names(verdict: str, name: str, disorder: str) -> None:
    head = f"Mental Health Disorder: {verdict}\nName of Mental Health Disorder: {name}\n"
    assert read_reply(Reply(head + "DSM5 Rationale: Mood."), prompt_of("dsm5")).disorder == disorder


def test_labels_of_your_own_are_read(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('title = "t"\nlabels = ["ptsd", "substance use"]\nuser = "{post}"\n', "utf-8")
    prompt: Prompt = read_prompt(str(file))
    scores = read_reply(Reply('{"PTSD": "no", "substance_use": "yes"}'), prompt).scores
    assert scores.tolist() == [0, 1]
