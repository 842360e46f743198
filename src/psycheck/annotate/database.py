"""The annotation database: SQLite or PostgreSQL, migrated when opened, texts encrypted if it has a key."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final

from psycheck.annotate.encryption_key import KEY_VARIABLE, cipher_of
from psycheck.core.errors import BadInput, StoreFailure, library
from psycheck.io.writing import private_folder, writing

if TYPE_CHECKING:
    from cryptography.fernet import Fernet
    from sqlalchemy import Connection, Engine

FILE: Final = "annotate.sqlite"
_MIGRATIONS: Final = Path(__file__).with_name("migrations")
_WAIT: Final = 60  # seconds that a process waits for another that is writing
_CHECKPOINTS: Final = 100  # tries to empty the log, a tenth of a second apart
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
        if self.cipher is None:
            return text
        return self.cipher.encrypt(text.encode("utf-8")).decode("ascii")

    def opened(self, stored: str) -> str:
        """A stored text as it was."""
        if self.cipher is None:
            return stored
        return self.cipher.decrypt(stored).decode("utf-8")

    def scrub(self) -> None:
        """Overwrite what was deleted: rewrite the file and empty the log of SQLite, or rewrite all tables."""
        with _clear_errors(self.engine):
            if self.locks_rows:
                plain = self.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
                with plain as connection:
                    _rewrite_tables(connection)
                return
            with self._writer:
                pooled = self.engine.raw_connection()
                try:
                    _rewrite_file(pooled.driver_connection)
                finally:
                    pooled.close()

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def database_url(place: str | Path) -> str:
    """The URL of a database: itself, or that of the SQLite file in a folder."""
    if isinstance(place, str) and "://" in place:
        return place
    return f"sqlite:///{Path(place) / FILE}"


def open_database(url: str, key: bytes | None = None, *, new: bool = False) -> Database:
    """Open a database and migrate it; with `new` make it where there is none, encrypted if `key` is given."""
    alchemy = library("sqlalchemy", "annotation", "annotate")
    try:
        target = alchemy.engine.make_url(url)
    except alchemy.exc.ArgumentError as error:
        raise BadInput(
            "the database URL cannot be read",
            code="database.bad-url",
            allowed=_ALLOWED,
        ) from error
    backend = target.get_backend_name()
    if backend == "postgresql":
        library("psycopg", "PostgreSQL", "annotate")
        engine = alchemy.create_engine(
            target.set(drivername="postgresql+psycopg"),
            pool_pre_ping=True,
            **_ENGINE,
        )
        database = Database(engine, cipher=cipher_of(key))
    elif backend == "sqlite" and target.database:
        engine = _sqlite(Path(target.database), new=new)
        database = Database(
            engine,
            cipher=cipher_of(key),
            # SQLite has one writer: threads of one process queue here, rather than poll the file.
            _writer=threading.Lock(),
            _log=Path(f"{target.database}-wal"),
        )
    else:
        raise BadInput(
            "this kind of database is not supported",
            code="database.unsupported",
            allowed=_ALLOWED,
        )

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

    query = server.select().with_only_columns(server.c.value).where(server.c.name == name)
    return connection.scalar(query)


def _sqlite(path: Path, *, new: bool) -> "Engine":
    import sqlalchemy as sa

    if not new and not path.is_file():
        raise BadInput(
            "there is no annotation database",
            code="database.missing",
            where=str(path),
            do="create it with psycheck annotate new FOLDER",
        )
    with writing(path):
        private_folder(path.resolve().parent)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        path.chmod(0o600)  # SQLite gives its log files the same rights
    engine = sa.create_engine(f"sqlite:///{path}", connect_args={"timeout": _WAIT}, **_ENGINE)

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        connection.isolation_level = None  # we say when a transaction begins
        # NORMAL keeps the file whole; `Database.write` syncs the log before anything is acknowledged.
        for pragma in (
            "journal_mode = WAL",
            "synchronous = NORMAL",
            "foreign_keys = ON",
            "secure_delete = ON",
        ):
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

    place = database.engine.url.render_as_string(hide_password=True)
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    script = ScriptDirectory.from_config(config)
    known_revisions = {migration.revision for migration in script.walk_revisions()}

    with database.write() as connection:
        # Two processes that open a database at once must not both migrate it; SQLite has one writer.
        if database.locks_rows:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))

        revision = MigrationContext.configure(connection).get_current_revision()
        _refuse_revision(revision, known_revisions, place, new=new)
        if revision != script.get_current_head():
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
        if revision is None:
            _store_server_values(database, connection)
        check_proof(database, server_value(connection, "proof"), place)


def _refuse_revision(revision: str | None, known_revisions: set[str], place: str, *, new: bool) -> None:
    """Refuse a database without our tables, unless it is to be made, and one of a newer version."""
    if revision is None and not new:
        raise BadInput(
            "this database holds no annotation projects",
            code="database.not-annotations",
            where=place,
            do="create it with psycheck annotate new FOLDER",
        )
    if revision is not None and revision not in known_revisions:
        raise BadInput(
            "a newer version of psycheck made this database",
            code="database.newer-version",
            where=place,
            do="install the version of psycheck that made it, or a newer one",
        )


def _store_server_values(database: Database, connection: "Connection") -> None:
    """Give a new database the secret that signs cookies, and the proof of its key if it has one."""
    from psycheck.annotate.tables import server

    values = {"secret": token_hex(32)}
    if database.cipher is not None:
        values["proof"] = new_proof(database)
    rows = [{"name": name, "value": value} for name, value in values.items()]
    connection.execute(server.insert(), rows)


def new_proof(database: Database) -> str:
    """A known word, encrypted with the key of a database: another key cannot read it."""
    return database.sealed(_PROOF)


def check_proof(database: Database, proof: str | None, place: str) -> None:
    """Refuse a missing key, one too many, and a wrong one."""
    if proof is None and database.cipher is None:
        return
    if proof is None:
        raise BadInput(
            "a key is given, but this database is not encrypted",
            code="key.not-needed",
            where=place,
            do="leave the key out; a backup can be restored into a database with a key",
        )
    if database.cipher is None:
        raise BadInput(
            "this database is encrypted, and no key is given",
            code="key.missing",
            where=place,
            do=f"name the `key_file`, or set the environment variable {KEY_VARIABLE}",
        )

    from cryptography.fernet import InvalidToken

    with suppress(InvalidToken):
        if database.opened(proof) == _PROOF:
            return
    raise BadInput(
        "the key is not the key of this database",
        code="key.wrong",
        where=place,
        do="use the key it was made with",
    )


def _rewrite_tables(connection: "Connection") -> None:
    """Rewrite all tables of PostgreSQL, and what its planner noted of the texts in them."""
    from sqlalchemy import String

    from psycheck.annotate.tables import metadata

    # ANALYZE keeps samples of each column, whole texts among them; of an emptied table it keeps the old.
    # Setting a column's type drops its samples; since the type is the same, nothing else changes.
    for table in metadata.sorted_tables:
        changes = [
            f"ALTER COLUMN {column.name} TYPE {column.type.compile(connection.dialect)}"
            for column in table.columns
            if isinstance(column.type, String)
        ]
        if changes:
            connection.exec_driver_sql(f"ALTER TABLE {table.name} {', '.join(changes)}")

    connection.exec_driver_sql("VACUUM FULL")
    connection.exec_driver_sql("ANALYZE")


def _rewrite_file(connection: Any) -> None:
    """Rewrite a file of SQLite without what was deleted, and empty its log, which holds old pages."""
    connection.execute("VACUUM")
    for _ in range(_CHECKPOINTS):
        busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if not busy:
            return
        time.sleep(0.1)
    raise StoreFailure(
        "what was erased is still in the log of the database, which somebody is reading",
        code="database.busy-log",
        do="run the same command again when nobody exports",
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
        # Other errors of a database are mistakes of ours.
        is_unusable = isinstance(error, OperationalError) or "not a database" in str(error.orig)
        if not is_unusable:
            raise
        raise StoreFailure(
            f"the annotation database cannot be used ({type(error.orig).__name__})",
            code="database.unusable",
            where=engine.url.render_as_string(hide_password=True),
            do="check that the server runs, the disk has space and you may write to it",
        ) from error
