"""The optional recognisers, as modules with the interface that psycheck uses of spaCy and Presidio."""

import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from psycheck.corpora.clean import personal_in, redacted
from psycheck.corpus import Corpus
from psycheck.errors import BadInput
from psycheck.text.redact.find import find_personal, redact
from psycheck.text.redact.recogniser import load_recogniser

# What the patterns leave in: a name in an unlikely place, in lower case, a place.
WORDS = {"Loekje": "PERSON", "brinkhorst": "PERSON", "Zorbeck": "GPE", "Zoloft": "PERSON", "Acme": "ORG"}


def spans(text: str) -> list[tuple[int, int, str]]:
    return [(at, at + len(word), label) for word, label in WORDS.items() if (at := text.find(word)) >= 0]


@pytest.fixture
def spacy(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str) -> object:
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
    class AnalyzerEngine:
        def analyze(self, text: str, language: str) -> list[SimpleNamespace]:
            assert language == "en"
            # In no order and overlapping, as from several recognisers.
            found = [*spans(text), *spans(text), (0, 4, "DATE_TIME")]
            return [SimpleNamespace(start=a, end=b, entity_type=kind) for a, b, kind in reversed(found)]

    fake = ModuleType("presidio_analyzer")
    fake.AnalyzerEngine = AnalyzerEngine  # type: ignore[attr-defined]  # a module made for this test
    monkeypatch.setitem(sys.modules, "presidio_analyzer", fake)
    pipeline = ModuleType("en_core_web_lg")
    pipeline.__spec__ = ModuleSpec("en_core_web_lg", None)
    monkeypatch.setitem(sys.modules, "en_core_web_lg", pipeline)


TEXT = "outvoted Loekje again, says brinkhorst, a.b@example.org; Zoloft is no person, Acme no place"


@pytest.mark.usefixtures("spacy", "presidio")
@pytest.mark.parametrize("name", ["en_fake", "presidio"])
def test_a_recogniser_adds_what_the_patterns_leave(name: str) -> None:
    recogniser = load_recogniser(name)
    assert redact(TEXT).text == TEXT.replace("a.b@example.org", "[EMAIL]")
    once = redact(TEXT, recogniser)
    assert once.text == ("outvoted [NAME] again, says [NAME], [EMAIL]; Zoloft is no person, Acme no place")
    assert redact(once.text, recogniser) == (once.text, ())


@pytest.mark.usefixtures("spacy")
def test_patterns_come_first_and_the_recogniser_takes_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WORDS, "Anna brinkhorst [NAME] x", "PERSON")
    found = find_personal("we saw Anna brinkhorst [NAME] x", load_recogniser("en_fake"))
    assert found == ((7, 11, "NAME"), (12, 22, "NAME"), (30, 31, "NAME"))


@pytest.mark.usefixtures("spacy")
def test_a_corpus_is_redacted_with_a_recogniser() -> None:
    corpus = Corpus.of("posts", ["outvoted Loekje", "fine"], ids=["a", "b"])
    done, found = redacted(corpus, load_recogniser("en_fake"))
    assert done.texts == ["outvoted [NAME]", "fine"]
    assert dict(found.counts) == {"NAME": 1}
    assert personal_in(corpus, load_recogniser("en_fake")) == found
    assert not personal_in(corpus).counts


@pytest.mark.usefixtures("spacy")
def test_an_unknown_pipeline_is_refused() -> None:
    with pytest.raises(BadInput, match="there is no recogniser 'en_other'"):
        load_recogniser("en_other")


@pytest.mark.parametrize(("name", "package"), [("en_fake", "spacy"), ("presidio", "presidio_analyzer")])
def test_a_package_that_is_not_installed_is_named(
    name: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(BadInput, match=f"the package '{package}' is not installed"):
        load_recogniser(name)


@pytest.mark.usefixtures("presidio")
def test_presidio_is_not_left_to_download_its_pipeline(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delitem(sys.modules, "en_core_web_lg")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    with pytest.raises(BadInput, match="needs the spaCy pipeline"):
        load_recogniser("presidio")
