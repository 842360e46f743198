"""The database: migrated when opened, private, encrypted where asked, refused clearly where it must be."""

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from cryptography.fernet import Fernet
from sqlalchemy import select, text
from sqlalchemy.exc import IntegrityError

from annotators import given, team
from psycheck.annotate.database import Database, database_url, open_database
from psycheck.annotate.encryption_key import make_key, read_key
from psycheck.annotate.tables import item, metadata
from psycheck.core.errors import BadInput
from refusals import refused


def test_migrations_make_exactly_the_tables(db: Database) -> None:
    with db.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_opening_again_changes_nothing(url: str) -> None:
    first = open_database(url, new=True)
    ours = team(first)
    first.close()
    again = open_database(url)
    with again.read() as connection:
        assert connection.scalar(text("SELECT name FROM project")) == "conditions"
    assert ours.owner.owner
    again.close()


def test_a_database_of_a_newer_version_is_refused(url: str) -> None:
    first = open_database(url, new=True)
    with first.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    first.close()
    with refused("database.newer-version"):
        open_database(url)


def test_a_database_without_tables_is_not_filled_by_accident(url: str) -> None:
    with pytest.raises(BadInput) as error:
        open_database(url)
    # SQLite has no file, PostgreSQL a database that holds something else.
    assert error.value.code == (
        "database.missing" if url.startswith("sqlite") else "database.not-annotations"
    )


@pytest.mark.parametrize("wrong", ["mysql://host/name", "://", "sqlite://", "nonsense://x"])
def test_other_databases_are_refused(wrong: str) -> None:
    with pytest.raises(BadInput):
        open_database(wrong)


def test_a_server_that_does_not_answer_is_one_clear_error() -> None:
    with refused("database.unusable") as error:
        open_database("postgresql://someone:hunter22@127.0.0.1:1/name")
    assert "hunter22" not in str(error.value)


def test_a_file_that_is_not_a_database_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "annotate.sqlite").write_bytes(b"somebody's notes" * 100)
    with refused("database.unusable"):
        open_database(database_url(tmp_path))
    assert (tmp_path / "annotate.sqlite").read_bytes() == b"somebody's notes" * 100


def test_the_file_and_its_folder_are_for_their_owner_alone(tmp_path: Path) -> None:
    db = open_database(database_url(tmp_path / "own"), new=True)
    team(db)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "own").iterdir()}
    assert set(modes.values()) == {0o600}
    assert (tmp_path / "own").stat().st_mode & 0o777 == 0o700
    db.close()


def test_with_a_key_no_text_is_on_the_disk_in_the_clear(tmp_path: Path) -> None:
    key = make_key(tmp_path / "key")
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    assert make_key(tmp_path / "key") == key
    db = open_database(database_url(tmp_path / "own"), key, new=True)
    ours = team(db)
    ours.fill(3)
    found = given(db, ours.add("ada"), ours.project)
    assert found.text.startswith("post number")
    db.close()
    stored = b"".join(path.read_bytes() for path in (tmp_path / "own").iterdir())
    assert b"post number" not in stored
    with closing(sqlite3.connect(tmp_path / "own" / "annotate.sqlite")) as plain:
        assert plain.execute("SELECT count(*) FROM item").fetchone() == (3,)


def test_a_wrong_or_missing_or_needless_key_is_one_clear_error(url: str) -> None:
    open_database(url, Fernet.generate_key(), new=True).close()
    with refused("key.wrong"):
        open_database(url, Fernet.generate_key())
    with refused("key.missing"):
        open_database(url)
    with refused("key.malformed"):
        open_database(url, b"short")


def test_a_key_for_a_plain_database_is_refused(url: str) -> None:
    open_database(url, new=True).close()
    with refused("key.not-needed"):
        open_database(url, Fernet.generate_key())


def test_the_key_comes_from_a_file_or_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PSYCHECK_ANNOTATE_KEY", "from-outside")
    assert read_key(None) == b"from-outside"
    monkeypatch.delenv("PSYCHECK_ANNOTATE_KEY")
    assert read_key(None) is None
    with refused("key.unreadable", where="none"):
        read_key(tmp_path / "none")


def test_a_failed_transaction_leaves_nothing(db: Database) -> None:
    ours = team(db)
    ours.fill(2)
    with suppress(RuntimeError), db.write() as connection:
        connection.execute(item.update().values(open=0))
        raise RuntimeError
    with db.read() as connection:
        assert set(connection.scalars(select(item.c.open))) == {2}


def test_an_error_of_the_database_quotes_no_parameters(db: Database) -> None:
    ours = team(db)
    row = {"project": ours.project, "queue": "", "kind": "item", "name": "p", "text": "I cannot sleep"}
    with pytest.raises(IntegrityError) as error, db.write() as connection:  # `about` is missing
        connection.execute(item.insert().values(**row, lane=1, position=1, open=1, made=0.0))
    assert "sleep" not in str(error.value).partition("[SQL")[2]
