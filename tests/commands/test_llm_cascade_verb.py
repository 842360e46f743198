"""`psycheck llm cascade` and `psycheck llm calibrate` from the command line, on a planted server."""

from pathlib import Path

import polars as pl
import pytest

from llm_servers import Asked, Exchange, completion, serving
from process import psycheck
from psycheck.commands.llm_cascade import choose_cascade
from psycheck.core.corpus import Corpus
from psycheck.llm.cascade import Cascade
from psycheck.models.opening import open_model
from refusals import refused

# Cheap scores .05, .15 … .95; the cheap model errs on .45 and .55, where the LLM is right, and nowhere else.
SCORES = list(range(5, 100, 10))
LABELS = [0, 0, 0, 0, 1, 0, 1, 1, 1, 1]
CHEAP = (
    "import numpy as np\n"
    "class Cheap:\n"
    "    labels = ['depression']\n"
    "    name = 'cheap'\n"
    "    def score(self, texts):\n"
    "        return np.array([[int(text.split()[1]) / 100] for text in texts])\n"
    "model = Cheap()\n"
)


async def opposite(exchange: Exchange, asked: Asked, before: int) -> None:
    is_high = int(asked.post.split()[1]) >= 50
    await exchange.send(completion('{"depression": "%s"}' % ("no" if is_high else "yes")))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cheap.py").write_text(CHEAP)
    texts = [f"post {score}" for score in SCORES]
    posts = {"text": texts * 2, "depression": LABELS * 2, "split": ["dev"] * 10 + ["test"] * 10}
    posts["text"] = [*texts, *(f"post {score} again" for score in SCORES)]
    pl.DataFrame(posts).write_csv(tmp_path / "posts.csv")
    return tmp_path


def test_the_curve_is_written_and_the_spec_printed_last(folder: Path) -> None:
    with serving(opposite) as server:
        llm = f"llm:m?base_url={server.base_url}&prompt=depression"
        words = ["llm", "cascade", "python:cheap.py:model", llm, "posts.csv", "--budget", "0.5"]
        done = psycheck(folder, *words, "--out", "curve.csv", PSYCHECK_STORE="s.sqlite")
    assert done.returncode == 0, done.stderr
    curve = pl.read_csv(folder / "curve.csv")
    assert curve.filter(pl.col("chosen"))["asked"].to_list() == [2]
    assert curve["accuracy"].max() == 1.0
    assert done.stdout.splitlines()[-1].startswith("cascade:python:cheap.py:model,llm:m?")


def test_costs_choose_the_band_and_what_is_left_to_a_person(folder: Path) -> None:
    """A call costs 1000, a person 2 and an error 100: the two unsure texts are left to a person."""
    dev = Corpus.of("dev", [f"post {score}" for score in SCORES], labels={"depression": LABELS})
    with serving(opposite) as server:
        chosen = choose_cascade(
            f"python:{folder}/cheap.py:model",
            f"llm:m?base_url={server.base_url}&prompt=depression",
            dev,
            costs="1000:2:100",
            store=folder / "s.sqlite",
        )
    assert chosen.point.asked == 0
    assert chosen.policy is not None
    assert chosen.policy.cost == pytest.approx(2 * 2 / 10)
    cascade = open_model(chosen.spec)
    assert isinstance(cascade, Cascade)
    assert cascade.abstain is not None
    assert cascade.prices is not None
    assert cascade.prices.person == 2


def test_costs_that_are_not_three_numbers_are_refused() -> None:
    with refused("settings.out-of-range"):
        choose_cascade("a:b", "llm:m", Corpus.of("dev", ["a"]), costs="1:2")


def test_a_calibration_that_would_turn_the_ranking_round_only_shifts_and_says_so(folder: Path) -> None:
    with serving(opposite) as server:
        llm = f"llm:m?base_url={server.base_url}&prompt=depression"
        done = psycheck(folder, "llm", "calibrate", llm, "posts.csv", PSYCHECK_STORE="s.sqlite")
    assert done.returncode == 0, done.stderr
    assert "platt=1.0000:" in done.stdout
    assert "ranking round" in done.stderr


@pytest.mark.parametrize("option", ["platt=-0.5:1", "platt=0:1", "platt=1"])
def test_a_map_that_does_not_rise_is_refused(option: str) -> None:
    with refused("settings.out-of-range"):
        open_model(f"llm:m?base_url=http://127.0.0.1:9/v1&prompt=depression&{option}")
