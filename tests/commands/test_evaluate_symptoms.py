"""Figures of a symptom model that knows the answers, against values worked out by hand and scikit-learn."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import f1_score, roc_auc_score

from psycheck.commands.measure_symptoms import evaluate_symptoms, lines_of
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding
from psycheck.core.model import Capabilities
from psycheck.symptoms.reader import Readings, SymptomModel
from refusals import refused

N = 60
RNG = np.random.default_rng(3)
SCORES = RNG.uniform(size=(N, 2)).round(3)
TRUTH = (RNG.uniform(size=(N, 2)) < 0.2 + 0.6 * SCORES).astype(float)
SHARES = RNG.choice([0, 1 / 3, 2 / 3, 1], N)
QUEUE = ["a"] * 20 + ["b"] * 20 + ["control"] * 20


def model(status: float = 0.4) -> SymptomModel:
    def outputs(sentences: Sequence[str]) -> Readings:
        rows = [int(sentence.split()[-1]) for sentence in sentences]
        return replace(Readings.mentioned(SCORES[rows]), uncertain=np.full(len(rows), status))

    return SymptomModel(
        name="m", labels=("s", "t"), fingerprint="1", capabilities=Capabilities(batch=8), outputs=outputs
    )


def corpus() -> Corpus:
    """Queue a is annotated for s, queue b for both, controls are 0."""
    s, t = TRUTH[:, 0].tolist(), TRUTH[:, 1].tolist()
    s[40:], t[40:] = [0.0] * 20, [0.0] * 20
    t[:20] = [None] * 20
    labels = {"s": s, "t": t, "uncertain": [*SHARES[:40].tolist(), *[None] * 20]}
    return Corpus.of("c", [f"sentence {i}" for i in range(N)], labels=labels, groups={"disease": QUEUE})


def one(findings: Sequence[Finding], measure: str, **where: str) -> Finding:
    named = {"model": "m", "corpus": "c", **where}
    (found,) = [one for one in findings if one.measure == measure and one.where == named]
    return found


def test_figures_of_symptoms_and_their_means_are_those_of_scikit_learn() -> None:
    findings = evaluate_symptoms(model(), corpus())
    s, t = corpus().targets(["s", "t"]).T
    known = ~np.isnan(t)
    auc = [roc_auc_score(s, SCORES[:, 0]), roc_auc_score(t[known], SCORES[known, 1])]
    f1 = [f1_score(s, SCORES[:, 0] >= 0.5), f1_score(t[known], SCORES[known, 1] >= 0.5)]
    assert one(findings, "symptom_auc", label="s").value == pytest.approx(auc[0])
    assert one(findings, "symptom_f1", label="t").value == pytest.approx(f1[1])
    for measure, values in (("symptom_auc", auc), ("symptom_f1", f1)):
        mean = one(findings, measure, label="all")
        assert mean.value == pytest.approx(np.mean(values))
        assert mean.interval is not None
        assert mean.interval[0] < mean.value < mean.interval[1]


def test_the_mean_by_disease_takes_each_disease_as_one() -> None:
    findings = evaluate_symptoms(model(), corpus())
    first = roc_auc_score(TRUTH[:20, 0], SCORES[:20, 0])
    second = np.mean([roc_auc_score(TRUTH[20:40, k], SCORES[20:40, k]) for k in range(2)])
    assert one(findings, "symptom_auc_by_disease", label="all", disease="a").value == pytest.approx(first)
    assert one(findings, "symptom_auc_by_disease", label="all", disease="b").value == pytest.approx(second)
    every = one(findings, "symptom_auc_by_disease", label="all", disease="all")
    assert every.value == pytest.approx((first + second) / 2)
    assert every.n == 2


def test_the_error_of_the_status_stands_between_a_constant_and_one_annotator() -> None:
    findings = evaluate_symptoms(model(), corpus())
    t = SHARES[:40]
    assert one(findings, "status_mae", of="model").value == pytest.approx(np.abs(t - 0.4).mean())
    assert one(findings, "status_mae", of="constant").value == pytest.approx(np.abs(t - t.mean()).mean())
    # Of three annotators with a share of 1/3, one says 1 (off by 2/3) and two say 0 (off by 1/3): 4/9.
    expected = np.where(np.isin(t, (0, 1)), 0, 4 / 9).mean()
    assert one(findings, "status_mae", of="annotator").value == pytest.approx(expected)


def test_a_model_without_a_status_has_only_the_bounds() -> None:
    findings = evaluate_symptoms(model(np.nan), corpus())
    assert {one.where["of"] for one in findings if one.measure == "status_mae"} == {"constant", "annotator"}


def test_a_symptom_without_a_positive_sentence_is_not_tested() -> None:
    bare = Corpus.of("c", ["sentence 1", "sentence 2"], labels={"s": [0, 0]})
    found = evaluate_symptoms(model(), bare)
    assert not one(found, "symptom_auc", label="s").tested
    assert one(found, "symptom_auc", label="all").n == 0
    assert "AUC, s: –" in lines_of(found)


def test_labels_of_another_set_are_one_clear_error() -> None:
    with refused("symptoms.no-shared-label", where="joy"):
        evaluate_symptoms(model(), Corpus.of("c", ["sentence 1"], labels={"joy": [1]}))
