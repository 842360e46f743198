"""`study gender` in a process of its own, killed in the middle: the same call goes on and finds the same."""

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from time import monotonic, sleep

import pytest

from psycheck.runs.folder import open_run

# Notes of 120 people, vectors that are counts of words, and a log of every text that is encoded and every
# training that ends. The process waits for its end where it is told to: in a batch, or after a training.
STUDY = """
import sys, time
import numpy as np
from psycheck.core.corpus import Corpus
from psycheck.studies.gender_study import study_gender

log, out, wait = sys.argv[1:]
WORDS = ("she", "her", "he", "his", "low", "tired", "well", "calm")

def note(line):
    with open(log, "a") as file:
        file.write(line + "\\n")

class Slow:
    name, fingerprint, batches = "counts", "1", 0

    def encode(self, texts, /):
        if wait == f"batch {self.batches}":
            note("waits")
            time.sleep(600)
        self.batches += 1
        for text in texts:
            note("text " + text)
        return np.array([[text.lower().split().count(word) for word in WORDS] for text in texts], float)

def say(words):
    note("learned " + words.split(":")[0])
    if wait == "learner":
        note("waits")
        time.sleep(600)

random = np.random.default_rng(3)
texts = [
    f"{'She' if i // 2 % 2 else 'He'} came and felt "
    f"{random.choice(['low', 'tired', 'well'] if i % 2 == 0 else ['well', 'calm', 'low'])} on day {i} ."
    for i in range(120)
]
corpus = Corpus.of("small", texts, labels={"depression": [float(i % 2 == 0) for i in range(120)]})
study_gender(
    corpus, out=out, encoder=Slow(), names=["lr"], each=12, pairs=60,
    direct_bias=False, say=say,
)
"""


def started(log: Path, out: Path, wait: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen([sys.executable, "-c", STUDY, str(log), str(out), wait], env=environment)


def killed(log: Path, out: Path, wait: str) -> None:
    """Start it, wait until it stands where it was told to, and kill it as the system would."""
    process = started(log, out, wait)
    until = monotonic() + 60
    while not (log.is_file() and log.read_text().endswith("waits\n")):
        assert process.poll() is None, "it ended by itself"
        assert monotonic() < until
        sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    log.write_text(log.read_text().removesuffix("waits\n"))


@pytest.mark.slow
def test_after_two_kills_nothing_was_done_twice_and_the_findings_are_the_same(tmp_path: Path) -> None:
    log, out = tmp_path / "log", tmp_path / "out"
    killed(log, out, "batch 2")
    assert sum(line.startswith("text ") for line in log.read_text().splitlines()) == 2 * 64
    killed(log, out, "learner")
    assert not (out / "findings.jsonl").exists()
    assert started(log, out, "").wait() == 0
    whole, whole_log = tmp_path / "whole", tmp_path / "whole log"
    assert started(whole_log, whole, "").wait() == 0

    done = Counter(line for line in log.read_text().splitlines() if line.startswith("text "))
    # 48 training texts in three wordings and 60 pairs, each once.
    assert done == Counter(line for line in whole_log.read_text().splitlines() if line.startswith("text "))
    assert set(done.values()) == {1}
    assert len(done) == 48 * 3 + 60 * 2
    assert open_run(out).findings == open_run(whole).findings
    assert open_run(out).plan["chosen"] == open_run(whole).plan["chosen"]
