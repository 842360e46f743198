"""Items of a rating scale: what is invented and missed, counted by hand."""

import numpy as np
import pytest

from psycheck import audit
from psycheck.audits.scale_items import scale_items
from psycheck.core.corpus import Corpus
from psycheck.core.run import Run
from psycheck.models.opening import open_model
from psycheck.runs.pages import pages_of

LABELS = "depression,phq9_1,phq9_2"
# text: verdict, item 1, item 2 as the model scores them
SCORES = {
    "a": (0.9, 1.0, 0.0),
    "b": (0.2, 1.0, 0.0),
    "c": (0.2, 0.0, 0.0),
    "d": (0.8, 0.0, 1.0),
    "e": (0.8, np.nan, 1.0),
}
ITEM_1, ITEM_2 = [1, 0, 0, 1, 0], [0, 0, 0, 1, None]


def page_of(run: Run) -> str:
    return "".join(map(str, pages_of(run).values()))


def run_of() -> Run:
    corpus = Corpus.of(
        "posts", list(SCORES), labels={"depression": [1, 0, 0, 1, 1], "phq9_1": ITEM_1, "phq9_2": ITEM_2}
    )
    model = open_model(lambda texts: [SCORES[text] for text in texts], label=LABELS, name="scale")
    return audit(model, corpus, audits=["performance"])


def test_labels_with_numbers_from_1_are_items_and_shipped_scales_name_them() -> None:
    found = scale_items(["depression", "phq9_1", "phq9_2", "mine_1", "mine_2", "item_2", "item_3", "one_1"])
    assert list(found) == ["phq9_1", "phq9_2", "mine_1", "mine_2"]
    assert found["mine_2"] == ("mine", "2")
    scale, about = found["phq9_1"]
    assert (scale, about[:3]) == ("phq9", "1. ")
    assert len(about) > 5


def test_invented_and_missed_are_counted_over_what_is_annotated_and_answered() -> None:
    found = {(f.measure, f.where["label"]): f for f in run_of().findings if f.measure.startswith("item_")}
    # Item 1: annotated 0 are b (rated), c (not), e (unanswered); annotated 1 are a (rated), d (not).
    # Item 2: annotated 0 are a, b, c (none rated); annotated 1 is d (rated); e is not annotated.
    expected = {
        ("item_invented", "phq9_1"): (1, 2),
        ("item_missed", "phq9_1"): (1, 2),
        ("item_invented", "phq9_2"): (0, 3),
        ("item_missed", "phq9_2"): (0, 1),
        ("item_invented", "all"): (1, 5),
        ("item_missed", "all"): (1, 3),
    }
    assert {key: (f.counts["wrong"], f.n) for key, f in found.items()} == expected
    assert all(f.value == pytest.approx(f.counts["wrong"] / f.n) for f in found.values())
    assert found["item_invented", "phq9_1"].counts["unanswered"] == 1
    assert found["item_invented", "phq9_1"].interval == pytest.approx((0.0253, 0.9747), abs=0.07)


def test_the_page_has_a_table_of_items_and_none_without_a_scale() -> None:
    page = page_of(run_of())
    assert "Symptoms invented and missed: phq9" in page
    assert "all items" in page
    plain = audit(lambda texts: [0.5] * len(texts), Corpus.of("p", ["a", "b"], labels={"depression": [0, 1]}))
    assert 'id="items"' not in page_of(plain)
