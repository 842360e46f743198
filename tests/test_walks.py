"""The walks of docs/architecture.md: runs are traced, and functions are called in the order of the page."""

import re
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import psycheck
from annotators import answer, marks, team
from llm_servers import YES, Asked, Exchange, completion, serving
from psycheck.annotate.database import database_url, open_database
from psycheck.annotate.export import judgements, merged
from psycheck.commands.audit import audit
from psycheck.commands.improve import improve
from psycheck.commands.main import app
from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus, History
from psycheck.core.model import Capabilities
from psycheck.training.recipe import Recipe
from suites_of_ours import seen_and_unseen

ROOT = str(Path(psycheck.__file__).parent)
PAGE = Path(__file__).parents[1] / "docs" / "architecture.md"
MOST_STEPS = 25
MOST_CROSSINGS = 20
MARK = "I am tired of it, zebra"  # the text that is followed
STEP = re.compile(r"^\d+\. `([\w/]+\.py)` `([\w.]+)`", re.MULTILINE)


@dataclass
class Trace:
    """The functions of psycheck in the order of their first call, and those that were handed the text."""

    called: dict[tuple[str, str], None] = field(default_factory=dict)
    handed: dict[tuple[str, str], None] = field(default_factory=dict)

    def note(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(ROOT):
            return
        function = (code.co_filename[len(ROOT) + 1 :], code.co_qualname)
        self.called[function] = None
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        if any(_holds_text(frame.f_locals.get(name)) for name in names):
            self.handed[function] = None

    @property
    def crossings(self) -> int:
        """Changes of room between functions that are handed the text; types of core/ are no room of work."""
        rooms = [file.partition("/")[0] for file, _ in self.handed if not file.startswith("core/")]
        return sum(before != after for before, after in pairwise(rooms))


def _holds_text(value: object) -> bool:
    if isinstance(value, str):
        return MARK in value
    if isinstance(value, list | tuple):
        return any(isinstance(part, str) and MARK in part for part in value[:64])
    return isinstance(value, Corpus)


@contextmanager
def tracing() -> Iterator[Trace]:
    trace = Trace()
    threading.setprofile(trace.note)
    sys.setprofile(trace.note)
    try:
        yield trace
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def steps_of(walk: str) -> list[tuple[str, str]]:
    page = PAGE.read_text("utf-8")
    part = page.partition(f"<!-- walk: {walk} -->")[2].partition("<!-- end of walk -->")[0]
    return STEP.findall(part)


def refuse_another_order(walk: str, trace: Trace) -> None:
    """Every step of the page is called, and in the order of the page."""
    steps = steps_of(walk)
    assert 0 < len(steps) <= MOST_STEPS
    order = list(trace.called)
    assert [step for step in steps if step not in trace.called] == []
    places = [order.index(step) for step in steps]
    assert places == sorted(places), [steps[k] for k in range(1, len(places)) if places[k] < places[k - 1]]


def test_one_text_from_the_command_to_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "followed.py").write_text(
        "import numpy as np\n\ndef model(texts):\n"
        "    return np.array([0.9 if 'tired' in text else 0.1 for text in texts])\n"
    )
    others = [f"I am {'tired' if k % 2 else 'fine'} today, {k}" for k in range(39)]
    rows = [f'"{text}",{int("tired" in text)}' for text in (MARK, *others)]
    (tmp_path / "posts.csv").write_text("\n".join(["text,depression", *rows]) + "\n")
    words = ["audit", "python:followed:model", "posts.csv", "--label", "depression", "--out", "run"]
    with tracing() as trace:
        done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    refuse_another_order("text", trace)
    assert trace.crossings <= MOST_CROSSINGS


def test_one_llm_reply() -> None:
    async def yes(exchange: Exchange, asked: Asked, before: int) -> None:
        await exchange.send(completion(YES))

    posts = Corpus.of("posts", [MARK, "a walk in the park"], labels={"depression": [1, 0]})
    with serving(yes) as server, tracing() as trace:
        audit(f"llm:ours?base_url={server.base_url}&prompt=depression", posts, audits=["performance"])
    refuse_another_order("reply", trace)


@dataclass(frozen=True)
class CountsPosts:
    """A model of histories: the share of posts that hold a word."""

    name: str = "counts"
    labels: tuple[str, ...] = ("depression",)
    fingerprint: str = "counts"
    capabilities: Capabilities = field(default_factory=lambda: Capabilities(takes="histories"))

    def score(self, histories: Sequence[History], /) -> FloatArray:
        return np.array([[np.mean(["tired" in post for post in history.posts])] for history in histories])


def test_one_history() -> None:
    texts = [MARK, "I cannot sleep and feel empty.", "We had pasta.", "It rained."]
    people = Corpus.of(
        "people",
        texts,
        author=["ann", "ann", "bob", "bob"],
        labels={"depression": [1, 1, 0, 0]},
    )
    with tracing() as trace:
        audit(CountsPosts(), people, audits=["histories", "performance"])
    refuse_another_order("history", trace)


def test_one_annotation(tmp_path: Path) -> None:
    db = open_database(database_url(tmp_path / "annotate"), new=True)
    with tracing() as trace:
        ours = team(db)
        ours.fill(1)
        answer(db, ours.add("first"), ours.project, marks(1, 0))
        judgements(db, ours.owner, ours.project)
        merged(db, ours.owner, ours.project, "any")
    db.close()
    refuse_another_order("annotation", trace)


def test_one_improvement(tmp_path: Path) -> None:
    moods = ["empty", "hopeless", "music", "dinner"]
    texts = [f"i feel {moods[k % 4]} on day {k}" for k in range(48)]
    own = Corpus.of(
        "own",
        texts,
        labels={"low": [float(k % 4 < 2) for k in range(48)]},
        split=[("train", "train", "dev", "test")[k // 4 % 4] for k in range(48)],
    )
    with tracing() as trace:
        improve(
            Recipe(start="tfidf+lr", labels=("low",)),
            own,
            out=tmp_path / "out",
            texts=4,
            which="all",
            **seen_and_unseen(tmp_path),
        )
    refuse_another_order("improvement", trace)
