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

from psycheck.io.writing import private_folder, writing
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
    asked = json.dumps([server.api, server.base_url, server.model, *question], sort_keys=True)
    return blake2b(asked.encode(), digest_size=16).hexdigest()


def size_of(question: Question) -> int:
    """About how many bytes a question has in a batch."""
    return len(json.dumps(question).encode()) + _BYTES_AROUND


def _folder(server: Server) -> Path:
    place = blake2b(f"{server.api} {server.base_url}".encode(), digest_size=8).hexdigest()
    return cache_folder() / "batches" / place


def _file(server: Server, batch: Batch) -> Path:
    return _folder(server) / f"{blake2b(batch.name.encode(), digest_size=8).hexdigest()}.json"


def remember(server: Server, batch: Batch) -> None:
    """Note a batch that was handed over; the note is on the disk, whole, when this returns."""
    folder = _folder(server)
    with writing(folder):
        private_folder(folder)
        file = _file(server, batch)
        draft = file.with_suffix(".draft")
        draft.write_text(json.dumps({"name": batch.name, "ids": batch.ids}), "utf-8")
        draft.replace(file)


def forget(server: Server, batch: Batch) -> None:
    """Remove the note of a batch whose answers are stored, or that will never have any."""
    _file(server, batch).unlink(missing_ok=True)


def noted_batches(server: Server) -> Iterator[Batch]:
    """The batches that this machine has handed over to a server and not collected yet."""
    for file in sorted(_folder(server).glob("*.json")):
        is_too_old = time.time() - file.stat().st_mtime > _OLDEST
        if is_too_old:
            file.unlink()
            continue
        # A file that cannot be read is not ours.
        with suppress(ValueError, LookupError, TypeError):
            note = json.loads(file.read_text("utf-8"))
            yield Batch(name=str(note["name"]), ids=tuple(map(str, note["ids"])))
