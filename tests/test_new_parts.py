"""How many files a shipped audit, measure, model kind, format, engine, suite, prompt and page take.

A copy of the package gets one of each, as a commit would add it, and is used from the command line.
"""

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

import psycheck

REPOSITORY = Path(__file__).parents[1]
OUTSIDE = REPOSITORY / "tests" / "outside_package" / "mood_checks"
PROJECT = "pyproject.toml"  # where each part is registered
MOST_FILES = 4

AUDIT = '''"""Whether the decision depends on capitals."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from psycheck.core.audit import Judgement, Scores
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding
from psycheck.report.loudness import loudness_section


@dataclass(frozen=True)
class Loudness:
    """Writes texts in capitals and counts the decisions that change."""

    name: str = "loudness"
    measures: tuple[str, ...] = ("loudness_rate",)
    position: ClassVar = 95
    section = staticmethod(loudness_section)

    def ask(self, corpus: Corpus) -> list[str]:
        """The texts as they are, and in capitals."""
        return [*corpus.texts, *(text.upper() for text in corpus.texts)]

    def judge(self, corpus: Corpus, scores: Scores) -> Judgement:
        """The share of decisions that change."""
        before = scores.of(corpus.texts)[:, 0] >= 0.5
        after = scores.of([text.upper() for text in corpus.texts])[:, 0] >= 0.5
        where = {"audit": self.name, "model": scores.model, "corpus": corpus.name}
        share = float(np.mean(before != after))
        return Judgement((Finding("loudness_rate", share, len(corpus), None, where),))
'''
MEASURE = """

[loudness]
title = "Loudness"
keys = ["audit", "model", "corpus"]

[loudness.measures]
loudness_rate = { title = "Decisions changed by capitals", kind = "rate", better = "lower" }
"""
SECTION = '''"""The section of the audit of loudness."""

from markupsafe import Markup

from psycheck.report.sections import Section, UnshownFindings


def loudness_section(unshown: UnshownFindings) -> list[Section]:
    """How many decisions capitals change."""
    rates = unshown.take(lambda finding: finding.measure == "loudness_rate", lambda finding: ("rate",))
    sentences = [f"capitals change {rate.value:.0%} of the decisions" for rate in rates.values()]
    return [Section("loudness", "Loudness", Markup(sentence)) for sentence in sentences]
'''
ENGINE = '''"""An engine that scores one item at a time."""

import numpy as np

from psycheck.scoring.todo import Todo
from psycheck.scoring.task import ScoringTask


class OneByOne:
    """Scores and commits item by item."""

    def score(self, task: ScoringTask, todo: Todo, /) -> None:
        """Score and commit the items in their order."""
        for place in range(len(todo.items)):
            item = todo.take(np.array([place]))
            task.view.add(item.items, task.model.score(item.items), item.hashes)
            task.tally.scored += 1
'''
PAGE = '''"""The page of a run that counts its findings."""

from psycheck.core.run import Page, Run


def draw(run: Run) -> dict[str, str]:
    """The file of the page."""
    return {"report.html": f"<p>{len(run.findings)} findings</p>"}


PAGE = Page(draw=draw)
'''
PROMPT = (REPOSITORY / "src/psycheck/llm/shipped_prompts/depression.toml").read_text("utf-8")


def _registered(group: str, name: str, value: str) -> str:
    return f'[project.entry-points."psycheck.{group}"]\n{name} = "{value}"\n'


