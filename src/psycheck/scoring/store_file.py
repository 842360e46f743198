"""The file of the store, its key, its errors in clear words, and the processes that use it side by side."""

import errno
import os
import socket
import sqlite3
import time
import tomllib
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from psycheck.errors import PsycheckWarning, StoreFailure

WAIT = 60  # seconds that a process waits for another that is writing
_APPLICATION = 1886615907  # "psyc": SQLite's application_id, also in store.sql
_KEY_BYTES = 32
EXPIRES = 600.0  # seconds without a renewal; a batch that takes longer elsewhere may be scored twice
_PIDS = Path("/proc/self/ns/pid")  # containers of one host number their processes apart
_HOST = f"{socket.gethostname()}/{_PIDS.stat().st_ino if _PIDS.exists() else ''}"
_REASONS = tomllib.loads(Path(__file__).with_name("store_errors.toml").read_text("utf-8"))


def failure(path: Path, reason: str) -> StoreFailure:
    """The error for a reason of `store_errors.toml`; another reason stands for itself."""
    known = _REASONS.get(reason, {"what": reason, "do": "name another `store`"})
    what = known["what"].format(wait=WAIT, key=_beside(path, ".key"))
    return StoreFailure(f"the score store cannot be used: {what}", where=str(path), do=known["do"])


@contextmanager
def clear_errors(path: Path, *damage: type[Exception]) -> Iterator[None]:
    """Turn errors of SQLite and of the system, and those that mean damage, into one that says what to do."""
    causes: tuple[type[Exception], ...] = (sqlite3.Error, OSError, UnicodeDecodeError, *damage)
    try:
        yield
    except causes as error:
        code: object = getattr(error, "sqlite_errorcode", 0) & 0xFF
        other = "damaged"  # our statements are right
        if isinstance(error, OSError):
            code, other = errno.errorcode.get(error.errno or 0), os.strerror(error.errno or 0)
        reasons = [name for name, reason in _REASONS.items() if code in reason.get("codes", ())]
        raise failure(path, [*reasons, other][0]) from error


def connect(path: Path) -> tuple[sqlite3.Connection, bool]:
    """Open or make a store; of one that may only be read, open a copy that is gone when closed (False)."""
    real = path.resolve()
    real.parent.mkdir(parents=True, exist_ok=True)
    new = not real.exists() or not real.stat().st_size
    if not new:
        _recognise(path, real)
        if not (os.access(real, os.W_OK) and os.access(real.parent, os.W_OK)):
            note = f"the score store may only be read: new scores are used, but not stored ({path})"
            warnings.warn(note, PsycheckWarning, stacklevel=2)  # one place, so it is shown once
            copy = sqlite3.connect("", isolation_level=None, check_same_thread=False)
            with closing(_reading(real)) as source:
                source.backup(copy)
            return copy, False
    os.close(os.open(real, os.O_RDWR | os.O_CREAT, 0o600))
    for end in ("", "-wal", "-shm", ".key"):  # whatever the umask, or the version that made them
        with suppress(OSError):
            _beside(path, end).chmod(0o600)
    db = sqlite3.connect(real, timeout=WAIT, isolation_level=None, check_same_thread=False)
    if new:  # before WAL: a process killed in between leaves a file that is recognised
        db.execute(f"PRAGMA application_id = {_APPLICATION}")
    _write_ahead(db)
    db.execute("PRAGMA synchronous = NORMAL")
    return db, True


def _write_ahead(db: sqlite3.Connection) -> None:
    """Switch to WAL; SQLite itself does not wait while another process switches the same file."""
    late = time.monotonic() + WAIT
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > late:
                raise
            time.sleep(0.02)


def key_of(path: Path, *, new: bool, kept: bool) -> bytes:
    """The key of a store, made if it has none yet; the caller holds the store's lock."""
    place = _beside(path, ".key")
    if new and not kept:
        return os.urandom(_KEY_BYTES)
    if new and not place.exists():
        part = _beside(path, f".{os.getpid()}.part")
        with part.open("wb") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(os.urandom(_KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        part.replace(place)
    with suppress(FileNotFoundError):
        if len(key := place.read_bytes()) == _KEY_BYTES:
            return key
    raise failure(path, "key")


def _beside(path: Path, end: str) -> Path:
    """A file that belongs to a store; like SQLite's own, it is beside the file that a link leads to."""
    real = path.resolve()
    return real.with_name(f"{real.name}{end}")


def _recognise(path: Path, real: Path) -> None:
    """Refuse a file that is not a store; nothing is written."""
    with real.open("rb") as file:
        head = file.read(100)
    application = int.from_bytes(head[68:72], "big") if head.startswith(b"SQLite format 3\0") else -1
    ours = application == _APPLICATION
    if application == 0:  # made by an earlier version, or not ours
        with closing(_reading(real)) as db:
            names = {name for (name,) in db.execute("SELECT name FROM sqlite_schema")}
        ours = {"model", "batch", "batch_of_model"} <= names
    if not ours:
        raise failure(path, "foreign")


def _reading(real: Path) -> sqlite3.Connection:
    """A connection that writes nothing; without a write-ahead log, the file alone is the database."""
    log = _beside(real, "-wal")
    how = "mode=ro" if log.exists() and log.stat().st_size else "immutable=1"
    return sqlite3.connect(f"{real.as_uri()}?{how}", uri=True, timeout=WAIT)


def this_process() -> str:
    """A new owner: host, process id, start time, and what sets it apart from others in this process."""
    return f"{_HOST} {os.getpid()} {_started(os.getpid())} {os.urandom(4).hex()}"


def works(owner: str, renewed: float) -> bool:
    """Whether the owner of a claim is at work: on this host until it ends, elsewhere while it renews."""
    host, pid, started, *_ = (*owner.split(), "", "", "")  # a damaged one is of nobody
    if host == _HOST and started != "-":
        return _started(pid) == started
    return abs(time.time() - renewed) < EXPIRES


def _started(pid: int | str) -> str:
    """When a process started, in ticks since the host did; "-" if it ended."""
    with suppress(OSError):
        state, *rest = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        return "-" if state in "ZX" else rest[18]
    return "-"
