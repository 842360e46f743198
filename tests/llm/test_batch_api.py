"""The batch APIs of three providers, on servers that speak them: half the price, and nothing paid twice."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from process import psycheck
from provider_servers import (
    YES,
    Answer,
    Provider,
    Request,
    Route,
    anthropic_error,
    anthropic_routes,
    completion,
    content,
    error_of_openai,
    gemini_error,
    gemini_routes,
    message,
    openai_routes,
    providing,
    text_block,
)
from psycheck.core.errors import ModelFailure
from psycheck.core.model import Answer as Answered
from psycheck.core.model import Reply
from psycheck.llm import batch_api, pace
from psycheck.llm.model import LlmModel
from psycheck.llm.pace import Unanswered
from psycheck.models.opening import open_model
from psycheck.scoring.answers import answers
from psycheck.scoring.limits import Limits

NO = '{"depression": "no"}'
Kind = tuple[Route, Callable[[str], Answer], Callable[[str], Answer]]
"""The routes of a provider, an answer with a text, and the refusal of a setting."""

KINDS: dict[str, Kind] = {
    "openai": (
        openai_routes,
        lambda text: (200, completion(text)),
        lambda words: (400, error_of_openai("invalid_request_error", words)),
    ),
    "anthropic": (
        anthropic_routes,
        lambda text: (200, message(text_block(text))),
        lambda words: (400, anthropic_error("invalid_request_error", words)),
    ),
    "gemini": (
        gemini_routes,
        lambda text: (200, content({"text": text})),
        lambda words: (400, gemini_error(400, "INVALID_ARGUMENT", words)),
    ),
}
every_provider = pytest.mark.parametrize("api", KINDS)


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(pace, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(batch_api, "FIRST_POLL", 0.02)
    monkeypatch.setenv("PSYCHECK_STORE", str(tmp_path / "cache" / "store.sqlite"))


def _spec(api: str, server: Provider, options: str = "") -> str:
    address = server.address + ("/v1" if api == "openai" else "")
    return f"llm:m?api={api}&base_url={address}&prompt=depression&batch_api=yes{options}"


def _model(api: str, server: Provider, options: str = "") -> LlmModel:
    model = open_model(_spec(api, server, options))
    assert isinstance(model, LlmModel)
    return model


def _answers(model: LlmModel, texts: list[str], notes: list[str] | None = None) -> dict[int, object]:
    said = notes if notes is not None else []
    groups: list[list[Answered]] = list(model.ask(texts, say=said.append))
    return dict(answer for group in groups for answer in group)


def _by_post(api: str) -> Callable[[Request], Answer]:
    """Yes about posts with an even number at their end."""
    _, answer, _ = KINDS[api]
    return lambda request: answer(YES if int(request.post.split()[-1]) % 2 == 0 else NO)


def _notes(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "cache" / "batches").rglob("*.json"))


@every_provider
def test_every_question_of_a_batch_gets_its_own_answer(api: str, tmp_path: Path) -> None:
    texts = [f"post {number}" for number in range(7)]
    with providing(KINDS[api][0], _by_post(api)) as server:
        scores = _model(api, server).score(texts)
    assert scores[:, 0].tolist() == [1, 0, 1, 0, 1, 0, 1]
    assert len(server.batches) == 1
    assert sorted(server.handed_over()) == texts
    assert not _notes(tmp_path)  # what was collected is forgotten


@every_provider
def test_samples_of_one_question_are_joined(api: str) -> None:
    with providing(KINDS[api][0], lambda request: KINDS[api][1](YES)) as server:
        options = "&samples=3&temperature=1"
        # Anthropic has no seeds, so its three samples are one request in all but their number.
        found = _answers(_model(api, server, options), ["a 0", "a 1"])
    assert [len(reply.others) for reply in found.values() if isinstance(reply, Reply)] == [2, 2]
    assert len(server.handed_over()) == 6


@pytest.mark.parametrize(
    "api",
    [
        "anthropic",
        pytest.param("openai", marks=pytest.mark.slow),
        pytest.param("gemini", marks=pytest.mark.slow),
    ],
)
def test_a_process_that_is_killed_leaves_its_batch_to_the_next(api: str, tmp_path: Path) -> None:
    """The batch is handed over once, whoever collects it; the posts that were added later make another."""
    routes, _, _ = KINDS[api]
    rows = ["text", *(f"post {number}" for number in range(5))]
    (tmp_path / "posts.csv").write_text("\n".join(rows) + "\n")
    store = {"PSYCHECK_STORE": str(tmp_path / "cache" / "store.sqlite")}
    with providing(routes, _by_post(api), ready=False) as server:
        words = ["score", _spec(api, server), "posts.csv", "--out", "scores.csv", "--text", "text"]
        command = [sys.executable, "-m", "psycheck", *words]
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(
            command, env={**os.environ, **store}, cwd=tmp_path, stdout=quiet, stderr=quiet
        )
        deadline = time.monotonic() + 60
        while not _notes(tmp_path) and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        (note,) = _notes(tmp_path)
        assert "post" not in note.read_text()
        assert note.stat().st_mode & 0o077 == 0 or note.parent.stat().st_mode & 0o077 == 0

        server.ready = True
        (tmp_path / "posts.csv").write_text("\n".join([*rows, "post 5"]) + "\n")
        done = psycheck(tmp_path, *words, **store)
        assert done.returncode == 0, done.stderr
        again = psycheck(tmp_path, *words, **store)
        assert again.returncode == 0
    assert sorted(server.handed_over()) == [f"post {number}" for number in range(6)]
    assert [len(questions) for questions in server.batches.values()] == [5, 1]
    scored = [line.split(",") for line in (tmp_path / "scores.csv").read_text().splitlines()[1:]]
    assert [float(row[1]) for row in scored] == [1, 0, 1, 0, 1, 0]
    assert not _notes(tmp_path)


@every_provider
def test_a_batch_costs_half_and_its_requests_are_counted_once(api: str, tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text("[models.m]\ninput = 1000.0\noutput = 0.0\n")
    texts = [f"post {number}" for number in range(4)]
    options = f"&prices={tmp_path}/prices.toml"
    with providing(KINDS[api][0], _by_post(api)) as server:
        model = _model(api, server, options)
        with answers([model], [(1.0, texts)], store=tmp_path / "s.sqlite") as answered:
            tally = answered.tallies[model.name]
    assert tally.requests == tally.scored == 4
    # 100 tokens each at 1,000 per million, halved: 4 × 0.05
    assert tally.cost == pytest.approx(0.2)


@every_provider
def test_a_question_that_the_batch_did_not_get_to_fails_alone_and_is_asked_by_the_next_run(
    api: str, tmp_path: Path
) -> None:
    texts = [f"post {number}" for number in range(3)]
    store = tmp_path / "s.sqlite"
    with providing(KINDS[api][0], _by_post(api), expired={"post 1"}) as server:
        model = _model(api, server)
        with answers([model], [(1.0, texts)], store=store) as answered:
            assert (answered.tallies[model.name].scored, answered.tallies[model.name].failed) == (2, 1)
        server.expired = set()
        with answers([model], [(1.0, texts)], store=store) as answered:
            assert answered.views[0].of(texts)[:, 0].tolist() == [1, 0, 1]
    assert server.handed_over() == [*texts, "post 1"]


@every_provider
def test_a_setting_that_is_refused_is_left_out_of_a_second_batch(api: str) -> None:
    _, answer, refuse = KINDS[api]

    def without_temperature(request: Request) -> Answer:
        is_refused = '"temperature"' in request.body.decode()
        return refuse("Unsupported parameter: temperature is not supported") if is_refused else answer(YES)

    notes: list[str] = []
    with providing(KINDS[api][0], without_temperature) as server:
        found = _answers(_model(api, server, "&temperature=0"), ["a 0", "b 0"], notes)
    assert all(isinstance(reply, Reply) for reply in found.values())
    assert len(server.batches) == 2
    assert sum("temperature" in note for note in notes) == 1


@every_provider
def test_requests_that_are_refused_for_themselves_fail_alone(api: str) -> None:
    _, answer, refuse = KINDS[api]

    def answered(request: Request) -> Answer:
        return refuse("prompt is too long") if request.post == "long" else answer(YES)

    with providing(KINDS[api][0], answered) as server:
        found = _answers(_model(api, server), ["a", "long"])
    assert isinstance(found[0], Reply)
    assert isinstance(found[1], Unanswered)
    assert found[1].kind == "context"


@pytest.mark.parametrize(("api", "state"), [("openai", "failed"), ("gemini", "BATCH_STATE_FAILED")])
def test_a_batch_that_the_provider_gave_up_stops_the_run_and_is_forgotten(
    api: str, state: str, tmp_path: Path
) -> None:
    with providing(KINDS[api][0], _by_post(api), state=state) as server:
        with pytest.raises(ModelFailure) as caught:
            _answers(_model(api, server), ["post 0"])
        assert caught.value.code == "llm.batch"
        assert not _notes(tmp_path)
        server.state = ""
        assert _model(api, server).score(["post 0"]).tolist() == [[1.0]]


@every_provider
def test_a_batch_that_is_gone_is_handed_over_anew(api: str) -> None:
    with providing(KINDS[api][0], _by_post(api), ready=False) as server:
        asking = _model(api, server).ask(["post 0"])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("psycheck.llm.batch_api.time.sleep", _give_up)
            with pytest.raises(KeyboardInterrupt):
                list(asking)
        server.batches.clear()
        server.ready = True
        # Gemini and OpenAI count on from the number of batches that they hold.
        assert _model(api, server).score(["post 0"]).tolist() == [[1.0]]


def _give_up(_: float) -> None:
    raise KeyboardInterrupt


def test_large_sets_of_questions_are_parted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_api, "MOST_QUESTIONS", 3)
    texts = [f"post {number}" for number in range(7)]
    with providing(openai_routes, _by_post("openai")) as server:
        scores = _model("openai", server).score(texts)
    assert [len(questions) for questions in server.batches.values()] == [3, 3, 1]
    assert scores[:, 0].tolist() == [1, 0, 1, 0, 1, 0, 1]


def test_a_limit_of_requests_holds_for_batches(tmp_path: Path) -> None:
    texts = [f"post {number}" for number in range(6)]
    with providing(openai_routes, _by_post("openai")) as server:
        model = _model("openai", server)
        limits = Limits(max_requests=6)
        with answers([model], [(1.0, texts)], store=tmp_path / "s.sqlite", limits=limits) as answered:
            assert answered.tallies[model.name].requests == 6
        refused = Limits(max_requests=2)
        with (
            pytest.raises(Exception, match="max_requests"),
            answers(
                [model],
                [(1.0, [f"other {number}" for number in range(6)])],
                store=tmp_path / "s.sqlite",
                limits=refused,
            ),
        ):
            pass
    assert len(server.handed_over()) == 6


def test_replies_of_batches_and_of_single_requests_are_the_same_to_the_store(tmp_path: Path) -> None:
    texts = [f"post {number}" for number in range(3)]
    with providing(openai_routes, _by_post("openai")) as server:
        batch = _model("openai", server)
        direct = open_model(_spec("openai", server).replace("&batch_api=yes", ""))
        assert batch.fingerprint == direct.fingerprint
        for model in (batch, direct):
            with answers([model], [(1.0, texts)], store=tmp_path / "s.sqlite") as answered:
                assert np.isfinite(answered.views[0].of(texts)).all()
    assert not server.to("/chat/completions")
