"""The catalogue of known corpora: licence, citation, where to apply, and how each format was verified."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any

from psycheck.errors import BadInput, nearest

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]+(?:[-_. ][A-Za-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Known:
    """One entry of the catalogue.

    `text` says what one text is; `files` lists what the release holds and the loader needs; `against` says
    what the format was checked against, and `assumed` what could not be checked.
    """

    name: str
    title: str
    year: int
    text: str
    labels: tuple[str, ...]
    groups: tuple[str, ...]
    licence: str
    citation: str
    apply: str
    files: tuple[str, ...]
    verified: bool
    against: str
    assumed: str = ""

    @property
    def line(self) -> str:
        """The entry in one line, for listings."""
        return (
            f"{self.title}: {self.text}. Licence: {self.licence}. Get it: {self.apply}. Cite: {self.citation}"
        )


@cache
def known_corpora() -> Mapping[str, Known]:
    """The catalogue, by the name that stands before the colon in `NAME:PATH`."""
    raw = _catalogue()
    return MappingProxyType({name: _known(name, entry, raw) for name, entry in raw.items()})


def known_name(source: str) -> tuple[str, str] | None:
    """The name and the path in `NAME:PATH`; None for a path, even one with a colon in it.

    An unknown NAME is an error that lists the known ones; a single letter is a drive.
    """
    name, colon, path = source.partition(":")
    if not colon or Path(source).exists():
        return None
    if name in known_corpora():
        if not path:
            raise BadInput(
                f"no path follows '{name}:'",
                allowed=f"{name}:PATH, where PATH holds {'; '.join(known_corpora()[name].files)}",
                do=f"get the corpus from its owners: {known_corpora()[name].apply}",
            )
        return name, path
    if _NAME.fullmatch(name):
        raise BadInput(
            f"there is no known corpus '{name}', and no file of this name",
            where=source,
            allowed=nearest(name.lower(), [*known_corpora(), "demo"]),
        )
    return None


def relative_to(home: Path, source: str) -> str:
    """A path, or NAME:PATH, as a file in the folder `home` names it."""
    known = None if (home / source).exists() else known_name(source)
    return str(home / source) if known is None else f"{known[0]}:{home / Path(known[1]).expanduser()}"


def _known(name: str, entry: Mapping[str, Any], raw: Mapping[str, Any]) -> Known:
    """One entry; what it leaves out is taken from the entry that `like` names."""
    whole = {**raw.get(entry.get("like", ""), {}), **entry, "name": name}
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in whole.items()
        if key not in ("like", "table")
    }
    return Known(**values)


def table_layout(name: str) -> Mapping[str, Any]:
    """Which files and columns of a corpus hold what, where it is a plain table; empty otherwise."""
    layout: Mapping[str, Any] = _catalogue()[name].get("table", {})
    return layout


@cache
def _catalogue() -> dict[str, dict[str, Any]]:
    text = files("psycheck.corpora.known").joinpath("catalogue.toml").read_text("utf-8")
    return tomllib.loads(text)
