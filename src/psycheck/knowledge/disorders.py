"""Read the open-ended answer: whether there is a disorder, what it is called, and why."""

import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from psycheck.knowledge.fields import Field
from psycheck.knowledge.prompts import Prompt
from psycheck.knowledge.words import WORDS, agreed, meaning, words_of
from psycheck.model import FloatArray

_HEADING: Final = re.compile(
    r"^[^\w\n]*+(?:\d[.)]\s*+)?[^\w\n]*+(?:(?P<name>name of (?:the )?(?:mental health )?disorder)"
    r"|(?P<found>mental health disorder)|(?P<rationale>(?:dsm[- ]?(?:5|v)[- ]?)?rationale))[*_ \t]*:",
    re.IGNORECASE | re.MULTILINE,
)
_APART: Final = re.compile(r"[,;/&()\n]|\band\b|\bwith\b|\bbut\b", re.IGNORECASE)
_DISORDER: Final = {kind: frozenset(words) for kind, words in WORDS["disorder"].items()}


def read_open(text: str, fields: Sequence[Field], prompt: Prompt, *, cut: bool) -> tuple[FloatArray, str]:
    """Scores of the labels, (k,), and the rationale; a reply that was cut must have begun the rationale."""
    parts = _of_lines(text, cut=cut)
    if "found" not in parts:
        parts = _of_fields(fields)
    rationale = " ".join(parts.get("rationale", [])).strip()
    scores = np.full(len(prompt.labels), np.nan)
    found = agreed(map(meaning, parts.get("found", [])))
    if found is None:
        return scores, rationale
    names = ", ".join(parts.get("name", []))
    unnamed = " ".join(words_of(names)) in _DISORDER["unknown"]
    if found == 1 and unnamed:
        return scores, rationale
    for column, label in enumerate(prompt.labels):
        parts_named = [part for part in _APART.split(names) if _mentions(part, prompt.names[label])]
        present = agreed(map(_polarity, parts_named)) if parts_named else 0.0
        # No disorder, and yet one of this name: the reply contradicts itself.
        scores[column] = np.nan if present is None or (found == 0 and present == 1) else present
    return scores, rationale


def _mentions(name: str, words: Sequence[str]) -> bool:
    """True if a name has one of the words; "depress*" stands for all words that begin so."""
    return any(
        word.startswith(one[:-1]) if one.endswith("*") else word == one
        for word in words_of(name)
        for one in words
    )


def _polarity(part: str) -> float | None:
    """1 if a part of a name stands as it is, 0 if it is denied, None in doubt."""
    plain = " ".join(words_of(part))
    for kept in _DISORDER["kept"]:
        plain = plain.replace(kept, "")
    if _DISORDER["hedge"].intersection(plain.split()):
        return None
    return 0.0 if _DISORDER["negation"].intersection(plain.split()) else 1.0


def _of_lines(text: str, *, cut: bool) -> dict[str, list[str]]:
    """The parts under the headings; each goes on to the next heading."""
    headings = list(_HEADING.finditer(text))
    ends = [one.start() for one in headings[1:]] + [len(text)]
    parts: dict[str, list[str]] = {}
    for heading, end in zip(headings, ends, strict=False):
        if not (cut and end == len(text) and heading.lastgroup != "rationale"):
            parts.setdefault(str(heading.lastgroup), []).append(text[heading.end() : end].strip(" \t\n*"))
    return parts


def _of_fields(fields: Sequence[Field]) -> dict[str, list[str]]:
    """The parts of a JSON object."""
    parts: dict[str, list[str]] = {}
    for one in fields:
        words = words_of((one.key or (one.above[0] if one.above else ""))[:80])
        if {"rationale", "reason", "reasons"}.intersection(words):
            kind = "rationale"
        else:
            kind = "name" if {"name", "names"}.intersection(words) else "found" if "disorder" in words else ""
        parts.setdefault(kind, []).append(one.value)
    return parts
