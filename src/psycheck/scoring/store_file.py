"""The file of the store: how it is opened, its key file, and its errors in clear words."""

import errno
import os
import sqlite3
import time
import tomllib
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from psycheck.core.errors import PsycheckWarning, StoreFailure

WAIT = 60  # seconds that a process waits for another that is writing

_APPLICATION = 1886615907  # "psyc": SQLite's application_id, also in store.sql
_HEADER_BYTES = 100  # of an SQLite file; the application_id is in its bytes 68 to 71
_KEY_BYTES = 32
_OWNER_ONLY = 0o600
_OUR_TABLES = {"model", "batch", "batch_of_model"}
_REASONS: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("store_errors.toml").read_text("utf-8")
)


def failure(path: Path, reason: str) -> StoreFailure:
    """The error for a reason of `store_errors.toml`; another reason stands for itself."""
    code = "store.unusable"
    what = reason
    do = "name another `store`"
    if reason in _REASONS:
        code = f"store.{reason}"
        entry = _REASONS[reason]
        what = entry["what"].format(wait=WAIT, key=_beside(path, ".key"))
        do = entry["do"]

    return StoreFailure(
        f"the score store cannot be used: {what}",
        code=code,
        where=str(path),
        do=do,
    )


@contextmanager
def clear_errors(path: Path, *damage: type[Exception]) -> Iterator[None]:
    """Turn errors of SQLite and of the system, and those that mean damage, into one that says what to do."""
    causes: tuple[type[Exception], ...] = (sqlite3.Error, OSError, UnicodeDecodeError, *damage)
    try:
        yield
    except causes as error:
        raise failure(path, _reason_for(error)) from error


def _reason_for(error: Exception) -> str:
    """The name of a reason in `store_errors.toml`; for an error that it does not list, the system's words."""
    if isinstance(error, OSError):
        number = error.errno or 0
        code: object = errno.errorcode.get(number)
        unlisted = os.strerror(number)
    else:
        # The lowest byte is SQLite's primary result code.
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        unlisted = "damaged"  # our statements are right, so the file must be wrong

    for name, reason in _REASONS.items():
        if code in reason.get("codes", ()):
            return name
    return unlisted


def connect(path: Path) -> tuple[sqlite3.Connection, bool]:
    """Open or make a store; of one that may only be read, open a copy that is gone when closed (False)."""
    real = path.resolve()
    real.parent.mkdir(parents=True, exist_ok=True)
    is_new = not real.exists() or not real.stat().st_size
    if not is_new:
        _recognise(path, real)
        if not _is_writable(real):
            note = f"the score store may only be read: new scores are used, but not stored ({path})"
            warnings.warn(note, PsycheckWarning, stacklevel=2)  # one place, so it is shown once
            return _copy_in_memory(real), False

    _make_private(path, real)
    db = sqlite3.connect(
        real,
        timeout=WAIT,
        isolation_level=None,  # transactions begin where we say so
        check_same_thread=False,
    )
    if is_new:
        # Before WAL: a process killed in between leaves a file that is recognised.
        db.execute(f"PRAGMA application_id = {_APPLICATION}")
    _write_ahead(db)
    db.execute("PRAGMA synchronous = NORMAL")
    return db, True


def _is_writable(real: Path) -> bool:
    """Whether the file and its folder may be written: SQLite puts its log beside the file."""
    return os.access(real, os.W_OK) and os.access(real.parent, os.W_OK)


def _copy_in_memory(real: Path) -> sqlite3.Connection:
    copy = sqlite3.connect("", isolation_level=None, check_same_thread=False)
    with closing(_reading(real)) as source:
        source.backup(copy)
    return copy


def _make_private(path: Path, real: Path) -> None:
    """Make the file if there is none; nobody but its owner may read it and the files that belong to it."""
    os.close(os.open(real, os.O_RDWR | os.O_CREAT, _OWNER_ONLY))
    for ending in ("", "-wal", "-shm", ".key"):
        # Whatever the umask, or the version that made them.
        with suppress(OSError):
            _beside(path, ending).chmod(_OWNER_ONLY)


def _write_ahead(db: sqlite3.Connection) -> None:
    """Switch to WAL; SQLite itself does not wait while another process switches the same file."""
    deadline = time.monotonic() + WAIT
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            primary_code = error.sqlite_errorcode & 0xFF
            is_busy = primary_code == sqlite3.SQLITE_BUSY
            if not is_busy or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def key_of(path: Path, *, new: bool, kept: bool) -> bytes:
    """The key of a store, made if the store is `new`; for a copy that is not `kept`, it is not written.

    The caller holds the store's lock.
    """
    if new and not kept:
        return os.urandom(_KEY_BYTES)

    key_file = _beside(path, ".key")
    if new and not key_file.exists():
        _write_key(key_file, part=_beside(path, f".{os.getpid()}.part"))

    try:
        key = key_file.read_bytes()
    except FileNotFoundError:
        key = b""
    if len(key) != _KEY_BYTES:
        raise failure(path, "key")
    return key


def _write_key(key_file: Path, part: Path) -> None:
    """Write a new key, whole or not at all: without it the scores are lost."""
    with part.open("wb") as file:
        os.fchmod(file.fileno(), _OWNER_ONLY)
        file.write(os.urandom(_KEY_BYTES))
        file.flush()
        os.fsync(file.fileno())
    part.replace(key_file)


def _beside(path: Path, ending: str) -> Path:
    """A file that belongs to a store; like SQLite's own, it is beside the file that a link leads to."""
    real = path.resolve()
    return real.with_name(f"{real.name}{ending}")


def _recognise(path: Path, real: Path) -> None:
    """Refuse a file that is not a store; nothing is written."""
    with real.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    if not header.startswith(b"SQLite format 3\0"):
        raise failure(path, "foreign")

    application_bytes = header[68:72]
    application = int.from_bytes(application_bytes, "big")
    # The first versions set no application_id, and neither do databases of other programs.
    has_our_tables = application == 0 and _has_our_tables(real)
    if application != _APPLICATION and not has_our_tables:
        raise failure(path, "foreign")


def _has_our_tables(real: Path) -> bool:
    with closing(_reading(real)) as db:
        rows = db.execute("SELECT name FROM sqlite_schema")
        names = {name for (name,) in rows}
    return names >= _OUR_TABLES


def _reading(real: Path) -> sqlite3.Connection:
    """A connection that writes nothing; without a write-ahead log, the file alone is the database."""
    log = _beside(real, "-wal")
    has_log = log.exists() and log.stat().st_size > 0
    mode = "mode=ro" if has_log else "immutable=1"
    return sqlite3.connect(f"{real.as_uri()}?{mode}", uri=True, timeout=WAIT)
