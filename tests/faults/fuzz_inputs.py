"""Damage every kind of input file at random: each verb ends with 0, 2 or 3, no traceback and no text."""

import csv
import io
import json
import random
from collections.abc import Callable
from pathlib import Path

import polars as pl
from zstandard import ZstdCompressor

from dumps_of_ours import village, write_dump
from faults.attack import SECRET, Count, posts, problem, psycheck, script, workshop
from faults.mutate_runs import PLAN, SUITE

WORDS = ("sad", "low", "he", "she", "man", "woman", "his", "her", "boy", "girl", "male", "female")
HOSTILE = (
    *(
        b"\x00",
        b"\xff\xfe",
        b"\xed\xa0\x80",
        b'"',
        b"\r",
        b"\n\n",
        b",",
        b"\t",
        b"{",
        b"[" * 50_000,
        b"]",
        b"nan",
    ),
    *(b"1e999", b"-1", b"\\ud83d", b"=1+1", b"\xef\xbb\xbf", b"'''", b"[[", b"a." * 5_000, b"9" * 5_000, b""),
)


def attack(dice: random.Random, tries: int) -> Count:
    """Damage corpora, dumps, plans, suites, score files and vectors: the exit code is 0, 2 or 3."""
    count = Count("corpora, dumps, plans, suites, score files, vectors and word lists damaged")
    with workshop() as place:
        whole = make(place)
        for words in VERBS.values():
            assert psycheck(place, *words).code == 0, words
        for _ in range(tries):
            name = dice.choice(list(VERBS))
            what = damage(place / name, whole[name], dice)
            count.add(f"{name}: {what}", problem(psycheck(place, *VERBS[name])))
            (place / name).write_bytes(whole[name])
    return count


SCORE = ("score", "python:mymodel:model")
VERBS: dict[str, tuple[str, ...]] = {
    **{
        f"posts{kind}": (*SCORE, f"posts{kind}")
        for kind in (".csv", ".tsv", ".jsonl", ".parquet", ".csv.zst")
    },
    "dump.zst": ("curate", "dump.zst", "--min-words", "3", "--min-posts", "1", "--force", "--out", "curated"),
    "dump.jsonl": (
        "curate",
        "dump.jsonl",
        "--min-words",
        "3",
        "--min-posts",
        "1",
        "--force",
        "--out",
        "curated",
    ),
    "plan.toml": ("audit", "--plan", "plan.toml", "--quiet", "--out", "now"),
    "suite.toml": ("suite", "check", "suite.toml"),
    **{
        f"scores{kind}": ("score", f"scores:scores{kind}", "posts.csv", "--out", "out.csv")
        for kind in (".csv", ".jsonl", ".parquet")
    },
    "words.toml": ("bias", "vectors:vectors.txt", "--words", "words.toml", "--out", "bias"),
    "vectors.txt": ("bias", "vectors:vectors.txt", "--words", "words.toml", "--out", "bias"),
}


def make(place: Path) -> dict[str, bytes]:
    """Write a whole file of every kind; their bytes by name."""
    rows = posts(24)
    for row in rows[::5]:
        row["text"] = f"{SECRET} {row['id']}"
    frame = pl.DataFrame(rows)
    frame.write_parquet(place / "posts.parquet")
    (place / "posts.csv").write_text(separated(rows, ","))
    (place / "posts.tsv").write_text(separated(rows, "\t"))
    (place / "posts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (place / "posts.csv.zst").write_bytes(ZstdCompressor().compress(separated(rows, ",").encode()))
    scores = [{"text": row["text"], "score": "0.5"} for row in rows]
    (place / "scores.csv").write_text(separated(scores, ","))
    (place / "scores.jsonl").write_text("".join(json.dumps(row) + "\n" for row in scores))
    pl.DataFrame(scores).with_columns(pl.col("score").cast(pl.Float64)).write_parquet(
        place / "scores.parquet"
    )
    lines = village()
    write_dump(place / "dump.zst", lines)
    (place / "dump.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (place / "suite.toml").write_text(SUITE)
    (place / "plan.toml").write_text(PLAN.partition("[[gate]]")[0])
    (place / "words.toml").write_text('[[group]]\nsymptom = "mood"\nwords = ["sad", "low"]\n')
    rows_of = enumerate(WORDS)
    (place / "vectors.txt").write_text(
        "".join(f"{word} {i / 9:.3f} {i % 2} {i % 3}\n" for i, word in rows_of)
    )
    return {path.name: path.read_bytes() for path in place.iterdir() if path.is_file()}


def separated(rows: list[dict[str, str]], mark: str) -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=mark).writerows([rows[0], *(row.values() for row in rows)])
    return out.getvalue()


def damage(path: Path, raw: bytes, dice: random.Random) -> str:
    """Write a damaged copy of the bytes and return what was done."""
    at, piece = dice.randrange(len(raw) + 1), dice.choice(HOSTILE)
    stop = min(len(raw), at + dice.randrange(40))
    ways: dict[str, Callable[[], bytes]] = {
        "flip": lambda: raw[:at] + bytes([dice.randrange(256)]) + raw[at + 1 :],
        "cut": lambda: raw[:at],
        "insert": lambda: raw[:at] + piece + raw[at:],
        "drop": lambda: raw[:at] + raw[stop:],
        "double": lambda: raw[:stop] + raw[at:],
        "deep": lambda: raw[:at] + b"x = " + b"[" * 20_000 + b"]" * 20_000 + b"\n" + raw[at:],
        "line": lambda: b"\n".join(dice.sample(lines := raw.split(b"\n"), len(lines))),
    }
    how = dice.choice(list(ways))
    path.write_bytes(ways[how]())
    return f"{how} at {at} {piece[:20]!r}"


if __name__ == "__main__":
    script(attack, 3000)
