"""Random lists of words: their neighbourhoods, their tightness, and how often they reach a mean."""

import math

import numpy as np
import pytest

from psycheck.statistics.random_topics import as_tight, list_test, neighbourhoods
from psycheck.statistics.word_association import unit


def test_random_lists_reach_a_mean_as_often_as_counted() -> None:
    drawn = np.array([0.0, 0.1, 0.2, 0.9])
    # Only 0.9 reaches 0.5; the mean is 0.3, and 0.9, 0.0, 0.1 lie as far from it as 0.5.
    found = list_test(0.5, drawn)
    assert (found.p, found.lists) == (2 / 5, 4)
    assert found.chance == pytest.approx(0.3)
    assert list_test(0.5, drawn, two_sided=True).p == 4 / 5
    assert math.isnan(list_test(0.5, drawn[:0]).p)


def test_a_random_topic_is_a_word_and_its_nearest_neighbours() -> None:
    angles = np.array([0.0, 0.1, 0.3, 2.0, 2.1, 2.3])
    found = neighbourhoods(np.stack([np.cos(angles), np.sin(angles)], axis=1), 2)
    # Six seeds, each once; the seed at 0.3 has the one at 0.1 beside it, that at 2.3 the one at 2.1.
    assert sorted(map(tuple, np.sort(found).tolist())) == [(0, 1), (0, 1), (1, 2), (3, 4), (3, 4), (4, 5)]
    assert neighbourhoods(np.eye(4), 9).shape == (4, 2)
    assert neighbourhoods(np.empty((0, 4)), 9).shape == (0, 1)


def test_a_topic_of_words_that_resemble_each_other_is_no_finding() -> None:
    """60 topics of 20 words: each topic has a place of its own on the axis, as any topic has by chance."""
    random = np.random.default_rng(1)
    middles = np.repeat(random.standard_normal((60, 30)), 20, axis=0)
    words = unit(middles + 0.7 * random.standard_normal((1200, 30)))
    axis, topic = np.eye(30)[0], np.repeat(np.arange(60), 20)
    below = {"words": 0, "topics": 0}
    for one in range(60):
        own, pool = words[topic == one] @ axis, words[topic != one]
        along = pool @ axis
        unrelated = random.choice(along, (500, 20)).mean(axis=1)
        related = along[neighbourhoods(pool, 20, lists=500)].mean(axis=1)
        below["words"] += list_test(float(own.mean()), unrelated, two_sided=True).p < 0.05
        below["topics"] += list_test(float(own.mean()), related, two_sided=True).p < 0.05
    assert below["words"] > 30
    assert below["topics"] <= 5


def test_a_list_is_moved_and_spread_as_its_words_are() -> None:
    # Two words at ±30° of the first axis: their mean is (√¾, 0) and their spread ½.
    pool = np.array([[0.0, 1.0], [0.0, -1.0], [1.0, 0.0], [-1.0, 0.0]])
    words = np.array([[math.sqrt(0.75), 0.5], [math.sqrt(0.75), -0.5]])
    topics = as_tight(np.array([[0, 2]]), pool, words)
    # The mean of (0, 1) and (1, 0) is √½ from the centre of the pool, (0, 0), and their variance 1 − ½.
    assert topics.apart == pytest.approx([math.sqrt(0.75 / 0.5)])
    assert topics.spread == pytest.approx([0.5 / math.sqrt(0.5)])
    # Along the second axis they are at 1 and 0, and ½ in the middle.
    middle = 0.5 * topics.apart[0]
    step = 0.5 * topics.spread[0]
    np.testing.assert_allclose(topics.values(pool[:, 1]), [[middle + step, middle - step]])


def test_lists_that_are_as_tight_stay_as_they_are() -> None:
    pool = unit(np.random.default_rng(0).standard_normal((30, 4)))
    topics = as_tight(np.array([[1, 5, 9]]), pool, pool[[1, 5, 9]])
    np.testing.assert_allclose(topics.values(pool[:, 0]), pool[[[1, 5, 9]], 0])
    assert as_tight(np.empty((0, 3), int), pool, pool).values(pool[:, 0]).shape == (0, 3)


def test_a_looser_list_is_compared_with_topics_as_they_are() -> None:
    pool = unit(np.array([[1.0, 0.0], [1.0, 0.2], [-1.0, 0.0], [-1.0, 0.2]]))
    words = np.array([[0.0, 1.0], [0.0, -1.0]])
    topics = as_tight(np.array([[0, 1], [2, 3]]), pool, words)
    np.testing.assert_array_equal([topics.apart, topics.spread], np.ones((2, 2)))


def test_a_list_tighter_than_every_topic_is_no_finding() -> None:
    random = np.random.default_rng(2)
    alarms = {"as found": 0, "as tight": 0}
    for seed in range(100):
        middles = np.repeat(random.standard_normal((30, 20)), 20, axis=0)
        pool = unit(middles + 1.5 * random.standard_normal((600, 20)))
        words = unit(random.standard_normal(20) + 0.4 * random.standard_normal((20, 20)))
        lists = neighbourhoods(pool, 20, seed=seed)
        mean = float(words[:, 0].mean())
        of_lists = pool[:, 0][lists]
        of_tight_lists = as_tight(lists, pool, words).values(pool[:, 0])
        alarms["as found"] += list_test(mean, of_lists.mean(axis=1), two_sided=True).p < 0.05
        alarms["as tight"] += list_test(mean, of_tight_lists.mean(axis=1), two_sided=True).p < 0.05
    assert alarms["as found"] > 15
    assert alarms["as tight"] <= 11  # 5 % of 100, and two and a half standard errors
