"""Wordings of one question: variants of a file, prompts made in Python, and how much hangs on the wording."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from llm_servers import Asked, Exchange, completion, serving
from psycheck import audit
from psycheck.core.model import Reply
from psycheck.llm.model import LlmModel, open_llm
from psycheck.llm.options import LlmOptions
from psycheck.llm.prompts import make_prompt, read_prompt
from psycheck.models.opening import open_model
from psycheck.statistics.clustered import Clusters
from psycheck.statistics.wordings import changes, f1_range
from refusals import refused

FILE = """
title = "Depression in three wordings"
labels = ["depression"]
user = "Is it depression? {post}"
[[variant]]
name = "formal"
user = "Does the text meet the criteria? {post}"
[[variant]]
name = "strict"
system = "Be strict."
"""


def test_a_file_holds_variants_of_one_question(tmp_path: Path) -> None:
    file = tmp_path / "asked.toml"
    file.write_text(FILE)
    plain, formal, strict = (read_prompt(f"{file}{variant}") for variant in ("", "#formal", "#strict"))
    assert [prompt.name for prompt in (plain, formal, strict)] == ["asked", "asked-formal", "asked-strict"]
    assert formal.user == "Does the text meet the criteria? {post}"
    assert (strict.user, strict.system) == (plain.user, "Be strict.")
    assert len({prompt.fingerprint for prompt in (plain, formal, strict)}) == 3
    with refused("prompt.unknown-variant", allowed="formal, strict"):
        read_prompt(f"{file}#other")


def test_a_prompt_is_made_in_python_as_in_a_file(tmp_path: Path) -> None:
    keys = {"title": "t", "labels": ["depression"], "user": "Is it? {post}"}
    (tmp_path / "same.toml").write_text('title = "t"\nlabels = ["depression"]\nuser = "Is it? {post}"\n')
    made = make_prompt("made", **keys)
    assert made.fingerprint == read_prompt(str(tmp_path / "same.toml")).fingerprint
    model = open_llm("m", LlmOptions(base_url="http://127.0.0.1:9/v1"), made)
    assert (model.name, model.labels) == ("m-made", ("depression",))
    with refused("prompt.slot-count"):
        make_prompt("bad", **{**keys, "user": "Is it?"})


def test_the_range_of_f1_and_the_texts_that_change_are_those_of_the_hand() -> None:
    """F1: 1, then 2·1/(2·1+1) = 2/3, then 2·2/(2·2+2) = 2/3; the fifth text is not decided by all."""
    targets = np.array([1.0, 1.0, 0.0, 0.0, 1.0])
    decided = np.array([[1, 1, 0, 0, 1], [1, 0, 0, 0, 1], [1, 1, 1, 1, np.nan]], float)
    assert changes(decided).tolist() == [False, True, True, True, False]
    spread = f1_range(targets, decided, Clusters.single(5))
    assert spread.f1 == pytest.approx([1, 2 / 3, 2 / 3])
    assert spread.spread == pytest.approx(1 / 3)
    assert spread.n == 4
    low, high = spread.interval
    assert low <= 1 / 3 <= high


def test_equal_wordings_have_no_range() -> None:
    decided = np.tile([1.0, 0.0, 1.0, 0.0], (3, 1))
    spread = f1_range(np.array([1.0, 0.0, 0.0, 1.0]), decided, Clusters.single(4))
    assert (spread.spread, spread.interval) == (0, (0, 0))
    assert not changes(decided).any()


async def by_wording(exchange: Exchange, asked: Asked, before: int) -> None:
    """The plain wording is right; the formal one says yes to posts 0 to 5, too."""
    number = int(asked.post.split()[1])
    is_formal = "criteria" in asked.body["messages"][-1]["content"]
    is_yes = number >= 10 or (is_formal and number < 6)
    await exchange.send(completion('{"depression": "%s"}' % ("yes" if is_yes else "no")))


def test_a_run_with_two_wordings_reports_what_hangs_on_them(tmp_path: Path) -> None:
    """6 of 20 decisions change; F1 is 1 and 2·10 / (2·10 + 6)."""
    (tmp_path / "asked.toml").write_text(FILE)
    posts = pl.DataFrame({"text": [f"post {n}" for n in range(20)], "depression": [0] * 10 + [1] * 10})
    with serving(by_wording) as server:
        spec = f"llm:m?base_url={server.base_url}&prompt={tmp_path}/asked.toml"
        run = audit([spec, f"{spec}%23formal"], posts, audits=["performance"], store=tmp_path / "s.sqlite")
    (changed,) = run.findings.where(measure="wording_changes")
    (spread,) = run.findings.where(measure="wording_f1_range")
    assert (changed.value, changed.n, changed.where["by"]) == (6 / 20, 20, "wording")
    assert sorted(changed.examples) == [str(row) for row in range(1, 7)]
    assert spread.value == pytest.approx(1 - 20 / 26)
    assert spread.interval is not None


def test_samples_agree_in_the_share_that_says_the_same() -> None:
    model = open_model("llm:m?base_url=http://127.0.0.1:9/v1&prompt=depression&samples=4")
    assert isinstance(model, LlmModel)
    assert model.reading(Reply("yes", others=("yes", "no", "yes"))).agreement == pytest.approx(3 / 4)
    assert model.reading(Reply("no", others=("no", "maybe", "no"))).agreement == 1
    assert np.isnan(model.reading(Reply("yes")).agreement)


def test_a_calibration_is_a_matter_of_reading() -> None:
    plain, calibrated = (
        open_model(f"llm:m?base_url=http://127.0.0.1:9/v1&prompt=depression{more}")
        for more in ("", "&platt=2:1")
    )
    assert plain.fingerprint == calibrated.fingerprint
    assert isinstance(calibrated, LlmModel)
    # sigmoid(2 · logit(0.6) + 1) = 1 / (1 + (2/3)² / e)
    score = calibrated.read_reply(Reply('{"depression": 0.6}'))
    assert score == pytest.approx([1 / (1 + (2 / 3) ** 2 / np.e)])


def test_calibration_is_fitted_on_dev_and_measured_elsewhere(tmp_path: Path) -> None:
    """The server says .9 to all; 60 % are positive, in dev and elsewhere: ECE .3 before, about 0 after."""
    from psycheck.commands.llm_calibrate import calibrate
    from psycheck.core.corpus import Corpus

    async def sure(exchange: Exchange, asked: Asked, before: int) -> None:
        await exchange.send(completion('{"depression": 0.9}'))

    marks = [1.0, 1.0, 1.0, 0.0, 0.0] * 20
    corpus = Corpus.of(
        "posts",
        [f"post {number}" for number in range(100)],
        labels={"depression": marks},
        split=["dev"] * 50 + ["test"] * 50,
    )
    with serving(sure) as server:
        spec = f"llm:m?base_url={server.base_url}&prompt=depression"
        (calibration,) = calibrate(spec, corpus, store=tmp_path / "s.sqlite")
    assert (calibration.dev, calibration.test) == (50, 50)
    assert calibration.ece["as it is"] == pytest.approx(0.3)
    assert calibration.ece["isotonic"] == pytest.approx(0, abs=1e-9)
    # Platt draws targets in: 30 of 50 positive become (30 · 31/32 + 20 / 22) / 50 = .5994.
    assert calibration.ece["Platt"] == pytest.approx(0.6 - (30 * 31 / 32 + 20 / 22) / 50, abs=1e-4)
