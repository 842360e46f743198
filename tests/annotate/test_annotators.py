"""Agreement of annotators from the table of their judgements."""

import polars as pl
import pytest

from psycheck.annotate.annotator_agreement import between, by_day, by_label, pace

COLUMNS = ["item", "annotator", "label", "value", "status", "time", "seconds"]


def table(*rows: tuple[object, ...]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=COLUMNS, orient="row")


JUDGED = table(
    ("1", "ann", "low", 1, "present", "2026-05-01T09:00", 4.0),
    ("1", "bob", "low", 1, "uncertain", "2026-05-01T09:01", 9.0),
    ("1", "cat", "low", 0, None, "2026-05-02T09:00", 5.0),
    ("2", "ann", "low", 0, None, "2026-05-01T09:02", 6.0),
    ("2", "bob", "low", 0, None, "2026-05-01T09:03", 8.0),
    ("1", "ann", "guilt", 0, None, "2026-05-01T09:00", 4.0),
    ("1", "bob", "guilt", 1, "present", "2026-05-01T09:01", 9.0),
)


def test_each_label_has_its_own_agreement() -> None:
    low, guilt, status, every = by_label(JUDGED)
    # Items 1 (1, 1, 0) and 2 (0, 0): 1 of 3 and 1 of 1 pairs agree; α = 1 − (5 − 1) · (2·2·1 / 2) / (2·2·3).
    assert low.percent.value == pytest.approx((1 / 3 + 1) / 2)
    assert low.alpha.value == pytest.approx(1 - 4 * 2 / 12)
    assert low.share == pytest.approx(2 / 5)
    assert low.annotators == 3
    assert (guilt.label, guilt.percent.value) == ("guilt", 0)
    assert (status.label, status.percent.value, status.percent.n) == ("status", 0, 1)
    assert every.percent.n == 3


def test_an_item_counts_for_the_day_on_which_it_was_finished() -> None:
    assert [(day, one.percent.n) for day, one in by_day(JUDGED)] == [("2026-05-01", 1), ("2026-05-02", 2)]


def test_annotators_are_compared_on_what_both_judged() -> None:
    pairs = {(one.first, one.second): one.kappa for one in between(JUDGED)}
    # ann and bob: (1, 1), (0, 0), (0, 1): agreed 2/3, by chance 1/3 · 2/3 + 2/3 · 1/3 = 4/9.
    assert pairs["ann", "bob"].value == pytest.approx((2 / 3 - 4 / 9) / (1 - 4 / 9))
    assert pairs["ann", "bob"].n == 3
    assert pairs["ann", "cat"].n == 1


def test_time_is_counted_once_for_an_item() -> None:
    ann, bob, cat = pace(JUDGED)
    assert (ann.annotator, ann.items, ann.median) == ("ann", 2, 5.0)
    assert (bob.items, bob.median, cat.items) == (2, 8.5, 1)


def test_no_judgements_have_no_agreement() -> None:
    empty = JUDGED.clear()
    assert [*by_label(empty), *by_day(empty), *between(empty), *pace(empty)] == []
