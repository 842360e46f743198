"""Cues that may lead a model astray: a past state, another person, a diagnosis, another disorder."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from psycheck.corpora.curate.disclosure import named_conditions

Spans = tuple[tuple[int, int], ...]
OTHER = "other_disorder"


def cues_of(text: str, label: str) -> dict[str, Spans]:
    """The cues of a text and where they stand; `label` says which disorder is not another one."""
    found = {name: tuple(one.span() for one in cue.finditer(text)) for name, cue in _patterns().items()}
    own = conditions_of(label)
    found[OTHER] = tuple(span for name, span in named_conditions(text) if name not in own)
    return {name: spans for name, spans in found.items() if spans}


def cue_names() -> tuple[str, ...]:
    """The names of all cues."""
    return tuple(name for name, entry in _file().items() if isinstance(entry, dict))


def conditions_of(label: str) -> frozenset[str]:
    """The conditions that a label is about, by its name: "depressed" is about depression."""
    words = label.replace("_", " ")
    return frozenset({label, *(name for name, _ in named_conditions(words))})


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    file = _file()
    named = {name: f"(?:{'|'.join(file[f'{name}s'])})" for name in ("person", "state")}
    return {name: _compiled(file[name]["patterns"], named) for name in cue_names() if file[name]["patterns"]}


def _compiled(patterns: Sequence[str], named: Mapping[str, str]) -> re.Pattern[str]:
    filled = "|".join(patterns)
    for name, words in named.items():
        filled = filled.replace(f"{{{name}}}", words)
    spaced = re.sub(r" (?![?])", r"\\s{1,3}", filled).replace(" ?", r"\s?")
    return re.compile(rf"(?<!\w)(?:{spaced})(?!\w)", re.IGNORECASE)


@cache
def _file() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("cues.toml").read_text("utf-8"))
