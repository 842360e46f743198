"""Whether bias of vectors foretells bias of classifiers: exact p-values, and what too few cannot tell."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from psycheck.core.finding import Finding
from psycheck.studies.gender_transfer import exact_p, least_p, transfer_findings


def test_the_least_p_of_so_many_encoders() -> None:
    # Two of n! orders are perfect: 2, 6, 24 and 120 orders.
    assert [least_p(n) for n in (2, 3, 4, 5)] == [
        1.0,
        pytest.approx(1 / 3),
        pytest.approx(1 / 12),
        pytest.approx(1 / 60),
    ]


def test_a_perfect_order_has_the_least_p() -> None:
    first = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    assert exact_p(first, first) == pytest.approx(least_p(5))
    assert exact_p(first, -first) == pytest.approx(least_p(5))


def test_p_agrees_with_scipy_where_there_are_many() -> None:
    random = np.random.default_rng(1)
    first, second = random.normal(size=(2, 40))
    second += 0.3 * first
    assert exact_p(first, second) == pytest.approx(spearmanr(first, second).pvalue, abs=0.02)


def _figures(leans: list[float], effects: list[float]) -> list[Finding]:
    findings = []
    for number, (lean, effect) in enumerate(zip(leans, effects, strict=True)):
        encoder = f"e{number}"
        findings.append(Finding("signed_mean", lean, 80, where={"encoder": encoder}))
        findings.append(Finding("direct_bias", abs(lean), 80, where={"encoder": encoder}))
        where = {"encoder": encoder, "model": "SVM", "experiment": "original", "seed": "0"}
        findings.append(Finding("equal_opportunity_difference", effect, 50, where=where))
    return findings


def _found(findings: list[Finding], measure: str, question: str) -> Finding:
    place = {"model": "SVM", "experiment": "original", "question": question}
    (finding,) = [f for f in findings if f.measure == measure and place.items() <= f.where.items()]
    return finding


def test_three_encoders_cannot_tell_even_in_perfect_order() -> None:
    findings = transfer_findings(_figures([-0.1, 0.0, 0.1], [-0.2, 0.0, 0.2]), ["e0", "e1", "e2"])
    rho = _found(findings, "bias_transfer_rho", "signed")
    assert (rho.value, rho.n, rho.flags) == (pytest.approx(1.0), 3, ("too_few_encoders",))
    assert _found(findings, "bias_transfer_p", "signed").value == pytest.approx(1 / 3)


def test_the_side_and_the_size_are_two_questions() -> None:
    leans = [-0.3, -0.2, 0.1, 0.2, 0.4, 0.5]
    findings = transfer_findings(_figures(leans, leans), [f"e{n}" for n in range(6)])
    assert _found(findings, "bias_transfer_rho", "signed").value == pytest.approx(1.0)
    assert _found(findings, "bias_transfer_rho", "signed").flags == ()
    assert _found(findings, "bias_transfer_rho", "size").value == pytest.approx(1.0)
    turned = transfer_findings(_figures(leans, [-lean for lean in leans]), [f"e{n}" for n in range(6)])
    assert _found(turned, "bias_transfer_rho", "signed").value == pytest.approx(-1.0)
    assert _found(turned, "bias_transfer_rho", "size").value == pytest.approx(1.0)


def test_one_encoder_asks_nothing() -> None:
    assert transfer_findings(_figures([0.1], [0.1]), ["e0"]) == []
