"""Requests to a server that misbehaves: no reply is lost or invented, nothing answered is asked twice."""

import asyncio
import gzip
import random
import time
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import Any

import pytest

from llm_servers import YES, Asked, Behaviour, Exchange, answer_yes, completion, serving
from psycheck.core.model import Answer, Reply
from psycheck.llm import connection, pace
from psycheck.llm.client import ask_all
from psycheck.llm.pace import Unanswered
from psycheck.llm.server import Server
from refusals import refused

PLAIN = {"max_tokens": 64}
SECRET = "sk-a-secret-of-this-test"


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "FIRST_WAIT", 0.01)


def _server(base_url: str, **more: object) -> Server:
    usual = {
        "local": True,
        "key": SECRET,
        "key_env": "K",
        "timeout": 20.0,
        "concurrency": 8,
        "demanded": frozenset(),
    }
    return Server("m", base_url, **(usual | more))  # type: ignore[arg-type]  # checked where it is made


def _groups(base_url: str, count: int, *settings: dict[str, Any], **more: object) -> Iterator[list[Answer]]:
    server = _server(base_url, **more)
    return ask_all(server, count, lambda i: [{"role": "user", "content": f"text {i}"}], settings or [PLAIN])


def _asked(base_url: str, count: int, *settings: dict[str, Any], **more: object) -> Iterator[Answer]:
    return chain.from_iterable(_groups(base_url, count, *settings, **more))


def _replies(answers: Iterator[Answer]) -> dict[int, Reply]:
    found = dict(answers)
    assert all(isinstance(answer, Reply) for answer in found.values())
    return found  # type: ignore[return-value]  # just checked


def _kind(answer: Reply | Exception) -> str:
    assert isinstance(answer, Unanswered)
    return answer.kind


def test_every_question_gets_its_own_reply() -> None:
    async def echo(exchange: Exchange, asked: Asked, before: int) -> None:
        await asyncio.sleep(random.random() / 100)
        await exchange.send(completion(f"about {asked.post}"))

    with serving(echo) as server:
        replies = _replies(_asked(server.base_url, 100))
    assert {place: reply.text for place, reply in replies.items()} == {
        i: f"about text {i}" for i in range(100)
    }
    assert len(server.asked) == 100
    assert 2 <= server.most_at_once <= 8


FAULTS: dict[str, Behaviour] = {}


def fault(behaviour: Behaviour) -> Behaviour:
    FAULTS[behaviour.__name__] = behaviour
    return behaviour


@fault
async def busy(exchange: Exchange, asked: Asked, before: int) -> None:
    await exchange.send(b'{"error": {"message": "slow down"}}', "429 Too Many Requests")


@fault
async def busy_for_a_moment(exchange: Exchange, asked: Asked, before: int) -> None:
    await exchange.send(b"{}", "429 Too Many Requests", "Retry-After: 0.1")


@fault
async def unavailable(exchange: Exchange, asked: Asked, before: int) -> None:
    await exchange.send(b"<html>", "503 Service Unavailable", "Retry-After: 0")


@fault
async def broken(exchange: Exchange, asked: Asked, before: int) -> None:
    await exchange.send(f"oh: {asked.post}".encode(), "500 Internal Server Error")


@fault
async def hanging(exchange: Exchange, asked: Asked, before: int) -> None:
    await asyncio.sleep(30)


@fault
async def trickling(exchange: Exchange, asked: Asked, before: int) -> None:
    exchange.writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")
    for _ in range(900):
        await asyncio.sleep(0.03)
        exchange.writer.write(b" ")


@fault
async def cut_before(exchange: Exchange, asked: Asked, before: int) -> None:
    exchange.cut()


@fault
async def cut_within(exchange: Exchange, asked: Asked, before: int) -> None:
    exchange.cut(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + completion(YES)[:40])


@fault
async def half_a_body(exchange: Exchange, asked: Asked, before: int) -> None:
    await exchange.send(completion(YES)[:-20])


@fault
async def no_http(exchange: Exchange, asked: Asked, before: int) -> None:
    exchange.cut(b"SSH-2.0-OpenSSH_9.2\r\n")


