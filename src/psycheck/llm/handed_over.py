"""Which batches of questions a provider has: their names and hashes of their questions, in small files.

They lie beside the default store, readable by their owner alone.
"""

import json
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final

from psycheck.io.writing import private_folder, writing, written
from psycheck.llm.providers.provider import Question
from psycheck.llm.server import Server
from psycheck.models.cache import cache_folder

_OLDEST: Final = 30 * 24 * 3600.0  # seconds; providers keep results for 29 days or so
_BYTES_AROUND: Final = 200  # of a question in a batch: its id and its place


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch by the provider's name, and the ids of its questions in their order."""

    name: str
    ids: tuple[str, ...]


def question_id(server: Server, question: Question) -> str:
    """A hash of everything that a request says, by which its answer is found again."""
    request = [server.api, server.base_url, server.model, *question]
    text = json.dumps(request, sort_keys=True)
    return blake2b(text.encode(), digest_size=16).hexdigest()


def size_of(question: Question) -> int:
    """About how many bytes a question has in a batch."""
    text = json.dumps(question)
    return len(text.encode()) + _BYTES_AROUND


def _folder(server: Server) -> Path:
    """Where the batches of a server are noted."""
    place = f"{server.api} {server.base_url}"
    name = blake2b(place.encode(), digest_size=8).hexdigest()
    return cache_folder() / "batches" / name


def _file(server: Server, batch: Batch) -> Path:
    # The name comes from the provider and may hold anything.
    name = blake2b(batch.name.encode(), digest_size=8).hexdigest()
    return _folder(server) / f"{name}.json"


def remember(server: Server, batch: Batch) -> None:
    """Note a batch that was handed over; the note is on the disk, whole, when this returns."""
    file = _file(server, batch)
    note = {
        "name": batch.name,
        "ids": batch.ids,
    }
    with writing(file):
        private_folder(file.parent)
        with written(file) as part:
            part.write_text(json.dumps(note), "utf-8")


def forget(server: Server, batch: Batch) -> None:
    """Remove the note of a batch whose answers are stored, or that will never have any."""
    _file(server, batch).unlink(missing_ok=True)


def noted_batches(server: Server) -> Iterator[Batch]:
    """The batches that this machine has handed over to a server and not collected yet."""
    now = time.time()
    for file in sorted(_folder(server).glob("*.json")):
        age = now - file.stat().st_mtime
        if age > _OLDEST:
            file.unlink()
            continue
        # A file that cannot be read is not ours.
        with suppress(ValueError, LookupError, TypeError):
            yield _read(file)


def _read(file: Path) -> Batch:
    note = json.loads(file.read_text("utf-8"))
    ids = [str(question) for question in note["ids"]]
    return Batch(
        name=str(note["name"]),
        ids=tuple(ids),
    )
