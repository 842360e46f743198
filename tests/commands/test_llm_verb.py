"""`psycheck llm try`, and the replies that a run keeps."""

import json
from pathlib import Path

import polars as pl
import pytest

from llm_servers import Asked, Exchange, answer_yes, completion, serving
from process import psycheck
from psycheck import audit
from psycheck.commands.llm import try_prompt
from psycheck.core.errors import BadInput
from psycheck.runs.folder import open_run
from refusals import refused

POST = "I sleep badly"


def test_a_trial_shows_request_reply_reading_and_cost(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text("[models.m]\ninput = 10.0\noutput = 100.0\n")
    with serving(answer_yes) as server:
        spec = f"llm:m?base_url={server.base_url}&prices={tmp_path}/prices.toml"
        trial = try_prompt("depression", POST, spec)
        done = psycheck(tmp_path, "llm", "try", "depression", "--text", POST, "--model", spec, "--json")
    assert trial.messages == server.asked[0].body["messages"]
    assert trial.scores == {"depression": 1.0}
    assert trial.reading.how == "json"
    assert trial.cost == pytest.approx((10 * 100 + 100 * 7) / 1e6)  # 100 tokens in, 7 out

    printed = json.loads(done.stdout)
    assert done.returncode == 0
    assert printed["scores"] == {"depression": 1.0}
    assert POST in printed["messages"][-1]["content"]


def test_a_trial_that_answers_nothing_says_what_to_change() -> None:
    async def think(exchange: Exchange, asked: Asked, before: int) -> None:
        await exchange.send(completion("", "length", reasoning_content="Well"))

    with serving(think) as server:
        trial = try_prompt("depression", POST, f"llm:m?base_url={server.base_url}")
    assert trial.reading.how == "thinking"
    assert "max_tokens" in trial.remedy


def test_a_trial_sends_no_text_to_another_machine_unasked() -> None:
    with refused("limits.remote"):
        try_prompt("depression", POST, "llm:m?base_url=https://api.example.org/v1")
    with pytest.raises(BadInput):
        try_prompt("depression", POST, "python:json:loads")


def _audited(folder: Path, base_url: str, *, show_texts: bool) -> pl.DataFrame:
    posts = pl.DataFrame({"text": [POST, "I had soup"], "depression": [1, 0]})
    run = audit(
        f"llm:m?base_url={base_url}&prompt=depression",
        posts,
        audits=["performance"],
        show_texts=show_texts,
        out=folder / "run",
        store=folder / "s.sqlite",
    )
    assert open_run(folder / "run").replies.equals(run.replies)
    return run.replies


async def half(exchange: Exchange, asked: Asked, before: int) -> None:
    is_first = asked.post == POST
    await exchange.send(completion('{"reason": "sleep", "depression": "yes"}' if is_first else "Soup."))


def test_a_run_keeps_how_each_reply_was_read_and_its_words_only_when_asked(tmp_path: Path) -> None:
    with serving(half) as server:
        silent = _audited(tmp_path, server.base_url, show_texts=False)
        shown = _audited(tmp_path, server.base_url, show_texts=True)
    assert silent["how"].to_list() == ["json", "unreadable"]
    assert [json.loads(answer) for answer in silent["answer"]] == [{"depression": 1.0}, {"depression": None}]
    assert silent.select("question", "reply", "reason").null_count().row(0) == (2, 2, 2)
    assert shown["reply"].to_list() == ['{"reason": "sleep", "depression": "yes"}', "Soup."]
    assert shown["reason"].to_list() == ["sleep", ""]
    assert POST in shown["question"][0]

    printed = psycheck(tmp_path, "view", "run", "--replies", "--unanswered", "--no-browser").stdout
    assert "Soup." in printed
    assert "depression ? (unreadable" in printed
    assert "sleep badly" not in printed
