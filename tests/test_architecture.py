"""Imports between rooms point one way, late imports and "module:function" strings included."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import psycheck

SOURCE = Path(psycheck.__file__).parent
CORE = {"corpus", "model", "finding", "measure", "errors", "run"}
SERVED = CORE | {"text", "measures", "settings", "files", "demo", "corpora", "knowledge", "models"}
# A room may import itself and these. `cli` and `__init__` may import everything but `cli`.
MAY = {
    "text": {"errors"},
    "measures": set(),
    "settings": {"errors"},
    "files": {"errors"},
    **dict.fromkeys(CORE, CORE),
    "demo": CORE | {"text", "knowledge"},  # symptoms and their diseases
    "corpora": CORE | {"text", "measures", "settings", "files", "demo"},
    "knowledge": CORE | {"settings"},
    # A pool of few-shot examples is a corpus.
    "models": CORE | {"text", "measures", "settings", "files", "corpora", "knowledge"},
    "annotate": CORE | {"text", "measures", "settings", "files", "corpora", "knowledge"},
    "scoring": CORE | {"models", "settings"},
    "report": CORE,
    "audits": CORE | {"text", "measures", "settings", "files", "report", "knowledge"},  # names of items
    "train": SERVED | {"scoring"},
    "runs": SERVED | {"scoring", "audits", "report"},
    "verbs": SERVED | {"scoring", "audits", "report", "train", "runs"},
    "experiments": SERVED | {"scoring", "audits", "report", "train", "runs", "verbs"},
}
_HIDDEN = re.compile(r"(psycheck(?:\.\w+)+)(?::\w+)?")


def _room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def _nodes(path: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(path.read_text("utf-8")))


def _imported(path: Path) -> set[str]:
    """The rooms that a file imports, wherever the import stands, or names in a string of a module."""
    names = []
    for node in _nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names += [found.group(1)] if (found := _HIDDEN.fullmatch(node.value)) else []
    rooms = {name.split(".")[1] for name in names if name.startswith("psycheck.")}
    return {room for room in rooms if (SOURCE / room).is_dir() or (SOURCE / f"{room}.py").is_file()}


def test_imports_point_one_way() -> None:
    wrong = [
        f"{path.relative_to(SOURCE)} imports {room}"
        for path in sorted(SOURCE.rglob("*.py"))
        if _room(path) in MAY
        for room in sorted(_imported(path) - MAY[_room(path)] - {_room(path)})
    ]
    assert wrong == []


def test_no_two_rooms_need_each_other() -> None:
    ranks: dict[str, int] = dict.fromkeys(CORE, 0)
    while missing := set(MAY) - set(ranks):
        ready = [room for room in missing if MAY[room] - {room} <= set(ranks)]
        assert ready, f"a cycle among {sorted(missing)}"
        ranks |= dict.fromkeys(ready, 1 + max(ranks.values()))


def test_late_imports_and_strings_are_seen(tmp_path: Path) -> None:
    file = tmp_path / "late.py"
    file.write_text(
        'def f():\n    from psycheck.models.open import open_model\n\nK = "psycheck.train.fit:train"\n'
    )
    assert _imported(file) == {"models", "train"}


def test_nothing_but_the_command_line_imports_the_command_line() -> None:
    users = {_room(path) for path in SOURCE.rglob("*.py") if "cli" in _imported(path)}
    assert users == {"cli", "__main__"}


def test_only_scoring_calls_models() -> None:
    called = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in SOURCE.rglob("*.py")
        if _room(path) not in ("scoring", "models")
        for node in _nodes(path)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("score", "encode", "encode_spans")
        and node.args
        and not isinstance(node.args[0], ast.Constant)  # str.encode("utf-8")
    ]
    assert called == []


def test_measures_know_only_numbers() -> None:
    allowed = {"numpy", "scipy", "sklearn", "statsmodels", "ot", "psycheck", "typing", "math", "warnings"}
    allowed |= {"collections", "dataclasses", "functools", "itertools"}
    for path in (SOURCE / "measures").glob("*.py"):
        for node in _nodes(path):
            if isinstance(node, ast.ImportFrom):
                assert (node.module or "").split(".")[0] in allowed, path
            elif isinstance(node, ast.Import):
                assert {alias.name.split(".")[0] for alias in node.names} <= allowed, path


def test_every_file_has_a_room() -> None:
    rooms = {_room(path) for path in SOURCE.rglob("*.py")}
    assert rooms - set(MAY) <= {"__init__", "__main__", "cli"}
    assert len(list(SOURCE.glob("*.py"))) <= 8


def test_the_public_names_are_frozen() -> None:
    assert psycheck.__all__ == [
        "Audit", "Check", "Corpus", "Encoder", "Finding", "Findings", "Judgement", "Measure", "Model",
        "PsycheckError", "Run", "Suite", "audit", "open_encoder", "open_model", "open_run",
        "read_corpus", "read_suite",
    ]  # fmt: skip
    for name in psycheck.__all__:
        assert getattr(psycheck, name) is not None


def _calls(node: ast.AST) -> Iterator[ast.expr]:
    return (one.func for one in ast.walk(node) if isinstance(one, ast.Call))


def test_whoever_saves_a_run_is_the_only_writer_of_its_folder() -> None:
    alone, saving = set(), set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef) and _room(path) != "runs":
                names = {call.id for call in _calls(node) if isinstance(call, ast.Name)}
                alone |= {node.name} if "writes_run" in names else set()
                saving |= {node.name} if names & {"save", "save_run"} else set()
    assert saving - alone == {"_with_direct_bias"}  # a part of study_gender
    assert alone - saving == set()


def test_results_are_opened_for_writing_in_one_place() -> None:
    ways = {"write_text", "write_bytes", "mkdir", "mkstemp"}
    found = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        for call in _calls(ast.parse(path.read_text("utf-8")))
        if isinstance(call, ast.Attribute) and call.attr in ways
    }
    inside = {
        "runs/folder.py",
        "runs/pages.py",
        "cli/view.py",
        "cli/symptoms.py",
        "audits/select.py",
        "train/card.py",
        "verbs/silver.py",
    }  # write a part
    assert found - inside == {
        "files/write.py",
        "scoring/store_file.py",  # scores, private by itself
        "models/vectors/index.py",  # words of published vectors
        "demo/generate.py",  # synthetic texts
        "train/linear.py",  # in a private folder
        "train/finetune.py",
    }


_FLAG = re.compile(r"(?<![\w-])--[a-z]")
_COMMAND = re.compile(r"psycheck [a-z]+ .*--[a-z]")
MAY_NAME_FLAGS = {
    "corpora/cautions.py": "composes the command that mends a corpus",
    "corpora/columns.py": "composes the options that open a corpus again",
    "files/streams.py": "--long is an option of zstd",
}


def _flags_in(source: str) -> list[str]:
    """The strings that name an option outside a whole command, docstrings left out."""
    tree = ast.parse(source)
    sentences = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in sentences
        if _FLAG.search(node.value) and not _COMMAND.search(node.value)
    ]


def test_only_the_command_line_names_its_options() -> None:
    naming = {
        str(path.relative_to(SOURCE)): found
        for path in sorted(SOURCE.rglob("*.py"))
        if _room(path) != "cli" and (found := _flags_in(path.read_text("utf-8")))
    }
    assert {path: found for path, found in naming.items() if path not in MAY_NAME_FLAGS} == {}
    assert naming.keys() == MAY_NAME_FLAGS.keys()  # an exception that is no longer needed goes
    assert _flags_in('raise BadInput("no texts", do=f"name the {which} column (--text)")')
    assert not _flags_in('def read(): "Read as --text says."\nprint("a -- b", "psycheck ls models --json")')
