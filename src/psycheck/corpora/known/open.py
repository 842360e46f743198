"""Open a known corpus by its name, `NAME:PATH`, and tell its licence, citation and where to apply for it."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

from psycheck.corpora.columns import split_name
from psycheck.corpora.known.release import Release, gather
from psycheck.corpora.read import without_blank
from psycheck.corpus import Corpus
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
def _catalogue() -> dict[str, dict[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("catalogue.toml").read_text("utf-8"))


@cache
def known_corpora() -> Mapping[str, Known]:
    """The catalogue, by the name that stands before the colon in `NAME:PATH`."""
    raw, out = _catalogue(), {}
    for name, entry in raw.items():
        # What an entry leaves out is taken from the entry that `like` names.
        whole = {**raw.get(entry.get("like", ""), {}), **entry, "name": name}
        values: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in whole.items()
            if key not in ("like", "reading")
        }
        out[name] = Known(**values)
    return MappingProxyType(out)


def open_known(name: str, path: str | Path, split: str | None = None) -> Corpus:
    """Open a corpus of the catalogue from its released files, whole or one split of it."""
    catalogue = known_corpora()
    if name not in catalogue:
        raise BadInput(f"there is no known corpus '{name}'", allowed=nearest(name, catalogue))
    known = catalogue[name]
    entry = _catalogue()[name]
    layout = {**_catalogue().get(entry.get("like", ""), {}).get("reading", {}), **entry["reading"]}
    module, _, loader = layout.get("loader", "release.load_table").partition(".")
    release = Release(known, Path(path).expanduser(), layout)
    loaded = getattr(import_module(f"psycheck.corpora.known.{module}"), loader)(release)
    corpus = without_blank(gather(name, loaded))
    if not len(corpus):
        raise release.wrong("these files hold no texts", str(path))
    notes = corpus.notes
    if not known.verified:
        notes = (f"The format of {known.title} could not be verified: {known.assumed}", *notes)
    corpus = replace(corpus, notes=notes, called=f"{name}:{path}")
    return corpus if split is None else corpus.part(split_name(split))


def known_name(source: str) -> tuple[str, str] | None:
    """The name and the path in `NAME:PATH`; None for a path, even one with a colon in it.

    An unknown NAME is an error that lists the known ones; a single letter is a drive.
    """
    name, colon, path = source.partition(":")
    if not colon or Path(source).exists():
        return None
    if known := known_corpora().get(name):
        if not path:
            what = f"no path follows '{name}:'"
            allowed = f"{name}:PATH, where PATH holds {'; '.join(known.files)}"
            raise BadInput(what, allowed=allowed, do=f"get the corpus from its owners: {known.apply}")
        return name, path
    if _NAME.fullmatch(name):
        what = f"there is no known corpus '{name}', and no file of this name"
        raise BadInput(what, where=source, allowed=nearest(name.lower(), [*known_corpora(), "demo"]))
    return None


def relative_to(home: Path, source: str) -> str:
    """A path, or NAME:PATH, as a file in the folder `home` names it."""
    known = None if (home / source).exists() else known_name(source)
    return str(home / source) if known is None else f"{known[0]}:{home / Path(known[1]).expanduser()}"
