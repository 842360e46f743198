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

from psycheck.core.corpus import Corpus, CorpusSource
from psycheck.core.errors import BadInput, nearest
from psycheck.corpora.columns import split_name
from psycheck.corpora.known.release import Loaded, Release, gather
from psycheck.corpora.reading import without_blank

# At least two characters: a single letter before a colon is a drive of Windows.
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
    return MappingProxyType({name: _known(name) for name in _catalogue()})


def _known(name: str) -> Known:
    """One entry of the catalogue; what it leaves out is taken from the entry that its `like` names."""
    entry = _catalogue()[name]
    values: dict[str, Any] = {**_entry_it_is_like(entry), **entry, "name": name}
    del values["reading"]
    values.pop("like", None)
    # TOML has lists, and an entry is shared by all who ask: nobody should be able to change it.
    for key, value in values.items():
        if isinstance(value, list):
            values[key] = tuple(value)
    return Known(**values)


def _layout(name: str) -> dict[str, Any]:
    """How the files of a corpus are laid out, for its loader."""
    entry = _catalogue()[name]
    return {**_entry_it_is_like(entry).get("reading", {}), **entry["reading"]}


def _entry_it_is_like(entry: Mapping[str, Any]) -> dict[str, Any]:
    return _catalogue().get(entry.get("like", ""), {})


def open_known(name: str, path: str | Path, split: str | None = None) -> Corpus:
    """Open a corpus of the catalogue from its released files, whole or one split of it."""
    catalogue = known_corpora()
    if name not in catalogue:
        raise BadInput(
            f"there is no known corpus '{name}'",
            code="corpus.unknown-name",
            allowed=nearest(name, catalogue),
        )

    known = catalogue[name]
    release = Release(
        known=known,
        path=Path(path).expanduser(),
        layout=_layout(name),
    )
    corpus = without_blank(gather(name, _load(release)))
    if not len(corpus):
        raise release.wrong("these files hold no texts", str(path), code="release.no-texts")

    notes = corpus.notes
    if not known.verified:
        notes = (f"The format of {known.title} could not be verified: {known.assumed}", *notes)
    corpus = replace(corpus, notes=notes, source=CorpusSource(f"{name}:{path}"))
    if split is None:
        return corpus
    return corpus.part(split_name(split))


def _load(release: Release) -> Loaded:
    """What the loader that the catalogue names ("MODULE.FUNCTION") finds in a release."""
    # Imported when it is needed: few users open more than one or two of the catalogue.
    loader = release.layout.get("loader", "table_loader.load_table")
    module_name, _, function_name = loader.partition(".")
    module = import_module(f"psycheck.corpora.known.{module_name}")
    loaded: Loaded = getattr(module, function_name)(release)
    return loaded


def known_name(source: str) -> tuple[str, str] | None:
    """The name and the path in `NAME:PATH`; None for a path, even one with a colon in it.

    An unknown NAME is an error that lists the known ones; a single letter is a drive.
    """
    # A file that is there wins: its name may have a colon in it.
    name, colon, path = source.partition(":")
    if not colon or Path(source).exists():
        return None

    known = known_corpora().get(name)
    if known is not None:
        if not path:
            raise BadInput(
                what=f"no path follows '{name}:'",
                code="corpus.no-path",
                allowed=f"{name}:PATH, where PATH holds {'; '.join(known.files)}",
                do=f"get the corpus from its owners: {known.apply}",
            )
        return name, path
    if _NAME.fullmatch(name):
        raise BadInput(
            what=f"there is no known corpus '{name}', and no file of this name",
            code="corpus.unknown-name",
            where=source,
            allowed=nearest(name.lower(), [*known_corpora(), "demo"]),
        )
    return None


def relative_to(home: Path, source: str) -> str:
    """A path, or NAME:PATH, as a file in the folder `home` names it."""
    if (home / source).exists():
        return str(home / source)
    name_and_path = known_name(source)
    if name_and_path is None:
        return str(home / source)
    name, path = name_and_path
    return f"{name}:{home / Path(path).expanduser()}"