@fault
async def error_as_success(exchange: Exchange, asked: Asked, before: int) -> None:
    await exchange.send(b'{"error": {"message": "overloaded"}}')


LATE = ("hanging", "trickling")


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_that_passes_costs_another_request_and_no_reply(name: str) -> None:
    async def first_faulty(exchange: Exchange, asked: Asked, before: int) -> None:
        if before == 0 and int(asked.post.split()[1]) % 3 == 0:
            await FAULTS[name](exchange, asked, before)
        else:
            await exchange.send(completion(f"about {asked.post}"))

    with serving(first_faulty) as server:
        replies = _replies(_asked(server.base_url, 12, timeout=1.0 if name in LATE else 20.0))
    assert {place: reply.text for place, reply in replies.items()} == {
        i: f"about text {i}" for i in range(12)
    }
    times = Counter(asked.post for asked in server.asked)
    assert times == {f"text {i}": 2 if i % 3 == 0 else 1 for i in range(12)}


def test_all_faults_at_random_lose_nothing_and_invent_nothing() -> None:
    dice = random.Random(3)
    answered: Counter[str] = Counter()

    async def anything(exchange: Exchange, asked: Asked, before: int) -> None:
        name = dice.choice([*FAULTS, *["answer"] * 12])
        if name != "answer" and before < 4:
            await FAULTS[name](exchange, asked, before)
            return
        answered[asked.post] += 1
        await exchange.send(completion(f"about {asked.post}"))

    with serving(anything) as server:
        replies = _replies(_asked(server.base_url, 60, timeout=2.0))
    assert {place: reply.text for place, reply in replies.items()} == {
        i: f"about text {i}" for i in range(60)
    }
    assert answered == Counter(f"text {i}" for i in range(60))  # each answered exactly once


def test_a_question_that_always_fails_is_a_failure_and_the_others_go_on() -> None:
    async def stumbling(exchange: Exchange, asked: Asked, before: int) -> None:
        await (broken if asked.post == "text 3" else answer_yes)(exchange, asked, before)

    with serving(stumbling) as server:
        found = dict(_asked(server.base_url, 10))
    assert _kind(found[3]) == "server"
    assert "text 3" not in str(found[3])  # the server's message quotes the post
    assert sum(isinstance(answer, Reply) for answer in found.values()) == 9
    assert sum(asked.post == "text 3" for asked in server.asked) == pace.TRIES


def test_a_reply_of_a_megabyte_is_kept_whole() -> None:
    async def verbose(exchange: Exchange, asked: Asked, before: int) -> None:
        await exchange.send(completion("sad " * 262_144, "length"))

    with serving(verbose) as server:
        replies = _replies(_asked(server.base_url, 3))
    assert [len(reply.text) for reply in replies.values()] == [2**20] * 3


def test_an_endless_answer_is_given_up_without_being_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "MOST_BYTES", 2**20)
    sent = 0

    async def endless(exchange: Exchange, asked: Asked, before: int) -> None:
        nonlocal sent
        if asked.post != "text 0":
            await exchange.send(completion(YES))
            return
        exchange.writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while sent < 2**26:
            exchange.writer.write(b"10000\r\n" + b" " * 2**16 + b"\r\n")
            await exchange.writer.drain()
            sent += 2**16

    with serving(endless) as server:
        found = dict(_asked(server.base_url, 2))
    assert _kind(found[0]) == "large"
    assert isinstance(found[1], Reply)
    assert sent < 2**24


