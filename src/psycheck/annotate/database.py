"""The annotation database: SQLite or PostgreSQL, migrated when opened, texts encrypted if it has a key."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final

from psycheck.errors import BadInput, StoreFailure, library
from psycheck.files.write import private_folder, writing

if TYPE_CHECKING:
    from cryptography.fernet import Fernet
    from sqlalchemy import Connection, Engine

FILE: Final = "annotate.sqlite"
KEY_VARIABLE: Final = "PSYCHECK_ANNOTATE_KEY"
_MIGRATIONS: Final = Path(__file__).with_name("migrations")
_WAIT: Final = 60  # seconds that a process waits for another that is writing
_PROOF: Final = "psycheck"  # encrypted with the key, so that another key is noticed
# The message of an error would quote texts, names and digests.
_ENGINE: Final[dict[str, Any]] = {"pool_size": 20, "max_overflow": 40, "hide_parameters": True}
_LOCK: Final = 7_291_855_163  # of PostgreSQL, held while migrating


@dataclass(frozen=True, slots=True, eq=False)
class Database:
    """An open database; `read` and `write` are its only transactions."""

    engine: "Engine"
    cipher: "Fernet | None" = None
    _writer: Any = field(default_factory=nullcontext)
    _log: Path | None = None  # of SQLite, to be synced by us

    @contextmanager
    def write(self, *, durable: bool = True) -> "Iterator[Connection]":
        """One transaction that writes: whole or not at all, and on the disk when the block ends.

        What is not `durable` survives a killed process, but a power cut may undo it: good enough for a claim.
        """
        with _clear_errors(self.engine):
            with self._writer, self.engine.begin() as connection:
                if self.locks_rows and not durable:
                    connection.exec_driver_sql("SET LOCAL synchronous_commit = off")
                yield connection
            # Outside the lock: while one waits for the disk, the next one writes.
            if durable and self._log is not None:
                with suppress(FileNotFoundError):  # all of it is in the database, and synced
                    _sync(self._log)

    @contextmanager
    def read(self) -> "Iterator[Connection]":
        """One consistent view that writes nothing."""
        with _clear_errors(self.engine), self.engine.connect() as plain:
            connection = plain.execution_options(reading=True)
            with connection.begin():
                yield connection

    @property
    def locks_rows(self) -> bool:
        """Whether transactions write side by side (PostgreSQL), so that rows must be locked."""
        return self.engine.dialect.name == "postgresql"

    def sealed(self, text: str) -> str:
        """A text as it is stored."""
        return text if self.cipher is None else self.cipher.encrypt(text.encode("utf-8")).decode("ascii")

    def opened(self, stored: str) -> str:
        """A stored text as it was."""
        return stored if self.cipher is None else self.cipher.decrypt(stored).decode("utf-8")

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def database_url(place: str | Path) -> str:
    """The URL of a database: itself, or that of the SQLite file in a folder."""
    return place if isinstance(place, str) and "://" in place else f"sqlite:///{Path(place) / FILE}"


def open_database(url: str, key: bytes | None = None, *, new: bool = False) -> Database:
    """Open a database and migrate it; with `new` make it where there is none, encrypted if `key` is given."""
    alchemy = library("sqlalchemy", "annotation", "annotate")
    try:
        target = alchemy.engine.make_url(url)
    except alchemy.exc.ArgumentError as error:
        raise BadInput("the database URL cannot be read", allowed=_ALLOWED) from error
    if target.get_backend_name() == "postgresql":
        target = target.set(drivername="postgresql+psycopg")
        library("psycopg", "PostgreSQL", "annotate")
        engine = alchemy.create_engine(target, pool_pre_ping=True, **_ENGINE)
        database = Database(engine, _fernet(key))
    elif target.get_backend_name() == "sqlite" and target.database:
        engine = _sqlite(Path(target.database), new=new)
        # SQLite has one writer: threads of one process queue here, rather than poll the file.
        log = Path(f"{target.database}-wal")
        database = Database(engine, _fernet(key), threading.Lock(), log)
    else:
        raise BadInput("this kind of database is not supported", allowed=_ALLOWED)
    try:
        _migrate(database, new=new)
    except BaseException:
        engine.dispose()
        raise
    return database


_ALLOWED: Final = "a folder, or postgresql+psycopg://USER@HOST/NAME"


def server_value(connection: "Connection", name: str) -> str | None:
    """A value that the whole server shares."""
    from psycheck.annotate.tables import server

    return connection.scalar(server.select().with_only_columns(server.c.value).where(server.c.name == name))


def read_key(file: Path | None) -> bytes | None:
    """The key from a file, or from the environment variable PSYCHECK_ANNOTATE_KEY; None without either."""
    if file is None:
        own = os.environ.get(KEY_VARIABLE, "")
        return own.encode() or None
    try:
        return file.read_bytes().strip()
    except OSError as error:
        raise BadInput(f"cannot read the key file ({error.strerror})", where=str(file)) from error


def make_key(file: Path) -> bytes:
    """Write a new key to a file that its owner alone can read; an existing file is kept and read."""
    if file.exists():
        return read_key(file) or b""
    library("cryptography", "encryption", "annotate")
    from cryptography.fernet import Fernet

    key: bytes = Fernet.generate_key()
    with writing(file):
        private_folder(file.resolve().parent)
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
            opened.write(key + b"\n")
            os.fsync(opened.fileno())
    return key


def _fernet(key: bytes | None) -> "Fernet | None":
    if key is None:
        return None
    library("cryptography", "encryption", "annotate")
    from cryptography.fernet import Fernet

    try:
        return Fernet(key)
    except ValueError as error:
        what, do = "the key is not a key", "make one with psycheck annotate new FOLDER --key-file FILE"
        raise BadInput(what, allowed="32 bytes in URL-safe base64", do=do) from error


def _sqlite(path: Path, *, new: bool) -> "Engine":
    import sqlalchemy as sa

    if not new and not path.is_file():
        do = "create it with psycheck annotate new FOLDER"
        raise BadInput("there is no annotation database", where=str(path), do=do)
    with writing(path):
        private_folder(path.resolve().parent)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        path.chmod(0o600)  # SQLite gives its log files the same rights
    engine = sa.create_engine(f"sqlite:///{path}", connect_args={"timeout": _WAIT}, **_ENGINE)

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        connection.isolation_level = None  # we say when a transaction begins
        # NORMAL keeps the file whole; `Database.write` syncs the log before anything is acknowledged.
        for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {pragma}")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        reading = connection.get_execution_options().get("reading", False)
        connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")

    return engine


def _migrate(database: Database, *, new: bool) -> None:
    """Bring the tables up to date, and check or set the key; a database of a newer version is refused."""
    import sqlalchemy as sa
    from alembic import command
    from alembic.config import Config
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory

    from psycheck.annotate.tables import server

    place = database.engine.url.render_as_string(hide_password=True)
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    script = ScriptDirectory.from_config(config)
    with database.write() as connection:
        if database.locks_rows:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
        current = MigrationContext.configure(connection).get_current_revision()
        if current is None and not new:
            do = "create it with psycheck annotate new FOLDER"
            raise BadInput("this database holds no annotation projects", where=place, do=do)
        if current is not None and current not in {one.revision for one in script.walk_revisions()}:
            do = "install the version of psycheck that made it, or a newer one"
            raise BadInput("a newer version of psycheck made this database", where=place, do=do)
        if current != script.get_current_head():
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
        if current is None:
            values = {"secret": token_hex(32)}
            if database.cipher is not None:
                values["proof"] = new_proof(database)
            connection.execute(server.insert(), [{"name": k, "value": v} for k, v in values.items()])
        check_proof(database, server_value(connection, "proof"), place)


def new_proof(database: Database) -> str:
    """A known word, encrypted with the key of a database: another key cannot read it."""
    return database.sealed(_PROOF)


def check_proof(database: Database, proof: str | None, place: str) -> None:
    """Refuse a missing key, one too many, and a wrong one."""
    if proof is None and database.cipher is not None:
        do = "leave the key out; a backup can be restored into a database with a key"
        raise BadInput("a key is given, but this database is not encrypted", where=place, do=do)
    if proof is not None and database.cipher is None:
        do = f"name the `key_file`, or set the environment variable {KEY_VARIABLE}"
        raise BadInput("this database is encrypted, and no key is given", where=place, do=do)
    if proof is not None:
        from cryptography.fernet import InvalidToken

        with suppress(InvalidToken):
            if database.opened(proof) == _PROOF:
                return
        raise BadInput(
            "the key is not the key of this database", where=place, do="use the key it was made with"
        )


def _sync(file: Path) -> None:
    opened = os.open(file, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


@contextmanager
def _clear_errors(engine: "Engine") -> Iterator[None]:
    """Turn a database that cannot be reached or written to into one clear error."""
    from sqlalchemy.exc import DatabaseError, OperationalError

    try:
        yield
    except DatabaseError as error:
        reached = isinstance(error, OperationalError) or "not a database" in str(error.orig)
        if not reached:
            raise
        place = engine.url.render_as_string(hide_password=True)
        what = f"the annotation database cannot be used ({type(error.orig).__name__})"
        do = "check that the server runs, the disk has space and you may write to it"
        raise StoreFailure(what, where=place, do=do) from error
