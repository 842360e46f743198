"""Imports point one way; the public names are frozen."""

import ast
from pathlib import Path

import pytest

import psycheck

SOURCE = Path(psycheck.__file__).parent
CORE = {"corpus", "model", "finding", "errors"}
ROOMS = {"text", "measures", "corpora", "models", "audits", "train"}
STEPS = {"plan", "align", "store", "lookup", "scores", "engine", "gate", "shown", "environment", "run"}
VERBS = {"line", "score", "demo", "improve", "compare", "curate", "bias", "study"}
# A room may import itself and these; a verb may import everything but the command line.
MAY = {
    "text": {"errors"},
    "measures": set(),
    **dict.fromkeys(CORE, CORE),
    "corpora": CORE | {"text", "measures"},
    "models": CORE | {"store"},
    "audits": CORE | {"text", "measures"},
    "train": CORE | {"text", "measures", "corpora", "models"},
    **dict.fromkeys(STEPS, CORE | ROOMS | STEPS),
    "report": {"errors", "finding", "gate", "run"},
    "pages": {"run", "report", "study"},
    **dict.fromkeys(VERBS, CORE | ROOMS | STEPS | VERBS | {"report", "pages"}),
}


def _room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def _imported(path: Path) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        rooms |= {name.split(".")[1] for name in names if name.startswith("psycheck.")}
    return rooms


def test_imports_point_one_way() -> None:
    wrong = [
        f"{path.relative_to(SOURCE)} imports {room}"
        for path in sorted(SOURCE.rglob("*.py"))
        if _room(path) in MAY
        for room in sorted(_imported(path) - MAY[_room(path)] - {_room(path)})
    ]
    assert wrong == []


def test_nothing_but_the_command_line_imports_the_command_line() -> None:
    users = {_room(path) for path in SOURCE.rglob("*.py") if "cli" in _imported(path)}
    assert users == {"cli", "__main__"}


@pytest.mark.parametrize("room", ["measures", "audits", "report"])
def test_only_the_line_calls_models(room: str) -> None:
    called = [
        f"{path.name}:{node.lineno}"
        for path in (SOURCE / room).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("score", "encode_spans", "open_model", "open_encoder")
    ]
    assert called == []


def test_measures_know_only_numbers() -> None:
    allowed = {
        "numpy",
        "scipy",
        "sklearn",
        "collections",
        "dataclasses",
        "math",
        "typing",
        "psycheck",
        "functools",
        "itertools",
        "warnings",
        "ot",
    }
    for path in (SOURCE / "measures").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom | ast.Import):
                names = (
                    [node.module or ""]
                    if isinstance(node, ast.ImportFrom)
                    else [alias.name for alias in node.names]
                )
                assert {name.split(".")[0] for name in names} <= allowed, path


def test_every_file_has_a_room() -> None:
    rooms = {_room(path) for path in SOURCE.rglob("*.py")}
    assert rooms - set(MAY) == {"__init__", "__main__", "cli"}


def test_the_public_names_are_frozen() -> None:
    assert psycheck.__all__ == [
        "Audit", "Check", "Corpus", "Encoder", "Finding", "Model", "PsycheckError", "Run", "Suite",
        "audit", "open_encoder", "open_model", "read_corpus", "read_suite",
    ]  # fmt: skip
    for name in psycheck.__all__:
        assert getattr(psycheck, name) is not None
