import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planted import MODELS, Planted
from psycheck.core.arrays import IntArray
from psycheck.scoring.remembered import RememberedScores
from psycheck.scoring.store import Store

texts_strategy = st.lists(st.text(max_size=20), min_size=1, max_size=30, unique=True)


class Cut(Planted):
    """Reads each text but for its last character."""

    def read(self, texts: Sequence[str]) -> IntArray:
        """All but one."""
        return np.array([max(0, len(text) - 1) for text in texts])


@given(texts_strategy, st.integers(1, 4))
@settings(max_examples=40)
def test_what_is_added_is_found_again_bit_for_bit(texts: list[str], k: int) -> None:
    values = np.linspace(0, 1, len(texts) * k).reshape(len(texts), k)
    values[0, 0] = np.nan
    store = Store(Path(os.environ["PSYCHECK_STORE"]).with_name(f"s{os.urandom(6).hex()}.sqlite"))
    model = Cut("m", lambda text: 0.0, tuple(f"label{i}" for i in range(k)))
    view = RememberedScores(store, model, model.labels)
    view.add(texts, values)
    view = RememberedScores(store, model, model.labels)
    np.testing.assert_array_equal(view.of(texts[::-1]), values[::-1])
    assert view.read(texts).tolist() == [max(0, len(text) - 1) for text in texts]
    store.close()


def test_a_text_that_was_never_scored_is_nan(own_store: Path) -> None:
    view = RememberedScores(Store(own_store), MODELS["oracle"], ("depression",))
    assert np.isnan(view.of(["never seen"])).all()


def test_models_do_not_see_each_others_scores(own_store: Path) -> None:
    store = Store(own_store)
    first = RememberedScores(store, MODELS["oracle"], ("depression",))
    second = RememberedScores(store, MODELS["constant"], ("depression",))
    first.add(["a"], np.array([[0.25]]))
    assert first.of(["a"])[0, 0] == 0.25
    assert np.isnan(second.of(["a"])[0, 0])


def test_texts_whose_hashes_share_their_first_half_are_told_apart(
    own_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def halved(texts: list[str]) -> np.ndarray:
        return np.array([[7, len(text)] for text in texts], np.uint64).reshape(-1, 2)

    monkeypatch.setattr(Store, "digests", lambda store, texts: halved(texts))
    view = RememberedScores(Store(own_store), MODELS["oracle"], ("depression",))
    view.add(["a", "bb", "ccc"], np.array([[0.1], [0.2], [0.3]]))
    assert view.of(["ccc", "a", "bb"])[:, 0].tolist() == [0.3, 0.1, 0.2]
    assert view.find(halved(["dddd"])).tolist() == [-1]


def test_texts_with_the_same_python_hash_are_told_apart(
    own_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("psycheck.scoring.score_table.hash", len, raising=False)
    view = RememberedScores(Store(own_store), MODELS["oracle"], ("depression",))
    view.add(["a", "bb"], np.array([[0.1], [0.2]]))
    view.add(["c", "ddd"], np.array([[0.3], [0.4]]))
    assert view.of(["c", "a", "ddd", "bb"])[:, 0].tolist() == [0.3, 0.1, 0.4, 0.2]
    assert np.isnan(view.of(["e"])).all()


def test_what_another_process_added_is_seen_after_a_refresh(own_store: Path) -> None:
    mine = RememberedScores(Store(own_store), MODELS["oracle"], ("depression",))
    other = RememberedScores(Store(own_store), MODELS["oracle"], ("depression",))
    mine.add(["mine"], np.array([[0.1]]))
    other.add(["other"], np.array([[0.2]]))
    mine.refresh()
    assert mine.of(["mine", "other"])[:, 0].tolist() == [0.1, 0.2]
    assert len(mine) == 2
