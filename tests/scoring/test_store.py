import resource
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from planted import MODELS, Planted
from psycheck.core.item import digest_of, digests_of
from psycheck.core.model import Capabilities
from psycheck.scoring.model_changes import why_again
from psycheck.scoring.remembered import RememberedScores
from psycheck.scoring.store import Store, default_store
from refusals import refused


def test_a_folder_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with refused("store.unusable", where="scores.sqlite"):
        Store(tmp_path / "file" / "scores.sqlite")


def test_a_file_that_is_no_store_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "scores.sqlite").write_bytes(b"this is a letter and no database, " * 100)
    with refused("store.foreign", where="scores.sqlite"):
        Store(tmp_path / "scores.sqlite")


def test_a_store_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    Store(tmp_path / "s.sqlite").close()
    with sqlite3.connect(tmp_path / "s.sqlite") as db:
        db.execute("PRAGMA user_version = 99")
    with refused("store.newer", where="s.sqlite"):
        Store(tmp_path / "s.sqlite")


def test_a_full_disk_is_told_and_the_store_stays_whole(own_store: Path) -> None:
    store = Store(own_store)
    view = RememberedScores(store, MODELS["oracle"], ("depression",))
    kept = [f"kept {i}" for i in range(50)]
    view.add(kept, np.full((50, 1), 0.5))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    many = [f"lost {i}" for i in range(20_000)]
    try:
        # The largest size that a file may have plays the part of the disk: writing past it fails for real.
        resource.setrlimit(resource.RLIMIT_FSIZE, (own_store.stat().st_size + 200_000, hard))
        with refused("store.disk", do="free space"):
            view.add(many, np.zeros((20_000, 1)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    store.close()
    again = Store(own_store)
    assert (RememberedScores(again, MODELS["oracle"], ("depression",)).of(kept) == 0.5).all()
    with sqlite3.connect(own_store) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


WRITER = """
import sys, numpy as np
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from planted import MODELS
from psycheck.scoring.remembered import RememberedScores
from psycheck.scoring.store import Store
store = Store(Path(sys.argv[1]))
view = RememberedScores(store, MODELS["oracle"], ("depression",))
for start in range(0, 4000, 100):
    texts = [f"text {i}" for i in range(start, start + 100)]
    view.add(texts, np.full((100, 1), 0.5))
"""


def test_two_processes_may_write_at_once(own_store: Path) -> None:
    arguments = [sys.executable, "-c", WRITER, str(own_store), str(Path(__file__).parents[1])]
    writers = [subprocess.Popen(arguments) for _ in range(2)]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    view = RememberedScores(Store(own_store), MODELS["oracle"], ("depression",))
    assert (view.of([f"text {i}" for i in range(4000)]) == 0.5).all()


class Parted(Planted):
    """A model that says what its fingerprint is made of."""

    capabilities: Capabilities


def _parted(**parts: str) -> Parted:
    model = Parted("m", lambda text: 0.0)
    object.__setattr__(model, "capabilities", Capabilities(parts=parts))
    object.__setattr__(model, "_fingerprint", "".join(sorted(parts.values())))
    return model


def test_why_something_is_scored_again(own_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Parted, "fingerprint", property(lambda self: self._fingerprint))
    store = Store(own_store)
    old, new = _parted(weights="w1", max_length="512"), _parted(weights="w1", max_length="128")
    assert "is new to" in why_again(store, old)
    RememberedScores(store, old, old.labels).add(["a"], np.zeros((1, 1)))
    assert "1 texts are cached" in why_again(store, old)
    assert "changed in max_length (512 → 128)" in why_again(store, new)


def test_the_store_is_where_the_environment_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PSYCHECK_STORE", str(tmp_path / "here.sqlite"))
    assert default_store() == tmp_path / "here.sqlite"
    monkeypatch.delenv("PSYCHECK_STORE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert default_store() == tmp_path / "cache" / "psycheck" / "scores.sqlite"


def test_a_hash_is_sixteen_bytes_in_two_halves() -> None:
    assert digests_of(["a", "b"]).tobytes() == digest_of("a") + digest_of("b")
