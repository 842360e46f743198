"""Agreement on evidence, by hand and against the krippendorff package."""

import krippendorff
import numpy as np
import pytest

from psycheck.annotate.annotator_answers import Answers, Span
from psycheck.annotate.evidence_agreement import MarkedText, evidence_agreement, merged_spans


def said(mark: int, *spans: tuple[int, int]) -> Answers:
    return Answers({"low": mark}, spans=tuple(Span("low", start, stop) for start, stop in spans))


def test_two_annotators_by_hand() -> None:
    # 4 of 6 and 4 characters are shared: 2·4 / (6 + 4).
    (agreed,) = evidence_agreement([MarkedText(10, (said(1, (0, 6)), said(1, (2, 6))))])
    assert (agreed.label, agreed.f1.n) == ("low", 1)
    assert agreed.f1.value == pytest.approx(0.8)
    ratings = np.zeros((2, 10))
    ratings[0, :6] = ratings[1, 2:6] = 1
    expected = krippendorff.alpha(reliability_data=ratings, level_of_measurement="nominal")
    assert agreed.alpha.value == pytest.approx(expected)


def test_three_annotators_of_whom_one_said_no_count_as_two() -> None:
    (agreed,) = evidence_agreement([MarkedText(10, (said(1, (0, 5)), said(0), said(1, (0, 5))))])
    assert (agreed.f1.value, agreed.alpha.value) == (1.0, 1.0)


def test_a_label_without_two_who_said_yes_has_no_agreement() -> None:
    texts = [MarkedText(10, (said(1, (0, 5)), said(0))), MarkedText(10, (said(1), said(1)))]
    assert list(evidence_agreement(texts)) == []


def test_an_annotator_who_marks_nothing_agrees_with_nobody() -> None:
    (agreed,) = evidence_agreement([MarkedText(8, (said(1, (0, 4)), said(1)))])
    assert agreed.f1.value == 0.0


def test_an_interval_needs_15_texts() -> None:
    text = MarkedText(10, (said(1, (0, 6)), said(1, (2, 6))))
    few, many = ((*evidence_agreement([text] * n),)[0] for n in (14, 15))
    assert np.isnan(few.f1.interval).all()
    assert many.f1.interval[0] < 0.8 < many.f1.interval[1]


@pytest.mark.parametrize(
    ("answers", "spans"),
    [
        ([said(1, (0, 4)), said(1, (2, 6))], [(0, 6)]),
        ([said(1, (0, 4)), said(1, (2, 6)), said(1, (3, 4))], [(2, 4)]),
        ([said(1, (0, 2), (4, 6)), said(0), said(1, (0, 2), (4, 6))], [(0, 2), (4, 6)]),
        ([said(0)], []),
    ],
)
def test_the_characters_that_half_of_those_marked_who_said_yes(
    answers: list[Answers], spans: list[tuple[int, int]]
) -> None:
    assert merged_spans(8, "low", answers) == [Span("low", *span) for span in spans]


@pytest.mark.slow
def test_intervals_of_the_f1_cover() -> None:
    """Random spans that two annotators shift by a few characters: 95 % intervals hold the true F1."""
    rng = np.random.default_rng(0)

    def texts(n: int) -> list[MarkedText]:
        starts = rng.integers(0, 100, n)
        lengths = rng.integers(5, 60, n)
        shifts = rng.integers(-20, 21, n)
        return [
            MarkedText(220, (said(1, (20 + a, 20 + a + b)), said(1, (20 + a + c, 20 + a + b + c))))
            for a, b, c in zip(starts.tolist(), lengths.tolist(), shifts.tolist(), strict=True)
        ]

    truth = next(evidence_agreement(texts(20_000))).f1.value
    held = 0
    for _ in range(400):
        low, high = next(evidence_agreement(texts(40))).f1.interval
        held += low <= truth <= high
    assert held / 400 >= 0.93
