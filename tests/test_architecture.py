"""Imports between rooms point one way, late imports and "module:function" strings included."""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import psycheck

SOURCE = Path(psycheck.__file__).parent
FOUNDATION = {"core", "io", "text", "statistics"}
SOURCES = FOUNDATION | {"demo", "corpora", "models", "symptoms", "llm"}
# A room may import itself and these; `__init__` and `__main__` may import everything.
MAY = {
    "core": set[str](),
    "io": {"core"},
    "text": {"core"},
    "statistics": set[str](),
    "demo": {"core"},
    "corpora": FOUNDATION | {"demo"},
    "models": FOUNDATION | {"corpora"},
    "symptoms": FOUNDATION | {"corpora", "models"},
    "llm": FOUNDATION | {"corpora", "models", "symptoms"},
    "scoring": FOUNDATION | {"models", "symptoms"},
    "report": {"core"},
    "audits": SOURCES | {"scoring", "report"},
    "training": SOURCES | {"scoring", "audits", "report"},
    "runs": SOURCES | {"scoring", "audits", "report"},
    "view": FOUNDATION | {"report", "audits"},
    "annotate": SOURCES,
    "commands": SOURCES | {"scoring", "audits", "report", "training", "runs", "view", "annotate"},
    "studies": SOURCES | {"scoring", "audits", "report", "training", "runs", "commands"},
}
_HIDDEN = re.compile(r"(psycheck(?:\.\w+)+)(?::\w+)?")
GROUPS = "core/registry.py"  # names the groups of entry points, which begin like modules


def _room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@cache
def _tree(path: Path) -> ast.Module:
    """The tree of a file, parsed once for all tests."""
    return ast.parse(path.read_text("utf-8"))


@cache
def _nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(_tree(path)))


def _imported(path: Path) -> set[str]:
    """The rooms that a file imports, wherever the import stands, or names in a string of a module."""
    names = []
    for node in _nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not path.match(GROUPS):
            hidden = _HIDDEN.fullmatch(node.value)
            names += [hidden.group(1)] if hidden else []
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
    ranks: dict[str, int] = {"core": 0}
    while missing := set(MAY) - set(ranks):
        ready = [room for room in missing if MAY[room] - {room} <= set(ranks)]
        assert ready, f"a cycle among {sorted(missing)}"
        ranks |= dict.fromkeys(ready, 1 + max(ranks.values()))


def test_late_imports_and_strings_are_seen(tmp_path: Path) -> None:
    file = tmp_path / "late.py"
    file.write_text(
        'def f():\n    from psycheck.models.opening import open_model\n\nK = "psycheck.training.fit:train"\n'
    )
    assert _imported(file) == {"models", "training"}


def test_only_studies_build_on_the_commands() -> None:
    users = {_room(path) for path in SOURCE.rglob("*.py") if "commands" in _imported(path)}
    assert users == {"commands", "studies", "__main__", "__init__"}


# Files of one name in several rooms, and the one thing that the name means in all of them.
SAME_MEANING = {
    "audit": "what an audit is, and the verb that runs it",
    "cases": "cases of a check: judged, and drawn",
    "cautions": "reasons why a score may mean little: found, and drawn",
    "edits": "edits of a text",
    "history_edits": "edits of histories: audited, and drawn",
    "model": "what a model is, and the one behind an API",
    "names": "given names in texts",
    "opening": "a spec or path becomes an object",
    "options": "options of a model or a verb",
    "pages": "pages that are drawn",
    "settings": "settings read from a mapping",
    "store": "the store of scores, and the verb that shows it",
    "suite": "suites of checks, and the verb that selects their sentences",
    "tables": "tables",
    "thresholds": "decision thresholds",
    "word_lists": "lists of words",
    "words": "words of a text",
    "writing": "files are written",
}


