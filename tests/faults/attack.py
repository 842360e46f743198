"""What every attack needs: the command line in this process, a secret sentence, and a count of failures."""

import argparse
import io
import os
import random
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from psycheck.commands.main import run

SECRET = "My sister Zebulonia never knew how I cried in the quarry"
SHORT = "Zebulonia cried. So did I"
_PIECES = [part.casefold() for part in re.findall(r"\w+", SECRET) if len(part) > 5 and part != "sister"]

MODEL = """
import os, time
import numpy as np

class _Model:
    labels = ("depression",)
    fingerprint = "fixed"
    batch = 20
    def score(self, texts):
        time.sleep(float(os.environ.get("SLOW", "0")))
        if log := os.environ.get("SENT"):
            with open(log, "a") as file:
                file.writelines(f"{hash_of(text)}\\n" for text in texts)
        return np.array([[(len(text) * 37 % 101) / 101] for text in texts])

def hash_of(text):
    from hashlib import sha1
    return sha1(text.encode()).hexdigest()

model = _Model()
"""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        return self.out + self.err


@dataclass
class Count:
    """The tries of one attack, and what went wrong in which."""

    attack: str
    tries: int = 0
    failures: list[str] = field(default_factory=list)

    def add(self, what: str, problem: str) -> None:
        """Count one try; an empty problem means that it was withstood."""
        self.tries += 1
        if problem:
            self.failures.append(f"{what}: {problem}")

    def __str__(self) -> str:
        return f"| {self.attack} | {self.tries:,} | {len(self.failures):,} |"


def psycheck(place: Path, *words: str) -> Ended:
    """Run a command in this process, which takes a tenth of the time of a new one."""
    out, err = io.StringIO(), io.StringIO()
    argv, path, code = ["psycheck", *words], list(sys.path), 0
    with (
        chdir(place),
        patch("sys.argv", argv),
        patch("sys.path", path),
        redirect_stdout(out),
        redirect_stderr(err),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("default")
        try:
            run()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0
    return Ended(code, out.getvalue(), err.getvalue())


def problem(ended: Ended, allowed: tuple[int, ...] = (0, 2, 3)) -> str:
    """What is wrong with how a command ended: its exit code, a traceback, or the secret in what it prints."""
    if ended.code not in allowed:
        return f"exit {ended.code}: {ended.err.strip().splitlines()[-1:]}"
    if "Traceback" in ended.said:
        return "traceback"
    return f"prints '{found}'" if (found := leaked(ended.said)) else ""


def leaked(content: str) -> str:
    """A part of the secret that the content holds; empty if it holds none."""
    low = content.casefold()
    return next((part for part in _PIECES if part in low), "")


def posts(rows: int = 12) -> list[dict[str, str]]:
    """A small corpus of our own words with every kind of column."""
    return [
        {
            "id": f"p{i}",
            "text": f"I went to place {i} and he was {('glad', 'tired')[i % 2]} with his dog",
            "depression": str(i % 2),
            "author": f"a{i // 2}",
            "split": ("train", "test")[i % 3 == 0],
            "gender": ("f", "m")[i // 2 % 2],
            "lang": "en",
            "created": f"2024-01-{i + 1:02}",
        }
        for i in range(rows)
    ]


@contextmanager
def workshop() -> Iterator[Path]:
    """A folder with a model and a store of its own."""
    with TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "mymodel.py").write_text(MODEL)
        sys.modules.pop("mymodel", None)  # of another workshop
        with patch.dict(os.environ, {"PSYCHECK_STORE": str(place / "scores.sqlite")}):
            yield place


def script(attack: Callable[[random.Random, int], Count], tries: int) -> None:
    """Run an attack from the shell and print its row of the table."""
    parser = argparse.ArgumentParser(description=attack.__doc__)
    parser.add_argument("--tries", type=int, default=tries)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    count = attack(random.Random(options.seed), options.tries)
    print(*count.failures, count, sep="\n")
    sys.exit(bool(count.failures))
