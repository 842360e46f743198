"""Curating: one pass over a generated dump, its peak memory, and its rate against plain `zstd -d | jq -c`.

    python benchmarks/curate.py                 a dump of 2 GB and one of 1 GB; writes the page in docs
    python benchmarks/curate.py --megabytes 50  a smaller one, nothing is written
    python benchmarks/curate.py --crowd         only 100,000 short posts, most by authors who report

The dump is made up: submissions with the fields of a Pushshift dump, words drawn by their rank. Each run is a
process of its own; its peak memory is what the system says of it (getrusage).
"""

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from time import perf_counter, process_time
from typing import NamedTuple

import numpy as np
from zstandard import ZstdCompressor

from timing import machine, table, verdict

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks" / "curate.md"
REPEATS = 3
REPORT = "I was diagnosed with {} two years ago. "
CONDITIONS = ("depression", "an anxiety disorder", "ADHD", "OCD", "PTSD", "bipolar disorder")
PLACES = (
    "depression",
    "Anxiety",
    "AskReddit",
    "gaming",
    "cooking",
    "hiking",
    "movies",
    "cats",
    "woodworking",
)
CROWD = 100_000
# The crowd as it was measured before shingles were held in slices and texts read from the disk one by one.
BEFORE = [
    "before (2026-11-16): all texts and the shingles of 20,000 held",
    "0.06",
    "21.7",
    "3",
    "14.7",
    "575",
]
HEAD = ["", "GB", "seconds", "MB/s", "processor seconds", "peak MB"]
# What else a line of a dump holds: about as many bytes as the post itself.
REST = json.loads(Path(__file__).with_name("post.json").read_text("utf-8"))


