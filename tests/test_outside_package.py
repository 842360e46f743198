"""A package of somebody else: built as a wheel, installed into a fresh environment, used from everywhere."""

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

SOURCE = Path(__file__).with_name("outside_package")
# "tired" is in the first two texts alone; in capitals in none: 2 of 4 decisions change.
POSTS = "text|depression\nI am tired|1\nso tired of it|1\na walk in the park|0\nTIRED|1\n"
PLAN = """
models = ["keyword:tired?weight=0.8&name=words"]
audits = ["capitals?cut=0.5", "performance", "behaviour"]
suites = ["moods"]
gates = ["capitals_rate<=0.4"]
[[corpus]]
path = "posts.pipes"
labels = ["depression"]
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment of its own that has psycheck, what it needs, and the wheel of the package."""
    folder = tmp_path_factory.mktemp("outside")
    wheels = folder / "wheels"
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    # A copy: building leaves folders behind.
    copy = folder / "source"
    subprocess.run(["cp", "-r", str(SOURCE), str(copy)], check=True)
    subprocess.run([*build, "--wheel-dir", str(wheels), str(copy)], check=True)

    home = folder / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    packages = next(home.glob("lib/python*/site-packages"))
    # psycheck and its dependencies as they are installed here; nothing is downloaded.
    (packages / "psycheck_here.pth").write_text(
        f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n", "utf-8"
    )
    (wheel,) = wheels.glob("*.whl")
    install = [sys.executable, "-m", "pip", "--python", str(home / "bin" / "python"), "install", "--quiet"]
    subprocess.run([*install, "--no-deps", "--no-index", str(wheel)], check=True)
    return home / "bin" / "python"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "posts.pipes").write_text(POSTS, "utf-8")
    return tmp_path


def psycheck(python: Path, place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [str(python), "-m", "psycheck", *words]
    return subprocess.run(command, cwd=place, capture_output=True, text=True, env=dict(os.environ))


def findings(folder: Path) -> dict[str, float]:
    lines = (folder / "findings.jsonl").read_text("utf-8").splitlines()
    return {finding["measure"]: finding["value"] for finding in map(json.loads, lines)}


def test_each_part_works_from_the_command_line(environment: Path, place: Path) -> None:
    done = psycheck(
        environment, place, "audit", "keyword:tired?weight=0.8", "posts.pipes", "--label", "depression",
        "--audit", "capitals?cut=0.5", "--audit", "performance", "--audit", "behaviour", "--suite", "moods",
        "--gate", "capitals_rate<=0.4", "--out", "run",
    )  # fmt: skip
    assert done.returncode == 1, done.stderr  # the gate on the outside measure fails
    values = findings(place / "run")
    assert values["capitals_rate"] == 0.5
    assert values["accuracy"] == 0.75
    assert values["pass_rate"] == 1.0
    page = (place / "run" / "report.html").read_text("utf-8")
    assert "Does the decision depend on capitals?" in page


def test_each_part_works_in_a_plan(environment: Path, place: Path) -> None:
    (place / "psycheck.toml").write_text(PLAN, "utf-8")
    done = psycheck(environment, place, "audit", "--out", "run")
    assert done.returncode == 1, done.stderr
    assert findings(place / "run")["capitals_rate"] == 0.5
    run = json.loads((place / "run" / "run.json").read_text("utf-8"))
    assert [gate["holds"] for gate in run["gates"]] == [False]
    assert run["plan"]["audits"] == ["performance", "behaviour", "capitals"]
    # At a cut of 0.85 nothing is decided 1, so capitals change nothing, and the gate holds.
    (place / "psycheck.toml").write_text(PLAN.replace("cut=0.5", "cut=0.85"), "utf-8")
    assert psycheck(environment, place, "audit", "--out", "run").returncode == 0


def test_a_wrong_option_is_refused_by_its_type(environment: Path, place: Path) -> None:
    for model, audit in (("keyword:tired?weight=much", "capitals"), ("keyword:tired", "capitals?cut=half")):
        done = psycheck(environment, place, "audit", model, "posts.pipes", "--audit", audit)
        assert done.returncode == 2
        assert "must be a number" in done.stderr
        assert "Traceback" not in done.stderr


def test_an_audit_is_named_by_its_module(environment: Path, place: Path) -> None:
    done = psycheck(
        environment, place, "audit", "keyword:tired", "posts.pipes", "--label", "depression",
        "--audit", "python:mood_checks.capitals:Capitals", "--out", "run",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert findings(place / "run") == {"capitals_rate": 0.5}


@pytest.mark.parametrize(
    ("kind", "name"),
    [("audits", "capitals"), ("measures", "capitals_rate"), ("formats", "pipes"), ("suites", "moods")],
)
def test_ls_names_what_other_packages_bring(environment: Path, place: Path, kind: str, name: str) -> None:
    done = psycheck(environment, place, "ls", kind)
    assert done.returncode == 0, done.stderr
    assert name in done.stdout
