"""Backup and restore: the same rows, from one kind of database into the other, or nothing."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest
import zstandard
from cryptography.fernet import Fernet
from sqlalchemy import select

from annotators import answer, given, marks, team
from psycheck.annotate.backup import backup
from psycheck.annotate.database import Database, database_url, open_database
from psycheck.annotate.export import judgements, trail
from psycheck.annotate.membership import Person
from psycheck.annotate.restore import restore
from psycheck.annotate.tables import metadata, person
from psycheck.core.errors import BadInput
from refusals import refused

# A command line that prints its peak memory in KiB. The peak of `getrusage` is of no use here: a new process
# takes over that of the test's.
MEASURED = """
import re
from pathlib import Path
from psycheck.commands.main import run
try:
    run()
finally:
    print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
"""


def filled(db: Database) -> int:
    ours = team(db)
    ours.fill(4)
    who = ours.add("ada")
    for _ in range(3):
        answer(db, who, ours.project, marks(1, 0))
    return ours.project


def rows(db: Database) -> dict[str, list[tuple[object, ...]]]:
    with db.read() as connection:
        return {
            table.name: [tuple(row) for row in connection.execute(select(table).order_by(*table.primary_key))]
            for table in metadata.sorted_tables
            if table.name not in ("server", "session")
        }


def test_a_backup_restores_into_the_other_kind_of_database(url: str, postgres: str, tmp_path: Path) -> None:
    first = open_database(url, new=True)
    project = filled(first)
    file = tmp_path / "all.jsonl.zst"
    count = backup(first, file)
    assert file.stat().st_mode & 0o777 == 0o600
    other = database_url(tmp_path / "other")
    if url.startswith("sqlite"):
        other = _schema(postgres)
    second = open_database(other, new=True)
    assert restore(second, file) == count
    assert rows(second) == rows(first)
    ours = given(second, _person(second, "ada"), project)  # new rows get new ids
    assert ours.state == "claimed"
    for db in (first, second):
        db.close()


def _schema(server: str) -> str:
    from sqlalchemy import create_engine, text

    admin = create_engine(server.replace("postgresql://", "postgresql+psycopg://"))
    with admin.begin() as connection:
        connection.execute(text("CREATE SCHEMA restored"))
    admin.dispose()
    return f"{server}&options=-csearch_path%3Drestored"


def _person(db: Database, name: str) -> Person:
    with db.read() as connection:
        row = connection.execute(select(person).where(person.c.name == name)).one()
    return Person(row.id, row.name, row.owner)


def new(folder: Path, key: bytes | None = None) -> Database:
    return open_database(database_url(folder), key, new=True)


def test_an_encrypted_backup_needs_its_key_and_holds_no_text(tmp_path: Path) -> None:
    key, file = Fernet.generate_key(), tmp_path / "all.jsonl.zst"
    first = new(tmp_path / "first", key)
    project = filled(first)
    backup(first, file)
    assert b"post number" not in zstandard.ZstdDecompressor().decompressobj().decompress(file.read_bytes())
    with refused("backup.key-missing"):
        restore(new(tmp_path / "plain"), file)
    with refused("key.wrong"):
        restore(new(tmp_path / "wrong", Fernet.generate_key()), file)
    second = new(tmp_path / "second", key)
    restore(second, file)
    assert judgements(second, None, project).equals(judgements(first, None, project))


def test_a_plain_backup_can_become_encrypted(tmp_path: Path) -> None:
    first, key, file = new(tmp_path / "first"), Fernet.generate_key(), tmp_path / "all.jsonl.zst"
    project = filled(first)
    backup(first, file)
    second = new(tmp_path / "second", key)
    restore(second, file)
    second.close()
    assert b"post number" not in (tmp_path / "second" / "annotate.sqlite").read_bytes()
    again = open_database(database_url(tmp_path / "second"), key)
    assert list(trail(again, None, project)) == list(trail(first, None, project))


@pytest.mark.parametrize("keep", [0, 10, 300, -5])
def test_a_damaged_backup_restores_nothing(tmp_path: Path, keep: int) -> None:
    first, file = new(tmp_path / "first"), tmp_path / "all.jsonl.zst"
    filled(first)
    backup(first, file)
    file.write_bytes(file.read_bytes()[:keep])
    second = new(tmp_path / "second")
    with pytest.raises(BadInput, match="backup"):
        restore(second, file)
    assert all(not table for table in rows(second).values())


def test_a_backup_with_one_changed_bit_restores_nothing(tmp_path: Path) -> None:
    first, file = new(tmp_path / "first"), tmp_path / "all.jsonl.zst"
    filled(first)
    backup(first, file)
    content = bytearray(file.read_bytes())
    # The last four bytes are the sum over the content, which is changed here.
    content[-1] ^= 1
    file.write_bytes(content)
    second = new(tmp_path / "second")
    with refused("backup.unreadable"):
        restore(second, file)
    assert all(not table for table in rows(second).values())


@pytest.mark.parametrize(
    "row",
    [
        '{"table": "member", "row": {"project": 7, "person": 7, "role": "owner", "paused": false}}',
        '{"table": "person", "row": {"id": {"a": 1}, "name": "ada"}}',
        '{"table": "person", "row": {"id": 99999999999999999999, "name": "a", "password": "", "owner": true, '
        '"made": 0}}',
        '{"table": "person", "row": {"name": "ada"}}',
    ],
    ids=["refers-to-nothing", "no-number", "too-large", "incomplete"],
)
def test_rows_that_a_database_does_not_take_are_one_clear_error(row: str, tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl.zst"
    lines = ('{"format": "psycheck annotations 1"}', row, '{"rows": 1}', "")
    file.write_bytes(zstandard.compress("\n".join(lines).encode()))
    second = new(tmp_path / "second")
    with refused("backup.contradicts"):
        restore(second, file)
    assert all(not table for table in rows(second).values())


def test_a_database_with_people_is_not_overwritten(tmp_path: Path) -> None:
    first, file = new(tmp_path / "first"), tmp_path / "all.jsonl.zst"
    filled(first)
    backup(first, file)
    with refused("backup.database-not-empty"):
        restore(first, file)
    with refused("backup.bad-name", allowed=".jsonl.zst"):
        backup(first, tmp_path / "all.zip")


@pytest.mark.parametrize(
    "line",
    ["[1]", "7", "[" * 100_000, '{"a": 1}', '{"table": "item", "row": 3}',
     '{"table": "nothing", "row": {}}', '{"table": "item", "row": {"other": 1}}'],
)  # fmt: skip
@pytest.mark.parametrize("head", [True, False])
def test_a_file_that_is_no_backup_is_one_clear_error(line: str, head: bool, tmp_path: Path) -> None:
    first = '{"format": "psycheck annotations 1"}\n' if head else ""
    file = tmp_path / "all.jsonl.zst"
    file.write_bytes(zstandard.compress(f"{first}{line}\n".encode()))
    second = new(tmp_path / "second")
    with pytest.raises(BadInput, match="backup"):
        restore(second, file)
    assert all(not table for table in rows(second).values())


def test_a_small_file_that_unpacks_to_many_rows_is_read_within_bounds(tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl.zst"
    packer = zstandard.ZstdCompressor(level=1).compressobj()
    with file.open("wb") as packed:
        packed.write(packer.compress(b'{"format": "psycheck annotations 1"}\n'))
        for number in range(2_000):
            row = {"table": "failure", "row": {"who": f"{number} {'a' * 200_000}", "times": 1, "since": 0.0}}
            packed.write(packer.compress(json.dumps(row).encode() + b"\n"))
        packed.write(packer.flush())
    assert file.stat().st_size < 2**20

    place = tmp_path / "second"
    command = [sys.executable, "-c", MEASURED, "annotate", "restore", str(place), str(file)]
    restored = subprocess.run(command, capture_output=True, text=True)
    assert restored.returncode == 2
    assert "damaged" in restored.stderr
    # 400 MB of rows, without the line that ends a backup; in KiB.
    assert int(restored.stdout) < 300 * 1024
    assert all(not table for table in rows(open_database(database_url(place))).values())


def test_a_small_file_that_unpacks_to_an_endless_row_is_refused_within_bounds(tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl.zst"
    head = b'{"format": "psycheck annotations 1"}\n'
    packer = zstandard.ZstdCompressor(level=1).compressobj()
    with file.open("wb") as packed:
        packed.write(packer.compress(head + b'{"table": "'))
        for _ in range(1_000):
            packed.write(packer.compress(b"a" * 2**20))
        packed.write(packer.flush())
    assert file.stat().st_size < 2**20

    database = new(tmp_path / "second")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with refused("backup.endless-row"):
        restore(database, file)
    # In KiB: the row so far and a copy of it, never the whole gigabyte.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400 * 1024
