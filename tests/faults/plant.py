"""Plant a sentence in each column and each role in turn: no verb may print it or write it to a page."""

import csv
import itertools
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from dumps_of_ours import village, write_dump
from faults.attack import SECRET, SHORT, Count, leaked, posts, problem, psycheck, script, workshop
from faults.mutate_runs import SUITE

ROLES = {
    "label": ("--label", "{}"),
    "classes": ("--label", "{}=*"),
    "scale": ("--label", "{}=depression@2"),
    "positive": ("--label", "{}", "--positive", "1"),
    "author": ("--author", "{}"),
    "split": ("--split-column", "{}"),
    "group": ("--group", "{}"),
    "time": ("--time", "{}"),
    "text": ("--text", "{}"),
}
VERBS = {
    "audit": ("audit", "python:mymodel:model", "posts.csv", "--suite", "suite.toml", "--out", "out"),
    "compare": ("compare", "posts.csv", "--warn", "--encoder", "tfidf", "--part", "words", "--out", "out"),
    "by": (
        "compare",
        "posts.csv",
        "--by",
        "depression",
        "--encoder",
        "tfidf",
        "--part",
        "words",
        "--out",
        "out",
    ),
    "score": ("score", "python:mymodel:model", "posts.csv", "--out", "out/scores.csv"),
    "clean": ("clean", "posts.csv", "--step", "repair", "--step", "language"),
    "redact": ("redact", "posts.csv", "--check"),
    "regender": ("regender", "posts.csv", "--json"),
    "train": ("train", "posts.csv", "--start", "tfidf+lr", "--out", "out", "--dev-share", "0.3"),
}
NO_ROLE = {"train": ("group", "time")}
FIELDS = ("author", "subreddit", "id", "created_utc", "link_id", "title")
HOWS = ("one row", "each row", "half the rows", "header", "mixed up")


def cases() -> Iterator[tuple[str, str, str, str]]:
    """Every verb, planted column, way of planting and role in which that column is read."""
    columns = [name for name in posts(1)[0] if name != "text"]
    for verb, column, how in itertools.product(VERBS, columns, HOWS):
        for role in ("", *ROLES):
            if role not in NO_ROLE.get(verb, ()):
                yield verb, column, how, role


def attack(dice: random.Random, tries: int) -> Count:
    """Plant a sentence in a corpus: no verb may print it or write it to its run folder."""
    count = Count("a sentence planted in a column, a header or a dump's field")
    every = list(cases())
    with workshop() as place:
        (place / "suite.toml").write_text(SUITE)
        for verb, column, how, role in dice.sample(every, min(tries, len(every))):
            plant(place / "posts.csv", column, how, dice)
            options = [word.format(column) for word in ROLES.get(role, ())]
            count.add(f"{verb}, {column}, {how}, as {role or 'guessed'}", _end(place, *VERBS[verb], *options))
        for key in dice.sample(FIELDS * 3, min(tries, len(FIELDS) * 3)):
            lines = village()
            for one in dice.sample(lines, dice.choice((1, len(lines)))):
                one[key] = SECRET
            write_dump(place / "dump.zst", lines)
            words = (
                "curate",
                "dump.zst",
                "--min-words",
                "3",
                "--min-posts",
                "1",
                "--controls",
                "--out",
                "out",
            )
            count.add(f"curate, {key}", _end(place, *words))
    return count


def _end(place: Path, *words: str) -> str:
    shutil.rmtree(place / "out", ignore_errors=True)
    ended = psycheck(place, *words)
    found = problem(ended, (0, 1, 2, 3) if "--check" in words else (0, 2, 3))
    return found or written(place / "out")


def written(folder: Path) -> str:
    """The file of a run folder that holds a part of the secret; curated corpora and models hold texts."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".html", ".json", ".jsonl", ".csv", ".md", ".xml", ".toml", ".parquet"):
            if path.name.startswith("corpus") or not path.is_file():
                continue
            content = path.read_text("utf-8") if path.suffix != ".parquet" else str(_cells(path))
            if found := leaked(content):
                return f"'{found}' in {path.name}"
    return ""


def _cells(path: Path) -> list[dict[str, object]]:
    return pl.read_parquet(path).to_dicts()


def plant(path: Path, column: str, how: str, dice: random.Random) -> None:
    """Write a corpus with a sentence in one place."""
    rows, secret = posts(24), dice.choice((SECRET, SHORT))
    for number, row in enumerate(rows):
        if how == "mixed up":
            row[column], row["text"] = f"{secret} {number}", row[column]
        elif how == "each row":
            row[column] = f"{secret} {number}"
        elif how == "half the rows" and number % 2:
            row[column] = secret
    if how == "one row":
        rows[dice.randrange(len(rows))][column] = secret
    names = [secret if how == "header" and name == column else name for name in rows[0]]
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerows([names, *(row.values() for row in rows)])


if __name__ == "__main__":
    script(attack, 100_000)
