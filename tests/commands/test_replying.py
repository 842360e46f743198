"""An audit of a model that replies in words: its ledger, its limits and hard answers."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from psycheck.commands.audit import audit
from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput
from psycheck.core.model import Capabilities, Reply, Replying
from psycheck.runs.folder import open_run

WORDS = {"yes": 1.0, "no": 0.0, "maybe": 0.5}


@dataclass
class Talking(Replying):
    """Says yes to texts that mention sleep, no to others, and something else where it is told to."""

    name: str = "talking"
    labels: tuple[str, ...] = ("depression",)
    fingerprint: str = "talking"
    odd: str = "?"
    host: str = ""

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(remote=self.host)

    def ask(self, items: Sequence[str], /) -> Iterator[tuple[int, Reply | Exception]]:
        for place, text in enumerate(items):
            said = self.odd if "odd" in text else "yes" if "sleep" in text else "no"
            yield place, Reply(said, 10, 1, "stop")

    def read_reply(self, reply: Reply, /) -> FloatArray:
        return np.array([WORDS.get(reply.text, math.nan)])


TEXTS = ["I cannot sleep.", "No sleep again.", "The garden is wet.", "An odd day."]
POSTS = Corpus.of("posts", TEXTS * 5, labels={"depression": [1, 1, 0, 1] * 5})
GRADED = {"auc", "average_precision", "brier", "log_loss", "ece", "reliability"}


def test_hard_answers_get_no_measures_of_graded_scores_and_the_page_says_so(tmp_path: Path) -> None:
    run = audit(Talking(), POSTS, audits=["performance"], out=tmp_path / "run")
    found = {one.measure: one for one in run.findings if one.where.get("audit") == "performance"}
    assert not GRADED & set(found)
    assert found["f1"].value == 1
    # Of 15 positive texts, 5 are unanswered: at best all right; at worst 10 found, 5 missed: 2 · 10 / 25.
    assert [found[name].value for name in ("f1_best", "f1_worst")] == pytest.approx([1, 0.8])
    assert found["f1"].counts["unanswered"] == 5
    page = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert "answers only 0 or 1, so AUC, average precision, Brier score, log loss and calibration" in page
    assert "Requests to models that reply in words" in page
    texts = open_run(tmp_path / "run").environment["texts"]["talking"]
    assert {key: texts[key] for key in ("requests", "prompt_tokens", "completion_tokens", "unreadable")} == {
        "requests": 4,
        "prompt_tokens": 40,
        "completion_tokens": 4,
        "unreadable": 1,
    }


def test_one_graded_answer_is_enough_for_measures_of_graded_scores() -> None:
    run = audit(Talking(odd="maybe"), POSTS, audits=["performance"])
    assert {one.measure for one in run.findings} >= GRADED


def test_behaviour_works_on_hard_answers() -> None:
    run = audit(Talking(), POSTS, audits=["behaviour"])
    rates = [one for one in run.findings if one.measure == "pass_rate" and one.where.get("kind") == "DIR"]
    assert rates
    for one in rates:
        parts = ("passed", "failed", "unchanged", "unseen", "unanswered")
        assert one.counts["generated"] == sum(one.counts[part] for part in parts)


def test_texts_leave_the_machine_only_if_allowed() -> None:
    with pytest.raises(BadInput, match=r"another machine: api\.example\.org"):
        audit(Talking(host="api.example.org"), POSTS, audits=["performance"])
    audit(Talking(host="api.example.org"), POSTS, audits=["performance"], allow_remote=True)


def test_the_limits_are_settings_of_an_audit() -> None:
    with pytest.raises(BadInput, match="needs 4 requests, more than `max_requests` allows"):
        audit(Talking(), POSTS, audits=["performance"], max_requests=3)
    with pytest.raises(BadInput, match="max_requests"):
        audit(Talking(), POSTS, max_requests=-1)
    with pytest.raises(BadInput, match="ask_again"):
        audit(Talking(), POSTS, ask_again="always")  # type: ignore[arg-type]  # the type checker finds it, too
