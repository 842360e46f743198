"""Models behind an address, asked by a real server on this machine."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from psycheck.core.errors import TransientFailure
from psycheck.core.model import capabilities_of
from psycheck.models.opening import open_model
from psycheck.scoring.answers import answers
from refusals import refused

TEXTS = ["so sad", "a sunny day", "sad and tired"]
SCORES = [0.9, 0.1, 0.9]


@dataclass
class Asked:
    """What a server was asked; `reply` makes the status, the headers and the JSON of a reply."""

    reply: Callable[[Any, int], tuple[int, dict[str, str], Any]]
    requests: list[Any] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    address: str = ""


def score_of(text: str) -> float:
    return 0.9 if "sad" in text else 0.1


@contextmanager
def serving(reply: Callable[[Any, int], tuple[int, dict[str, str], Any]]) -> Iterator[Asked]:
    """A server on a free port of this machine."""
    asked = Asked(reply)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.requests.append(content)
            asked.keys.append(self.headers.get("Authorization", ""))
            status, headers, answer = asked.reply(content, len(asked.requests))
            raw = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(raw))}.items():
                self.send_header(name, value)
            self.end_headers()
            with suppress(BrokenPipeError):  # the client may have given up
                self.wfile.write(raw)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    asked.address = f"http://127.0.0.1:{server.server_port}/predict"
    try:
        yield asked
    finally:
        server.shutdown()
        server.server_close()


def scores_of_texts(content: Any, _count: int) -> tuple[int, dict[str, str], Any]:
    return 200, {}, {"scores": [score_of(text) for text in content["texts"]]}


def test_texts_are_sent_as_a_list_and_the_only_list_is_the_answer() -> None:
    with serving(scores_of_texts) as asked:
        model = open_model(f"{asked.address}?label=depression&name=ours")
        assert (model.name, model.labels) == ("ours", ("depression",))
        assert model.score(TEXTS)[:, 0].tolist() == SCORES
        assert asked.requests[-1] == {"texts": TEXTS}
        assert capabilities_of(model).remote == ""


def test_a_mapping_says_where_texts_and_answers_stand() -> None:
    def reply(content: Any, _count: int) -> tuple[int, dict[str, str], Any]:
        texts = content["data"]["inputs"]
        rows = [{"depression": score_of(text), "anxiety": 0.5} for text in texts]
        return 200, {}, {"took": 1, "outputs": [{"rows": rows}]}

    with serving(reply) as asked:
        model = open_model(f"{asked.address}?send=data.inputs&read=outputs.0.rows")
        assert model.labels == ("depression", "anxiety")
        np.testing.assert_allclose(model.score(TEXTS), [[score, 0.5] for score in SCORES])


def test_one_text_at_a_time_in_any_order_of_arrival() -> None:
    def reply(content: Any, count: int) -> tuple[int, dict[str, str], Any]:
        time.sleep(0.05 if count % 2 else 0)
        return 200, {}, [{"label": "depressed", "score": score_of(content["text"])}]

    with serving(reply) as asked:
        model = open_model(f"{asked.address}?single=yes&read=0&label=depression")
        assert model.score(TEXTS)[:, 0].tolist() == SCORES


def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(scores_of_texts) as asked:
        with refused("endpoint.no-key"):
            open_model(f"{asked.address}?key_env=OUR_KEY")
        monkeypatch.setenv("OUR_KEY", "secret")
        open_model(f"{asked.address}?key_env=OUR_KEY")
        assert set(asked.keys) == {"Bearer secret"}


def test_a_busy_server_is_asked_again_and_an_error_is_counted() -> None:
    def reply(content: Any, count: int) -> tuple[int, dict[str, str], Any]:
        if count == 3:  # the first two are the question whether it answers
            return 503, {}, {}
        if "a sunny day" in content["texts"]:
            return 422, {}, {}
        return scores_of_texts(content, count)

    with serving(reply) as asked:
        model = open_model(asked.address)
        with answers([model], [(1.0, TEXTS)]) as scored:
            tally = scored.tallies[model.name]
            scores = scored.views[0].of(TEXTS)[:, 0]
        assert (tally.scored, tally.failed) == (2, 1)
        assert np.isnan(scores[1])
        assert scores[[0, 2]].tolist() == [0.9, 0.9]


def test_how_long_a_busy_server_asks_to_wait() -> None:
    def reply(content: Any, count: int) -> tuple[int, dict[str, str], Any]:
        return scores_of_texts(content, count) if count < 3 else (429, {"Retry-After": "7"}, {})

    with serving(reply) as asked:
        model = open_model(asked.address)
        with pytest.raises(TransientFailure) as busy:
            model.score(TEXTS)
        assert busy.value.after == 7


def test_a_slow_server_times_out() -> None:
    def reply(content: Any, count: int) -> tuple[int, dict[str, str], Any]:
        time.sleep(0 if count < 3 else 1.5)
        return scores_of_texts(content, count)

    with serving(reply) as asked:
        model = open_model(f"{asked.address}?timeout=1")
        with pytest.raises(TimeoutError):
            model.score(TEXTS)


@pytest.mark.parametrize(
    ("status", "answer", "code"),
    [
        (200, b"<html>", "endpoint.not-json"),
        (200, [0.1, 0.2, 0.3], "endpoint.not-one-per-text"),
        (200, {"a": [1], "b": [2]}, "endpoint.not-one-per-text"),
        (401, {}, "endpoint.no-access"),
        (404, {}, "endpoint.no-answer"),
        (500, {}, "endpoint.no-answer"),
    ],
)
def test_what_cannot_be_used_is_refused_when_the_model_is_opened(status: int, answer: Any, code: str) -> None:
    with serving(lambda content, count: (status, {}, answer)) as asked, refused(code):
        open_model(asked.address)


def test_redirects_are_not_followed() -> None:
    with serving(scores_of_texts) as target:
        headers = {"Location": target.address}
        with serving(lambda content, count: (307, headers, {})) as asked, refused("endpoint.no-answer"):
            open_model(asked.address)
        assert target.requests == []


def test_addresses_that_are_refused() -> None:
    with refused("endpoint.no-answer"):
        open_model("http://127.0.0.1:9/predict")
    with refused("endpoint.address-with-secret"):
        open_model("https://user:secret@127.0.0.1/predict")
    with refused("endpoint.not-an-address"):
        open_model("http://:0/predict")


def test_texts_leave_the_machine_only_with_consent() -> None:
    from psycheck.models.http_endpoint import EndpointOptions, endpoint_at
    from psycheck.models.python_object import PythonOptions, wrap_object
    from psycheck.scoring.limits import Limits, refuse_remote

    # Not opened: nothing on another machine is asked in a test.
    endpoint = endpoint_at("https://models.example.org/predict", EndpointOptions())
    assert endpoint.capabilities.remote == "models.example.org"
    with refused("limits.remote"):
        refuse_remote([wrap_object(endpoint, PythonOptions(label="depression"))], Limits())
