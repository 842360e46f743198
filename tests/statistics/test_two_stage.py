"""The curve of a cascade against one worked out by hand, and maps of scores against references."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit

from psycheck.statistics.recalibration import fit_isotonic, fit_platt
from psycheck.statistics.two_stage import (
    Prices,
    best_within_budget,
    cascade_curve,
    cheapest_policy,
    cheapest_within_loss,
    text_costs,
)

# Cheap decisions: 1 1 0 1 0, right for the first, second and last. The third and fourth are the unsure ones.
TARGETS = np.array([1.0, 1.0, 1.0, 0.0, 0.0])
CHEAP = np.array([0.9, 0.8, 0.45, 0.6, 0.2])
LLM = np.array([1.0, 0.0, 1.0, 0.0, 1.0])


def test_the_curve_is_the_one_worked_out_by_hand() -> None:
    """Asked by distance: third (.05), fourth (.1), then second and fifth together (.3), first."""
    curve = cascade_curve(TARGETS, CHEAP, LLM)
    assert [point.asked for point in curve] == [0, 1, 2, 4, 5]
    assert [point.half_width for point in curve] == pytest.approx([0, 0.075, 0.2, 0.35, 1])
    # Right: 3, 4, 5, then the LLM errs on the second and the fifth: 3, 3.
    assert [point.accuracy for point in curve] == pytest.approx([0.6, 0.8, 1, 0.6, 0.6])
    # tp, errors: (2, 2), (3, 1), (3, 0), (2, 2), (2, 2); F1 = 2 tp / (2 tp + errors).
    assert [point.f1 for point in curve] == pytest.approx([4 / 6, 6 / 7, 1, 4 / 6, 4 / 6])


def test_a_band_is_chosen_for_a_budget_or_for_a_loss() -> None:
    curve = cascade_curve(TARGETS, CHEAP, LLM)
    assert best_within_budget(curve, 0.0).asked == 0
    assert best_within_budget(curve, 0.2).asked == 1
    assert best_within_budget(curve, 1.0).asked == 2  # more would be worse
    assert cheapest_within_loss(curve, 0.0).asked == 0  # asking about all gives what the cheap model has

    right_llm = cascade_curve(TARGETS, CHEAP, TARGETS)
    assert [point.f1 for point in right_llm] == pytest.approx([4 / 6, 6 / 7, 1, 1, 1])
    assert cheapest_within_loss(right_llm, 0.0).asked == 2
    assert cheapest_within_loss(right_llm, 1 / 7).asked == 1


def test_where_the_expensive_model_gives_no_answer_the_cheap_one_decides() -> None:
    silent = cascade_curve(TARGETS, CHEAP, np.full(5, np.nan))
    assert {point.accuracy for point in silent} == {0.6}
    unknown = cascade_curve(np.array([1.0, np.nan]), np.array([0.9, 0.5]), np.array([1.0, 1.0]))
    assert [point.n for point in unknown] == [1, 1]


def test_persons_and_errors_have_their_own_costs() -> None:
    decided = np.array([1.0, 0.0, np.nan, 0.0, 0.0])
    asked = np.array([False, True, True, True, False])
    prices = Prices(expensive=1, person=20, error=100)
    assert text_costs(TARGETS, decided, asked, prices).tolist() == [0, 101, 21, 1, 0]
    unknown = text_costs(np.array([np.nan, 0.5]), np.array([1.0, 1.0]), np.array([True, True]), prices)
    assert np.isnan(unknown).all()


@pytest.mark.parametrize(
    ("prices", "asked", "abstain", "cost"),
    [
        # Two calls mend both errors: 2 × 1 / 5.
        (Prices(expensive=1, person=1000, error=100), 2, 0.0, 0.4),
        # Calls are dear: the cheap model errs on two of five.
        (Prices(expensive=1000, person=1000, error=10), 0, 0.0, 4.0),
        # A person is cheaper than a call: the scores .45 and .6 are left to one, the nearest step is .15.
        (Prices(expensive=50, person=2, error=100), 0, 0.15, 0.8),
    ],
)
def test_the_cheapest_way_is_the_one_worked_out_by_hand(
    prices: Prices, asked: int, abstain: float, cost: float
) -> None:
    curve = cascade_curve(TARGETS, CHEAP, LLM)
    policy = cheapest_policy(TARGETS, CHEAP, LLM, curve, prices)
    assert (policy.point.asked, policy.abstain) == (asked, abstain)
    assert policy.cost == pytest.approx(cost)


def test_platt_is_the_map_that_an_optimiser_finds() -> None:
    dice = np.random.default_rng(3)
    scores = dice.uniform(0.02, 0.98, 300)
    targets = (dice.uniform(size=300) < expit(0.5 * logit(scores) - 1)).astype(float)
    n_yes = targets.sum()
    soft = np.where(targets == 1, (n_yes + 1) / (n_yes + 2), 1 / (300 - n_yes + 2))

    def loss(line: np.ndarray) -> float:
        p = expit(line[0] * logit(scores) + line[1])
        return float(-(soft * np.log(p) + (1 - soft) * np.log(1 - p)).sum())

    best = minimize(loss, [1.0, 0.0]).x
    platt = fit_platt(targets, scores)
    assert [platt.slope, platt.intercept] == pytest.approx(best, abs=1e-3)
    assert np.isnan(platt(np.array([np.nan, 0.5]))).tolist() == [True, False]


def test_a_map_that_would_fall_shifts_the_log_odds_to_the_share_annotated() -> None:
    # The higher scores are annotated less often. Targets are drawn in: (2 · 3/4 + 2 · 1/4) / 4 = 1/2, so the
    # log-odds ln 1, ln 4, ln 4, ln 16 are moved by -ln 4: probabilities 1/5, 1/2, 1/2, 4/5.
    scores = np.array([1 / 2, 4 / 5, 4 / 5, 16 / 17])
    platt = fit_platt(np.array([1.0, 1.0, 0.0, 0.0]), scores)
    assert (platt.slope, platt.only_shifts) == (1, True)
    assert platt(scores) == pytest.approx([1 / 5, 1 / 2, 1 / 2, 4 / 5])


def test_isotonic_pools_neighbours_that_are_out_of_order() -> None:
    scores = np.array([0.1, 0.2, 0.3, 0.4])
    isotonic = fit_isotonic(np.array([0.0, 1.0, 0.0, 1.0]), scores)
    assert isotonic(scores) == pytest.approx([0, 0.5, 0.5, 1])
    assert isotonic(np.array([0.0, 0.9])) == pytest.approx([0, 1])
