"""Gates against a baseline run: paired on stored answers, else by intervals; corrected over all figures."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from psycheck.audits.baseline_gates import Loss, StoredAnswers, loss_of, worse_than_baseline
from psycheck.audits.gates import Gate, judge_gates
from psycheck.core.finding import Finding
from psycheck.core.measure import measure_of

N = 200
WHERE = {"audit": "performance", "model": "m", "corpus": "posts", "label": "depression"}
CHECK = {"audit": "behaviour", "model": "m", "corpus": "posts", "suite": "deck", "check": "T1", "kind": "INV"}


def predictions(wrong: int, *, authors: int = N) -> pl.DataFrame:
    """A model that is wrong on the first texts, every second of which is annotated 1."""
    target = np.arange(N) % 2 == 1
    decided = np.where(np.arange(N) < wrong, ~target, target)
    return pl.DataFrame(
        {
            "model": "m",
            "corpus": "posts",
            "id": [f"p{i}" for i in range(N)],
            "label": "depression",
            "target": target.astype(float),
            "score": np.where(decided, 0.9, 0.1),
            "decided": decided.astype(np.int8),
            "unit": np.arange(N) % authors,
        }
    )


def cases(failed: int) -> pl.DataFrame:
    outcomes = ["failed" if i < failed else "passed" for i in range(N)]
    columns = {key: [CHECK[key]] * N for key in ("model", "corpus", "suite", "check")}
    return pl.DataFrame({**columns, "id": [f"p{i}" for i in range(N)], "outcome": outcomes})


def accuracy(wrong: int) -> Finding:
    return Finding("accuracy", 1 - wrong / N, N, where=WHERE)


def loss(before: int, now: int, *, tolerance: float = 0.01, authors: int = N) -> Loss:
    stored = StoredAnswers(
        before={"predictions": predictions(before, authors=authors)},
        now={"predictions": predictions(now, authors=authors)},
    )
    return loss_of(accuracy(now), accuracy(before), measure_of("accuracy"), tolerance, stored)


def test_answers_to_the_same_texts_are_paired() -> None:
    lost = loss(before=10, now=30)
    assert lost.how == "paired"
    assert lost.value == pytest.approx(0.1)
    assert lost.p < 0.001
    assert loss(before=30, now=10).p == 1.0


def test_a_loss_within_the_tolerance_is_none() -> None:
    assert loss(before=10, now=30, tolerance=0.1).p > 0.05


def test_a_loss_of_a_few_authors_is_not_shown() -> None:
    assert loss(before=0, now=12).p < 0.01
    # The same twelve texts, each author with 20 texts: all authors lose a little, or three lose much.
    few = StoredAnswers(
        before={"predictions": predictions(0)},
        now={"predictions": predictions(12).with_columns(unit=pl.int_range(pl.len()) // 6)},
    )
    assert loss_of(accuracy(12), accuracy(0), measure_of("accuracy"), 0.01, few).p > 0.05


def test_cases_of_a_check_are_paired_by_the_id_of_their_text() -> None:
    stored = StoredAnswers(before={"cases": cases(10)}, now={"cases": cases(40)})
    before = Finding("pass_rate", 0.95, N, where=CHECK)
    now = Finding("pass_rate", 0.8, N, where=CHECK)
    lost = loss_of(now, before, measure_of("pass_rate"), 0.01, stored)
    assert (lost.how, round(lost.value, 6)) == ("paired", 0.15)
    assert lost.p < 1e-3


def test_a_brier_score_is_worse_where_it_is_higher() -> None:
    stored = StoredAnswers(before={"predictions": predictions(10)}, now={"predictions": predictions(40)})
    before = Finding("brier", 0.05, N, where=WHERE)
    now = Finding("brier", 0.17, N, where=WHERE)
    lost = loss_of(now, before, measure_of("brier"), 0.01, stored)
    # Each of 30 more wrong texts costs .81 in place of .01.
    assert lost.value == pytest.approx(30 * 0.8 / N)
    assert (lost.how, lost.p < 0.001) == ("paired", True)


def test_a_run_without_stored_answers_is_compared_by_the_intervals_of_both() -> None:
    before = Finding("accuracy", 0.9, N, interval=(0.86, 0.94), where=WHERE)
    now = Finding("accuracy", 0.8, N, interval=(0.75, 0.85), where=WHERE)
    lost = loss_of(now, before, measure_of("accuracy"), 0.01, StoredAnswers())
    error = np.hypot(0.08, 0.10) / (2 * stats.norm.ppf(0.975))
    assert lost.how == "intervals"
    assert lost.p == pytest.approx(stats.norm.sf(0.09 / error), rel=1e-3)
    older = {"predictions": predictions(10).drop("decided", "unit")}
    assert loss_of(now, before, measure_of("accuracy"), 0.01, StoredAnswers(older, older)).how == "intervals"


def test_a_figure_without_an_interval_is_compared_as_it_is() -> None:
    before = Finding("accuracy", 0.9, N, where=WHERE)
    now = Finding("accuracy", 0.88, N, where=WHERE)
    within = Finding("accuracy", 0.89, N, where=WHERE)
    lost = loss_of(now, before, measure_of("accuracy"), 0.01, StoredAnswers())
    assert lost.value == pytest.approx(0.02)
    assert (lost.p, lost.how) == (0.0, "figures")
    assert loss_of(within, before, measure_of("accuracy"), 0.01, StoredAnswers()).p == 1.0


def test_a_figure_of_a_group_is_not_mistaken_for_that_of_all_texts() -> None:
    stored = StoredAnswers(before={"predictions": predictions(0)}, now={"predictions": predictions(90)})
    of_group = {**WHERE, "group": "female"}
    before = Finding("accuracy", 0.9, N, interval=(0.86, 0.94), where=of_group)
    now = Finding("accuracy", 0.9, N, interval=(0.86, 0.94), where=of_group)
    assert loss_of(now, before, measure_of("accuracy"), 0.01, stored).how == "intervals"


def test_the_p_values_of_one_gate_are_adjusted_over_its_figures() -> None:
    losses = [Loss(0.05, p, "paired") for p in (0.02, 0.2, 0.3, 0.5)]
    assert worse_than_baseline(losses) == [False] * 4
    assert worse_than_baseline(losses[:1]) == [True]
    assert worse_than_baseline([Loss(0.05, 0.012, "paired"), *losses[1:]]) == [True, False, False, False]


def test_the_default_tolerance_is_a_point_and_the_gate_names_its_test() -> None:
    assert Gate("accuracy", no_worse_than="old").allowed_loss == 0.01
    assert Gate("pass_rate", no_worse_than="old").allowed_loss == 0.1
    stored = {
        "old": StoredAnswers(before={"predictions": predictions(10)}, now={"predictions": predictions(30)})
    }
    gates = [Gate("accuracy", no_worse_than="old"), Gate("accuracy", no_worse_than="old", tolerance=0.1)]
    fails, holds = judge_gates(gates, [accuracy(30)], {"old": [accuracy(10)]}, answers=stored)
    assert (fails.holds, holds.holds) == (False, True)
    assert fails.failing == (accuracy(30),)
    assert "paired test on stored answers" in fails.reason
    assert "by more than 0.01" in fails.gate
