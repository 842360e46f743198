"""Specs of LLMs: what decides a reply is in the fingerprint, mistakes are told before anything is sent."""

from pathlib import Path

import pytest

from llm_servers import YES, answer_yes, serving
from psycheck.core.errors import BadInput
from psycheck.core.model import Reply, Replying
from psycheck.llm.model import LlmModel
from psycheck.models.opening import open_model
from refusals import refused

LOCAL = "base_url=http://127.0.0.1:9/v1"
SPEC = f"llm:m?{LOCAL}&prompt=depression"


def _open(spec: str) -> LlmModel:
    model = open_model(spec)
    assert isinstance(model, LlmModel)
    return model


def test_an_llm_is_a_model_that_replies() -> None:
    model = _open(SPEC)
    assert isinstance(model, Replying)
    assert model.labels == ("depression",)
    assert model.name == "m-depression"
    assert _open(f"{SPEC}&name=mine&label=low mood").labels == ("low mood",)
    assert model.read_reply(Reply(YES)).tolist() == [1.0]


@pytest.mark.parametrize(
    "change",
    [
        "temperature=0", "top_p=0.5", "seed=1", "samples=3", "max_tokens=5", "schema=no", "logprobs=no",
        "base_url=http://127.0.0.1:8/v1", "prompt=anxiety",
    ],
)  # fmt: skip
def test_what_decides_a_reply_is_in_the_fingerprint(change: str) -> None:
    kept = "&".join(pair for pair in SPEC.partition("?")[2].split("&") if not pair.startswith(change[:6]))
    assert _open(f"llm:m?{kept}&{change}").fingerprint != _open(SPEC).fingerprint
    assert _open(SPEC.replace("llm:m", "llm:other")).fingerprint != _open(SPEC).fingerprint


@pytest.mark.parametrize("same", ["concurrency=3", "timeout=5", "name=mine", "label=mood", "key_env=MY_KEY"])
def test_what_does_not_decide_a_reply_is_not(same: str) -> None:
    assert _open(f"{SPEC}&{same}").fingerprint == _open(SPEC).fingerprint


def test_a_prompt_is_known_by_its_words_and_not_by_its_file(tmp_path: Path) -> None:
    text = 'title = "T"\nlabels = ["depression"]\nuser = "Yes or no? {post}"\n'
    for name in ("a", "b"):
        (tmp_path / f"{name}.toml").write_text(text)
    first, second = (_open(f"llm:m?{LOCAL}&prompt={tmp_path}/{name}.toml") for name in ("a", "b"))
    assert first.fingerprint == second.fingerprint
    (tmp_path / "b.toml").write_text(text.replace("Yes or no?", "No or yes?"))
    assert _open(f"llm:m?{LOCAL}&prompt={tmp_path}/b.toml").fingerprint != first.fingerprint


def test_only_what_was_set_is_sent() -> None:
    with serving(answer_yes) as server:
        for more in ("", "&temperature=0&top_p=1&seed=5&reasoning_effort=low", "&samples=2&seed=7"):
            spec = f"llm:m?base_url={server.base_url}&prompt=depression{more}"
            assert _open(spec).score(["a text"]).tolist() == [[1.0]]
    default, greedy, first, second = (asked.body for asked in server.asked)
    assert not {"top_p", "temperature", "seed", "reasoning_effort"}.intersection(default)
    assert (greedy["temperature"], greedy["top_p"], greedy["seed"]) == (0.0, 1.0, 5)
    assert greedy["reasoning_effort"] == "low"
    assert [first["seed"], second["seed"]] == [7, 8]
    assert default["logprobs"] is True
    assert "logprobs" not in first  # the share of the samples is the confidence
    assert default["response_format"]["json_schema"]["schema"]["required"] == ["depression"]


@pytest.mark.parametrize(
    ("address", "remote"),
    [
        ("http://127.0.0.1:8000/v1", ""),
        ("http://127.8.9.1/v1", ""),
        ("http://[::1]:8000/v1", ""),
        ("http://localhost:8000/v1", ""),
        ("http://localhost.example.org/v1", "localhost.example.org"),
        ("http://127.0.0.1.example.org/v1", "127.0.0.1.example.org"),
        ("http://0.0.0.0:8000/v1", "0.0.0.0"),
        ("http://192.168.0.4/v1", "192.168.0.4"),
        ("https://api.example.org/v1/", "api.example.org"),
    ],
)
def test_only_loopback_addresses_are_local(address: str, remote: str) -> None:
    assert _open(f"llm:m?base_url={address}&prompt=depression").capabilities.remote == remote


