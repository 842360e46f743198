"""The file of the store: damage, foreign files, read-only folders, locks, and its key."""

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from threading import Timer

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planted import MODELS, Counting, Planted
from psycheck.core.arrays import FloatArray
from psycheck.core.errors import PsycheckWarning, StoreFailure
from psycheck.core.item import digests_of
from psycheck.core.model import Model, Reply
from psycheck.scoring.answers import answers
from psycheck.scoring.model_changes import why_again
from psycheck.scoring.store import Store
from psycheck.scoring.store_database import MIGRATIONS
from psycheck.scoring.stored_rows import Batch
from psycheck.scoring.vectors import encode_once
from refusals import refused
from scoring.test_answers import Talker
from scoring.test_vectors_stored import Counting as CountingEncoder

TEXTS = ["x" * n for n in range(1, 30)]
FALLING, RISING = (
    Planted("falling", lambda text: 1 - len(text) / 100),
    Planted("rising", lambda t: len(t) / 100),
)


def _scores(path: Path, *models: Model, texts: Sequence[str] = TEXTS) -> list[FloatArray]:
    with answers(models, [(1.0, texts)], store=path) as found:
        return [view.of(texts) for view in found.views]


def _all_numbers(path: Path) -> list[FloatArray]:
    """Everything that a store can hold, computed where it does not hold it."""
    numbers = _scores(path, FALLING, RISING, Talker())
    numbers.append(encode_once(CountingEncoder(), TEXTS, store=path))
    with closing(Store(path)) as store:
        why_again(store, RISING)
        store.encoders()
        if (known := store.result(b"k" * 16)) is None:
            known = np.arange(5.0)
            store.add_result(b"k" * 16, known)
    return [*numbers, known]


def _checkpointed(path: Path) -> bytes:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.read_bytes()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes, list[FloatArray]]:
    path = tmp_path_factory.mktemp("filled") / "s.sqlite"
    numbers = _all_numbers(path)
    return path, _checkpointed(path), numbers


@given(place=st.integers(0, 2**20), bit=st.integers(0, 7))
@settings(max_examples=150)
def test_a_flipped_bit_leads_to_the_right_numbers_or_a_clear_error(
    filled: tuple[Path, bytes, list[FloatArray]], place: int, bit: int
) -> None:
    path, content, right = filled
    used = np.flatnonzero(np.frombuffer(content, np.uint8))  # where there is nothing, nothing can break
    damaged = bytearray(content)
    damaged[used[place % len(used)]] ^= 1 << bit
    for end in ("-wal", "-shm"):
        path.with_name(f"{path.name}{end}").unlink(missing_ok=True)
    path.write_bytes(damaged)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PsycheckWarning)
        try:
            found = _all_numbers(path)
        except StoreFailure:
            return
    for some, others in zip(found, right, strict=True):
        np.testing.assert_array_equal(some, others)


replies = st.builds(
    Reply,
    st.text(st.characters(), max_size=9),
    st.none() | st.integers(0, 2**40),
    st.none() | st.integers(0, 9),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4),
    st.none() | st.integers(0, 3) | st.floats(0, 1e9),
)


@given(
    st.lists(
        st.lists(st.tuples(st.floats(0, 1) | st.just(np.nan), replies), min_size=1, max_size=6), max_size=5
    )
)
@settings(max_examples=40)
def test_random_batches_survive_a_round_trip(rows: list[list[tuple[float, Reply]]]) -> None:
    with tempfile.TemporaryDirectory() as folder, closing(Store(Path(folder) / "s.sqlite")) as store:
        number, added = store.enter(RISING), {}
        for k, row in enumerate(rows):
            hashes = np.frombuffer(os.urandom(16 * len(row)), np.uint64).reshape(-1, 2)
            scores = np.array([score for score, _ in row]).reshape(-1, 1)
            cut = np.arange(-1, len(row) - 1, dtype=np.int32)
            batch = Batch(hashes, scores, cut)
            if k % 2:
                batch = Batch(hashes, scores[:, :0], cut, tuple(reply for _, reply in row))
            added[store.add(number, batch)] = batch
        found = dict(store.batches(number))
    assert list(found) == list(added)
    for one, other in zip(found.values(), added.values(), strict=True):
        np.testing.assert_array_equal(one.items, other.items)
        np.testing.assert_array_equal(one.scores, other.scores)
        assert (one.read.tolist(), one.replies) == (other.read.tolist(), other.replies)