# What a commit adds to each file, by the part; a file that exists gets it at its end.
PARTS: Mapping[str, Mapping[str, str]] = {
    "audit": {
        "audits/loudness.py": AUDIT,
        "core/measure.toml": MEASURE,
        "report/loudness.py": SECTION,
        PROJECT: _registered("audits", "loudness", "psycheck.audits.loudness:Loudness"),
    },
    "measure": {"core/measure.toml": 'loudest = { title = "Loudest text", kind = "score" }\n'},
    "model kind": {
        "models/keyword_model.py": (OUTSIDE / "keyword.py").read_text("utf-8"),
        PROJECT: _registered("models", "keyword", "psycheck.models.keyword_model:KIND"),
    },
    "format": {
        "io/pipes.py": (OUTSIDE / "pipes.py").read_text("utf-8"),
        PROJECT: _registered("formats", "pipes", "psycheck.io.pipes:PIPES"),
    },
    "engine": {
        "scoring/one_by_one.py": ENGINE,
        PROJECT: _registered("engines", "one-by-one", "psycheck.scoring.one_by_one:OneByOne"),
    },
    "suite": {
        "audits/suites/moods.toml": (OUTSIDE / "moods.toml").read_text("utf-8"),
        PROJECT: _registered("suites", "moods", "psycheck.audits.suite:SHIPPED"),
    },
    "prompt": {
        "llm/shipped_prompts/melancholy.toml": PROMPT,
        PROJECT: _registered("prompts", "melancholy", "psycheck.llm.prompts:SHIPPED"),
    },
    "page": {
        "report/count_page.py": PAGE,
        PROJECT: _registered("pages", "count", "psycheck.report.count_page:PAGE"),
    },
}
# "tired" is in the first two texts alone; in capitals in none: 2 of 4 decisions change.
POSTS = "text|depression\nI am tired|1\nso tired of it|1\na walk in the park|0\nTIRED|1\n"


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the package that has all parts, and its metadata as an installer writes it."""
    folder = tmp_path_factory.mktemp("grown")
    package = folder / "psycheck"
    copytree(Path(psycheck.__file__).parent, package, ignore=ignore_patterns("__pycache__"))

    groups = tomllib.loads((REPOSITORY / PROJECT).read_text("utf-8"))["project"]["entry-points"]
    for files in PARTS.values():
        for name, text in files.items():
            if name == PROJECT:
                for group, entries in tomllib.loads(text)["project"]["entry-points"].items():
                    groups[group] |= entries
                continue
            with (package / name).open("a", encoding="utf-8") as file:
                file.write(text)

    metadata = folder / f"psycheck-{psycheck.__version__}.dist-info"
    metadata.mkdir()
    about = f"Metadata-Version: 2.1\nName: psycheck\nVersion: {psycheck.__version__}\n"
    (metadata / "METADATA").write_text(about, "utf-8")
    sections = []
    for group, entries in groups.items():
        lines = [f"{name} = {value}" for name, value in entries.items()]
        sections.append("\n".join([f"[{group}]", *lines]))
    (metadata / "entry_points.txt").write_text("\n\n".join(sections), "utf-8")
    return folder


def _run(grown: Path, place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(grown)}
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=place, capture_output=True, text=True, env=environment)


@pytest.mark.parametrize("part", PARTS)
def test_a_shipped_part_takes_few_files(part: str) -> None:
    assert 1 <= len(PARTS[part]) <= MOST_FILES


def test_parts_added_to_the_package_work_without_a_change_elsewhere(grown: Path, tmp_path: Path) -> None:
    (tmp_path / "posts.pipes").write_text(POSTS, "utf-8")
    done = _run(
        grown, tmp_path, "-m", "psycheck", "audit", "keyword:tired?weight=0.8", "posts.pipes",
        "--label", "depression", "--audit", "loudness", "--audit", "behaviour", "--suite", "moods",
        "--engine", "one-by-one", "--gate", "loudness_rate<=0.4", "--out", "run",
    )  # fmt: skip
    assert done.returncode == 1, done.stderr  # the gate on the new measure fails
    lines = (tmp_path / "run" / "findings.jsonl").read_text("utf-8").splitlines()
    values = {finding["measure"]: finding["value"] for finding in map(json.loads, lines)}
    assert values["loudness_rate"] == 0.5
    assert values["pass_rate"] == 1.0
    page = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert "capitals change 50% of the decisions" in page


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("audits", "loudness"),
        ("models", "keyword"),
        ("measures", "loudest"),
        ("formats", "pipes"),
        ("engines", "one-by-one"),
        ("suites", "moods"),
        ("prompts", "melancholy"),
    ],
)
def test_ls_names_the_new_parts(grown: Path, tmp_path: Path, kind: str, name: str) -> None:
    done = _run(grown, tmp_path, "-m", "psycheck", "ls", kind)
    assert done.returncode == 0, done.stderr
    assert name in done.stdout


def test_a_run_of_a_new_verb_is_drawn_by_its_page(grown: Path, tmp_path: Path) -> None:
    code = """
from pathlib import Path
from psycheck.core.finding import Finding, Findings
from psycheck.core.run import Run
from psycheck.runs.pages import save

findings = Findings([Finding("loudest", 0.5, 4)])
save(Run(plan={"verb": "count"}, environment={}, findings=findings), Path("counted"))
"""
    done = _run(grown, tmp_path, "-c", code)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "counted" / "report.html").read_text("utf-8") == "<p>1 findings</p>"
