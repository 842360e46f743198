"""Scales have the ranges of the instruments; totals, verdicts and bands follow from them."""

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psycheck.core.errors import BadInput
from psycheck.llm.prompts import read_prompt
from psycheck.symptoms.scales import (
    band_of,
    read_scale,
    shipped_scales,
    total_of,
    verdict_of,
    with_cutoff,
)
from refusals import refused

# Items, points of one item, highest total: facts of the instruments, not of our files.
PUBLISHED = {
    "phq9": (9, 3, 27, 10, "depression"),
    "gad7": (7, 3, 21, 10, "anxiety"),
    "madrs": (10, 6, 60, 7, "depression"),
    "ham_a": (14, 4, 56, 8, "anxiety"),
    "bai": (21, 3, 63, 16, "anxiety"),
    "bdi": (21, 3, 63, 14, "depression"),
}


def test_shipped_scales_have_the_published_ranges() -> None:
    assert set(shipped_scales()) == set(PUBLISHED)
    for name, (items, points, total, cutoff, condition) in PUBLISHED.items():
        scale = read_scale(name)
        assert (len(scale.item), scale.points, scale.total) == (items, (0, points), (0, total))
        assert (scale.cutoff, scale.condition) == (cutoff, condition)
        assert scale.labels[:2] == (condition, f"{name}_1")
        assert len(scale.labels) == items + 1


@given(name=st.sampled_from(sorted(PUBLISHED)), data=st.data())
def test_the_verdict_rises_with_the_total_and_is_one_half_at_the_cutoff(
    name: str, data: st.DataObject
) -> None:
    scale = read_scale(name)
    cutoff = data.draw(st.integers(1, scale.total[1]))
    moved = with_cutoff(scale, cutoff)
    verdicts = [verdict_of(moved, total) for total in range(scale.total[1] + 1)]
    assert verdicts[0] == 0
    assert verdicts[cutoff] == 0.5
    assert verdicts[-1] == (1 if cutoff < scale.total[1] else 0.5)
    assert all(low < high for low, high in pairwise(verdicts))


def test_verdicts_by_hand() -> None:
    phq9 = read_scale("phq9")
    assert verdict_of(phq9, 5) == 0.25
    assert verdict_of(phq9, 27) == 1
    assert verdict_of(phq9, 18.5) == pytest.approx(0.75)  # halfway from 10 to 27
    assert math.isnan(verdict_of(phq9, math.nan))


def test_a_few_missing_items_count_as_the_mean_of_the_others() -> None:
    phq9 = read_scale("phq9")
    points = np.array([2, 2, 2, 2, 2, 1, 3, np.nan, np.nan])
    assert total_of(phq9, points) == pytest.approx(14 / 7 * 9)
    points[0] = np.nan  # three of nine are more than a quarter
    assert math.isnan(total_of(phq9, points))
    assert math.isnan(total_of(phq9, np.full(9, np.nan)))


def test_every_total_has_one_band() -> None:
    phq9 = read_scale("phq9")
    assert [band_of(phq9, total) for total in (0, 4, 5, 9.9, 10, 27, math.nan)] == [
        "minimal", "minimal", "mild", "mild", "moderate", "severe", "",
    ]  # fmt: skip


GOOD = """
title = "Two symptoms"
condition = "loneliness"
points = [0, 2]
total = [0, 4]
cutoff = 2
missing = 0.5
source = "ours"
cutoff_source = "ours"
missing_source = "ours"
[[band]]
name = "low"
totals = [0, 1]
[[band]]
name = "high"
totals = [2, 4]
[[item]]
name = "Alone"
about = "has nobody to talk to"
[[item]]
name = "Left out"
about = "is not asked along"
"""


@pytest.mark.parametrize(
    ("old", "new", "code", "value"),
    [
        ("total = [0, 4]", "total = [0, 6]", "scale.total", "2 items of 0 to 2 points"),
        ("points = [0, 2]", "points = [1, 2]", "scale.points", "from 1 to 2"),
        ("points = [0, 2]", "points = [2, 0]", "scale.points", "from 2 to 0"),
        ("cutoff = 2", "cutoff = 5", "scale.cutoff", "5"),
        ("totals = [0, 1]", "totals = [0, 0]", "scale.band-out-of-order", "'high' covers 2 to 4"),
        ("totals = [2, 4]", "totals = [1, 4]", "scale.band-out-of-order", "'high' covers 1 to 4"),
        ("totals = [2, 4]", "totals = [2, 3]", "scale.bands-incomplete", "3"),
        ('name = "Left out"', 'name = "alone"', "scale.duplicate-items", ""),
        ("cutoff = 2", "cutoff = 2\nyes = 3", "scale.points-of-yes", "3 points"),
    ],
)
def test_a_scale_that_contradicts_itself_is_refused(
    tmp_path: Path, old: str, new: str, code: str, value: str
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(GOOD, "utf-8")
    assert read_scale(str(file)).labels == ("loneliness", "mine_1", "mine_2")
    assert old in GOOD
    file.write_text(GOOD.replace(old, new), "utf-8")
    with refused(code, where=str(file)) as caught:
        read_scale(str(file))
    assert value in caught.value.what


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("points = [0, 2]", "points = [0, 2, 3]", "points"),
        ("missing = 0.5", "missing = 1.5", "missing"),
        ("missing = 0.5", "mising = 0.5", "mising"),
    ],
)
def test_a_key_that_no_scale_has_or_a_value_out_of_range_is_refused(
    tmp_path: Path, old: str, new: str, key: str
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(GOOD.replace(old, new), "utf-8")
    with pytest.raises(BadInput) as caught:
        read_scale(str(file))
    assert caught.value.where == f"{file}, key '{key}'"
    assert f"'{key}'" in caught.value.what


def test_an_unknown_scale_is_told_with_the_nearest_name() -> None:
    with refused("scale.unknown", allowed="phq9") as caught:
        read_scale("phq8")
    assert "'phq8'" in caught.value.what
    with refused("scale.cutoff", key="cutoff") as caught:
        with_cutoff(read_scale("phq9"), 28)
    assert "28" in caught.value.what


def test_a_prompt_may_bring_its_own_scale(tmp_path: Path) -> None:
    (tmp_path / "lonely.toml").write_text(GOOD, "utf-8")
    file = tmp_path / "mine.toml"
    file.write_text(
        'title = "t"\nanswer = "scale"\nscale = "lonely.toml"\nuser = "{items}\\n{post}"\n', "utf-8"
    )
    prompt = read_prompt(str(file))
    assert prompt.labels == ("loneliness", "lonely_1", "lonely_2")
    assert "1. Alone: has nobody to talk to" in prompt.messages("x")[-1]["content"]
