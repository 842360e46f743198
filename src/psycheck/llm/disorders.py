"""Read the open-ended answer: whether there is a disorder, what it is called, and why."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.llm.fields import Field
from psycheck.llm.prompts import Prompt
from psycheck.llm.reply_words import WORDS, agreed, meaning, words_of
from psycheck.llm.sample import Sample

# The groups are the fields of `_Parts`.
_HEADING: Final = re.compile(
    r"^[^\w\n]*+(?:\d[.)]\s*+)?[^\w\n]*+(?:(?P<names>name of (?:the )?(?:mental health )?disorder)"
    r"|(?P<verdicts>mental health disorder)|(?P<rationales>(?:dsm[- ]?(?:5|v)[- ]?)?rationale))[*_ \t]*:",
    re.IGNORECASE | re.MULTILINE,
)
# The words of a key that say which part its value is; the first that fits counts: the key "name of the
# disorder" has a word of the verdict, too.
_KEY_WORDS: Final = {
    "rationales": frozenset(["rationale", "reason", "reasons"]),
    "names": frozenset(["name", "names"]),
    "verdicts": frozenset(["disorder"]),
}
_BETWEEN_NAMES: Final = re.compile(r"[,;/&()\n]|\band\b|\bwith\b|\bbut\b", re.IGNORECASE)
_DISORDER: Final = {kind: frozenset(words) for kind, words in WORDS["disorder"].items()}
_LONGEST_KEY: Final = 80  # characters


@dataclass(frozen=True, slots=True)
class _Parts:
    """The parts of an open-ended answer: whether there is a disorder, what it is called, and why."""

    verdicts: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    rationales: list[str] = field(default_factory=list)


def read_open(sample: Sample, prompt: Prompt) -> tuple[FloatArray, str, str]:
    """Scores of the labels, (k,), the rationale, and the disorder as it is named, "" if none is.

    A reply that was cut must have begun the rationale.
    """
    parts = _under_headings(sample.text, cut=sample.is_cut)
    if not parts.verdicts:
        parts = _in_fields(sample.fields)

    scores = np.full(len(prompt.labels), np.nan)
    rationale = " ".join(parts.rationales).strip()
    has_disorder = agreed(meaning(verdict) for verdict in parts.verdicts)
    if has_disorder is None:
        return scores, rationale, ""

    # A disorder without a name may be any of the labels.
    names = ", ".join(parts.names)
    plain_names = " ".join(words_of(names))
    is_unnamed = plain_names in _DISORDER["unknown"]
    if has_disorder == 1 and is_unnamed:
        return scores, rationale, ""

    for column, label in enumerate(prompt.labels):
        is_named = _named(prompt.names[label], names)
        # No disorder, and yet one of this name: the reply contradicts itself.
        contradicts = has_disorder == 0 and is_named == 1
        if is_named is not None and not contradicts:
            scores[column] = is_named
    return scores, rationale, names.strip() if has_disorder == 1 else ""


def _named(label_words: Sequence[str], names: str) -> float | None:
    """1 if a label is among the names of disorders, 0 if it is not or is denied, None in doubt."""
    separate_names = _BETWEEN_NAMES.split(names)
    mentions = [name for name in separate_names if _mentions(name, label_words)]
    if not mentions:
        return 0.0
    return agreed(_polarity(mention) for mention in mentions)


def _mentions(name: str, label_words: Sequence[str]) -> bool:
    """True if a name has one of the words; "depress*" stands for all words that begin so."""
    words = words_of(name)
    for pattern in label_words:
        if pattern in words:
            return True
        stem = pattern.removesuffix("*")
        is_open_ended = stem != pattern
        if is_open_ended and any(word.startswith(stem) for word in words):
            return True
    return False


def _polarity(name: str) -> float | None:
    """1 if a name stands as it is, 0 if it is denied, None in doubt."""
    plain = " ".join(words_of(name))
    # Taken out first: the "not" of "not otherwise specified" denies nothing.
    for harmless in _DISORDER["kept"]:
        plain = plain.replace(harmless, "")

    words = plain.split()
    if _DISORDER["hedge"].intersection(words):
        return None
    if _DISORDER["negation"].intersection(words):
        return 0.0
    return 1.0


def _under_headings(text: str, *, cut: bool) -> _Parts:
    """The parts of a reply in lines; each goes on to the next heading."""
    parts = _Parts()
    headings = list(_HEADING.finditer(text))
    for number, heading in enumerate(headings, 1):
        part = str(heading.lastgroup)
        is_last = number == len(headings)
        end = len(text) if is_last else headings[number].start()
        # What a cut reply says last may be incomplete; of a rationale the beginning is enough.
        if cut and is_last and part != "rationales":
            continue
        # Headings are in bold letters now and then: the closing stars stand before the part.
        content = text[heading.end() : end]
        getattr(parts, part).append(content.strip(" \t\n*"))
    return parts


def _in_fields(fields: Sequence[Field]) -> _Parts:
    """The parts of a reply in JSON."""
    parts = _Parts()
    for answer in fields:
        key = answer.key or "".join(answer.above[:1])
        words = words_of(key[:_LONGEST_KEY])
        for part, telling in _KEY_WORDS.items():
            if telling.intersection(words):
                getattr(parts, part).append(answer.value)
                break
    return parts
