"""What does not belong together is refused before anything is scored."""

from pathlib import Path

import pytest

import psycheck
from planted import MODELS, Counting, Planted
from psycheck.audits.plan import Settings
from psycheck.commands.audit import run_audit
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput

SUITE = """
name = "mine"
label = "LABEL"

[[check]]
id = "M1"
kind = "DIR"
edit = { append = ["I am very tired"] }
expect = { not_down = 0.1 }
"""
CORPUS = Corpus.of("posts", ["I am tired", "a walk in the park"], labels={"depression": [1.0, 0.0]})


def suite(folder: Path, label: str) -> str:
    path = folder / "mine.toml"
    path.write_text(SUITE.replace("LABEL", label), "utf-8")
    return str(path)


def test_a_misspelt_label_of_a_suite_is_the_suites_mistake(tmp_path: Path) -> None:
    model = Counting(MODELS["oracle"])
    with pytest.raises(BadInput, match="suite 'mine' tests 'depresion'") as caught:
        psycheck.audit(model, CORPUS, suites=[suite(tmp_path, "depresion")])
    assert "did you mean 'depression'?" in str(caught.value)
    assert model.seen == []


def test_a_nameless_score_does_not_take_a_misspelt_name(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="which no corpus is annotated for"):
        psycheck.audit(lambda texts: [0.4] * len(texts), CORPUS, suites=[suite(tmp_path, "depresion")])


def test_a_suite_that_tests_what_the_model_does_not_score_is_refused_before_scoring(tmp_path: Path) -> None:
    model = Counting(MODELS["oracle"])
    with pytest.raises(BadInput, match="model 'oracle' does not score it"):
        psycheck.audit(model, CORPUS, suites=["deck", suite(tmp_path, "mania")])
    assert model.seen == []


def test_a_corpus_annotated_for_something_else_is_refused_before_scoring() -> None:
    model = Counting(MODELS["oracle"])
    other = Corpus.of("other", ["some text"], labels={"mania": [1.0]})
    with pytest.raises(BadInput, match="model 'oracle' and corpus 'other' share no label"):
        psycheck.audit(model, [CORPUS, other])
    assert model.seen == []


def test_without_performance_a_corpus_may_be_annotated_for_something_else() -> None:
    other = Corpus.of("other", ["some text"], labels={"mania": [1.0]})
    run = psycheck.audit(MODELS["oracle"], [CORPUS, other], audits=["behaviour"])
    assert {finding.where["corpus"] for finding in run.findings if "check" in finding.where} >= {"other"}


@pytest.mark.parametrize("name", ["anxiety", "depresed", "label_depression"])
def test_a_label_that_was_named_is_not_judged_as_another(name: str) -> None:
    model = Counting(Planted("m", MODELS["oracle"].of, (name,)))
    with pytest.raises(BadInput, match=f"model 'm' scores {name}; corpora and suites have depression"):
        psycheck.audit(model, CORPUS)
    assert model.seen == []


@pytest.mark.parametrize("name", ["positive", "LABEL_1", "score", "Probability"])
def test_a_label_without_a_name_takes_the_one_that_is_meant(name: str) -> None:
    said: list[str] = []
    run = run_audit([Planted("m", MODELS["oracle"].of, (name,))], [CORPUS], Settings(), say=said.append)
    assert next(f for f in run.findings if f.measure == "accuracy").where["label"] == "depression"
    assert said == [f"model 'm': its only score '{name}' is used for 'depression'"]
