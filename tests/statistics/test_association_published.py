"""WEAT on Google's own vectors beside the values that others published for them (weat.toml says which)."""

import math
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from psycheck.audits.direct_bias.word_lists import gender
from psycheck.models.opening import open_encoder
from psycheck.models.vectors.static import WordVectors
from psycheck.statistics.classification import FloatArray
from psycheck.statistics.word_association import paired_axis, unit, weat

HERE = Path(__file__).parent
TESTS: list[dict[str, Any]] = tomllib.loads((HERE / "weat.toml").read_text("utf-8"))["test"]


@pytest.fixture(scope="module")
def google(tmp_path_factory: pytest.TempPathFactory) -> WordVectors:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PSYCHECK_STORE", str(tmp_path_factory.mktemp("store") / "scores.sqlite"))
        opened = open_encoder(f"vectors:{HERE / 'google_news.bin.gz'}")
    assert isinstance(opened, WordVectors)
    return opened


def vectors(google: WordVectors, words: list[str]) -> FloatArray:
    found = np.asarray(google.vectors(words), float)
    assert not np.isnan(found).any()
    return found


@pytest.mark.parametrize("test", TESTS, ids=[test["name"].split(":")[0] for test in TESTS])
def test_weat_is_what_caliskan_et_al_published_for_these_vectors(
    google: WordVectors, test: dict[str, Any]
) -> None:
    x, y, a, b = (vectors(google, test[group]) for group in ("x", "y", "a", "b"))
    effect = weat(x, y, a, b, permutations=100).effect
    assert effect == pytest.approx(test["published"]["word2vec"], abs=0.005)
    # wefe's d has the standard deviation with n, ours with n − 1.
    n = len(x) + len(y)
    if "wefe" in test["published"]:
        assert effect * math.sqrt(n / (n - 1)) == pytest.approx(test["published"]["wefe"], abs=0.006)


def test_one_component_holds_most_of_the_gender_pairs(google: WordVectors) -> None:
    """Bolukbasi et al. (2016), figure 6: the first of these vectors stands out, the second does not."""
    female, male = (unit(vectors(google, [pair[side] for pair in gender().pairs])) for side in (0, 1))
    axis = paired_axis(female, male)
    assert axis.agreeing == 10
    assert axis.shares[0] == pytest.approx(0.60, abs=0.01)
    assert axis.shares[1] < 0.15
