import math
import time
import tracemalloc

import numpy as np
import pytest
from sklearn import metrics

from psycheck.measures import bootstrap
from psycheck.measures.calibration import calibration_noise, expected_calibration_error
from psycheck.measures.classification import BoolArray, Confusion, FloatArray


def corpus(n: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    random = np.random.default_rng(seed)
    targets = (random.random(n) < 0.4).astype(np.float64)
    mixed = 0.25 * targets + 0.75 * random.random(n)
    scores: FloatArray = np.floor(100 * mixed) / 100
    return targets, scores


def f1(yes: BoolArray, predicted: BoolArray) -> float:
    return float(2 * np.sum(yes & predicted) / (np.sum(yes) + np.sum(predicted)))


def slowly(targets: FloatArray, scores: FloatArray, resamples: int) -> dict[str, tuple[float, float]]:
    """The same bootstrap as a plain loop over resamples."""
    random = np.random.default_rng(99)
    one, zero = np.flatnonzero(targets == 1), np.flatnonzero(targets == 0)
    drawn: dict[str, list[float]] = {}
    for _ in range(resamples):
        at = np.concatenate([random.choice(one, len(one)), random.choice(zero, len(zero))])
        t, s = targets[at], scores[at]
        yes, p = t == 1, s >= 0.5
        values = {
            "accuracy": np.mean(yes == p),
            "precision": np.mean(yes[p]),
            "recall": np.mean(p[yes]),
            "f1": f1(yes, p),
            "macro_f1": (f1(yes, p) + f1(~yes, ~p)) / 2,
            "weighted_f1": np.mean(yes) * f1(yes, p) + np.mean(~yes) * f1(~yes, ~p),
            "hard_auc": (np.mean(p[yes]) + np.mean(~p[~yes])) / 2,
            "auc": metrics.roc_auc_score(t, s),
            "average_precision": metrics.average_precision_score(t, s),
            "brier": np.mean((t - s) ** 2),
            "log_loss": -np.mean(np.log(np.where(yes, s, 1 - s))),
        }
        for name, value in values.items():
            drawn.setdefault(name, []).append(float(value))
    return {name: bootstrap.percentiles(np.array(values)) for name, values in drawn.items()}


def test_agrees_with_a_plain_loop() -> None:
    targets, scores = corpus(200)
    scores = np.clip(scores, 0.01, 0.99)
    yes, predicted = targets == 1, scores >= 0.5
    c = Confusion(
        *(int(np.sum(x)) for x in (yes & predicted, ~yes & predicted, yes & ~predicted, ~yes & ~predicted))
    )
    ours = bootstrap.confusion_intervals(c, resamples=4000)
    ours |= bootstrap.score_intervals(targets, scores, resamples=4000)
    for name, (low, high) in slowly(targets, scores, 300).items():
        # 300 plain resamples place an end to about a tenth of the width.
        assert ours[name] == pytest.approx((low, high), abs=0.2 * (high - low)), name


def test_a_seed_gives_the_same_interval_and_another_seed_another() -> None:
    targets, scores = corpus(80)
    first = bootstrap.score_intervals(targets, scores, resamples=200, seed=1)
    assert first == bootstrap.score_intervals(targets, scores, resamples=200, seed=1)
    assert first != bootstrap.score_intervals(targets, scores, resamples=200, seed=2)


def test_accuracy_interval_has_the_width_of_its_binomials() -> None:
    # 80 of 100 and 90 of 100 right: variance (100·0.8·0.2 + 100·0.9·0.1) / 200² = 0.000625, half width 0.049.
    low, high = bootstrap.confusion_intervals(Confusion(80, 10, 20, 90), resamples=20_000)["accuracy"]
    assert (low, high) == pytest.approx((0.85 - 0.049, 0.85 + 0.049), abs=0.006)


def test_one_class_gives_nan_where_two_are_needed() -> None:
    found = bootstrap.confusion_intervals(Confusion(0, 2, 0, 8))
    for name in ("recall", "f1", "macro_f1", "weighted_f1", "hard_auc"):
        assert math.isnan(found[name][0]), name
    assert 0 < found["accuracy"][0] < found["accuracy"][1]
    scored = bootstrap.score_intervals(np.ones(5), np.linspace(0.1, 0.9, 5), resamples=50)
    assert math.isnan(scored["auc"][0])
    assert math.isnan(scored["average_precision"][0])
    assert scored["brier"][0] > 0


def test_nothing_gives_nan() -> None:
    none = np.array([np.nan])
    assert all(math.isnan(low) for low, _ in bootstrap.score_intervals(none, none).values())
    assert all(math.isnan(low) for low, _ in bootstrap.confusion_intervals(Confusion(0, 0, 0, 0)).values())


def test_calibrated_scores_are_within_noise_and_bad_ones_are_not() -> None:
    random = np.random.default_rng(0)
    scores = random.random(1000)
    good = (random.random(1000) < scores).astype(np.float64)
    bad = (random.random(1000) < scores**2).astype(np.float64)
    assert expected_calibration_error(good, scores) <= calibration_noise(good, scores)
    assert bootstrap.score_intervals(good, scores, resamples=200)["ece"][0] == 0.0
    assert expected_calibration_error(bad, scores) > calibration_noise(bad, scores)
    low, high = bootstrap.score_intervals(bad, scores, resamples=200)["ece"]
    assert low < 1 / 6 < high  # ∫ |s − s²| ds over 0..1


def test_memory_stays_small() -> None:
    targets, scores = corpus(100_000)
    tracemalloc.start()
    bootstrap.score_intervals(targets, scores, resamples=6)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 60e6


@pytest.mark.slow
def test_a_hundred_thousand_texts_take_seconds() -> None:
    targets, scores = corpus(100_000)
    begun = time.process_time()
    bootstrap.score_intervals(targets, scores)
    assert time.process_time() - begun < 15  # 4 s on a quiet core
