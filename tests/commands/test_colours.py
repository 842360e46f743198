"""Colours where there is a terminal, and nowhere else."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from process import psycheck

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
RED = "\x1b[31m"


def on_a_terminal(folder: Path, *words: str, **environment: str) -> str:
    """What a command shows on a terminal of its own."""
    own, other = pty.openpty()
    variables = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | environment
    command = [sys.executable, "-m", "psycheck", *words]
    subprocess.run(
        command,
        cwd=folder,
        stdin=other,
        stdout=other,
        stderr=other,
        env=variables,
        timeout=120,
    )
    os.close(other)
    shown = b""
    # Reading the end of a terminal that is closed is an error on Linux.
    while True:
        try:
            shown += os.read(own, 65_536)
        except OSError:
            break
    os.close(own)
    return shown.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("words", [("audit", "none.csv"), ("audit", "--help")])
def test_a_terminal_shows_the_same_words_with_colours(tmp_path: Path, words: tuple[str, ...]) -> None:
    columns = {"COLUMNS": "80"}
    plain = psycheck(tmp_path, *words, **columns)
    shown = on_a_terminal(tmp_path, *words, **columns)
    assert COLOUR.search(shown)
    assert COLOUR.sub("", shown) == plain.stdout + plain.stderr
    assert not COLOUR.search(plain.stdout + plain.stderr)


def test_an_error_begins_in_red_unless_colours_are_refused(tmp_path: Path) -> None:
    assert on_a_terminal(tmp_path, "audit", "none.csv").startswith(RED)
    assert not COLOUR.search(on_a_terminal(tmp_path, "audit", "none.csv", NO_COLOR="1"))