def _changed(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(statement)


@pytest.mark.parametrize(
    "change",
    [
        "scores = zeroblob(length(scores))",
        "texts = CAST(substr(texts, 17) || substr(texts, 1, 16) AS BLOB)",
        "size = 28",
        "model = 2",
        "checksum = NULL",
        "read = 'text'",
    ],
)
def test_a_damaged_batch_is_dropped_with_one_warning_and_scored_again(own_store: Path, change: str) -> None:
    _scores(own_store, FALLING, RISING)
    _changed(own_store, f"UPDATE batch SET {change} WHERE model = 1")
    model, other = Counting(FALLING), Counting(RISING)
    with pytest.warns(PsycheckWarning, match="dropped 1 of its batches, with 29 items") as told:
        found = _scores(own_store, model, other)
    np.testing.assert_array_equal(found, [FALLING.score(TEXTS), RISING.score(TEXTS)])
    assert (len(told), len(model.seen), len(other.seen)) == (1, 29, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _scores(own_store, model, other)
    assert len(model.seen) == 29


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE reply SET text = x'31' WHERE batch = (SELECT max(batch) FROM reply)",
        "DELETE FROM reply WHERE batch = (SELECT max(batch) FROM reply)",
    ],
)
def test_a_damaged_reply_is_asked_for_again_with_its_batch(own_store: Path, change: str) -> None:
    _all_numbers(own_store)
    _changed(own_store, change)
    with pytest.warns(PsycheckWarning, match="dropped 1 of its batches, with 1 item"):
        found = _scores(own_store, Talker())
    assert found[0][6, 0] == 0.7
    with closing(sqlite3.connect(own_store)) as db:
        assert db.execute("SELECT count(*) FROM reply").fetchone() == (29,)


def test_damaged_vectors_and_results_are_computed_again(own_store: Path) -> None:
    right = _all_numbers(own_store)
    _changed(own_store, "UPDATE vectors SET vectors = zeroblob(length(vectors))")
    _changed(own_store, "UPDATE result SET numbers = zeroblob(length(numbers))")
    with pytest.warns(PsycheckWarning) as told:
        found = _all_numbers(own_store)
    for some, others in zip(found, right, strict=True):
        np.testing.assert_array_equal(some, others)
    assert len(told) == 2


def test_scores_damaged_before_there_were_checksums_are_not_taken(tmp_path: Path) -> None:
    path = _old(tmp_path, 2, scores=np.array([0.3, 7.0]))
    with pytest.warns(PsycheckWarning, match="1 of its batches, with 2 items"):
        found = _scores(path, MODELS["oracle"], texts=["a", "b"])
    assert found[0].tolist() == [[0.1], [0.1]]


def test_a_damaged_page_is_one_clear_error(own_store: Path) -> None:
    _all_numbers(own_store)
    content = bytearray(_checkpointed(own_store))
    content[4096:] = bytes(100) + content[4196:]
    own_store.write_bytes(content)
    with refused("store.damaged", do="backup"):
        _all_numbers(own_store)


def test_a_reply_of_a_dropped_batch_is_not_left_behind(own_store: Path) -> None:
    with closing(Store(own_store)) as store:
        number, none = store.enter(Talker()), np.zeros((1, 0))
        for text in ("first", "second"):  # ids are not used twice, so nothing of the first is left to meet
            batch = Batch(store.digests([text]), none, np.zeros(1, np.int32), (Reply(text),))
            last = store.add(number, batch)
            assert [found.replies[0].text for _, found in store.batches(number)] == [text]
            assert store.drop(number, last) == 1
        assert last == 2
    assert b"first" not in _checkpointed(own_store)


