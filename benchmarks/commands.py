"""Whole commands, before and after: an audit with everything cached, and training on TF-IDF, in CPU seconds.

Each source tree runs the same commands in turns with its own store, in processes of their own, imports
included; what counts is the least CPU time of so many rounds. Beside them scikit-learn alone fits the
same texts once.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from timing import machine, table

_SKLEARN = """
import sys
from time import process_time
started = process_time()
import polars as pl
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
imported = process_time()
posts = pl.read_csv(sys.argv[1]).filter(pl.col("split") == "train")
words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"(?u)\\b\\w+\\b")
features = words.fit_transform(posts["text"])
LogisticRegression(C=10).fit(features, posts["depression"])
print(imported - started, process_time() - imported)
"""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("corpus", help="a CSV file with text, depression and split")
    parser.add_argument("trees", nargs="+", help="source trees as NAME=FOLDER, the oldest first")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    trees = dict(tree.split("=", 1) for tree in options.trees)
    with tempfile.TemporaryDirectory() as folder:
        measured = _measured(trees, Path(options.corpus).resolve(), Path(folder), options.rounds)
    print(f"\n## Whole commands ({machine()})\n")
    first = next(iter(trees))
    rows = []
    for command, seconds in measured.items():
        ratio = seconds[list(trees)[-1]] / seconds[first]
        rows.append([command, *(f"{seconds[name]:.1f}" for name in trees), f"{ratio:.2f}"])
    print(table(["CPU seconds", *trees, "last / first"], rows))

    alone = subprocess.run(
        [sys.executable, "-c", _SKLEARN, options.corpus], capture_output=True, text=True, check=True
    )
    imported, fitted = map(float, alone.stdout.split())
    print(f"\nscikit-learn alone: {imported:.1f} to import, {fitted:.1f} to fit once")


def _measured(
    trees: Mapping[str, str], corpus: Path, folder: Path, rounds: int
) -> dict[str, dict[str, float]]:
    """The least CPU seconds of each command, by tree."""
    seconds: dict[str, dict[str, float]] = {"train --start tfidf+lr": {}, "audit, all cached": {}}
    models = {}
    for name, tree in trees.items():
        place = folder / name
        place.mkdir()
        _run(tree, place, "train", str(corpus), "--start", "tfidf+lr", "--out", "first")
        weights = next(file for file in place.glob("first/model.*") if file.suffix in (".npz", ".skops"))
        models[name] = f"sklearn:{weights}"
        _run(tree, place, "audit", models[name], str(corpus), "--split", "all", "--out", "run")
    for number in range(rounds):
        for name, tree in trees.items():
            place = folder / name
            train = ("train", str(corpus), "--start", "tfidf+lr", "--out", f"model{number}")
            audit = ("audit", models[name], str(corpus), "--split", "all", "--out", "run")
            for command, words in zip(seconds, (train, audit), strict=True):
                took = _run(tree, place, *words)
                seconds[command][name] = min(took, seconds[command].get(name, took))
    return seconds


def _run(tree: str, place: Path, *words: str) -> float:
    """The CPU seconds of a command of a source tree."""
    environment = {
        **os.environ,
        "PYTHONPATH": f"{tree}/src",
        "PSYCHECK_STORE": str(place / "store.sqlite"),
        "OMP_NUM_THREADS": "1",
    }
    before = _children()
    command = [sys.executable, "-W", "ignore", "-m", "psycheck", *words]
    subprocess.run(command, cwd=place, env=environment, check=True, capture_output=True)
    return _children() - before


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
