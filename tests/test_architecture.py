"""Imports point one way; the public names are frozen."""

import ast
from pathlib import Path

import psycheck

SOURCE = Path(psycheck.__file__).parent
CORE = {"corpus", "model", "finding", "errors"}
LINE = {
    "gate",
    "run",
    "plan",
    "scores",
    "engine",
    "lookup",
    "align",
    "environment",
    "shown",
    "line",
    "score",
    "demo",
    "improve",
    "compare",
    "curate",
    "bias",
    "study",
}
# A room may import itself and the rooms that stand before it in this list's values.
MAY = {
    "text": {"errors"},
    "measures": set(),
    **dict.fromkeys(CORE, CORE),
    "corpora": CORE | {"text", "measures"},
    "models": CORE | {"text", "measures", "scores", "corpora", "train"},
    "audits": CORE | {"text", "measures"},
    "train": CORE | {"text", "measures", "corpora", "models"},
    "report": CORE | {"gate", "run", "text", "measures"},
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
    users = [
        str(path)
        for path in SOURCE.rglob("*.py")
        if "cli" in _imported(path) and _room(path) not in ("cli", "__main__")
    ]
    assert users == []


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
    assert rooms - set(MAY) - LINE == {"__init__", "__main__", "cli"}


def test_the_public_names_are_frozen() -> None:
    assert psycheck.__all__ == [
        "Audit", "Check", "Corpus", "Encoder", "Finding", "Model", "PsycheckError", "Run", "Suite",
        "audit", "open_encoder", "open_model", "read_corpus", "read_suite",
    ]  # fmt: skip
    for name in psycheck.__all__:
        assert getattr(psycheck, name) is not None
