"""The catalogue of measures: what every finding's measure means, and how it is read and shown."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from psycheck.core.errors import BadInput, nearest
from psycheck.core.registry import MEASURES

SHIPPED = Path(__file__).with_name("measure.toml")
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
        match self.better:
            case "higher":
                return before - after
            case "lower":
                return after - before
            case str():  # "none"
                return 0.0
            case best:
                # What counts is how far it moved away from its best value, on either side.
                return abs(after - best) - abs(before - best)


@cache
def catalogue() -> Mapping[str, Measure]:
    """All registered measures by name: ours, and those of other packages."""
    measures = _shipped_measures()
    for name in MEASURES.names():
        # Ours are one entry point for the whole file, which was read above.
        if MEASURES.is_ours(name):
            continue
        for measure in _registered(name):
            measures[measure.name] = measure
    return MappingProxyType(measures)


def _shipped_measures() -> dict[str, Measure]:
    """The measures of measure.toml by name."""
    measures: dict[str, Measure] = {}
    for section_name, section in _sections().items():
        tagged = section.get("tagged", False)
        for name, entry in section["measures"].items():
            own_keys = entry.get("keys", ())
            settings = {"tagged": tagged, **entry}
            # A measure has the keys of its section and its own.
            settings["keys"] = (*section["keys"], *own_keys)
            measures[name] = Measure(
                name=name,
                section=section_name,
                **settings,
            )
    return measures


def _registered(name: str) -> list[Measure]:
    """What the entry point of another package names: a measure, or several."""
    thing = MEASURES.get(name)
    if isinstance(thing, Measure):
        return [thing]

    # Code of another package: its types were not checked with ours.
    measures = list(thing)
    for measure in measures:
        if not isinstance(measure, Measure):
            raise BadInput(
                f"the entry point '{name}' names a {type(measure).__name__}",
                code="measure.not-a-measure",
                where="psycheck.measures",
                allowed="a psycheck.Measure, or a list of them",
            )
    return measures


def experiment_keys() -> tuple[str, ...]:
    """Keys of `where` that `improve` and `study` add to the findings of any measure."""
    return tuple(_file()["experiment_keys"])


@cache
def catalogue_keys() -> frozenset[str]:
    """The keys of `where` of all registered measures, without the tags of checks."""
    keys = set(experiment_keys())
    for measure in catalogue().values():
        keys.update(measure.keys)
    return frozenset(keys)


def measure_of(name: str, more: Iterable[Measure] = ()) -> Measure:
    """The entry of a measure, from `more` (measures of outside audits) or the catalogue."""
    measures = dict(catalogue())
    for measure in more:
        measures[measure.name] = measure
    if name not in measures:
        raise BadInput(
            f"unknown measure: '{name}'",
            code="measure.unknown",
            allowed=nearest(name, measures),
        )
    return measures[name]


def described(name: str) -> Measure:
    """The entry of a measure for display; an unknown one (of an outside audit) is a score."""
    measure = catalogue().get(name)
    if measure is None:
        return Measure(name, title=name.replace("_", " "))
    return measure


def reference() -> str:
    """The text of docs/reference/measures.md."""
    parts = [_file()["preface"]]
    for section_name, section in _sections().items():
        shared_keys = section["keys"]
        parts.append(f"## {section['title']}\n\nKeys of `where`: {_in_backquotes(shared_keys)}.\n")
        parts.append(
            "| measure | in the report | what | kind | better | interval |\n|---|---|---|---|---|---|"
        )
        for measure in _shipped_measures().values():
            if measure.section == section_name:
                # The keys of the section stand above the table; a row names those of its own.
                own_keys = measure.keys[len(shared_keys) :]
                parts.append(_reference_row(measure, own_keys))

        notes = section.get("notes", "").strip()
        parts.append(f"\n{notes}\n" if notes else "")
    return "\n".join(parts).rstrip() + "\n"


def _reference_row(measure: Measure, own_keys: Sequence[str]) -> str:
    """One row of the table of measures in Markdown."""
    sentence = measure.sentence
    if own_keys:
        sentence += f" Keys: {_in_backquotes(own_keys)}."

    kind = measure.kind.replace("_", "-")
    if measure.unit:
        kind += f", {measure.unit}"

    better = str(measure.better)
    if measure.better == "none":
        better = "–"

    cells = (
        f"`{measure.name}`",
        measure.title,
        sentence,
        kind,
        better,
        measure.interval or "–",
    )
    # A bar would end the cell.
    escaped = [cell.replace("|", "\\|") for cell in cells]
    return f"| {' | '.join(escaped)} |"


def _in_backquotes(keys: Iterable[str]) -> str:
    quoted = [f"`{key}`" for key in keys]
    return ", ".join(quoted)


def _sections() -> dict[str, Any]:
    """The sections of measure.toml by name: what is not a table belongs to the whole file."""
    sections = {}
    for name, part in _file().items():
        if isinstance(part, dict):
            sections[name] = part
    return sections


@cache
def _file() -> dict[str, Any]:
    return tomllib.loads(SHIPPED.read_text("utf-8"))