def test_no_two_files_of_one_name_mean_different_things() -> None:
    counts = Counter(path.stem for path in SOURCE.rglob("*.py") if not path.stem.startswith("__"))
    assert {name for name, count in counts.items() if count > 1} == SAME_MEANING.keys()


def test_only_scoring_calls_models() -> None:
    called = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in SOURCE.rglob("*.py")
        if _room(path) not in ("scoring", "models", "symptoms", "llm")  # kinds of models call each other
        for node in _nodes(path)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("score", "tag", "encode", "encode_spans")
        and node.args
        and not isinstance(node.args[0], ast.Constant)  # str.encode("utf-8")
    ]
    assert called == []


def test_statistics_know_only_numbers() -> None:
    allowed = {"numpy", "scipy", "sklearn", "statsmodels", "ot", "psycheck", "typing", "math", "warnings"}
    allowed |= {"collections", "dataclasses", "functools", "itertools", "enum"}
    for path in (SOURCE / "statistics").glob("*.py"):
        for node in _nodes(path):
            if isinstance(node, ast.ImportFrom):
                assert (node.module or "").split(".")[0] in allowed, path
            elif isinstance(node, ast.Import):
                assert {alias.name.split(".")[0] for alias in node.names} <= allowed, path


def test_every_file_has_a_room() -> None:
    rooms = {_room(path) for path in SOURCE.rglob("*.py")}
    assert rooms - set(MAY) <= {"__init__", "__main__", "pytest_fixture"}
    assert len(list(SOURCE.glob("*.py"))) == 3


def test_the_public_names_are_frozen() -> None:
    assert psycheck.__all__ == [
        "ArmResult", "Audit", "Behaviour", "Check", "Comparing", "Corpus", "CorpusLike", "Encoder",
        "Experiment", "Finding", "Findings", "Graph", "Judgement", "LabelAnswers", "LearnerGrid", "Limits",
        "Measure", "Model", "Performance", "Prompt", "PsycheckError", "Recipe", "Retraining", "Run", "Suite",
        "Symptom", "SymptomModel", "Tally", "Trained", "against_controls", "answers", "audit", "best_arm",
        "bias", "compare", "compare_arms", "compare_corpora", "compare_plain_models", "compute_once",
        "corpus_classes", "corpus_distances", "corpus_notes", "correlated_pass_rates", "curate",
        "describe_inputs", "diff", "emotion_rankings", "encode_texts", "encoder_bias", "encoder_or_tfidf",
        "evaluate_symptoms", "explain", "fit_model", "held_out", "histories_by_author", "holm_families",
        "improve", "judge_checks", "learner_folds", "learner_grid", "learner_names", "measured",
        "open_corpus", "open_encoder", "open_model", "open_run", "outcome_lengths",
        "pass_rates_across_corpora", "plan_experiment", "preset", "read_corpus", "read_dictionary",
        "read_graph", "read_prompt", "read_suite", "run_environment", "save_run", "score", "score_corpus",
        "score_label",
        "score_texts", "search_learner", "search_recipe", "search_space", "shared_labels", "study_angst",
        "study_corpora", "study_deck", "study_gender", "study_psysym", "study_recipe", "symptom_similarity",
        "train", "train_arms", "train_model", "train_symptoms", "train_symptoms_by_disease",
        "training_folder", "with_control_sentences", "writes_run",
    ]  # fmt: skip
    for name in psycheck.__all__:
        assert getattr(psycheck, name) is not None


def _calls(node: ast.AST) -> Iterator[ast.expr]:
    return (one.func for one in ast.walk(node) if isinstance(one, ast.Call))


def test_whoever_saves_a_run_is_the_only_writer_of_its_folder() -> None:
    alone, saving = set(), set()
    for path in SOURCE.rglob("*.py"):
        for node in _tree(path).body:
            if isinstance(node, ast.FunctionDef) and _room(path) != "runs":
                names = {call.id for call in _calls(node) if isinstance(call, ast.Name)}
                alone |= {node.name} if "writes_run" in names else set()
                saving |= {node.name} if names & {"save", "save_run"} else set()
    assert saving - alone == {"gated_and_saved", "_with_direct_bias"}  # parts of run_audit and study_gender
    assert alone - saving == {"run_audit"}  # its last step saves