def posts(megabytes: int, seed: int = 0) -> Iterator[bytes]:
    """Lines of a made-up dump; a tenth of the authors post in listed subreddits, a fifth of those report."""
    choose = Random(seed)
    words = _drawn_words(seed)
    rest = json.dumps(REST, separators=(",", ":"))[1:-1]
    done, number = 0, 0
    while done < megabytes * 2**20:
        author = (
            int(min(choose.paretovariate(1.1), 1e9) * 20) % 60_000
            if choose.random() < 0.7
            else choose.randrange(60_000)
        )
        listed = author % 10 == 0
        start, length = choose.randrange(1_990_000), int(min(choose.lognormvariate(4.8, 0.8), 6_000))
        text = " ".join(words[start : start + length])
        if listed and author % 50 == 0 and choose.random() < 0.05:
            text = REPORT.format(CONDITIONS[author // 50 % len(CONDITIONS)]) + text
        head = {
            "author": f"Person_{author}",
            "created_utc": 1_514_764_800 + number * 60,
            "id": np.base_repr(number + 36**4, 36).lower(),
            "subreddit": PLACES[choose.randrange(2)]
            if listed and choose.random() < 0.5
            else PLACES[choose.randrange(2, 9)],
            "selftext": text,
            "title": " ".join(words[start : start + 8]),
        }
        line = f"{json.dumps(head, separators=(',', ':'))[:-1]},{rest}}}\n".encode()
        number += 1
        done += len(line)
        yield line


def _drawn_words(seed: int) -> list[str]:
    """Two million words, drawn by their rank."""
    random = np.random.default_rng(seed)
    vocabulary = [f"w{word:x}" for word in range(40_000)] + [
        "sad",
        "tired",
        "afraid",
        "happy",
        "the",
        "and",
        "I",
    ]
    weights = 1.0 / np.arange(1, len(vocabulary) + 1)
    order = random.permutation(len(vocabulary))
    drawn = random.choice(len(vocabulary), size=2_000_000, p=weights / weights.sum())
    return [vocabulary[order[k]] for k in drawn]


def crowd(seed: int = 0) -> Iterator[bytes]:
    """Short posts of 3,000 authors of whom 1,700 report a diagnosis, so that many are searched for copies."""
    choose, words = Random(seed), _drawn_words(seed)
    for number in range(CROWD):
        author, start = number % 3_000, choose.randrange(1_990_000)
        text = " ".join(words[start : start + 90])
        if number < 3_000 and author < 1_700:
            text = REPORT.format(CONDITIONS[author % len(CONDITIONS)]) + text
        head = {"author": f"Person_{author}", "created_utc": 1_514_764_800 + number * 60, "id": f"p{number}"}
        yield json.dumps({**head, "subreddit": PLACES[author % 9], "body": text}).encode() + b"\n"


def generate(path: Path, lines: Iterable[bytes]) -> int:
    """Write a dump compressed with zstd; return its raw bytes."""
    done = 0
    with path.open("wb") as file, ZstdCompressor(level=3, threads=1).stream_writer(file) as out:
        for line in lines:
            out.write(line)
            done += len(line)
    return done


class Cost(NamedTuple):
    """Seconds by the clock, seconds of processors, and peak megabytes."""

    seconds: float
    cpu: float
    peak: float = 0.0


def curated(path: Path, folder: Path, *, controls: bool = True) -> Cost:
    """What `psycheck curate` takes in a process of its own."""
    words = [sys.executable, str(Path(__file__)), "--child", str(path), str(folder)]
    words += ["--controls"] if controls else []
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return Cost(*map(float, done.stdout.split()[-3:]))


def child(path: Path, folder: Path, controls: bool) -> None:
    """What is measured."""
    from psycheck.commands.curate import curate_dumps
    from psycheck.corpora.curate.settings import Curating

    started = perf_counter()
    curate_dumps([path], out=folder, how=Curating(controls=controls))
    seconds = perf_counter() - started
    print(seconds, process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def plain(path: Path) -> Cost | None:
    """What `zstd -d | jq -c .` takes, or None where one of the two is not installed."""
    if shutil.which("zstd") is None or shutil.which("jq") is None:
        return None
    before, started = _of_children(), perf_counter()
    subprocess.run(f"zstd -dc --long=31 '{path}' | jq -c . > /dev/null", shell=True, check=True)
    return Cost(perf_counter() - started, _of_children() - before)


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(place: Path, megabytes: int) -> list[str]:
    """The table and what was promised; each is timed in turn, so that a busy machine slows all of them."""
    whole, half = place / "whole.zst", place / "half.zst"
    raw, raw_half = generate(whole, posts(megabytes)), generate(half, posts(megabytes // 2))
    ours, halves, jq = [], [], []
    for k in range(REPEATS if megabytes <= 200 else 1):
        halves.append(curated(half, place / f"half-{k}"))
        ours.append(curated(whole, place / f"whole-{k}"))
        if (cost := plain(whole)) is not None:
            jq.append(cost)
    fast, slow, base = min(ours), min(halves), min(jq, default=None)
    rows = [_row("psycheck curate --controls", raw, fast), _row("the same, half the dump", raw_half, slow)]
    size = raw_half / raw * 2
    lines = [
        verdict("peak memory, MB", fast.peak, 1_000, at_least=False),
        verdict("wall clock, twice the dump", fast.seconds / slow.seconds * size, 2.2, at_least=False),
        verdict("twice the dump, times, processors", fast.cpu / slow.cpu * size, 2.2, at_least=False),
    ]
    if base is None:
        lines.append("zstd or jq is not installed: the rate was compared with nothing (apt install zstd jq)")
    else:
        rows.append(_row("zstd -d &#124; jq -c .", raw, base))
        lines.append(verdict("rate against zstd | jq", base.seconds / fast.seconds, 0.5, at_least=True))
        lines.append(
            verdict("rate, of that of zstd | jq, processors", base.cpu / fast.cpu, 0.5, at_least=True)
        )
    return [table(HEAD, rows), *lines]


def measure_crowd(place: Path) -> list[str]:
    """The search for near-duplicates, where most of the posts go through it."""
    dump = place / "crowd.zst"
    raw = generate(dump, crowd())
    cost = min(curated(dump, place / f"crowd-{k}", controls=False) for k in range(REPEATS))
    rows = [_row("psycheck curate, slices of 200,000 shingles held", raw, cost), BEFORE]
    said = f"{CROWD:,} short posts, most by authors who report: 31,350 are searched for near-duplicates."
    return [said, table(HEAD, rows), verdict("peak memory, MB", cost.peak, 300, at_least=False)]


def _row(name: str, raw: int, cost: Cost) -> list[str]:
    peak = f"{cost.peak:.0f}" if cost.peak else ""
    rate = f"{raw / 1e6 / cost.seconds:.0f}"
    return [name, f"{raw / 1e9:.2f}", f"{cost.seconds:.1f}", rate, f"{cost.cpu:.1f}", peak]


def main() -> None:
    """Measure, print, and write the page for the full size."""
    if sys.argv[1:2] == ["--child"]:
        child(Path(sys.argv[2]), Path(sys.argv[3]), "--controls" in sys.argv)
        return
    parser = argparse.ArgumentParser()
    parser.add_argument("--megabytes", type=int, default=2_000)
    parser.add_argument("--crowd", action="store_true")
    said = parser.parse_args()
    megabytes = said.megabytes
    with tempfile.TemporaryDirectory() as place:
        lines = [
            "# Curating",
            f"`python benchmarks/curate.py`: {machine()}.",
            *([] if said.crowd else measure(Path(place), megabytes)),
            *measure_crowd(Path(place)),
        ]
    print("\n\n".join(lines))
    if megabytes >= 2_000 and not said.crowd:
        PAGE.write_text("\n\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
