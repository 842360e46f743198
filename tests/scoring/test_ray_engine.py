import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from planted import MODELS
from psycheck.models.opening import open_model
from psycheck.scoring.engine import Engine, engine_name, open_engine, score_once
from psycheck.scoring.local import LocalEngine
from psycheck.scoring.ray_batch import score_batch
from psycheck.scoring.ray_engine import RayEngine
from psycheck.scoring.remembered import RememberedScores
from psycheck.scoring.store import Store
from psycheck.scoring.tally import Tally
from refusals import refused

HERE = Path(__file__).parent
SPEC = f"python:planted_cluster_model:model?folder={HERE}"
TEXTS = [f"text {'x' * (number % 7)} {number}" for number in range(600)]
# A whole job as a user starts it, in a process that a test can kill.
_DRIVER = f"""
import sys
from pathlib import Path
sys.path[:0] = [{str(HERE)!r}, {str(HERE.parent)!r}]
from test_ray_engine import TEXTS, score
from psycheck.scoring.ray_engine import RayEngine
score(Path(sys.argv[1]), TEXTS, RayEngine(actors=1))
"""


def score(store: Path, texts: list[str], engine: Engine) -> tuple[Tally, list[float]]:
    """Score texts with the planted model, 20 at once; returns the tally, and the scores from the store."""
    model = open_model(SPEC, batch=20)
    with closing(Store(store)) as opened_store:
        view = RememberedScores(opened_store, model, model.labels)
        tallies = score_once([(model, view)], [(1.0, texts)], engine=engine)
        assert len(view) == len(set(texts)) - tallies["planted"].failed
        return tallies["planted"], view.of(texts)[:, 0].tolist()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the planted model notes what it does, in whatever process it is."""
    monkeypatch.setenv("PLANTED_FOLDER", str(tmp_path))
    return tmp_path


@pytest.fixture
def cluster(folder: Path) -> Iterator[None]:
    """A cluster of this test, which ends with it: its actors have the environment of the test."""
    yield
    import ray

    ray.shutdown()


@pytest.mark.parametrize(
    ("spec", "engine"),
    [
        ("ray", RayEngine()),
        ("ray?actors=4", RayEngine(actors=4)),
        ("ray://10.0.0.1:10001", RayEngine("ray://10.0.0.1:10001")),
        ("ray://head:10001?actors=64", RayEngine("ray://head:10001", 64)),
    ],
)
def test_the_spec_names_the_cluster_and_its_actors(spec: str, engine: RayEngine) -> None:
    assert RayEngine.of_spec(spec) == engine
    assert engine_name(spec) == "ray"


@pytest.mark.parametrize("spec", ["ray://", "ray?actors=many", "ray?workers=4", "ray:8"])
def test_a_spec_that_cannot_be_read_is_refused(spec: str) -> None:
    with refused("engine.bad-spec"):
        RayEngine.of_spec(spec)


def test_the_local_engine_takes_no_options() -> None:
    assert open_engine("local") == LocalEngine()
    with refused("engine.no-options"):
        open_engine("local?actors=4")


def test_a_model_of_this_process_cannot_be_sent_to_others(own_store: Path) -> None:
    model = MODELS["oracle"]
    view = RememberedScores(Store(own_store), model, model.labels)
    with refused("engine.model-without-spec"):
        score_once([(model, view)], [(1.0, ["a"])], engine=RayEngine())


def test_a_batch_is_halved_until_what_the_model_refuses_stands_alone(folder: Path) -> None:
    model = open_model(SPEC)
    scored = score_batch(model, ["a", "bad", "ccc", "dd", "bad too"])
    assert scored.rows.tolist() == [0, 2, 3]
    np.testing.assert_allclose(scored.scores[:, 0], [0.1, 0.3, 0.2])
    assert sum(scored.complaints.values()) == 2
    assert scored.read is not None
    assert scored.read.tolist() == [1, 3, 2]


@pytest.mark.slow
def test_a_cluster_gives_the_scores_of_the_local_engine_and_opens_the_model_once_per_actor(
    folder: Path, cluster: None
) -> None:
    texts = [*TEXTS, "bad text"]
    tally, scores = score(folder / "ray.sqlite", texts, RayEngine(actors=2))
    assert (tally.scored, tally.failed) == (600, 1)
    actors = set((folder / "opened").read_text().split()) - {str(os.getpid())}
    assert 1 <= len(actors) <= 2

    local_tally, local_scores = score(folder / "local.sqlite", texts, LocalEngine())
    assert (local_tally.scored, local_tally.failed) == (600, 1)
    np.testing.assert_array_equal(scores, local_scores)


@pytest.mark.slow
def test_the_batches_of_a_killed_worker_are_scored_by_another(folder: Path, cluster: None) -> None:
    (folder / "deadly").touch()
    tally, scores = score(folder / "ray.sqlite", [*TEXTS, "deadly text"], RayEngine(actors=2))
    assert not (folder / "deadly").exists()
    assert (tally.scored, tally.failed) == (601, 0)
    np.testing.assert_allclose(scores[:600], [len(text) % 10 / 10 for text in TEXTS])


@pytest.mark.slow
def test_after_the_driver_was_killed_the_next_one_scores_only_what_is_missing(folder: Path) -> None:
    store = folder / "ray.sqlite"
    (folder / "slow").touch()
    driver = subprocess.Popen([sys.executable, "-c", _DRIVER, str(store)], start_new_session=True)
    stored = _wait_for_scores(store, driver)
    os.killpg(driver.pid, signal.SIGKILL)
    driver.wait()
    assert 0 < stored < 600

    (folder / "slow").unlink()
    (folder / "scored").unlink()
    stored = _stored(store)
    tally, scores = score(store, TEXTS, LocalEngine())
    assert tally.remembered == stored
    assert tally.scored == 600 - stored
    assert len((folder / "scored").read_text().splitlines()) == 600 - stored
    np.testing.assert_allclose(scores, [len(text) % 10 / 10 for text in TEXTS])


def _wait_for_scores(store: Path, driver: subprocess.Popen[bytes]) -> int:
    """How many scores a job has stored, as soon as it has some."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        assert driver.poll() is None, "the job ended before it was killed"
        stored = _stored(store)
        if stored:
            return stored
        time.sleep(0.2)
    raise AssertionError("nothing was stored in time")


def _stored(store: Path) -> int:
    if not store.exists():
        return 0
    model = open_model(SPEC, batch=20)
    with closing(Store(store)) as opened_store:
        return len(RememberedScores(opened_store, model, model.labels))
