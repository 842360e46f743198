"""The patterns of self-reported diagnoses, from `disclosure.toml` and `conditions.toml`, compiled once."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent

NEVER = "never"
"""The group of phrases that contain a keyword and name no condition ("the Great Depression")."""


@dataclass(frozen=True, slots=True)
class Patterns:
    """The patterns by which a report of a diagnosis is recognised (`disclosure.toml` explains them).

    Every report contains one of `stems`. `anchors` match reports; `before` and `anywhere` match what refutes
    a report before it in its clause, or anywhere in its sentence; `between` and `after` what separates a
    keyword from its report. The last six say where sentences and clauses end, what is quoted, and whether a
    report has an object of its own ("diagnosed with …").
    """

    stems: tuple[str, ...]
    stem: re.Pattern[str]
    mention: re.Pattern[str]
    rewritten: tuple[tuple[re.Pattern[str], str], ...]
    anchors: tuple[re.Pattern[str], ...]
    before: re.Pattern[str]
    anywhere: re.Pattern[str]
    between: re.Pattern[str]
    after: re.Pattern[str]
    sentence: re.Pattern[str]
    abbreviation: re.Pattern[str]
    quoted_line: re.Pattern[str]
    quotation: re.Pattern[str]
    clause: re.Pattern[str]
    own_object: re.Pattern[str]


@cache
def keywords() -> Mapping[str, tuple[str, ...]]:
    """The keywords of each condition."""
    entries = _toml("conditions")
    return {name: tuple(entry["keywords"]) for name, entry in entries.items() if name != NEVER}


@cache
def keyword_pattern() -> re.Pattern[str]:
    """One pattern that finds the longest keyword at a place; the group that matched names the condition."""
    # The first alternative that matches wins, so phrases that contain a keyword come before it.
    words_of_groups: dict[str, Iterable[str]] = {NEVER: _toml("conditions")[NEVER]}
    # Conditions whose keywords hold those of another come first: bipolar before depression. The union
    # below keeps this place.
    words_of_groups["bipolar"] = keywords()["bipolar"]
    words_of_groups |= keywords()

    groups = [f"(?P<{name}>{_alternatives(words)})" for name, words in words_of_groups.items()]
    return re.compile(rf"(?<![\w'])(?:{'|'.join(groups)})(?!\w)", re.I)


@cache
def patterns() -> Patterns:
    """The patterns of `disclosure.toml`, their placeholders filled in."""
    raw = _toml("disclosure")
    placeholders = _placeholders(raw)

    def compiled(*alternatives: str) -> re.Pattern[str]:
        return _compiled("|".join(alternatives), placeholders)

    return Patterns(
        stems=tuple(raw["stems"]),
        stem=compiled(*raw["stems"]),
        mention=re.compile(raw["mention"], re.I),
        rewritten=tuple((compiled(entry["find"]), entry["by"]) for entry in raw["rewritten"]),
        anchors=tuple(compiled(anchor) for anchor in raw["anchors"]),
        before=compiled(*raw["before"]),
        anywhere=compiled(*raw["anywhere"]),
        between=compiled(*raw["between"]),
        after=compiled(*raw["after"]),
        **{name: re.compile(form) for name, form in raw["forms"].items()},
    )


def _placeholders(raw: Mapping[str, Any]) -> dict[str, str]:
    """What each placeholder of a pattern, such as {when}, stands for."""
    all_keywords = chain.from_iterable(keywords().values())
    condition = rf"(?:{_alternatives(all_keywords)})(?!\w)"
    # Up to four in a row, "depression, anxiety and ptsd": bounded, so that the search stays linear.
    conditions = rf"{condition}(?:(?:,|,? and|,? &|/|\s?\+) ?{condition}){{0,3}}"
    return {
        "{when}": _either(raw["when"]),
        "{official}": _either(raw["official"]),
        "{clinician}": _either(raw["clinicians"]),
        "{conditions}": conditions,
        "{condition}": condition,
    }


def _compiled(pattern: str, placeholders: Mapping[str, str]) -> re.Pattern[str]:
    """A pattern whose spaces stand for any white space."""
    for name in ("{when}", "{official}", "{clinician}"):
        pattern = pattern.replace(name, placeholders[name])
    # The optional space first: its blank must not become a required one.
    spaced = pattern.replace(" ?", r"\s?").replace(" ", r"\s+")
    # The conditions come last: they write their own white space.
    for name in ("{conditions}", "{condition}"):
        spaced = spaced.replace(name, placeholders[name])
    return re.compile(spaced, re.I)


def _either(words: Iterable[str]) -> str:
    return f"(?:{'|'.join(words)})"


def _alternatives(words: Iterable[str]) -> str:
    """Any of the keywords, the longest first; a space in one may be a hyphen."""
    longest_first = sorted(words, key=len, reverse=True)
    patterns_of_words = [word.replace(" ?", r"[\s-]?").replace(" ", r"[\s-]+") for word in longest_first]
    return "|".join(patterns_of_words)


@cache
def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads((_HERE / f"{name}.toml").read_text("utf-8"))
