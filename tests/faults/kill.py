"""Kill verbs with SIGKILL at random moments: the same command then gives the same result, without waste."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from dumps_of_ours import village, write_dump
from faults.attack import Count, posts, script, workshop
from faults.mutate_runs import SUITE

BATCH = 20  # of the model
COMMANDS = {
    "audit": ("audit", "python:mymodel:model", "posts.csv", "--suite", "suite.toml", "--out", "out"),
    "score": ("score", "python:mymodel:model", "posts.csv", "--out", "out/scores.csv"),
    "curate": (
        *("curate", "dump.zst", "--min-words", "3", "--min-posts", "1"),
        "--salt",
        "salt",
        "--force",
        "--out",
        "out",
    ),
    "train": ("train", "posts.csv", "--start", "tfidf+lr", "--label", "depression", "--out", "out"),
    "improve": ("improve", "tfidf", "posts.csv", "test.csv", "--label", "depression", "--out", "out"),
}
RESULTS = ("findings.jsonl", "scores.csv", "training.json")


def attack(dice: random.Random, tries: int, verbs: tuple[str, ...] = tuple(COMMANDS)) -> Count:
    """Kill a verb, run it again, and compare its results with those of a run that nobody killed."""
    count = Count("`kill -9` of " + ", ".join(verbs))
    with workshop() as place:
        make(place)
        whole = {verb: _whole(place, verb) for verb in verbs}
        for number in range(tries):
            verb = verbs[number % len(verbs)]
            shutil.rmtree(place / "out", ignore_errors=True)
            for old in [*place.glob("scores.sqlite*"), place / "sent.txt"]:
                old.unlink(missing_ok=True)
            seconds, results = whole[verb]
            after = dice.random() * seconds
            killed = _start(place, verb)
            try:
                killed.wait(after)
            except subprocess.TimeoutExpired:
                os.killpg(killed.pid, signal.SIGKILL)
                killed.wait()
            again = _start(place, verb)
            said = again.communicate(timeout=300)[1]
            problem = "" if again.returncode == 0 else f"exit {again.returncode}: {said[-300:]}"
            problem = problem or ("" if _results(place / "out") == results else "other results")
            count.add(f"{verb} after {after:.2f} s", problem or _waste(place / "sent.txt"))
    return count


def make(place: Path) -> None:
    """Write the inputs of all verbs."""
    for name, rows in (("posts.csv", 120), ("test.csv", 40)):
        listed = posts(rows)
        for row in listed:
            part = ("train", "dev", "test")[int(row["id"][1:]) // 2 % 3]
            row["split"] = "test" if name == "test.csv" else part
            del row["created"]
        lines = [",".join(listed[0]), *(",".join(row.values()) for row in listed)]
        (place / name).write_text("\n".join(lines) + "\n")
    (place / "suite.toml").write_text(SUITE)
    (place / "salt").write_text("5a" * 32 + "\n")
    write_dump(place / "dump.zst", village())


def _whole(place: Path, verb: str) -> tuple[float, dict[str, object]]:
    """How long a run takes that is not killed, and its results."""
    shutil.rmtree(place / "out", ignore_errors=True)
    begin = time.monotonic()
    run = _start(place, verb)
    said = run.communicate(timeout=300)[1]
    assert run.returncode == 0, said
    return time.monotonic() - begin, _results(place / "out")


def _start(place: Path, verb: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "psycheck", *COMMANDS[verb]],
        cwd=place,
        env={**os.environ, "SENT": str(place / "sent.txt"), "SLOW": "0.02"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _results(folder: Path) -> dict[str, object]:
    """The results of a folder without times, which differ between runs."""
    found: dict[str, object] = {}
    for name in RESULTS:
        if (folder / name).is_file():
            text = (folder / name).read_text("utf-8")
            found[name] = json.loads(text)["dev"] if name == "training.json" else text
    return found


def _waste(log: Path) -> str:
    """How many texts were scored twice, if more than the batch under way."""
    sent = log.read_text().split() if log.exists() else []
    twice = len(sent) - len(set(sent))
    return f"{twice} texts scored twice" if twice > BATCH else ""


if __name__ == "__main__":
    script(attack, 60)
