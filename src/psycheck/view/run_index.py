"""The runs below some folders: what a list of them shows, read without their findings."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from psycheck.core.errors import UNREADABLE

WHOLE = "findings.jsonl"  # written last: a folder that has it is a finished run
_DEEPEST = 4  # folders below the one that was named
_VERDICT = "headlines.jsonl"


@dataclass(frozen=True, slots=True)
class ListedRun:
    """A run as lists show it; `key` names it in addresses, `written` orders runs by time."""

    key: str
    name: str
    folder: Path
    written: int
    date: str
    verb: str
    models: tuple[str, ...]
    corpora: tuple[str, ...]
    verdict: tuple[Mapping[str, Any], ...]
    gates: tuple[Mapping[str, Any], ...]
    tables: tuple[str, ...]
    shows_texts: bool

    @property
    def first_sentence(self) -> str:
        """The first sentence of the verdict; the verb of a run without one."""
        return str(self.verdict[0]["sentence"]) if self.verdict else self.verb

    @property
    def severity(self) -> str:
        """That of the first sentence of the verdict."""
        return str(self.verdict[0]["severity"]) if self.verdict else "note"

    @property
    def holding(self) -> int:
        """The number of gates that hold."""
        return sum(bool(gate["holds"]) for gate in self.gates)


def listed_runs(places: Iterable[Path]) -> list[ListedRun]:
    """The runs in some folders or below them, the newest first; folders that cannot be read are left out."""
    runs = {}
    for place in places:
        for folder in _run_folders(place, _DEEPEST):
            # Its time tells a run that was written again, without reading it.
            state = (folder / WHOLE).stat()
            run = _listed(folder, _name(folder, place), state.st_mtime_ns)
            if run is not None:
                runs[run.key] = run
    return sorted(
        runs.values(),
        key=lambda run: run.written,
        reverse=True,
    )


def _run_folders(place: Path, depth: int) -> Iterator[Path]:
    if (place / WHOLE).is_file():
        yield place
        return
    if depth == 0 or not place.is_dir():
        return
    for inner in sorted(place.iterdir()):
        # A link may lead anywhere, also back to where it stands.
        if inner.is_dir() and not inner.is_symlink():
            yield from _run_folders(inner, depth - 1)


def _name(folder: Path, place: Path) -> str:
    below = folder.relative_to(place).as_posix()
    # A run that was named itself has no path below anything.
    return folder.resolve().name if below == "." else below


@lru_cache(maxsize=4096)
def _listed(folder: Path, name: str, written: int) -> ListedRun | None:
    """A run as its facts have it, read once for each time that it is written."""
    try:
        facts = json.loads((folder / "run.json").read_text("utf-8"))
        environment = facts["environment"]
        return ListedRun(
            key=blake2b(str(folder.resolve()).encode(), digest_size=6).hexdigest(),
            name=name,
            folder=folder,
            written=written,
            date=str(environment.get("date", "")),
            verb=str(facts["plan"].get("verb") or "audit"),
            models=tuple(environment.get("models", ())),
            corpora=tuple(environment.get("corpora", ())),
            verdict=tuple(_records(folder / _VERDICT)),
            gates=tuple(facts.get("gates", ())),
            tables=tuple(facts.get("tables", ())),
            shows_texts=bool(facts["plan"].get("show_texts")),
        )
    except UNREADABLE:
        return None


def _records(file: Path) -> list[dict[str, Any]]:
    """The objects in a file of JSON lines; none if it is absent."""
    if not file.is_file():
        return []
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def texts_of_cases(run: ListedRun) -> dict[tuple[str, str], str]:
    """The texts of the cases that the run shows, by check and id; none unless it was made to show them."""
    texts = {}
    for case in _records(run.folder / "shown.jsonl"):
        if case.get("text"):
            texts[case["check"], case["id"]] = case["text"]
    return texts