def _old(folder: Path, version: int, scores: FloatArray | None = None) -> Path:
    """A store as earlier versions wrote it."""
    path = folder / "old.sqlite"
    with closing(sqlite3.connect(path)) as db, db:
        for step in MIGRATIONS[:version]:
            db.executescript(step)
        db.execute("INSERT INTO model VALUES (1, 'planted-oracle', 'oracle', '[\"depression\"]', '{}')")
        items, cut = digests_of(["a", "b"]).tobytes(), np.full(2, -1, np.int32).tobytes()
        values = (np.array([0.3, 0.4]) if scores is None else scores).tobytes()
        db.execute(
            "INSERT INTO batch (model, size, texts, scores, read) VALUES (1, 2, ?, ?, ?)",
            (items, values, cut),
        )
        if version == 2:
            talker = "(2, 'talker-1', 'talker', '[\"depression\", \"anxiety\"]', '{}')"
            db.execute(f"INSERT INTO model VALUES {talker}")
            db.execute("INSERT INTO batch VALUES (2, 2, 2, ?, x'', ?, 2)", (items, cut))
            for place, text in enumerate((b"depression: 0.5", b"depression: 0.6")):
                db.execute("INSERT INTO reply VALUES (2, ?, ?, 1, NULL, 'stop', 1)", (place, text))
            db.execute("INSERT INTO encoder VALUES (1, 'a', 'counting', '{}')")
            vectors = np.array([[0.5, 1], [1.5, 2]], np.float32).tobytes()
            db.execute("INSERT INTO vectors VALUES (1, 1, 2, ?, ?, 2)", (items, vectors))
            db.execute("INSERT INTO result VALUES (?, ?)", (b"r" * 16, np.arange(3.0).tobytes()))
        db.execute(f"PRAGMA user_version = {version}")
    return path


def test_a_store_of_the_second_version_keeps_everything_but_its_unkeyed_hashes(tmp_path: Path) -> None:
    path = _old(tmp_path, 2)
    assert digests_of(["a"]).tobytes() in path.read_bytes()
    with answers([MODELS["oracle"], Talker()], [(1.0, ["a", "b"])], store=path) as found:
        assert [view.of(["a", "b"])[:, 0].tolist() for view in found.views] == [[0.3, 0.4], [0.5, 0.6]]
        assert [tally.scored for tally in found.tallies.values()] == [0, 0]
    encoder = CountingEncoder()
    assert encode_once(encoder, ["b", "a"], store=path).tolist() == [[1.5, 2], [0.5, 1]]
    assert encoder.encoded == []
    with closing(Store(path)) as store:
        result = store.result(b"r" * 16)
        assert result is not None
        assert result.tolist() == [0, 1, 2]
    content = _checkpointed(path)
    assert not any(hashed.tobytes() in content for hashed in digests_of(["a", "b"]))
    assert b"r" * 16 not in content
    assert int.from_bytes(content[68:72], "big") == int.from_bytes(b"psyc", "big")


