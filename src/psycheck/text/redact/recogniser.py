"""An optional recogniser of names beside the patterns: a spaCy pipeline, or Presidio's analyzer.

Neither comes with psycheck, and nothing is downloaded: the package and its pipeline must be installed.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from psycheck.core.errors import BadInput
from psycheck.text.redact.lists import FIRST_NAMES, FORMS, PATTERNS, SURNAMES, Found, Kind, may_be_name

Recogniser = Callable[[str], Iterable[Found]]
_KINDS: Final[dict[str, Kind]] = PATTERNS["recognisers"]
_PRESIDIO_PIPELINE: Final = "en_core_web_lg"
_SCORE: Final = 0.4  # below it Presidio reports numbers that nothing but their length speaks for
_NOT_FOR_NAMES: Final = ("parser", "senter", "lemmatizer", "tagger", "attribute_ruler")
_SHORT: Final = 4


def load_recogniser(name: str) -> Recogniser:
    """The recogniser of a spaCy pipeline by its name or folder; "presidio" or "presidio:PIPELINE"."""
    tool, _, pipeline = name.partition(":")
    if tool == "presidio":
        return _presidio(pipeline or _PRESIDIO_PIPELINE)
    try:
        # Names need neither grammar nor lemmas, and without them a pipeline is faster.
        recognise = _package("spacy").load(name, exclude=_NOT_FOR_NAMES)
    except OSError as error:
        raise BadInput(
            f"there is no recogniser '{name}'",
            code="recogniser.unknown",
            allowed="presidio, or the name or folder of an installed spaCy pipeline, such as en_core_web_sm",
            key="recogniser",
        ) from error

    def recognise_names(text: str) -> Iterator[Found]:
        entities = recognise(text).ents
        spans = [(entity.start_char, entity.end_char, entity.label_) for entity in entities]
        return _likely_spans(text, spans)

    return recognise_names


def _presidio(pipeline: str) -> Recogniser:
    presidio = _package("presidio_analyzer")
    engines = _package("presidio_analyzer.nlp_engine")
    # Presidio would download a pipeline that is missing.
    if not Path(pipeline).is_dir() and not (pipeline.isidentifier() and find_spec(pipeline)):
        raise BadInput(
            f"Presidio needs the spaCy pipeline '{pipeline}', which is not installed",
            code="recogniser.no-pipeline",
            do="install it, or name another one by its name or folder: presidio:PIPELINE",
            key="recogniser",
        )
    # One warning per country whose language is not English.
    logging.getLogger("presidio-analyzer").setLevel(logging.ERROR)
    models = [{"lang_code": "en", "model_name": pipeline}]
    settings = {"nlp_engine_name": "spacy", "models": models}
    engine = engines.NlpEngineProvider(nlp_configuration=settings).create_engine()
    analyzer = presidio.AnalyzerEngine(nlp_engine=engine, supported_languages=["en"])
    kinds = [kind for kind in analyzer.get_supported_entities("en") if kind in _KINDS]

    def recognise(text: str) -> Iterator[Found]:
        entities = analyzer.analyze(
            text=text,
            language="en",
            entities=kinds,
            score_threshold=_SCORE,
        )
        spans = [(entity.start, entity.end, entity.entity_type) for entity in entities]
        return _likely_spans(text, spans)

    return recognise


def _package(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        package = name.split(".")[0]
        raise BadInput(
            f"the package '{package}' is not installed",
            code="recogniser.not-installed",
            do=f"pip install {package.replace('_', '-')}, or leave out `recogniser`",
            key="recogniser",
        ) from error


def _likely_spans(text: str, spans: Iterable[tuple[int, int, str]]) -> Iterator[Found]:
    """The spans of personal data, in order; of a name or a place from its first to its last likely word."""
    for start, end, label in sorted(spans):
        kind = _KINDS.get(label)
        if kind in ("NAME", "PLACE"):
            # Models take small words and degrees beside a name for parts of it.
            words = [word for word in FORMS["word"].finditer(text, start, end) if _likely(word[0])]
            if words:
                first, last = words[0], words[-1]
                end_of_last = last.start() + len(_plain(last[0]))
                yield Found(first.start(), end_of_last, kind)
        elif kind is not None:
            yield Found(start, end, kind)


def _plain(word: str) -> str:
    """A word without the ending of its possessive."""
    return word.removesuffix("'s").removesuffix("’s")


def _likely(word: str) -> bool:
    """Whether a word may be a name: models take misspelled small words and degrees ("PA-C") for names."""
    word = _plain(word)
    is_abbreviation = word.isupper() and len(word) <= _SHORT
    if word[0].isupper() and not is_abbreviation:
        return may_be_name(word)
    capitalised = word.title()
    return capitalised in FIRST_NAMES or capitalised in SURNAMES