def test_a_compressed_answer_is_not_unpacked() -> None:
    async def bomb(exchange: Exchange, asked: Asked, before: int) -> None:
        await exchange.send(gzip.compress(bytes(10_000_000)), "200 OK", "Content-Encoding: gzip")

    with serving(bomb) as server:
        assert _kind(dict(_asked(server.base_url, 1))[0]) == "large"
    assert server.asked[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize(
    ("status", "code"),
    [
        ("401 Unauthorized", "llm.key"),
        ("403 Forbidden", "llm.forbidden"),
        ("404 Not Found", "llm.unknown"),
        ("307 Temporary Redirect", "llm.redirect"),
    ],
)
def test_what_concerns_every_question_stops_after_three_requests(status: str, code: str) -> None:
    async def refuse(exchange: Exchange, asked: Asked, before: int) -> None:
        body = f'{{"error": {{"message": "{asked.post} {SECRET}", "code": "{asked.post}"}}}}'
        await exchange.send(body.encode(), status, "Location: http://elsewhere.invalid/v1")

    with serving(refuse) as server, refused(code) as caught:
        list(_asked(server.base_url, 500))
    assert len(server.asked) == 3
    assert SECRET not in str(caught.value)
    assert "text 0" not in str(caught.value)


def test_an_account_without_credit_stops_instead_of_waiting() -> None:
    async def broke(exchange: Exchange, asked: Asked, before: int) -> None:
        await exchange.send(b'{"error": {"code": "insufficient_quota"}}', "429 Too Many Requests")

    with serving(broke) as server, refused("llm.quota"):
        list(_asked(server.base_url, 50))
    assert len(server.asked) == 3


def test_no_server_is_one_clear_error() -> None:
    with serving(answer_yes) as server:
        gone = server.base_url.replace(str(server.port), "1")
    with refused("llm.unreachable") as caught:
        list(_asked(gone, 50))
    assert caught.value.where == gone


def test_a_server_that_rejects_everything_stops_after_twenty_questions() -> None:
    async def reject(exchange: Exchange, asked: Asked, before: int) -> None:
        await exchange.send(b'{"error": {"message": "context too long"}}', "400 Bad Request")

    with serving(reject) as server, refused("llm.rejected"):
        list(_asked(server.base_url, 500))
    assert len(server.asked) == 20


def test_one_rejected_question_is_not_sent_again() -> None:
    async def picky(exchange: Exchange, asked: Asked, before: int) -> None:
        if asked.post == "text 4":
            await exchange.send(b'{"error": {"message": "logprobs of text 4"}}', "400 Bad Request")
        else:
            await exchange.send(completion(YES))

    with serving(picky) as server:
        found = dict(_asked(server.base_url, 10, {"logprobs": True, "top_logprobs": 3}))
    assert _kind(found[4]) == "rejected"
    assert Counter(asked.post for asked in server.asked)["text 4"] == 1
    assert all("logprobs" in asked.body for asked in server.asked)


SETTINGS = {"max_tokens": 9, "logprobs": True, "top_logprobs": 3, "response_format": {"type": "json_schema"}}


def test_settings_that_a_server_lacks_are_left_out_from_the_first_question_on() -> None:
    async def old(exchange: Exchange, asked: Asked, before: int) -> None:
        for name, word in (("response_format", "response_format"), ("logprobs", "logprobs")):
            if name in asked.body:
                await exchange.send(
                    f'{{"error": "unknown field {word}"}}'.encode(), "422 Unprocessable Entity"
                )
                return
        if "max_tokens" in asked.body:
            await exchange.send(b'{"error": "use max_completion_tokens"}', "400 Bad Request")
        else:
            await exchange.send(completion(YES))

    with serving(old) as server:
        _replies(_asked(server.base_url, 20, SETTINGS))
    assert len(server.asked) == 23
    assert all(
        set(asked.body) == {"model", "messages", "max_completion_tokens"} for asked in server.asked[3:]
    )
    assert server.asked[-1].body["max_completion_tokens"] == 9


def test_a_setting_that_the_user_demands_is_not_given_up() -> None:
    async def old(exchange: Exchange, asked: Asked, before: int) -> None:
        await exchange.send(b'{"error": "unknown field logprobs"}', "400 Bad Request")

    with serving(old) as server, refused("llm.feature"):
        list(_asked(server.base_url, 20, SETTINGS, demanded=frozenset({"logprobs"})))


def test_a_rate_limit_lowers_the_number_of_requests_at_once() -> None:
    window: list[float] = []

    async def limited(exchange: Exchange, asked: Asked, before: int) -> None:
        now = time.monotonic()
        window[:] = [when for when in window if now - when < 0.1]
        if len(window) >= 5:
            await exchange.send(b"{}", "429 Too Many Requests", "Retry-After: 0.1")
            return
        window.append(now)
        await asyncio.sleep(0.01)
        await exchange.send(completion(YES))

    with serving(limited) as server:
        replies = _replies(_asked(server.base_url, 60, concurrency=32))
    assert len(replies) == 60
    refusals = len(server.asked) - 60
    assert refusals < 120  # without a pause, some thousands


def test_retry_after_is_honoured() -> None:
    times: list[float] = []

    async def later(exchange: Exchange, asked: Asked, before: int) -> None:
        times.append(time.monotonic())
        if len(times) == 1:
            await exchange.send(b"{}", "429 Too Many Requests", "Retry-After: 1")
        else:
            await exchange.send(completion(YES))

    with serving(later) as server:
        _replies(_asked(server.base_url, 5))
    assert times[1] - times[0] >= 1.0


def test_closing_the_answers_cancels_what_is_under_way() -> None:
    async def slow(exchange: Exchange, asked: Asked, before: int) -> None:
        await asyncio.sleep(0 if asked.post == "text 0" else 30)
        await exchange.send(completion(YES))

    with serving(slow) as server:
        answers = _groups(server.base_url, 100)
        assert [place for place, _ in next(answers)] == [0]
        time.sleep(0.2)
        started = time.monotonic()
        answers.close()  # type: ignore[attr-defined]  # it is a generator
        assert time.monotonic() - started < 2
        assert len(server.asked) <= 1 + 8


@pytest.mark.parametrize("concurrency", [1, 4])
def test_an_answer_holds_its_place_until_whoever_takes_it_has_stored_it(concurrency: int) -> None:
    with serving(answer_yes) as server:
        groups = _groups(server.base_url, 60, concurrency=concurrency)
        stored = 0
        for group in groups:
            time.sleep(0.01)  # storing takes a while
            assert len(server.asked) <= stored + concurrency
            stored += len(group)
        assert stored == 60


def test_samples_are_asked_with_their_own_settings() -> None:
    async def by_seed(exchange: Exchange, asked: Asked, before: int) -> None:
        await exchange.send(completion(f"{asked.post} {asked.body['seed']}"))

    with serving(by_seed) as server:
        replies = _replies(_asked(server.base_url, 10, *({"seed": k} for k in range(3))))
    assert replies[7].text == "text 7 0"
    assert replies[7].others == ("text 7 1", "text 7 2")
    assert replies[7].prompt_tokens == 300
    assert len(server.asked) == 30


def test_no_proxy_of_the_environment_gets_texts_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(answer_yes) as proxy, serving(answer_yes) as server:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{proxy.port}")
        _replies(_asked(server.base_url, 3))
    assert not proxy.asked


def test_the_key_is_sent_and_shown_nowhere() -> None:
    with serving(answer_yes) as server:
        _replies(_asked(server.base_url, 1))
    assert server.asked[0].headers["authorization"] == f"Bearer {SECRET}"
    assert SECRET not in repr(_server(server.base_url))


def test_a_request_that_may_not_be_sent_again_is_given_up_and_the_others_go_on() -> None:
    async def stumbling(exchange: Exchange, asked: Asked, before: int) -> None:
        await (broken if asked.post == "text 3" else answer_yes)(exchange, asked, before)

    left, counted = 2, list[int]()

    def allowed(again: int) -> bool:
        counted.append(again)
        return sum(filter(lambda n: n > 0, counted)) <= left

    with serving(stumbling) as server:
        groups = ask_all(
            _server(server.base_url),
            10,
            lambda i: [{"role": "user", "content": f"text {i}"}],
            [PLAIN],
            allowed,
        )
        found = dict(chain.from_iterable(groups))
    assert _kind(found[3]) == "limit"
    assert sum(isinstance(answer, Reply) for answer in found.values()) == 9
    assert sum(asked.post == "text 3" for asked in server.asked) == 1 + left
    assert len(server.asked) == 10 + left
