"""What is known about each corpus: licence, citation, where to apply, and how its format is known."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
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

    `text` says what one text is; `files` are what the release holds and the loader needs; `against` says what
    the format was checked against, and `assumed` what could not be checked.
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
    assumed: str

    @property
    def line(self) -> str:
        """Everything that a listing has room for."""
        return (
            f"{self.title}: {self.text}. Licence: {self.licence}. Get it: {self.apply}. Cite: {self.citation}"
        )


@cache
def known_corpora() -> Mapping[str, Known]:
    """The catalogue, by the name that stands before the colon in `NAME:PATH`."""
    raw = _catalogue()
    return MappingProxyType({name: _known(name, entry, raw) for name, entry in raw.items()})


def known_name(said: str) -> tuple[str, str] | None:
    """The name and the path in `NAME:PATH`; None if it is a path, even one with a colon in it.

    What looks like NAME:PATH and is neither is refused with the names that are known; one letter is a drive.
    """
    name, colon, path = said.partition(":")
    if not colon or Path(said).exists():
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
            where=said,
            allowed=nearest(name.lower(), [*known_corpora(), "demo"]),
        )
    return None


def relative_to(home: Path, said: str) -> str:
    """A path, or NAME:PATH, as it is named in a file that lies in `home`."""
    known = None if (home / said).exists() else known_name(said)
    return str(home / said) if known is None else f"{known[0]}:{home / Path(known[1]).expanduser()}"


def _known(name: str, entry: Mapping[str, Any], raw: Mapping[str, Any]) -> Known:
    """One entry; what it leaves out is as in the entry that `like` names."""
    told = {**raw.get(entry.get("like", ""), {}), **entry, "name": name}
    return Known(**{f.name: _value(told.get(f.name, "")) for f in fields(Known)})


def _value(said: Any) -> Any:
    return tuple(said) if isinstance(said, list) else said


@cache
def _catalogue() -> dict[str, dict[str, Any]]:
    text = files("psycheck.corpora.known").joinpath("catalogue.toml").read_text("utf-8")
    return tomllib.loads(text)