def test_the_default_address_is_remote() -> None:
    assert _open("llm:m?prompt=depression").capabilities.remote == "api.openai.com"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("llm:?prompt=depression", "has no target"),
        (f"{SPEC}&temperature=3", "'temperature' is out of range"),
        (f"{SPEC}&temperature=nan", "'temperature' is out of range"),
        (f"{SPEC}&top_p=0", "'top_p' is out of range"),
        (f"{SPEC}&top_p=high", "'top_p' must be a number"),
        (f"{SPEC}&samples=0", "'samples' is out of range"),
        (f"{SPEC}&seed=-1", "'seed' is out of range"),
        (f"{SPEC}&concurrency=0", "'concurrency' is out of range"),
        (f"{SPEC}&timeout=0", "'timeout' is out of range"),
        (f"{SPEC}&timeout=inf", "'timeout' is out of range"),
        (f"{SPEC}&schema=perhaps", "'schema' must be true or false"),
        (f"{SPEC}&key_env=sk-abc", "'key_env' is not the name of an environment variable"),
        (f"{SPEC}&device=cpu", "do not have the option 'device'"),
        ("hf:x?top_p=0.5", "do not have the option 'top_p'"),
    ],
)
def test_a_mistake_in_a_spec_is_one_clear_error(spec: str, expected: str) -> None:
    with pytest.raises(BadInput, match=expected):
        open_model(spec)


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        (f"llm:m?{LOCAL}", "llm.no-prompt"),
        (f"llm:m?{LOCAL}&prompt=depresion", "prompt.unknown"),
        ("llm:m?base_url=ftp://h/v1&prompt=depression", "llm.not-an-address"),
        ("llm:m?base_url=127.0.0.1:8000&prompt=depression", "llm.not-an-address"),
        ("llm:m?base_url=http://h:port/v1&prompt=depression", "llm.not-an-address"),
        ("llm:m?base_url=http://[h/v1&prompt=depression", "llm.not-an-address"),
        (f"{SPEC}&pool=posts.csv", "llm.pool-without-examples"),
        (f"llm:m?{LOCAL}&prompt=depression-few-shot", "llm.no-pool"),
        (f"{SPEC}&cutoff=3", "prompt.no-scale"),
    ],
)
def test_options_that_do_not_fit_together_are_refused(spec: str, code: str) -> None:
    with refused(code):
        open_model(spec)


def test_a_prompt_without_its_slot_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('title = "T"\nlabels = ["depression"]\nuser = "Is it?"\n')
    with refused("prompt.slot-count", where=str(file)) as caught:
        open_model(f"llm:m?{LOCAL}&prompt={file}")
    assert "{post}" in caught.value.what


def test_a_key_in_an_address_or_option_is_refused_and_not_repeated() -> None:
    with refused("llm.address-with-secret") as caught:
        open_model("llm:m?base_url=https://me:sk-secret@h/v1&prompt=depression")
    assert "sk-secret" not in str(caught.value)


def test_a_remote_server_needs_a_key_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with refused("llm.no-key", do="OPENAI_API_KEY"):
        _open("llm:m?prompt=depression").ask(["a"])
    with refused("llm.no-key", do="MY_KEY"):
        _open(f"{SPEC}&key_env=MY_KEY").ask(["a"])
    monkeypatch.setenv("MY_KEY", "sk-é\n")
    with refused("llm.not-a-key") as caught:
        _open(f"{SPEC}&key_env=MY_KEY").ask(["a"])
    assert "sk-" not in str(caught.value)


def test_the_key_is_in_no_part_of_an_opened_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-this-test")
    with serving(answer_yes) as server:
        model = _open(f"llm:m?base_url={server.base_url}&prompt=depression")
        before = model.fingerprint
        list(model.ask(["a"]))
    assert server.asked[0].headers["authorization"] == "Bearer sk-of-this-test"
    assert "sk-of-this-test" not in f"{model!r}{model.capabilities}{model.options}"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-another")
    assert _open(f"llm:m?base_url={server.base_url}&prompt=depression").fingerprint == before


def test_half_a_surrogate_pair_does_not_stop_a_request() -> None:
    with serving(answer_yes) as server:
        model = _open(f"llm:m?base_url={server.base_url}&prompt=depression")
        assert model.score(["sad \ud83d"]).tolist() == [[1.0]]
    assert server.asked[0].post == "sad ?"


PRICES = 'currency = "EUR"\n[models.m]\ninput = 2.0\noutput = 10.0\n'


def test_what_asking_takes_is_estimated_by_hand(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text(PRICES)
    (tmp_path / "p.toml").write_text('title = "T"\nlabels = ["depression"]\nuser = "{post}"\n')
    model = _open(
        f"llm:m?{LOCAL}&prompt={tmp_path}/p.toml&prices={tmp_path}/prices.toml&samples=2&max_tokens=50"
    )
    short, long = model.expected(["x" * 40]), model.expected(["x" * 440])
    assert long.prompt_tokens - short.prompt_tokens == 2 * 100  # 400 bytes more are 100 tokens, sent twice
    assert (short.requests, short.completion_tokens) == (2, 100)
    assert short.cost == pytest.approx((2.0 * short.prompt_tokens + 10.0 * 100) / 1e6)
    assert model.expected(["x" * 40] * 500).prompt_tokens == 500 * short.prompt_tokens
    assert model.expected([]).requests == 0
    assert _open(SPEC).expected(["a"]).cost is None


def test_the_price_file_may_come_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "prices.toml").write_text(PRICES)
    monkeypatch.setenv("PSYCHECK_PRICES", str(tmp_path / "prices.toml"))
    assert _open(SPEC).price is not None
    assert _open(SPEC.replace("llm:m", "llm:other")).price is None


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("[models.m]\ninput = -1\noutput = 1", "out of range"),
        ("[models.m]\ninput = 1", "missing"),
        ("[", "not valid"),
    ],
)
def test_a_wrong_price_file_is_one_clear_error(tmp_path: Path, content: str, expected: str) -> None:
    (tmp_path / "prices.toml").write_text(content)
    with pytest.raises(BadInput, match=expected):
        open_model(f"{SPEC}&prices={tmp_path}/prices.toml")