def test_results_are_opened_for_writing_in_one_place() -> None:
    ways = {"write_text", "write_bytes", "mkdir", "mkstemp"}
    found = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        for call in _calls(_tree(path))
        if isinstance(call, ast.Attribute) and call.attr in ways
    }
    inside = {
        "runs/folder.py",
        "runs/pages.py",
        "core/headline.py",
        "commands/view.py",
        "commands/symptoms.py",
        "commands/switches.py",
        "audits/sentence_choice.py",
        "training/bank_reader.py",
        "training/learner_models.py",
        "training/card.py",
        "models/fast.py",
        "commands/silver_labels.py",
        "annotate/export_files.py",
        "pytest_fixture.py",  # in the cache of pytest
        "llm/handed_over.py",
        "annotate/imported_files.py",  # an upload, in a private folder
        "corpora/curate/spill.py",  # what is put aside, in the private folder of the work
    }  # write a part
    assert found - inside == {
        "io/writing.py",
        "scoring/store_file.py",  # scores, private by itself
        "models/vectors/index.py",  # words of published vectors
        "training/history_models.py",  # in a private folder
        "training/linear.py",
        "training/finetune.py",
    }


_FLAG = re.compile(r"(?<![\w-])--[a-z]")
_COMMAND = re.compile(r"psycheck [a-z]+ .*--[a-z]")
MAY_NAME_FLAGS = {
    "corpora/cautions.py": "composes the command that mends a corpus",
    "corpora/columns.py": "composes the options that open a corpus again",
    "io/streams.py": "--long is an option of zstd",
}


def _flags_among(nodes: Sequence[ast.AST]) -> list[str]:
    """The strings that name an option outside a whole command, docstrings left out."""
    sentences = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    return [
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in sentences
        if _FLAG.search(node.value) and not _COMMAND.search(node.value)
    ]


def _flags_in(source: str) -> list[str]:
    tree = ast.parse(source)
    return _flags_among([*ast.walk(tree)])


def test_only_the_command_line_names_its_options() -> None:
    flags_of_file: dict[str, list[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        flags = _flags_among(_nodes(path))
        if flags and _room(path) not in ("commands", "studies"):
            flags_of_file[str(path.relative_to(SOURCE))] = flags
    assert {path: flags for path, flags in flags_of_file.items() if path not in MAY_NAME_FLAGS} == {}
    assert flags_of_file.keys() == MAY_NAME_FLAGS.keys()  # an exception that is no longer needed goes
    assert _flags_in('raise BadInput("no texts", do=f"name the {which} column (--text)")')
    assert not _flags_in('def read(): "Read as --text says."\nprint("a -- b", "psycheck ls models --json")')


# Rooms whose names a study may use besides those of `psycheck`: they are small, pure and documented.
PUBLIC_ROOMS = ("psycheck.core.", "psycheck.statistics.", "psycheck.text.", "psycheck.report.studies.")


def _names_imported_from_psycheck(path: Path) -> Iterator[str]:
    for node in _nodes(path):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "psycheck":
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("psycheck"))


def test_studies_are_written_with_public_names() -> None:
    public = {f"psycheck.{name}" for name in psycheck.__all__}
    studies = SOURCE / "studies"
    hidden: set[str] = set()
    for path in studies.glob("*.py"):
        # The command line of the studies uses what all verbs use.
        if path.name != "command_line.py":
            hidden |= set(_names_imported_from_psycheck(path)) - public
    hidden = {name for name in hidden if not name.startswith((*PUBLIC_ROOMS, "psycheck.studies."))}
    assert hidden == set()
