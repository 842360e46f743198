"""An optional recogniser of names beside the patterns: a spaCy pipeline, or Presidio's analyzer.

Neither comes with psycheck, and nothing is downloaded: the package and its pipeline must be installed.
"""

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from psycheck.errors import BadInput
from psycheck.text.redact.lists import FORMS, PATTERNS, Found, Kind, may_be_name

Recogniser = Callable[[str], Iterable[Found]]
_KINDS: Final[dict[str, Kind]] = PATTERNS["recognisers"]
_PRESIDIO_PIPELINE: Final = "en_core_web_lg"  # Presidio would download it


def load_recogniser(name: str) -> Recogniser:
    """The recogniser "presidio", or that of a spaCy pipeline, by its name or folder."""
    if name == "presidio":
        engine = _package("presidio_analyzer").AnalyzerEngine
        if find_spec(_PRESIDIO_PIPELINE) is None:
            what = f"Presidio needs the spaCy pipeline '{_PRESIDIO_PIPELINE}'"
            raise BadInput(what, do="install it, or name a spaCy pipeline", key="recogniser")
        analyzer = engine()
        return lambda text: _found(
            text,
            ((one.start, one.end, one.entity_type) for one in analyzer.analyze(text=text, language="en")),
        )
    try:
        pipeline = _package("spacy").load(name)
    except OSError as error:
        allowed = "presidio, or the name or folder of an installed spaCy pipeline, such as en_core_web_sm"
        raise BadInput(f"there is no recogniser '{name}'", allowed=allowed, key="recogniser") from error
    return lambda text: _found(
        text, ((one.start_char, one.end_char, one.label_) for one in pipeline(text).ents)
    )


def _package(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        do = f"pip install {name.replace('_', '-')}, or leave out --recogniser"
        raise BadInput(f"the package '{name}' is not installed", do=do, key="recogniser") from error


def _found(text: str, spans: Iterable[tuple[int, int, str]]) -> Iterator[Found]:
    """The spans of personal data, in order, without names made only of everyday words or known things."""
    for start, end, label in sorted(spans):
        kind = _KINDS.get(label)
        if kind in ("NAME", "PLACE") and not any(map(may_be_name, FORMS["word"].findall(text, start, end))):
            continue
        if kind is not None:
            yield Found(start, end, kind)
