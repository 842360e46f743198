"""The optional recognisers, as modules with the interface that psycheck uses of spaCy and Presidio.

The last tests use the real ones where they are installed: spacy, presidio-analyzer, an English pipeline.
"""

import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from psycheck.core.corpus import Corpus
from psycheck.corpora.cleaning import personal_in, redacted
from psycheck.text.redact.find import find_personal, redact
from psycheck.text.redact.recogniser import load_recogniser
from refusals import refused

# What the patterns leave in: a name in an unlikely place, a surname of the list in lower case. Then what
# models take for a name: a medicine, a small word of no list, a degree.
WORDS = {
    "Loekje's": "PERSON",
    "kowalski": "PERSON",
    "Zorbeck": "GPE",
    "Zoloft": "PERSON",
    "mg zolpy": "PERSON",
    "PA-C": "GPE",
    "Acme": "ORG",
}


def spans(text: str) -> list[tuple[int, int, str]]:
    return [(at, at + len(word), label) for word, label in WORDS.items() if (at := text.find(word)) >= 0]


@pytest.fixture
def spacy(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str, exclude: tuple[str, ...]) -> object:
        assert "ner" not in exclude
        if name != "en_fake":
            raise OSError(name)
        return lambda text: SimpleNamespace(
            ents=[SimpleNamespace(start_char=a, end_char=b, label_=label) for a, b, label in spans(text)]
        )

    fake = ModuleType("spacy")
    fake.load = load  # type: ignore[attr-defined]  # a module made for this test
    monkeypatch.setitem(sys.modules, "spacy", fake)


@pytest.fixture
def presidio(monkeypatch: pytest.MonkeyPatch) -> None:
    class NlpEngineProvider:
        def __init__(self, nlp_configuration: dict[str, object]) -> None:
            self.models = nlp_configuration["models"]

        def create_engine(self) -> object:
            return self.models

    class AnalyzerEngine:
        def __init__(self, nlp_engine: object, supported_languages: list[str]) -> None:
            assert nlp_engine == [{"lang_code": "en", "model_name": "en_core_web_lg"}]
            assert supported_languages == ["en"]

        def get_supported_entities(self, language: str) -> list[str]:
            return ["PERSON", "LOCATION", "GPE", "DATE_TIME", "URL"]

        def analyze(
            self, text: str, language: str, entities: list[str], score_threshold: float
        ) -> list[SimpleNamespace]:
            assert (language, entities) == ("en", ["PERSON", "LOCATION", "GPE"])
            assert 0 < score_threshold < 0.85  # spaCy's names have 0.85
            # In no order and overlapping, as from several recognisers.
            found = [*spans(text), *spans(text)]
            return [SimpleNamespace(start=a, end=b, entity_type=kind) for a, b, kind in reversed(found)]

    fake, engines = ModuleType("presidio_analyzer"), ModuleType("presidio_analyzer.nlp_engine")
    fake.AnalyzerEngine = AnalyzerEngine  # type: ignore[attr-defined]  # a module made for this test
    engines.NlpEngineProvider = NlpEngineProvider  # type: ignore[attr-defined]  # a module made for this test
    monkeypatch.setitem(sys.modules, "presidio_analyzer", fake)
    monkeypatch.setitem(sys.modules, "presidio_analyzer.nlp_engine", engines)
    pipeline = ModuleType("en_core_web_lg")
    pipeline.__spec__ = ModuleSpec("en_core_web_lg", None)
    monkeypatch.setitem(sys.modules, "en_core_web_lg", pipeline)


TEXT = "outvoted Loekje's, fears kowalski, a.b@example.org; not Zoloft, 3 mg zolpy, a PA-C, an Acme"


@pytest.mark.usefixtures("spacy", "presidio")
@pytest.mark.parametrize("name", ["en_fake", "presidio"])
def test_a_recogniser_adds_what_the_patterns_leave(name: str) -> None:
    recogniser = load_recogniser(name)
    assert redact(TEXT).text == TEXT.replace("a.b@example.org", "[EMAIL]")
    once = redact(TEXT, recogniser)
    assert once.text == "outvoted [NAME]'s, fears [NAME], [EMAIL]; not Zoloft, 3 mg zolpy, a PA-C, an Acme"
    assert redact(once.text, recogniser) == (once.text, ())


@pytest.mark.usefixtures("spacy")
def test_patterns_come_first_and_the_recogniser_takes_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WORDS, "Anna kowalska [NAME] Zorbeckj", "PERSON")
    found = find_personal("we saw Anna kowalska [NAME] Zorbeckj", load_recogniser("en_fake"))
    assert found == ((7, 11, "NAME"), (12, 20, "NAME"), (28, 36, "NAME"))


@pytest.mark.usefixtures("spacy")
def test_a_corpus_is_redacted_with_a_recogniser() -> None:
    corpus = Corpus.of("posts", ["outvoted Loekje's", "fine"], ids=["a", "b"])
    done, found = redacted(corpus, load_recogniser("en_fake"))
    assert done.texts == ["outvoted [NAME]'s", "fine"]
    assert dict(found.counts) == {"NAME": 1}
    assert personal_in(corpus, load_recogniser("en_fake")) == found
    assert not personal_in(corpus).counts


@pytest.mark.usefixtures("spacy")
def test_an_unknown_pipeline_is_refused() -> None:
    with refused("recogniser.unknown", key="recogniser", allowed="en_core_web_sm") as unknown:
        load_recogniser("en_other")
    assert "'en_other'" in unknown.value.what


@pytest.mark.parametrize(("name", "package"), [("en_fake", "spacy"), ("presidio", "presidio_analyzer")])
def test_a_package_that_is_not_installed_is_named(
    name: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with refused("recogniser.not-installed", key="recogniser") as missing:
        load_recogniser(name)
    assert f"'{package}'" in missing.value.what


@pytest.mark.usefixtures("presidio")
def test_presidio_is_not_left_to_download_its_pipeline(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delitem(sys.modules, "en_core_web_lg")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    with refused("recogniser.no-pipeline", key="recogniser"):
        load_recogniser("presidio")


def test_presidio_takes_another_pipeline_by_name_or_folder() -> None:
    pytest.importorskip("presidio_analyzer", reason="presidio-analyzer is not installed")
    with refused("recogniser.no-pipeline", key="recogniser") as missing:
        load_recogniser("presidio:en.missing")
    assert "'en.missing'" in missing.value.what


REAL = "We outvoted Loekje again. The dog chased Lindqvist. I am on Zoloft 50 mg since Monday."


@pytest.mark.parametrize("prefix", ["", "presidio:"])
def test_the_real_recognisers_add_names_and_no_medicines_or_days(prefix: str, spacy_pipeline: str) -> None:
    if prefix:
        pytest.importorskip("presidio_analyzer", reason="presidio-analyzer is not installed")
    recogniser = load_recogniser(prefix + spacy_pipeline)
    assert redact(REAL).text == REAL
    once = redact(REAL, recogniser)
    assert once.text == REAL.replace("Loekje", "[NAME]").replace("Lindqvist", "[NAME]")
    assert redact(once.text, recogniser) == (once.text, ())
