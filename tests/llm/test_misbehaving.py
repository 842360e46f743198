"""From a server that misbehaves to the scores: exact totals, every reply stored once, kills in between."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from llm_servers import YES, Asked, Exchange, completion, serving
from process import psycheck
from psycheck.llm import pace
from psycheck.llm.model import LlmModel
from psycheck.models.opening import open_model
from psycheck.scoring.answers import answers
from psycheck.scoring.limits import Limits

NO = '{"depression": "no"}'
CONTENTS: dict[str, tuple[str | None, float]] = {
    "plain": (YES, 1.0),
    "negative": (NO, 0.0),
    "prose": (f"Sure! Here is my assessment:\n```json\n{NO}\n```\nTake care.", 0.0),
    "half": ('{"depression": "ye', np.nan),
    "both": ('{"depression": "yes and no"}', np.nan),
    "language": ("Je ne peux pas le dire avec certitude.", np.nan),
    "empty": ("", np.nan),
    "refusal": ("I'm sorry, but I can't help with that.", np.nan),
    "endless": ("I wonder about that. " * 50_000, np.nan),
}


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "FIRST_WAIT", 0.01)


def test_replies_of_every_shape_are_stored_read_and_counted_exactly(tmp_path: Path) -> None:
    """Half of the requests fail at first, one text always does; the totals are worked out by hand."""
    texts = [f"{name} {i}" for i in range(8) for name in CONTENTS if name != "endless"]
    texts += ["endless 2", "never 0"]

    async def misbehave(exchange: Exchange, asked: Asked, before: int) -> None:
        name, number = asked.post.split()
        if name == "never" or (before == 0 and int(number) % 4 == 0):
            statuses = ("500 Internal Server Error", "429 Too Many Requests", "503 Service Unavailable")
            await exchange.send(b"{}", statuses[0] if name == "never" else random.choice(statuses))
        elif before == 0 and int(number) % 4 == 1:
            exchange.cut()
        elif name == "refusal":
            await exchange.send(completion(None, refusal=CONTENTS[name][0]))
        else:
            await exchange.send(completion(CONTENTS[name][0], "length" if name == "endless" else "stop"))

    with serving(misbehave) as server:
        model = open_model(f"llm:m?base_url={server.base_url}&prompt=depression")
        assert isinstance(model, LlmModel)
        for run in ("first", "second"):
            with answers([model], [(1.0, texts)], store=tmp_path / "store.sqlite") as found:
                scores = found.views[0].of(texts)[:, 0]
            tally = found.tallies[model.name]
            expected = [CONTENTS[text.split()[0]][1] for text in texts[:-1]] + [np.nan]
            np.testing.assert_array_equal(scores, expected)
            answered, failed_once = 8 * 8 + 1, 4 * 8
            assert (tally.distinct, tally.failed) == (answered + 1, 1)
            if run == "first":
                assert (tally.scored, tally.remembered) == (answered, 0)
                assert (tally.prompt_tokens, tally.completion_tokens) == (100 * answered, 7 * answered)
                assert len(server.asked) == answered + failed_once + pace.TRIES
            else:  # only the text without a reply is asked again
                assert (tally.scored, tally.remembered) == (0, answered)
                assert len(server.asked) == answered + failed_once + 2 * pace.TRIES
        assert tally.unreadable == 8 * 5 + 1
    assert list(found.views[0].complaints) == ["the server fails (status 500 or similar)"]


def _score(place: Path, base_url: str, concurrency: int = 8) -> list[str]:
    spec = f"llm:m?base_url={base_url}&prompt=depression&concurrency={concurrency}"
    return ["score", spec, str(place / "posts.csv"), "--out", str(place / "scores.csv"), "--text", "text"]


def test_requests_that_are_sent_again_never_exceed_the_limit(tmp_path: Path) -> None:
    """Every text fails at first: 12 requests are 10 and two more."""
    texts = [f"text {i}" for i in range(10)]

    async def at_first(exchange: Exchange, asked: Asked, before: int) -> None:
        await (
            exchange.send(completion(YES)) if before else exchange.send(b"{}", "500 Internal Server Error")
        )

    with serving(at_first) as server:
        model = open_model(f"llm:m?base_url={server.base_url}&prompt=depression")
        store, limits = tmp_path / "s.sqlite", Limits(max_requests=12)
        with answers([model], [(1.0, texts)], store=store, limits=limits) as found:
            tally = found.tallies[model.name]
            assert list(found.views[0].complaints) == [
                "`max_requests` or `max_cost` allows no further request"
            ]
        assert (tally.scored, tally.failed, tally.requests, len(server.asked)) == (2, 8, 12, 12)
        with answers([model], [(1.0, texts)], store=store, limits=limits) as found:
            tally = found.tallies[model.name]
    assert (tally.scored, tally.failed, tally.requests, tally.remembered) == (8, 0, 8, 2)


def test_no_request_is_sent_once_the_replies_cost_as_much_as_they_may(tmp_path: Path) -> None:
    """The server counts far more tokens than were expected, 0.1 per reply."""
    texts = [f"text {i}" for i in range(20)]
    body = json.loads(completion(YES))
    body["usage"]["prompt_tokens"], body["usage"]["completion_tokens"] = 10_000, 0
    (tmp_path / "prices.toml").write_text('currency = "USD"\n[models.m]\ninput = 10.0\noutput = 0.0\n')

    async def dear(exchange: Exchange, asked: Asked, before: int) -> None:
        await asyncio.sleep(0.1)
        await exchange.send(json.dumps(body).encode())

    with serving(dear) as server:
        spec = f"llm:m?base_url={server.base_url}&prompt=depression&concurrency=1"
        model = open_model(f"{spec}&prices={tmp_path}/prices.toml")
        limits = Limits(max_cost=0.35)
        with answers([model], [(1.0, texts)], store=tmp_path / "s.sqlite", limits=limits) as found:
            tally = found.tallies[model.name]
    # The fourth reply reaches 0.35, and the fifth question waits until it is stored.
    assert len(server.asked) == 4
    assert tally.scored == tally.requests == len(server.asked)
    assert tally.failed == 20 - tally.scored
    assert tally.cost == pytest.approx(0.1 * tally.scored)


@pytest.mark.parametrize("texts", [150, pytest.param(1500, marks=pytest.mark.slow)])
def test_a_process_killed_ten_times_asks_again_only_for_what_was_under_way(
    tmp_path: Path, texts: int
) -> None:
    dice = random.Random(13)
    sent: Counter[str] = Counter()

    async def slow(exchange: Exchange, asked: Asked, before: int) -> None:
        await asyncio.sleep(dice.uniform(0.1, 0.2))
        if dice.random() < 0.05:
            await exchange.send(b"{}", "429 Too Many Requests", "Retry-After: 0")
            return
        await exchange.send(completion(YES if int(asked.post.split()[2]) % 2 else NO))
        sent[asked.post] += 1

    posts = [f"I feel {i} today" for i in range(texts)]
    (tmp_path / "posts.csv").write_text("\n".join(["text", *posts]) + "\n")
    store = {"PSYCHECK_STORE": str(tmp_path / "store.sqlite")}
    kills, quiet = 0, subprocess.DEVNULL
    with serving(slow) as server:
        words = _score(tmp_path, server.base_url)
        command = [sys.executable, "-m", "psycheck", *words]
        while kills < 10:
            before = len(server.asked)
            process = subprocess.Popen(command, env={**os.environ, **store}, stdout=quiet, stderr=quiet)
            while len(server.asked) == before and process.poll() is None:
                time.sleep(0.005)  # a kill before the first request shows nothing
            time.sleep(dice.uniform(0.0, 0.25))
            process.send_signal(signal.SIGKILL)
            if process.wait() == 0:
                break
            kills += 1
        done = psycheck(tmp_path, *words, **store)
        assert done.returncode == 0, done.stderr
        asked = len(server.asked)
        again = psycheck(tmp_path, *words, **store)
        assert again.returncode == 0
        assert len(server.asked) == asked  # a finished run asks nothing
    assert kills == 10
    assert set(sent) == set(posts)
    # A kill loses at most the questions that hold a place: 8, whether under way or arrived and not stored.
    repeated = sum(sent.values()) - texts
    assert repeated <= 10 * 8
    rows = [line.split(",") for line in (tmp_path / "scores.csv").read_text().splitlines()[1:]]
    assert [float(row[1]) for row in rows] == [i % 2 for i in range(texts)]


@pytest.mark.parametrize("samples", [1, 2])
def test_at_concurrency_1_no_reply_that_arrived_is_lost_however_soon_the_kill_comes(
    tmp_path: Path, samples: int
) -> None:
    """The process is killed the moment the server gets its next question, before it can do anything else."""
    running: list[subprocess.Popen[bytes]] = []
    replied: Counter[str] = Counter()

    async def kill_at_every_third(exchange: Exchange, asked: Asked, before: int) -> None:
        is_first_sample = replied[asked.post] % samples == 0
        if len(replied) % 3 == 2 and is_first_sample and not before:
            os.kill(running[-1].pid, signal.SIGKILL)
            return
        await exchange.send(completion(YES))
        replied[asked.post] += 1

    posts = [f"I feel {i} today" for i in range(11)]
    (tmp_path / "posts.csv").write_text("\n".join(["text", *posts]) + "\n")
    environment = {**os.environ, "PSYCHECK_STORE": str(tmp_path / "store.sqlite")}
    quiet = subprocess.DEVNULL
    with serving(kill_at_every_third) as server:
        words = _score(tmp_path, f"{server.base_url}&samples={samples}", concurrency=1)
        for _ in range(10):
            command = [sys.executable, "-m", "psycheck", *words]
            running.append(subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet))
            if running[-1].wait() == 0:
                break

    assert len(running) > 3
    assert running[-1].returncode == 0
    assert replied == dict.fromkeys(posts, samples)  # each reply was sent once: none had to be repeated


def test_the_command_line_shows_one_clear_error_each(tmp_path: Path) -> None:
    async def refuse(exchange: Exchange, asked: Asked, before: int) -> None:
        status = "401 Unauthorized" if "sk-good" not in asked.headers["authorization"] else "404 Not Found"
        body = {"error": {"message": f"{asked.post} {asked.headers['authorization']}"}}
        await exchange.send(json.dumps(body).encode(), status)

    secret = "I keep this between us"
    (tmp_path / "posts.csv").write_text(f"text\n{secret}\n")
    with serving(refuse) as server:
        command = _score(tmp_path, server.base_url)
        wrong_key = psycheck(tmp_path, *command, OPENAI_API_KEY="sk-wrong", PSYCHECK_STORE="s.sqlite")
        no_model = psycheck(tmp_path, *command, OPENAI_API_KEY="sk-good", PSYCHECK_STORE="s.sqlite")
    refused = psycheck(tmp_path, *command, OPENAI_API_KEY="sk-good", PSYCHECK_STORE="s.sqlite")
    for done, expected in (
        (wrong_key, "does not accept the API key (401)"),
        (no_model, "does not know the model 'm'"),
        (refused, "no connection to the server"),
    ):
        assert done.returncode == 2
        assert expected in done.stderr
        assert "do:" in done.stderr
        for hidden in (secret, "sk-wrong", "sk-good", "Traceback"):
            assert hidden not in done.stdout + done.stderr
    assert len(server.asked) == 6
