"""Small made-up dumps whose funnel can be counted by hand."""

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

from zstandard import ZstdCompressor

WORDS = ("apple", "river", "stone", "cloud", "lamp", "chair", "window", "garden", "bread", "winter", "train")
BEGIN = 1_546_300_800  # 2019-01-01


def words(number: int, count: int = 12) -> str:
    """So many words that no other number gives."""
    random = Random(number)
    return " ".join(f"{random.choice(WORDS)}{random.randrange(1000)}" for _ in range(count))


def line(id_: str, author: str, subreddit: str, text: str, *, at: int = 0, **more: Any) -> dict[str, Any]:
    """A comment as it stands in a dump."""
    return {
        "id": id_,
        "author": author,
        "subreddit": subreddit,
        "created_utc": BEGIN + at,
        "body": text,
        **more,
    }


def village() -> list[dict[str, Any]]:
    """Six people and three lines that are no person's; 22 lines in all.

    Anna reports depression (4 long posts, one of them in r/cooking, 1 short one, 1 report), Ben anxiety
    (1 long post, 1 report), Cleo ADHD (2 long posts, 1 report). Dora (3 long posts, one with a term) and Emil
    (2 long posts) never post in a listed subreddit; Fay (3 long posts) does once.
    """
    told = "and it took me some time to say so here"
    lines = [line(f"a{k}", "Anna", "depression", words(k), at=k) for k in range(3)]
    lines += [
        line("a3", "anna", "cooking", words(3), at=3),
        line("a4", "Anna", "depression", "thanks all", at=4),
        line("a5", "Anna", "depression", f"I was diagnosed with depression {told}", at=5),
        line("b0", "Ben", "cooking", words(10), at=10),
        line("b1", "Ben", "cooking", f"My doctor diagnosed me with an anxiety disorder {told}", at=11),
        line("c0", "Cleo", "ADHD", words(20), at=20),
        line("c1", "Cleo", "hiking", words(21), at=21),
        line("c2", "Cleo", "ADHD", f"I finally got an ADHD diagnosis {told}", at=22),
        line("d0", "Dora", "cooking", words(30), at=30),
        line("d1", "Dora", "u_Dora", words(31), at=31),
        line("d2", "Dora", "cooking", f"{words(32)} said my therapist", at=32),
        line("e0", "Emil", "hiking", words(40), at=40),
        line("e1", "Emil", "hiking", words(41), at=41),
        line("f0", "Fay", "cooking", words(50), at=50),
        line("f1", "Fay", "cooking", words(51), at=51),
        line("f2", "Fay", "Anxiety", words(52), at=52),
        line("m0", "AutoModerator", "cooking", words(60), at=60),
        line("x0", "[deleted]", "cooking", words(61), at=61),
        line("g0", "Gus", "cooking", "[removed]", at=62),
    ]
    return lines


def packed(lines: Iterable[dict[str, Any] | bytes]) -> bytes:
    """Lines as the bytes of a dump; bytes are taken as they are."""
    return b"".join(one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n" for one in lines)


def write_dump(path: Path, lines: Iterable[dict[str, Any] | bytes]) -> Path:
    """Write a dump, compressed as its name says."""
    raw = packed(lines)
    if path.suffix == ".zst":
        raw = ZstdCompressor().compress(raw)
    elif path.suffix == ".gz":
        raw = gzip.compress(raw)
    path.write_bytes(raw)
    return path