def test_replies_of_the_third_version_keep_their_checksums_and_a_damaged_one_stays_damaged(
    tmp_path: Path,
) -> None:
    path, key = tmp_path / "old.sqlite", bytes(range(32))
    (tmp_path / "old.sqlite.key").write_bytes(key)

    def keyed(digests: bytes) -> bytes:
        parts = (digests[k : k + 16] for k in range(0, len(digests), 16))
        return b"".join(blake2b(part, key=key, digest_size=16).digest() for part in parts)

    def seal(*values: object) -> bytes:
        blobs = [value for value in values if isinstance(value, bytes)]
        frame = repr([(len(value),) if isinstance(value, bytes) else value for value in values]).encode()
        return blake2b(b"".join([frame, *blobs]), key=key, digest_size=16, person=b"seal").digest()

    cut = np.full(1, -1, np.int32).tobytes()
    with closing(sqlite3.connect(path)) as db, db:
        db.create_function("keyed", 1, keyed)
        db.create_function("seal", -1, seal)
        for step in MIGRATIONS[:3]:
            db.executescript(step)
        labels = '["depression", "anxiety"]'
        db.execute("INSERT INTO model VALUES (1, 'talker-1', 'talker', ?, '{}')", (labels,))
        for row, text in enumerate(["a", "b"], 1):
            items = keyed(digests_of([text]).tobytes())
            sealed = seal("talker-1", row, 1, items, b"", cut, 1)
            db.execute("INSERT INTO batch VALUES (?, 1, 1, ?, x'', ?, 1, ?)", (row, items, cut, sealed))
            reply = (row, 0, b"depression: 0.5", 1, None, "stop", 1.0)
            db.execute("INSERT INTO reply VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*reply, seal(*reply)))
        db.execute("UPDATE reply SET text = CAST('depression: 0.9' AS BLOB) WHERE batch = 2")
        db.execute("PRAGMA user_version = 3")
    talker = Talker()
    with pytest.warns(PsycheckWarning, match="damaged: dropped 1 of its batches"):
        assert _scores(path, talker, texts=["a", "b"])[0][:, 0].tolist() == [0.5, 0.1]
    assert talker.asked == ["b"]  # the damaged one; the other is found by its old hash
    assert _scores(path, talker, texts=["a", "b"])[0][:, 0].tolist() == [0.5, 0.1]
    assert talker.asked == ["b"]


def _foreign(path: Path, kind: str) -> None:
    if kind == "letter":
        path.write_bytes(b"Dear database, this is a letter.")
        return
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE batch (mine TEXT)" if kind == "tables" else MIGRATIONS[0].split(";")[0])
        db.execute(f"PRAGMA application_id = {0 if kind == 'tables' else 252006675}")
        db.execute("PRAGMA user_version = 0")


@pytest.mark.parametrize("kind", ["letter", "tables", "application"])
def test_a_file_of_another_program_is_refused_and_left_unchanged(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "mine.db"
    _foreign(path, kind)
    path.chmod(0o640)
    before, times = path.read_bytes(), path.stat()
    with refused("store.foreign", where="mine.db"):
        Store(path)
    assert path.read_bytes() == before
    assert (path.stat().st_mtime_ns, path.stat().st_mode) == (times.st_mtime_ns, times.st_mode)
    assert [file.name for file in tmp_path.iterdir()] == ["mine.db"]


READ_ONLY = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from planted import MODELS, Counting
from psycheck.scoring.answers import answers
from psycheck.scoring.engine import open_engine
open_engine()  # another user may not be able to read Python's own files
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
for texts in (["a", "b"], ["a", "new"]):
    model = Counting(MODELS["oracle"])
    with answers([model], [(1.0, texts)], store=Path(sys.argv[1])) as found:
        print(found.views[0].of(texts)[:, 0].tolist(), model.seen)
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users can reach."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    yield folder
    folder.chmod(0o700)
    shutil.rmtree(folder)


@pytest.mark.parametrize("version", [1, 3])
@pytest.mark.parametrize("journal", ["none", "left"])
def test_a_store_that_may_only_be_read_is_read(open_folder: Path, version: int, journal: str) -> None:
    path = _old(open_folder, 1)
    if version == 3:
        Store(path).close()
    reader = sqlite3.connect(path)
    reader.execute("PRAGMA journal_mode = WAL")
    if journal == "left":  # another process has the store open and its last batch is in the journal
        reader.execute("PRAGMA wal_autocheckpoint = 0")
        reader.execute("UPDATE model SET name = 'oracle'")
        reader.commit()
    else:
        reader.close()
    before = {
        file.name: file.read_bytes() for file in open_folder.iterdir() if not file.name.endswith("-shm")
    }
    for file in open_folder.iterdir():
        file.chmod(0o444)
    open_folder.chmod(0o555)
    arguments = [sys.executable, "-c", READ_ONLY, str(path), str(Path(__file__).parents[1])]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == ["[0.3, 0.4] []", "[0.3, 0.1] ['new']"], done.stderr
    assert done.stderr.count("may only be read: new scores are used, but not stored") == 1
    after = {file.name: file.read_bytes() for file in open_folder.iterdir() if not file.name.endswith("-shm")}
    assert after == before
    reader.close()


def test_a_lock_is_another_process_that_writes(own_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("psycheck.scoring.store_file.WAIT", 0.1)
    with closing(Store(own_store)) as store, closing(sqlite3.connect(own_store)) as other:
        other.execute("BEGIN IMMEDIATE")
        with refused("store.locked") as caught:
            store.enter(RISING)
        assert "(waited 0.1 s)" in caught.value.what
        assert "free space" not in str(caught.value)


def test_a_full_disk_is_not_a_lock(own_store: Path) -> None:
    with closing(Store(own_store)) as store:
        number = store.enter(RISING)
        store._db.execute(
            "PRAGMA max_page_count = 1"
        )  # the file may not grow: SQLite says that the disk is full
        batch = Batch(np.zeros((9999, 2), np.uint64), np.zeros((9999, 1)), np.zeros(9999, np.int32))
        with refused("store.full", do="free space"):
            store.add(number, batch)


def test_a_hash_in_one_store_says_nothing_about_another(tmp_path: Path) -> None:
    with closing(Store(tmp_path / "a.sqlite")) as one, closing(Store(tmp_path / "b.sqlite")) as other:
        first, second = one.digests(["a text", "b"]), other.digests(["a text", "b"])
        assert (first == one.digests(["a text", "b"])).all()
    assert not np.isin(first, second).any()
    assert not np.isin(first, digests_of(["a text", "b"])).any()


@pytest.mark.parametrize("key", [None, b"", bytes(32)])
def test_a_store_without_its_key_is_one_clear_error(own_store: Path, key: bytes | None) -> None:
    _scores(own_store, RISING)
    file = own_store.with_name("scores.sqlite.key")
    kept = file.read_bytes()
    file.unlink()
    if key is not None:
        file.write_bytes(key)
    with refused("store.key", do="restore the key file") as caught:
        Store(own_store)
    assert "scores.sqlite.key" in caught.value.what
    file.write_bytes(kept)
    model = Counting(RISING)
    with answers([model], [(1.0, TEXTS)]):
        assert model.seen == []


def test_a_key_that_a_killed_migration_left_is_taken(tmp_path: Path) -> None:
    path, key = _old(tmp_path, 2), os.urandom(32)
    path.with_name("old.sqlite.key").write_bytes(key)
    assert _scores(path, MODELS["oracle"], texts=["a", "b"])[0].tolist() == [[0.3], [0.4]]
    assert path.with_name("old.sqlite.key").read_bytes() == key


@pytest.mark.parametrize("umask", [0o000, 0o777])
def test_only_the_owner_may_read_any_file_whatever_the_umask(own_store: Path, umask: int) -> None:
    own_store.parent.mkdir()
    before = os.umask(umask)
    try:
        with answers([RISING], [(1.0, TEXTS)]):
            modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in own_store.parent.iterdir()}
    finally:
        os.umask(before)
    assert modes == dict.fromkeys([f"scores.sqlite{end}" for end in ("", "-wal", "-shm", ".key")], 0o600)


def test_a_link_to_a_store_finds_its_key(own_store: Path, tmp_path: Path) -> None:
    _scores(own_store, RISING)
    (tmp_path / "link").symlink_to(own_store)
    model = Counting(RISING)
    with answers([model], [(1.0, TEXTS)], store=tmp_path / "link"):
        assert model.seen == []


def test_a_store_that_another_process_is_writing_its_first_row_to_is_waited_for(own_store: Path) -> None:
    Store(own_store).close()
    with closing(sqlite3.connect(own_store, isolation_level=None, check_same_thread=False)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN IMMEDIATE")
        Timer(0.3, other.execute, ("ROLLBACK",)).start()
        Store(own_store).close()  # SQLite's own waiting does not cover the switch to WAL
