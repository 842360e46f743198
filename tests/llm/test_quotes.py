"""Ratings with quotes: invented quotes void items, totals are bounds; the right answers are planted."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from llm_servers import Asked, Exchange, completion, serving
from psycheck import audit
from psycheck.core.model import Reply
from psycheck.llm.parsing import Reading, read_reply
from psycheck.llm.prompts import read_prompt
from psycheck.llm.quotes import is_quoted
from psycheck.models.opening import open_model
from psycheck.scoring.answers import answers

POST = "I haven't slept for weeks, and I don't enjoy anything. My brother calls it a “phase”."
NOTHING: dict[str, Any] = {"quote": "", "score": "no information"}


def _reply(n: int, **stated: tuple[str, Any]) -> str:
    items: dict[str, Any] = {str(number): NOTHING for number in range(1, n + 1)}
    for number, (quote, score) in stated.items():
        items[number.removeprefix("n")] = {"quote": quote, "score": score}
    return json.dumps(items, ensure_ascii=False)


def _read(prompt: str, text: str, reply: str) -> Reading:
    return read_reply(Reply(reply, finish="stop"), read_prompt(prompt), text)


def test_an_item_counts_with_a_quote_of_the_post_and_not_with_an_invented_one() -> None:
    reply = _reply(
        9,
        n1=("I don’t enjoy anything", 2),  # with another apostrophe
        n3=("haven't slept for weeks", 3),
        n4=("I am tired all day", 2),
        n5=("", 1),
        n6=("the", 1),
        n9=("haven't … anything", 0),
    )
    reading = _read("phq9-quotes", POST, reply)
    assert reading.evidence == (
        "stated", "no_information", "stated", "invented", "no_quote", "no_quote", "no_information",
        "no_information", "stated",
    )  # fmt: skip
    np.testing.assert_array_equal(reading.items, [2, np.nan, 3, *[np.nan] * 5, 0])
    # Six items may have 0 to 3 points each: 5 to 23, in other bands and on both sides of the cut-off of 10.
    assert (reading.least, reading.most) == (5, 23)
    assert reading.band == ""
    assert np.isnan(reading.scores[0])
    np.testing.assert_allclose(reading.scores[[1, 3, 9]], [2 / 3, 1, 0])


def test_a_band_and_a_verdict_are_given_where_both_bounds_agree() -> None:
    words = ("don't enjoy anything", 3)
    severe = _read("phq9-quotes", POST, _reply(9, **{f"n{number}": words for number in range(1, 8)}))
    assert (severe.least, severe.most, severe.band) == (21, 27, "severe")
    assert severe.scores[0] == pytest.approx(0.5 + 0.5 * (21 - 10) / 17)

    absent = ("don't enjoy anything", 0)
    none = _read("gad7-quotes", POST, _reply(7, **{f"n{number}": absent for number in range(1, 7)}))
    assert (none.least, none.most, none.band) == (0, 3, "minimal")
    assert none.scores[0] == pytest.approx(0.5 * 3 / 10)


@pytest.mark.parametrize("scale", ["phq9", "gad7", "madrs", "ham_a", "bai"])
def test_each_scale_asks_for_a_quote_and_a_score_of_its_range(scale: str) -> None:
    prompt = f"{scale}-quotes"
    read = read_prompt(prompt)
    assert read.scale is not None
    item = read.schema()["properties"]["1"]
    assert list(item["properties"]) == ["quote", "score"]
    assert item["properties"]["score"]["enum"] == [*range(read.scale.points[1] + 1), "no information"]
    n = len(read.scale.item)
    reading = _read(prompt, POST, _reply(n, n2=("haven't slept", 1)))
    assert (reading.least, reading.most) == (1, 1 + (n - 1) * read.scale.points[1])


def test_an_item_that_cannot_be_read_leaves_the_total_open() -> None:
    reading = _read("gad7-quotes", POST, _reply(7, n1=("haven't slept", "often")))
    assert reading.evidence[0] == "unread"
    assert np.isnan([reading.least, reading.most]).all()
    assert _read("gad7-quotes", POST, "A post about sleep.").how == "unreadable"


@pytest.mark.parametrize(
    ("quote", "stands"),
    [
        ("i HAVEN'T slept", True), ("for weeks and I", True), ("haven't slept … enjoy anything", True),
        ("a \"phase\"", True), ("slept haven't", False), ("enjoy anything … slept", False),
        ("lept for", False), ("I haven't slept for months", False),
    ],
)  # fmt: skip
def test_a_quote_stands_word_for_word(quote: str, stands: bool) -> None:
    assert is_quoted(quote, POST) is stands


async def quoting(exchange: Exchange, asked: Asked, before: int) -> None:
    """Quote the first four words for item 1, and invent a quote for item 2 of every third post."""
    number = int(asked.post.split()[1])
    invented = ("words of nobody", 3)
    stated = {"n1": (" ".join(asked.post.split()[:4]), number % 4)}
    await exchange.send(completion(_reply(7, **stated, **({"n2": invented} if number % 3 == 0 else {}))))


def _posts(count: int) -> list[str]:
    return [f"post {number} says that worry comes and goes" for number in range(count)]


def test_invented_quotes_are_caught_in_fresh_and_in_stored_replies(tmp_path: Path) -> None:
    texts = _posts(12)
    with serving(quoting) as server:
        spec = f"llm:m?base_url={server.base_url}&prompt=gad7-quotes"
        for _ in range(2):
            with answers([open_model(spec)], [(1.0, texts)], store=tmp_path / "s.sqlite") as answered:
                scores = answered.views[0].of(texts)
            np.testing.assert_allclose(scores[:, 1], [number % 4 / 3 for number in range(12)])
            assert np.isnan(scores[:, 2]).all()  # all four of item 2 are invented
            assert answered.tallies["m-gad7-quotes"].unreadable == 0
        assert len(server.asked) == 12


def test_a_run_reports_items_without_evidence_invented_quotes_and_agreement(tmp_path: Path) -> None:
    """12 posts of 7 items: 12 stated, 4 invented, 68 without information; raters agree on 9 of 12."""
    texts = _posts(12)
    # The rater gives the first three posts one point more than the server does.
    rated = [min((number % 4) + (number < 3), 3) / 3 for number in range(12)]
    posts = pl.DataFrame({"text": texts, "anxiety": [0, 1] * 6, "gad7_1": rated})
    with serving(quoting) as server:
        run = audit(
            f"llm:m?base_url={server.base_url}&prompt=gad7-quotes",
            posts,
            text="text",
            labels=["anxiety", "gad7_1"],
            audits=["performance"],
            store=tmp_path / "s.sqlite",
        )
    figures = {finding.measure: finding for finding in run.findings if finding.where.get("scale") == "gad7"}
    assert figures["items_without_evidence"].value == pytest.approx(72 / 84)
    assert figures["items_without_evidence"].counts["no_information"] == 68
    assert figures["invented_quotes"].value == pytest.approx(4 / 16)
    assert figures["band_agreed"].value == 0
    assert figures["item_agreement"].value == pytest.approx(9 / 12)
    assert figures["item_agreement"].n == 12
