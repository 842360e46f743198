"""Long texts cost what they are long: the work of an edit is counted, not timed."""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType

import pytest

from psycheck.text.edits import Edited
from psycheck.text.gender.edits import gender_of, names_besides, swap
from psycheck.text.gender.placebo import placebo
from psycheck.text.gender.scope import scope_of

SCOPE = scope_of(["nouns,titles"])
PHRASE = "My mother said that she would maybe call her sister, and he told his wife that they were happy. "


def swapped_with_placebo(text: str) -> Edited:
    return placebo(text, swap(SCOPE)(text))


def genders(text: str) -> object:
    return gender_of(text, SCOPE), names_besides(text, SCOPE)


def calls(edit: Callable[[str], object], text: str) -> int:
    """How many functions are called to edit a text, those of C included."""
    count = 0

    def counting(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counting)
    try:
        edit(text)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("edit", [swapped_with_placebo, genders])
def test_the_gender_edits_of_a_long_text_are_linear_in_its_length(edit: Callable[[str], object]) -> None:
    edit(PHRASE)  # patterns are compiled once
    short = calls(edit, PHRASE * 100)
    assert calls(edit, PHRASE * 400) <= 4.4 * short


@pytest.mark.slow
@pytest.mark.parametrize("edit", [swapped_with_placebo, genders])
def test_the_gender_edits_stay_linear_up_to_a_megabyte(edit: Callable[[str], object]) -> None:
    edit(PHRASE)
    # 31 kB, 125 kB and 1.3 MB.
    works = {times: calls(edit, PHRASE * times) for times in (320, 1_280, 13_400)}
    assert works[1_280] <= 4.4 * works[320]
    assert works[13_400] <= 1.1 * 13_400 / 1_280 * works[1_280]


def test_a_long_text_without_a_blank_is_left_alone() -> None:
    text = "she" * 100_000
    assert swap(SCOPE)(text) == Edited(text, ())


_MODEL = """
import numpy as np

class Model:
    name = "planted"

    def __init__(self, labels):
        self.labels = tuple(labels)

    def score(self, texts):
        lengths = np.array([len(text) for text in texts])
        return (lengths[:, None] + np.arange(len(self.labels))) % 100 / 100

one = Model(["depression"])
many = Model(f"l{number}" for number in range(5_000))
"""
# Runs a command, and prints the most memory that it held, in MB.
_WATCHED = """
import resource, subprocess, sys
ended = subprocess.run([sys.executable, "-m", "psycheck", *sys.argv[1:]], stdout=subprocess.DEVNULL)
print(ended.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
"""


def watched(place: Path, *words: str) -> tuple[int, int]:
    """The exit code of a command, and the most memory that it held, in MB."""
    (place / "planted_sizes.py").write_text(_MODEL, "utf-8")
    command = [sys.executable, "-c", _WATCHED, *words]
    ended = subprocess.run(command, cwd=place, capture_output=True, text=True, check=True, timeout=900)
    assert "Traceback" not in ended.stderr
    code, megabytes = ended.stdout.split()
    return int(code), int(megabytes)


def write_posts(file: Path, posts: Sequence[Mapping[str, object]]) -> None:
    lines = [json.dumps({"id": str(number), **post}) for number, post in enumerate(posts)]
    file.write_text("\n".join(lines), "utf-8")


@pytest.mark.slow
def test_a_text_of_five_megabytes_is_audited_in_less_than_a_gigabyte(tmp_path: Path) -> None:
    texts = [PHRASE * (5 * 2**20 // len(PHRASE)), *(f"{PHRASE} {number}" for number in range(40))]
    posts = [{"text": text, "depression": number % 2} for number, text in enumerate(texts)]
    write_posts(tmp_path / "posts.jsonl", posts)
    code, megabytes = watched(tmp_path, "audit", "python:planted_sizes:one", "posts.jsonl", "--out", "run")
    assert code == 0
    assert megabytes < 1_000


def test_five_thousand_labels_are_refused_at_once(tmp_path: Path) -> None:
    labels = {f"l{number}": number % 2 for number in range(5_000)}
    write_posts(tmp_path / "posts.jsonl", [{"text": PHRASE, **labels}] * 4)
    words = ("audit", "python:planted_sizes:many", "posts.jsonl", "--label", "l*", "--out", "run")
    code, megabytes = watched(tmp_path, *words)
    assert code == 2
    assert megabytes < 500
