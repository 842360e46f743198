"""Cues that may lead a model astray: a past state, another person, a diagnosis, another disorder."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from psycheck.corpora.curate.disclosure import named_conditions

Spans = tuple[tuple[int, int], ...]
OTHER = "other_disorder"  # the one cue without patterns: it is looked up among the conditions


def cues_of(text: str, label: str) -> dict[str, Spans]:
    """The cues of a text and where they stand; `label` says which disorder is not another one."""
    spans_of_cues: dict[str, Spans] = {}
    for name, pattern in _patterns().items():
        spans_of_cues[name] = tuple(match.span() for match in pattern.finditer(text))

    # A text on depression that says "depression" is not led astray by it.
    label_conditions = conditions_of(label)
    other_spans = [span for condition, span in named_conditions(text) if condition not in label_conditions]
    spans_of_cues[OTHER] = tuple(other_spans)
    return {name: spans for name, spans in spans_of_cues.items() if spans}


def cue_names() -> tuple[str, ...]:
    """The names of all cues."""
    # The tables of the file are cues; its lists (`persons`, `states`) are parts of patterns.
    return tuple(name for name, entry in _file().items() if isinstance(entry, dict))


def conditions_of(label: str) -> frozenset[str]:
    """The conditions that a label is about, by its name: "depressed" is about depression."""
    words = label.replace("_", " ")
    conditions = {condition for condition, _ in named_conditions(words)}
    # The name itself too: labels are often named by the code of a condition ("ptsd").
    return frozenset({label, *conditions})


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    """The compiled pattern of each cue that has patterns of its own."""
    file = _file()
    # Patterns contain {person} and {state}, which stand for the lists `persons` and `states`.
    placeholders = {
        "person": f"(?:{'|'.join(file['persons'])})",
        "state": f"(?:{'|'.join(file['states'])})",
    }

    compiled = {}
    for name in cue_names():
        patterns = file[name]["patterns"]
        if patterns:
            compiled[name] = _compiled(patterns, placeholders)
    return compiled


def _compiled(patterns: Sequence[str], placeholders: Mapping[str, str]) -> re.Pattern[str]:
    """One pattern of whole words; a space in it is up to three of any kind."""
    either = "|".join(patterns)
    for name, words in placeholders.items():
        either = either.replace(f"{{{name}}}", words)

    # " ?" is an optional space, so that it is not replaced by three. The number is bounded, because an
    # unbounded one makes the search slow on texts with long stretches of blanks.
    required_spaces = re.sub(r" (?![?])", r"\\s{1,3}", either)
    spaced = required_spaces.replace(" ?", r"\s?")
    return re.compile(rf"(?<!\w)(?:{spaced})(?!\w)", re.IGNORECASE)


@cache
def _file() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("cues.toml").read_text("utf-8"))
