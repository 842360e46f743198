import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from process import psycheck
from psycheck.commands.score_shards import ShardTally, is_sharded, score_shards
from psycheck.core.registry import ENGINES
from psycheck.corpora.columns import Columns
from psycheck.corpora.opening import CorpusPlan
from psycheck.models.opening import open_model
from psycheck.scoring.ray_engine import RayEngine
from refusals import refused

HERE = Path(__file__).parents[1] / "scoring"  # of the planted model
SPEC = f"python:planted_cluster_model:model?folder={HERE}"


@pytest.fixture
def posts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three files of posts: Parquet, JSON lines and CSV."""
    monkeypatch.setenv("PLANTED_FOLDER", str(tmp_path))
    folder = tmp_path / "posts"
    folder.mkdir()
    tables = [
        pl.DataFrame(
            {"id": [f"{part}-{row}" for row in range(30)], "text": ["x" * row + "." for row in range(30)]}
        )
        for part in "abc"
    ]
    tables[0].write_parquet(folder / "a.parquet")
    tables[1].write_ndjson(folder / "b.jsonl")
    tables[2].write_csv(folder / "c.csv")
    return folder


def score(pattern: str, out: str, engine: str = "local") -> ShardTally:
    model = open_model(SPEC, batch=7)
    plan = CorpusPlan(path=pattern, columns=Columns())
    return score_shards(model, plan, out, engine=engine)


def expected_scores(rows: int = 30) -> list[float]:
    return [(length + 1) % 10 / 10 for length in range(rows)]


def test_each_file_has_its_scores_in_its_own_order(posts: Path, tmp_path: Path) -> None:
    tally = score(f"{posts}/*", str(tmp_path / "scores"))
    assert (tally.shards, tally.reused, tally.texts, tally.failed) == (3, 0, 90, 0)
    for part, source in zip("abc", ("a.parquet", "b.jsonl", "c.csv"), strict=True):
        (file,) = (tmp_path / "scores").glob(f"{source}-*.parquet")
        table = pl.read_parquet(file)
        assert table["id"].to_list() == [f"{part}-{row}" for row in range(30)]
        np.testing.assert_allclose(table["depression"], expected_scores())


def test_a_file_that_has_scores_is_not_scored_again_but_a_changed_one_is(posts: Path, tmp_path: Path) -> None:
    score(f"{posts}/*", str(tmp_path / "scores"))
    (tmp_path / "scored").unlink()
    assert score(f"{posts}/*", str(tmp_path / "scores")).reused == 3
    assert not (tmp_path / "scored").exists()

    pl.DataFrame({"id": ["new"], "text": ["a new text"]}).write_csv(posts / "c.csv")
    tally = score(f"{posts}/*", str(tmp_path / "scores"))
    assert (tally.reused, tally.texts) == (2, 1)


def test_a_text_that_cannot_be_scored_has_an_empty_cell(posts: Path, tmp_path: Path) -> None:
    pl.DataFrame({"id": ["1", "2"], "text": ["bad", "good"]}).write_csv(posts / "c.csv")
    tally = score(f"{posts}/c.*", str(tmp_path / "scores"))
    assert (tally.texts, tally.failed) == (2, 1)
    (file,) = (tmp_path / "scores").glob("c.csv-*.parquet")
    assert pl.read_parquet(file)["depression"].to_list() == [None, 0.4]


def test_urls_of_a_store_are_read_and_written_through_fsspec(posts: Path) -> None:
    import fsspec

    store = fsspec.filesystem("memory")
    store.put(str(posts), "/bucket/posts", recursive=True)
    tally = score("memory://bucket/posts/*", "memory://bucket/scores")
    assert (tally.shards, tally.texts) == (3, 90)
    assert score("memory://bucket/posts/*", "memory://bucket/scores").reused == 3
    (file,) = store.glob("/bucket/scores/a.parquet-*.parquet")
    with store.open(file) as content:
        np.testing.assert_allclose(pl.read_parquet(content.read())["depression"], expected_scores())
    assert not store.glob("/bucket/scores/*.partial")


def test_one_file_larger_than_the_memory_is_scored_into_a_folder_piece_by_piece(
    posts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("psycheck.corpora.stream.POSTS", 8)
    file = posts / "a.parquet"
    assert is_sharded(str(file), "scores")
    assert not is_sharded(str(file), "scores.csv")
    assert score(str(file), str(tmp_path / "scores")).texts == 30
    (scores,) = (tmp_path / "scores").glob("a.parquet-*.parquet")
    table = pl.read_parquet(scores)
    assert table["id"].to_list() == [f"a-{row}" for row in range(30)]
    np.testing.assert_allclose(table["depression"], expected_scores())


@pytest.mark.parametrize(
    ("corpus", "sharded"),
    [
        ("posts.csv", False),
        ("posts/*.parquet", True),
        ("s3://bucket/posts.jsonl", True),
        ("demo:tweets", False),
    ],
)
def test_patterns_and_urls_name_many_files(corpus: str, *, sharded: bool) -> None:
    assert is_sharded(corpus) is sharded


def test_no_file_and_an_unknown_kind_of_url_are_clear_errors(tmp_path: Path) -> None:
    with refused("shards.no-file"):
        score(f"{tmp_path}/*.parquet", str(tmp_path / "scores"))
    with refused("shards.bad-url"):
        score("nosuch://bucket/*.parquet", "nosuch://bucket/scores")


def test_the_command_scores_many_files_into_a_folder(posts: Path, tmp_path: Path) -> None:
    arguments = ("score", f"python:planted_cluster_model:model?folder={HERE}", f"{posts}/*")
    refused_file = psycheck(tmp_path, *arguments, "--out", "scores.csv")
    assert refused_file.returncode == 2
    done = psycheck(tmp_path, *arguments, "--out", "scores")
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "scores").glob("*.parquet"))) == 3


@pytest.fixture
def cluster(posts: Path) -> Iterator[None]:
    """A cluster of this test, which ends with it: its actors have the environment of the test."""
    with ENGINES.adding("ray", RayEngine):
        yield
    import ray

    ray.shutdown()


@pytest.mark.slow
def test_a_cluster_writes_the_same_files_and_survives_the_loss_of_a_worker(
    posts: Path, tmp_path: Path, cluster: None
) -> None:
    (tmp_path / "deadly").touch()
    pl.DataFrame({"id": ["1", "2"], "text": ["deadly text", "good"]}).write_csv(posts / "d.csv")
    tally = score(f"{posts}/*", str(tmp_path / "cluster"), "ray?actors=2")
    assert not (tmp_path / "deadly").exists()
    assert (tally.shards, tally.texts, tally.failed) == (4, 92, 0)

    score(f"{posts}/*", str(tmp_path / "local"))
    names = sorted(file.name for file in (tmp_path / "local").iterdir())
    assert sorted(file.name for file in (tmp_path / "cluster").iterdir()) == names
    for name in names:
        local = pl.read_parquet(tmp_path / "local" / name)
        assert pl.read_parquet(tmp_path / "cluster" / name).equals(local)


# A whole job as a user starts it, in a process that a test can kill.
_DRIVER = f"""
import sys
sys.path[:0] = [{str(Path(__file__).parent)!r}, {str(Path(__file__).parents[1])!r}]
from test_score_shards import score
score(sys.argv[1], sys.argv[2], "ray?actors=1")
"""


@pytest.mark.slow
def test_after_the_driver_was_killed_finished_files_are_neither_lost_nor_made_again(
    posts: Path, tmp_path: Path
) -> None:
    for part in "def":
        shutil.copy(posts / "a.parquet", posts / f"{part}.parquet")
    (tmp_path / "slow").touch()
    scores = tmp_path / "scores"
    words = [sys.executable, "-c", _DRIVER, f"{posts}/*", str(scores)]
    driver = subprocess.Popen(words, start_new_session=True)
    deadline = time.monotonic() + 300
    while len(list(scores.glob("*.parquet"))) < 2:
        assert driver.poll() is None, "the job ended before it was killed"
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(driver.pid, signal.SIGKILL)
    driver.wait()
    time.sleep(2)  # an actor that outlives its driver for a moment may finish a file

    finished = {file.name: file.read_bytes() for file in scores.glob("*.parquet")}
    assert 2 <= len(finished) < 6
    (tmp_path / "slow").unlink()
    (tmp_path / "scored").unlink()
    tally = score(f"{posts}/*", str(scores))
    assert (tally.shards, tally.reused) == (6, len(finished))
    assert len((tmp_path / "scored").read_text().splitlines()) == 30 * (6 - len(finished))
    assert len(list(scores.glob("*.parquet"))) == 6
    for name, content in finished.items():
        assert (scores / name).read_bytes() == content
