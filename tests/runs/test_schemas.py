"""The published JSON Schemas describe what is really written and printed."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from referencing import Registry, Resource

from process import psycheck
from psycheck.core.finding import SCHEMA_VERSION, Finding, Findings
from psycheck.core.run import Run
from psycheck.runs.folder import open_run, save_run
from refusals import refused

SCHEMAS = files("psycheck.runs") / "schemas"
MODEL = """
def score(texts):
    return [(len(text) * 37 % 101) / 101 for text in texts]

def other(texts):
    return [(len(text) * 53 % 101) / 101 for text in texts]
"""


def schema(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))
    return content


def validator(name: str) -> Draft202012Validator:
    Draft202012Validator.check_schema(schema(name))
    finding = Resource.from_contents(schema("finding"))
    return Draft202012Validator(
        schema(name), registry=Registry().with_resource("finding.schema.json", finding)
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two audits of one corpus, one with a gate that fails, and their comparison."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "mod.py").write_text(MODEL)
    rows = ["id,text,depression"]
    rows += [f"p{i},I went to place {i} and he was there with his dog,{i % 2}" for i in range(20)]
    (folder / "posts.csv").write_text("\n".join(rows) + "\n")

    store = {"PSYCHECK_STORE": str(folder / "scores.sqlite")}
    for name in ("score", "other"):
        words = ("audit", f"python:mod:{name}", "posts.csv", "--label", "depression", "--out", f"runs/{name}")
        done = psycheck(folder, *words, "--gate", "f1>=0.99", "--json", **store)
        assert done.returncode == 1, done.stderr
        (folder / f"{name}.json").write_text(done.stdout)
    done = psycheck(folder, "diff", "runs/score", "runs/other", "--json", **store)
    assert done.returncode == 0, done.stderr
    (folder / "diff.json").write_text(done.stdout)
    return folder


@pytest.mark.parametrize("folder", ["runs/score", "runs/diff"])
def test_run_json_and_every_line_of_findings_follow_their_schemas(place: Path, folder: str) -> None:
    facts = json.loads((place / folder / "run.json").read_text("utf-8"))
    validator("run").validate(facts)
    assert facts["schema_version"] == SCHEMA_VERSION

    lines = (place / folder / "findings.jsonl").read_text("utf-8").splitlines()
    findings = validator("finding")
    for line in lines:
        findings.validate(json.loads(line))
    assert {json.loads(line)["schema_version"] for line in lines} == {SCHEMA_VERSION}


@pytest.mark.parametrize(("name", "file"), [("audit", "score.json"), ("verb", "diff.json")])
def test_printed_json_follows_its_schema(place: Path, name: str, file: str) -> None:
    printed = json.loads((place / file).read_text("utf-8"))
    validator(name).validate(printed)
    assert printed["schema_version"] == SCHEMA_VERSION


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("printed", ("suite", "check", "deck")),
        ("printed", ("study", "corpora", "posts.csv", "--label", "depression", "--part", "words")),
        ("intentions", ("compare", "posts.csv", "posts.csv", "--dry-run")),
    ],
)
def test_what_every_command_prints_follows_its_schema(place: Path, name: str, words: tuple[str, ...]) -> None:
    done = psycheck(place, *words, "--json")
    assert done.returncode == 0, done.stderr
    validator(name).validate(json.loads(done.stdout))


def test_the_gate_of_a_run_is_in_what_is_validated(place: Path) -> None:
    facts = json.loads((place / "runs/score/run.json").read_text("utf-8"))
    del facts["gates"][0]["failing"][0]["measure"]
    with pytest.raises(ValidationError):
        validator("run").validate(facts)


def test_a_run_of_a_later_version_is_refused_and_one_without_a_version_is_read(tmp_path: Path) -> None:
    save_run(Run({}, {}, Findings([Finding("f1", 0.5, 4)])), tmp_path, {})
    file = tmp_path / "run.json"
    facts = json.loads(file.read_text("utf-8"))
    file.write_text(json.dumps({**facts, "schema_version": SCHEMA_VERSION + 1}))
    with refused("run.newer-schema"):
        open_run(tmp_path)

    del facts["schema_version"]
    file.write_text(json.dumps(facts))
    assert open_run(tmp_path).findings[0].value == 0.5
