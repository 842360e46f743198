import ast
from pathlib import Path
from typing import get_args

import pytest

import psycheck
from found import uncatalogued
from planted import MODELS
from psycheck.commands.compare import compare_corpora
from psycheck.core.measure import Kind, Measure, catalogue, described, measure_of, reference
from psycheck.corpora.distances import Comparing
from psycheck.studies.gender_study import study_gender
from refusals import refused
from tools.demo_corpora.domains import generate

SOURCE = Path(psycheck.__file__).parent
MAKERS = ("Finding", "measured", "measured_rate")
REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "measures.md"


def test_the_reference_is_made_from_the_catalogue() -> None:
    assert REFERENCE.read_text("utf-8") == reference(), "run `make docs`"


def test_every_entry_is_complete() -> None:
    for measure in catalogue().values():
        assert measure.title, measure.name
        assert measure.sentence.endswith("."), measure.name
        assert measure.kind in get_args(Kind), measure.name
        assert measure.better in ("higher", "lower", "none") or isinstance(measure.better, int | float)
        assert len(set(measure.keys)) == len(measure.keys) > 0, measure.name


def test_every_measure_named_in_the_code_is_in_the_catalogue() -> None:
    named = {
        node.args[0].value
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MAKERS
        if node.args and isinstance(node.args[0], ast.Constant)
    }
    assert len(named) > 30
    assert named <= set(catalogue())


def test_findings_of_an_audit_are_in_the_catalogue() -> None:
    run = psycheck.audit(
        [MODELS["oracle"], MODELS["counts_i"]],
        [generate(kind, 60, 21) for kind in ("tweets", "notes")],
        suites=["deck", "symptoms", "robustness"],
    )
    assert {f.where.get("audit") for f in run.findings} >= {"performance", "behaviour", "fairness", "across"}
    assert uncatalogued(run.findings) == set()


def test_findings_of_a_comparison_and_a_gender_study_are_in_the_catalogue(tmp_path: Path) -> None:
    tweets, notes = (generate(kind, 120, 21) for kind in ("tweets", "notes"))
    how = Comparing(sample=40, permutations=20, repeats=2)
    compared = compare_corpora([tweets, notes], encoder="tfidf", warn=True, how=how)
    assert {"jsd_unigram", "mmd2", "adversarial_mcc", "words"} <= {f.measure for f in compared.findings}
    study = study_gender(notes, out=tmp_path, encoder="tfidf", names=["lr"], balance="class")
    assert {"fnr_mcnemar_p_holm", "gendered_share"} <= {f.measure for f in study.findings}
    assert uncatalogued([*compared.findings, *study.findings]) == set()


def test_an_unknown_measure_names_its_neighbour() -> None:
    assert measure_of("score_shift").better == "lower"
    with refused("measure.unknown", allowed="'pass_rate'"):
        measure_of("pas_rate")
    assert described("typos_per_text") == Measure("typos_per_text", "typos per text")


def test_a_measure_of_an_outside_audit_is_found_among_more() -> None:
    mine = Measure("typos", "Typos per text", better="lower")
    assert measure_of("typos", [mine]) is mine


@pytest.mark.parametrize(
    ("better", "worse"),
    [("higher", [0.4]), ("lower", [0.6, 1.4]), ("none", []), (1.0, [0.4]), (0, [0.6, 1.4])],
)
def test_which_values_are_worse_than_a_half(better: str | float, worse: list[float]) -> None:
    measure = Measure("m", "M", better=better)
    assert [value for value in (0.4, 0.5, 0.6, 1.4) if measure.loss(0.5, value) > 0] == worse
