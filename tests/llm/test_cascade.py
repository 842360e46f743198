"""A cascade on planted servers: the LLM is asked inside the band alone, and the curve is known."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from llm_servers import Asked, Exchange, completion, serving
from psycheck import audit
from psycheck.commands.llm_cascade import choose_cascade
from psycheck.core.corpus import Corpus
from psycheck.llm import pace
from psycheck.llm.cascade import Cascade
from psycheck.models.opening import open_model
from psycheck.scoring.answers import answers
from psycheck.scoring.limits import Limits
from refusals import refused

CALIBRATED = "cheap_platt=1:-1.7346&band=0.49:0.51&abstain=0.4:0.7"
TEXTS = [f"post {score}" for score in range(5, 100, 10)]  # cheap scores .05, .15 … .95


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "FIRST_WAIT", 0.01)


def _cheap(folder: Path) -> str:
    (folder / "cheap.py").write_text(
        "import numpy as np\n"
        "class Cheap:\n"
        "    labels = ['depression']\n"
        "    name = 'cheap'\n"
        "    def score(self, texts):\n"
        "        return np.array([[int(text.split()[1]) / 100] for text in texts])\n"
        "model = Cheap()\n"
    )
    return f"python:{folder}/cheap.py:model"


async def opposite(exchange: Exchange, asked: Asked, before: int) -> None:
    """Say the opposite of what the cheap model would decide."""
    is_high = int(asked.post.split()[1]) >= 50
    await exchange.send(completion('{"depression": "%s"}' % ("no" if is_high else "yes")))


def _spec(folder: Path, base_url: str, more: str = "band=0.3:0.7") -> str:
    return f"cascade:{_cheap(folder)},llm:m?base_url={base_url}&prompt=depression&{more}"


def test_the_llm_decides_inside_the_band_and_is_asked_nothing_else(tmp_path: Path) -> None:
    with serving(opposite) as server:
        model = open_model(_spec(tmp_path, server.base_url))
        for requests in (4, 0):  # the second run finds everything in the store
            with answers([model], [(1.0, TEXTS)], store=tmp_path / "s.sqlite") as answered:
                scores = answered.views[0].of(TEXTS)[:, 0]
                tally = answered.tallies[model.name]
            assert scores == pytest.approx([0.05, 0.15, 0.25, 1, 1, 0, 0, 0.75, 0.85, 0.95])
            assert tally.requests == requests
    assert sorted(asked.post for asked in server.asked) == ["post 35", "post 45", "post 55", "post 65"]
    assert isinstance(model, Cascade)
    assert model.capabilities.parts["band"] == "0.3:0.7"


def test_another_band_asks_only_for_what_is_new(tmp_path: Path) -> None:
    with serving(opposite) as server:
        for band, requests in (("0.3:0.7", 4), ("0.2:0.8", 2), ("0.4:0.6", 0)):
            model = open_model(_spec(tmp_path, server.base_url, f"band={band}"))
            with answers([model], [(1.0, TEXTS)], store=tmp_path / "s.sqlite") as answered:
                assert answered.tallies[model.name].requests == requests


def test_calibration_moves_texts_into_the_band_and_abstention_leaves_them_open(tmp_path: Path) -> None:
    with serving(opposite) as server:
        # sigmoid(logit(p) − logit(.85)) is below .5 for all but the last two.
        model = open_model(_spec(tmp_path, server.base_url, CALIBRATED))
        with answers([model], [(1.0, TEXTS)], store=tmp_path / "s.sqlite") as answered:
            scores = answered.views[0].of(TEXTS)[:, 0]
    assert [asked.post for asked in server.asked] == ["post 85"]
    assert scores[8] == 0
    # .75 becomes 1 / (1 + (1/3) (.85/.15)) = .346: decided; nothing else is near.
    assert scores[7] == pytest.approx(1 / (1 + (0.25 / 0.75) * (0.85 / 0.15)), abs=1e-4)
    assert not np.isnan(scores).any()


def test_what_the_llm_failed_to_answer_is_tried_again(tmp_path: Path) -> None:
    async def fail_first(exchange: Exchange, asked: Asked, before: int) -> None:
        if asked.post == "post 45" and before < pace.TRIES:
            await exchange.send(b"{}", "500 Internal Server Error")
        else:
            await opposite(exchange, asked, before)

    with serving(fail_first) as server:
        model = open_model(_spec(tmp_path, server.base_url))
        for failed in (1, 0):
            with answers([model], [(1.0, TEXTS)], store=tmp_path / "s.sqlite") as answered:
                tally = answered.tallies[model.name]
                scores = answered.views[0].of(TEXTS)[:, 0]
            assert tally.failed == failed
            assert np.isnan(scores).sum() == failed


def test_limits_hold_for_the_llm_of_a_cascade(tmp_path: Path) -> None:
    with serving(opposite) as server:
        model = open_model(_spec(tmp_path, server.base_url))
        limits = Limits(max_requests=3)
        with (
            refused("limits.too-many-requests"),
            answers([model], [(1.0, TEXTS)], store=tmp_path / "s.sqlite", limits=limits),
        ):
            pass
    assert not server.asked
    remote = open_model(_spec(tmp_path, "https://api.example.org/v1"))
    with refused("limits.remote"), answers([remote], [(1.0, TEXTS)], store=tmp_path / "s.sqlite"):
        pass


def test_the_band_is_chosen_on_dev_as_worked_out_by_hand(tmp_path: Path) -> None:
    """The LLM is always wrong where the cheap model is right, so it pays only for the two unsure texts."""
    targets = [float(int(text.split()[1]) >= 50) for text in TEXTS]
    targets[4], targets[5] = 1.0, 0.0  # the cheap model is wrong about .45 and .55
    dev = Corpus.of("dev", TEXTS, labels={"depression": targets})
    with serving(opposite) as server:
        chosen = choose_cascade(
            _cheap(tmp_path),
            f"llm:m?base_url={server.base_url}&prompt=depression",
            dev,
            budget=0.5,
            store=tmp_path / "s.sqlite",
        )
        assert (chosen.point.asked, chosen.point.f1) == (2, 1.0)
        assert chosen.curve[0].accuracy == pytest.approx(0.8)
        assert chosen.curve[-1].accuracy == pytest.approx(0.2)
        assert chosen.table["chosen"].sum() == 1

        cascade = open_model(chosen.spec)
        with answers([cascade], [(1.0, TEXTS)], store=tmp_path / "s.sqlite") as answered:
            decided = answered.views[0].of(TEXTS)[:, 0] >= 0.5
        assert decided.tolist() == [bool(target) for target in targets]


def test_a_run_says_who_decided_what(tmp_path: Path) -> None:
    posts = pl.DataFrame({"text": TEXTS, "depression": [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]})
    with serving(opposite) as server:
        run = audit(
            _spec(tmp_path, server.base_url), posts, audits=["performance"], store=tmp_path / "s.sqlite"
        )
    (asked,) = run.findings.where(measure="asked_share")
    assert (asked.value, asked.n) == (0.4, 10)
    assert dict(asked.counts) == {"cheap": 6, "llm": 4, "person": 0}


def test_two_models_and_a_common_label_are_needed(tmp_path: Path) -> None:
    with refused("cascade.two-models"):
        open_model("cascade:llm:m?prompt=depression")
    with refused("cascade.no-common-label"):
        open_model(f"cascade:{_cheap(tmp_path)},llm:m?base_url=http://127.0.0.1:9/v1&prompt=anxiety")
    with refused("cascade.budget-or-loss"):
        choose_cascade("a:b", "llm:m", Corpus.of("dev", ["a"]))
