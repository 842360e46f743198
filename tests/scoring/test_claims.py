"""Processes that share a store share the work: real processes, one of them killed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from planted import MODELS, Counting, Planted
from psycheck.models.scoring_function import PROBE
from psycheck.scoring.answers import answers
from psycheck.scoring.engine import score_once
from psycheck.scoring.owners import EXPIRES, this_process, works
from psycheck.scoring.remembered import RememberedScores
from psycheck.scoring.store import Store

MODEL = """
import os, time
labels = ["depression"]
def score(texts):
    with open(f"seen-{os.getpid()}", "a") as file:
        file.writelines(text + "\\n" for text in texts)
    time.sleep(0.001 * len(texts))
    return [len(text) / 100 for text in texts]
"""
RUN = """
import json, sys
from dataclasses import asdict
from pathlib import Path
from psycheck.scoring.answers import answers
texts = [f"text {'x' * (i % 50)} {i}" for i in range(int(sys.argv[1]))]
with answers(["python:slow.py:score?batch=20"], [(1.0, texts)], store=Path("s.sqlite")) as found:
    right = found.views[0].of(texts)[:, 0].tolist() == [len(text) / 100 for text in texts]
    print(json.dumps({"right": right, **asdict(next(iter(found.tallies.values())))}))
"""


def _started(place: Path, texts: int) -> subprocess.Popen[str]:
    (place / "slow.py").write_text(MODEL)
    command = [sys.executable, "-c", RUN, str(texts)]
    return subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, text=True)


def _seen(place: Path, *left_out: int) -> list[str]:
    files = [file for file in place.glob("seen-*") if int(file.name[5:]) not in left_out]
    lines = [line for file in files for line in file.read_text().splitlines()]
    # A function that names no labels is called once when it is opened.
    return [line for line in lines if line != PROBE]


def _ended(processes: list[subprocess.Popen[str]]) -> list[dict[str, int]]:
    return [json.loads(process.communicate(timeout=100)[0]) for process in processes]


def test_four_processes_score_each_text_once(tmp_path: Path) -> None:
    found = _ended([_started(tmp_path, 3000) for _ in range(4)])
    assert all(one["right"] for one in found)
    assert sum(one["scored"] for one in found) == 3000
    # Each process that finds stored scores of a `python:` model computes a few of them anew.
    assert len(_seen(tmp_path)) == 3000 + sum(one["checked"] for one in found)
    assert [one["distinct"] for one in found] == [3000] * 4
    assert sum(one["remembered"] for one in found) == 3 * 3000


def test_what_a_killed_process_claimed_is_scored_by_the_others(tmp_path: Path) -> None:
    killed, *others = [_started(tmp_path, 3000) for _ in range(4)]
    seen = tmp_path / f"seen-{killed.pid}"
    while not (seen.exists() and len(seen.read_text().splitlines()) > 200):
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)  # it stays a zombie until the others have ended
    found = _ended(others)
    assert all(one["right"] for one in found)
    stored_by_killed = 3000 - sum(one["scored"] for one in found)
    assert stored_by_killed >= 200 - 20 - 8
    # Of what the killed process scored, the batch under way is scored again, and no more.
    again = len(_seen(tmp_path)) - sum(one["checked"] for one in found) - 3000
    assert 0 <= again <= 20 + 8  # and the killed one may have computed 8 stored scores anew
    assert killed.wait() == -signal.SIGKILL


def test_items_of_another_process_come_last_and_are_taken_over_when_stored(own_store: Path) -> None:
    other, model = RememberedScores(Store(own_store), MODELS["oracle"], ("depression",)), MODELS["oracle"]
    texts = ["bb", "a", "ccc"]
    hashes = other.digests(texts)
    mine, left, _ = other.claim(texts, hashes, np.arange(3), 1)
    assert (mine.tolist(), left.tolist()) == ([0], [1, 2])
    counting = Counting(model)
    waits = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        other.add(["bb"], np.array([[0.25]]), hashes[:1])

    with answers([counting], [(1.0, texts)], sleep=sleep) as found:
        assert found.views[0].of(texts)[:, 0].tolist() == [0.25, 0.1, 0.1]
    assert counting.seen == ["ccc", "a"]
    assert len(waits) == 1
    tally = found.tallies["oracle"]
    assert (tally.scored, tally.remembered, tally.distinct) == (2, 1, 3)


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_run_that_fails_gives_its_claims_back(own_store: Path) -> None:
    store, counting = Store(own_store), Counting(MODELS["oracle"])
    view = RememberedScores(store, counting, ("depression",))
    view.add = _interrupted  # type: ignore[method-assign,assignment]  # Ctrl-C while a batch is committed
    with pytest.raises(KeyboardInterrupt):
        score_once([(counting, view)], [(1.0, ["a"])])
    with answers([Planted("oracle", lambda text: 0.5)], [(1.0, ["a"])]) as found:
        assert found.views[0].of(["a"])[0, 0] == 0.5


def test_an_owner_works_until_its_process_ends_or_elsewhere_until_it_expires() -> None:
    mine, now = this_process(), time.time()
    host, pid, started, token = mine.split()
    assert works(mine, now - 10 * EXPIRES)
    assert not works(f"{host} {pid} {int(started) + 1} {token}", now)  # another process has its number now
    ended = subprocess.Popen(["true"])
    ended.wait()
    assert not works(f"{host} {ended.pid} 1 {token}", now)
    assert works(f"elsewhere/1 {pid} {started} {token}", now - EXPIRES / 2)
    assert not works(f"elsewhere/1 {pid} {started} {token}", now - 2 * EXPIRES)
    assert not works(f"elsewhere/1 {pid} {started} {token}", now + 2 * EXPIRES)  # its clock is wrong
    assert os.getpid() == int(pid)
