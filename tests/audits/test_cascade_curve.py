"""The curve, the seam and the costs of a cascade in a run, against figures worked out by hand."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from llm_servers import Asked, Exchange, completion, serving
from psycheck import Run, audit
from psycheck.core.finding import Finding

# Cheap scores .05, .15 … .95; the cheap model errs on .45 and .55, and the LLM says the opposite of it.
TEXTS = [f"post {score}" for score in range(5, 100, 10)]
LABELS = [0, 0, 0, 0, 1, 0, 1, 1, 1, 1]


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
    is_high = int(asked.post.split()[1]) >= 50
    await exchange.send(completion('{"depression": "%s"}' % ("no" if is_high else "yes")))


def _run(folder: Path, options: str, *, with_llm: bool = False, **how: Any) -> Run:
    posts = pl.DataFrame({"text": TEXTS, "depression": LABELS})
    with serving(opposite) as server:
        llm = f"llm:m?base_url={server.base_url}&prompt=depression&prices={_prices(folder)}"
        models = [f"cascade:{_cheap(folder)},{llm}&{options}", *([llm] if with_llm else [])]
        return audit(models, posts, audits=["performance"], store=folder / "s.sqlite", **how)


def _prices(folder: Path) -> Path:
    # 107 tokens a reply, of which 100 are sent: 0.001 each.
    (folder / "prices.toml").write_text("[models.m]\ninput = 10.0\noutput = 0.0\n")
    return folder / "prices.toml"


def _curve(run: Run, measure: str) -> list[Finding]:
    return list(run.findings.where(measure=measure))


def test_the_curve_ends_where_replies_are_not_known(tmp_path: Path) -> None:
    """Asked about none, two (both errors mended) and four (the LLM errs on .35 and .65)."""
    run = _run(tmp_path, "band=0.3:0.7")
    points = _curve(run, "cascade_accuracy")
    assert [point.where["asked"] for point in points] == ["0.0000", "0.2000", "0.4000"]
    assert [point.value for point in points] == pytest.approx([0.8, 1.0, 0.8])
    assert [dict(point.counts) for point in points] == [
        {"asked": 0, "saved": 10},
        {"asked": 2, "saved": 8},
        {"asked": 4, "saved": 6},
    ]
    assert [point.where.get("chosen", "") for point in points] == ["", "", "yes"]
    assert [float(point.where["cost"]) for point in points] == pytest.approx([0, 0.002, 0.004])
    # F1 = 2 tp / (2 tp + errors): (4, 2), (5, 0), (4, 2)
    assert [point.value for point in _curve(run, "cascade_f1")] == pytest.approx([0.8, 1.0, 0.8])
    assert all(point.interval is not None for point in points)


def test_with_the_llm_in_the_same_run_the_curve_is_whole(tmp_path: Path) -> None:
    points = _curve(_run(tmp_path, "band=0.3:0.7", with_llm=True), "cascade_accuracy")
    assert [point.where["asked"] for point in points] == [
        "0.0000",
        "0.2000",
        "0.4000",
        "0.6000",
        "1.0000",
    ]
    # Each further pair that is asked about adds two errors of the LLM.
    assert [point.value for point in points] == pytest.approx([0.8, 1.0, 0.8, 0.6, 0.2])


def test_a_band_with_unequal_sides_is_widened_in_proportion(tmp_path: Path) -> None:
    """From .5 to .2 is as far as from .5 to .6: .55 is asked about after .45 and .35."""
    points = _curve(_run(tmp_path, "band=0.2:0.6"), "cascade_accuracy")
    assert points[-1].where.get("chosen") == "yes"
    assert points[-1].counts["asked"] == 4  # .25, .35, .45, .55
    assert points[-1].value == pytest.approx(0.8)


def test_the_seam_counts_the_texts_that_an_edit_could_push_out_of_the_band(tmp_path: Path) -> None:
    (seam,) = _run(tmp_path, "band=0.3:0.7").findings.where(measure="seam_changes")
    # The outer half: .35 and .65, where the LLM contradicts the cheap model both times.
    assert (seam.value, seam.n) == (1.0, 2)


def test_costs_of_calls_persons_and_errors_are_compared(tmp_path: Path) -> None:
    run = _run(tmp_path, "band=0.3:0.7&abstain=0.2:0.28&costs=1:20:100", with_llm=True)
    costs = {finding.where["decided_by"]: finding for finding in run.findings.where(measure="cost_per_text")}
    # Cascade: 4 calls, .25 to a person, errors at .35 and .65: (4 + 20 + 200) / 10.
    assert costs["cascade"].value == pytest.approx(22.4)
    assert dict(costs["cascade"].counts) == {"asked": 4, "person": 1}
    assert costs["cheap"].value == pytest.approx(20.0)  # two errors
    assert costs["llm"].value == pytest.approx((10 + 800) / 10)


def test_the_replies_of_a_cascade_are_in_the_table_of_the_run(tmp_path: Path) -> None:
    replies = _run(tmp_path, "band=0.3:0.7", show_texts=True).replies
    assert sorted(replies["reply"].to_list()) == ['{"depression": "no"}'] * 2 + ['{"depression": "yes"}'] * 2
    assert replies["question"].str.contains("post 35").sum() == 1


def test_samples_that_agree_and_samples_that_do_not(tmp_path: Path) -> None:
    """Three samples: of each second text one says no."""

    async def divided(exchange: Exchange, asked: Asked, before: int) -> None:
        says_no = int(asked.post.split()[1]) % 20 == 5 and before == 0
        await exchange.send(completion('{"depression": "%s"}' % ("no" if says_no else "yes")))

    posts = pl.DataFrame({"text": TEXTS, "depression": LABELS})
    with serving(divided) as server:
        llm = f"llm:m?base_url={server.base_url}&prompt=depression&samples=3&concurrency=1"
        run = audit(llm, posts, audits=["performance"], store=tmp_path / "s.sqlite")
    (consistency,) = run.findings.where(measure="self_consistency")
    # Five texts agree on two of three, five on all.
    assert consistency.value == pytest.approx((5 * 2 / 3 + 5) / 10)
    assert (consistency.n, consistency.counts["samples"], len(consistency.examples)) == (10, 3, 5)
    assert sorted(set(run.replies["agreement"].round(3).to_list())) == [0.667, 1.0]
