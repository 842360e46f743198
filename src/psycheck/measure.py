"""The catalogue of measures: what every finding's measure means, and how it is read and shown."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from psycheck.errors import BadInput, nearest

Kind = Literal["rate", "score", "distance", "p_value", "count"]


@dataclass(frozen=True, slots=True)
class Measure:
    """One entry of the catalogue.

    `better` is "higher", "lower", "none" or the best value; `keys` are the allowed keys of `where`. `section`
    is the audit or verb that writes it, `tagged` whether the tags of a check are keys too.
    """

    name: str
    title: str
    kind: Kind = "score"
    better: str | float = "none"
    unit: str = ""
    sentence: str = ""
    keys: tuple[str, ...] = ()
    interval: str = ""
    section: str = ""
    tagged: bool = False

    def loss(self, before: float, after: float) -> float:
        """How much worse `after` is than `before`, below 0 where it is better, 0 where neither is better."""
        if isinstance(self.better, str):
            return {"higher": before - after, "lower": after - before}.get(self.better, 0.0)
        return abs(after - self.better) - abs(before - self.better)


@cache
def catalogue() -> Mapping[str, Measure]:
    """All measures of the package by name."""
    found = {}
    for section_name, section in _sections().items():
        for name, entry in section["measures"].items():
            keys = (*section["keys"], *entry.get("keys", ()))
            tagged = {"tagged": section.get("tagged", False)}
            found[name] = Measure(name=name, section=section_name, **{**tagged, **entry, "keys": keys})
    return MappingProxyType(found)


def experiment_keys() -> tuple[str, ...]:
    """Keys of `where` that `improve` and `study` add to the findings of any measure."""
    return tuple(_file()["experiment_keys"])


def measure_of(name: str, more: Iterable[Measure] = ()) -> Measure:
    """The entry of a measure, from `more` (measures of outside audits) or the catalogue."""
    known = {**catalogue(), **{measure.name: measure for measure in more}}
    if name not in known:
        raise BadInput(f"unknown measure: '{name}'", allowed=nearest(name, known))
    return known[name]


def described(name: str) -> Measure:
    """The entry of a measure for display; an unknown one (of an outside audit) is a score."""
    return catalogue().get(name) or Measure(name, name.replace("_", " "))


def reference() -> str:
    """The text of docs/reference/measures.md."""
    parts = [_file()["preface"]]
    for section_name, section in _sections().items():
        keys = ", ".join(f"`{key}`" for key in section["keys"])
        parts.append(f"## {section['title']}\n\nKeys of `where`: {keys}.\n")
        parts.append(
            "| measure | in the report | what | kind | better | interval |\n|---|---|---|---|---|---|"
        )
        for measure in catalogue().values():
            if measure.section == section_name:
                own = measure.keys[len(section["keys"]) :]
                what = measure.sentence + (f" Keys: {', '.join(f'`{key}`' for key in own)}." if own else "")
                kind = measure.kind.replace("_", "-") + (f", {measure.unit}" if measure.unit else "")
                better = "–" if measure.better == "none" else str(measure.better)
                cells = (f"`{measure.name}`", measure.title, what, kind, better, measure.interval or "–")
                parts.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
        parts.append(f"\n{section['notes'].strip()}\n" if "notes" in section else "")
    return "\n".join(parts).rstrip() + "\n"


def _sections() -> dict[str, Any]:
    return {name: part for name, part in _file().items() if isinstance(part, dict)}


@cache
def _file() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("measure.toml").read_text("utf-8"))
