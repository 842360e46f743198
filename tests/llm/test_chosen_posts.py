"""Histories for LLMs: evidence is chosen by symptom weights, in order; what is left out is counted."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from llm_servers import Asked, Exchange, completion, serving
from psycheck import audit
from psycheck.llm.chosen_posts import HistoryLlm, choose_posts
from psycheck.models.opening import open_model

POSTS = ["a" * 10, "b" * 20, "c" * 30, "d" * 40, "e" * 50]
# Two symptoms: posts 1 and 4 are strongest for the first, posts 2 and 1 for the second; 0 is about none.
WEIGHTS = np.array([[0, 0], [0.9, 0.5], [0.1, 0.8], [0.2, 0.0], [0.4, 0.0]])


def test_a_history_that_fits_is_sent_whole() -> None:
    choice = choose_posts(POSTS, WEIGHTS, per_symptom=1, window=150)
    assert choice.places == (0, 1, 2, 3, 4)
    assert choice.left_out == {}


@pytest.mark.parametrize(
    ("per_symptom", "window", "places", "left_out"),
    [
        (1, 149, (1, 2), {"without_symptom": 1, "weaker": 2, "no_room": 0}),
        (2, 149, (1, 2, 4), {"without_symptom": 1, "weaker": 1, "no_room": 0}),
        (2, 70, (1, 2), {"without_symptom": 1, "weaker": 1, "no_room": 1}),
        (2, 19, (), {"without_symptom": 1, "weaker": 1, "no_room": 3}),
    ],
)
def test_the_strongest_posts_of_each_symptom_are_chosen_in_order(
    per_symptom: int, window: int, places: tuple[int, ...], left_out: dict[str, int]
) -> None:
    choice = choose_posts(POSTS, WEIGHTS, per_symptom=per_symptom, window=window)
    assert choice.places == places
    assert dict(choice.left_out) == left_out
    assert len(places) + sum(left_out.values()) == len(POSTS)


async def answer_by_mood(exchange: Exchange, asked: Asked, before: int) -> None:
    is_low = "sad" in asked.post
    await exchange.send(completion('{"depression": "%s"}' % ("yes" if is_low else "no")))


def test_an_llm_reads_the_evidence_of_a_history_and_the_run_counts_the_rest(tmp_path: Path) -> None:
    soup = "We had soup for lunch. " * 20
    posts = [soup, "I feel sad and hopeless every day.", soup + "Again.", "I cannot sleep at night."]
    rows = pl.DataFrame(
        {
            "text": [*posts, "The match was good.", soup],
            "author": ["a"] * 4 + ["b"] * 2,
            "time": ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04", "2024-01-01", "2024-01-02"],
            "depression": [1, 1, 1, 1, 0, 0],
        }
    )
    rows.write_csv(tmp_path / "posts.csv")
    with serving(answer_by_mood) as server:
        spec = f"llm:m?base_url={server.base_url}&prompt=depression&history=symptoms:descriptions&window=400"
        model = open_model(spec)
        run = audit(model, tmp_path / "posts.csv", audits=["performance"], store=tmp_path / "s.sqlite")
    assert isinstance(model, HistoryLlm)
    assert len(server.asked) == 2
    asked_about_a = next(asked.post for asked in server.asked if "sad" in asked.post)
    assert "[post 2 of 4]" in asked_about_a
    assert len(asked_about_a) < 500  # neither of the long posts

    (read,) = run.findings.where(measure="posts_read")
    counts = dict(read.counts)
    assert counts["posts"] == read.n == 6
    left_out = counts.get("without_symptom", 0) + counts.get("weaker", 0) + counts.get("no_room", 0)
    assert counts["read"] + left_out == 6
    (accuracy,) = run.findings.where(measure="accuracy")
    assert (accuracy.value, accuracy.n) == (1, 2)
