"""The folder of a run: written whole, and opened again."""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import wraps
from inspect import signature
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, ParamSpec, TypeVar

import polars as pl

from psycheck.core.command import RUNNING
from psycheck.core.errors import UNREADABLE, BadInput
from psycheck.core.finding import SCHEMA_VERSION, Findings, finding_of, read_jsonl, write_csv, write_jsonl
from psycheck.core.headline import Headline, read_headlines, write_headlines
from psycheck.core.measure import Measure
from psycheck.core.run import GateResult, OwnAudit, Run, Shown
from psycheck.corpora.opening import CorpusPlan
from psycheck.io.settings import check_values
from psycheck.io.writing import refuse_overwriting, sole_writer, together, writing

HEADLINES = "headlines.jsonl"
FILES = (
    "findings.jsonl",
    "findings.csv",
    "run.json",
    "shown.jsonl",
    HEADLINES,
    "report.html",
    "junit.xml",
    "study.md",
)
# What only some verbs write.
MORE = ("improve.md", "improve.csv", "explanations.jsonl", "suspects.csv")
TABLES = ("cases", "pairs", "histories", "predictions", "replies", "outcomes", "map", "cautions", "words")
EXPLAINED = ("people", "mentions", "coverage", "marks", "suspects", "links")

Beside = Mapping[Path, Callable[[Path], object]]
"""Files outside the folder of a run that are written with it, and how to write each."""

_SCORES_OF_CASE = ("before", "after")  # NaN if the model gave no usable answer
_NOTHING: Beside = MappingProxyType({})
_FINDINGS = "findings.jsonl"  # written last: a folder that has it is whole
_OLDER_TABLES = ("cases", "predictions")  # of runs that do not list their tables
_AUTHOR_PAGE = re.compile(r"people/[\w-]+\.html", re.ASCII)
_UNREADABLE = (*UNREADABLE, pl.exceptions.PolarsError, pl.exceptions.PanicException)

P = ParamSpec("P")
R = TypeVar("R")


def writes_run(*reads: str, draws_again: bool = False) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function be the only writer of its folder `out`, and refuse to overwrite what it reads.

    `reads` names the parameters that name inputs. On the command line the finished run of another command is
    refused as well, unless the function only `draws_again`. All is settled before the function begins.
    """

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def alone(*args: P.args, **kwargs: P.kwargs) -> R:
            bound = signature(function).bind(*args, **kwargs)
            arguments = bound.arguments
            if arguments.get("out") is None:
                return function(*args, **kwargs)

            folder = Path(arguments["out"])
            named_inputs = [arguments.get(name) for name in reads]
            audit_objects = arguments.get("audit_objects", ())
            _refuse_overwriting_inputs(
                folder,
                inputs=list(paths_in(named_inputs)),
                audits=[audit.name for audit in audit_objects],
            )
            if not draws_again:
                _refuse_finished(folder)
            with sole_writer(folder):
                return function(*args, **kwargs)

        return alone

    return decorated


def _refuse_overwriting_inputs(folder: Path, inputs: Sequence[Path], audits: Sequence[str]) -> None:
    """Refuse to write a run over its inputs; an audit from outside may write any table of its name."""
    tables_of_audits = []
    for path in inputs:
        # Which tables it writes is known only after it has judged.
        if any(path.match(f"{audit}-*.parquet") for audit in audits):
            tables_of_audits.append(folder / path.name)

    if (folder / "run.json").is_file():
        # An earlier run may lie in the folder of a model.
        inputs = [path for path in inputs if not path.is_dir()]
    refuse_overwriting([*tables_of_audits, *run_files(folder)], inputs)


def free_folder(usual: Path) -> Path:
    """A folder that the user did not name: the usual one, or with the first number that is free."""
    if not _holds_other_run(usual):
        return usual
    numbered = (usual.with_name(f"{usual.name}-{number}") for number in count(2))
    return next(folder for folder in numbered if not _holds_other_run(folder))


def _holds_other_run(folder: Path) -> bool:
    """Whether a folder holds the finished run of another command, which this one may not overwrite."""
    command = RUNNING.get()
    if command is None or command.force or not (folder / _FINDINGS).is_file():
        return False
    facts = _facts_in(folder)
    # Where texts could not be scored, a run is to be finished. Folders of older versions name no command.
    return not facts.get("incomplete") and facts.get("command") != command.words


def _refuse_finished(folder: Path) -> None:
    """Refuse to overwrite a finished run, unless by the command that made it, or by force."""
    if not _holds_other_run(folder):
        return
    raise BadInput(
        "the folder holds the finished run of another command",
        code="run.finished",
        where=str(folder),
        allowed="a new folder, or the command that made the run, which continues it",
        do="choose another `out`, or add `force` to overwrite it; every score is stored and used again",
    )


def _facts_in(folder: Path) -> dict[str, Any]:
    """What run.json says; nothing if it is absent or damaged."""
    try:
        facts = json.loads((folder / "run.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) else {}


def run_files(folder: Path) -> list[Path]:
    """The files that a run may write or remove in its folder."""
    earlier_tables = _written_before(folder, "tables")
    table_names = {*TABLES, *EXPLAINED, *earlier_tables}
    tables = [f"{name}.parquet" for name in table_names]

    names = (*FILES, *MORE, *tables)
    return [folder / name for name in names]


def paths_in(value: object) -> Iterator[Path]:
    """The files and folders that an argument names: paths, corpora, model specs, and lists of these."""
    if isinstance(value, CorpusPlan):
        yield from paths_in(value.path)
    elif isinstance(value, dict):
        yield from paths_in(list(value.values()))
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from paths_in(entry)
    elif isinstance(value, str | Path):
        yield from _paths_of_spec(str(value))


def _paths_of_spec(spec: str) -> Iterator[Path]:
    """What exists of a path as written, without its options, and without its kind: "hf:FOLDER?key=value"."""
    without_options = spec.partition("?")[0]
    without_kind = without_options.partition(":")[2]
    for name in (spec, without_options, without_kind):
        # A text may be too long for a name, and a "~" may have no home.
        with suppress(OSError, RuntimeError):
            path = Path(name).expanduser()
            if name and path.exists():
                yield path


def save_run(
    run: Run,
    folder: Path,
    pages: Mapping[str, str],
    beside: Beside = _NOTHING,
) -> None:
    """Write a run into its folder; `pages` are further files (report.html, junit.xml) by name.

    Nothing changes before all files are on the disk, `beside` (files elsewhere, and how to write each)
    included. Then findings.jsonl goes first and comes last, so that a folder that has it is whole. Tables and
    pages of the run that was there before are removed.
    """
    outdated = _outdated_files(run, folder, pages)
    with writing(folder), together(outdated) as part_of:
        for path, write in beside.items():
            write(part_of(path))
        for name, table in run.tables.items():
            table_file = folder / f"{name}.parquet"
            table.write_parquet(part_of(table_file))

        facts = json.dumps(_facts(run, pages), indent=1, ensure_ascii=False)
        part_of(folder / "run.json").write_text(facts, "utf-8")
        shown_lines = [_shown_line(case) for case in run.shown]
        part_of(folder / "shown.jsonl").write_text("".join(shown_lines), "utf-8")
        write_headlines(run.headlines, part_of(folder / HEADLINES))

        for name, page in pages.items():
            part_of(folder / name).write_text(page, "utf-8")
        write_csv(run.findings, part_of(folder / "findings.csv"))
        write_jsonl(run.findings, part_of(folder / _FINDINGS))


def _outdated_files(run: Run, folder: Path, pages: Mapping[str, str]) -> list[Path]:
    """The files of an earlier run that this one removes, the one that says it is whole first."""
    # Left there, tables of another run would be taken for those of this one.
    old_tables = _written_before(folder, "tables") - run.tables.keys()
    old_pages = _written_before(folder, "pages") - pages.keys()
    names = [
        _FINDINGS,
        *[f"{name}.parquet" for name in sorted(old_tables)],
        *sorted(old_pages),
    ]
    return [folder / name for name in names]


def _facts(run: Run, pages: Mapping[str, str]) -> dict[str, Any]:
    """The content of run.json."""
    return {
        "schema_version": SCHEMA_VERSION,
        "plan": dict(run.plan),
        "environment": dict(run.environment),
        "notes": list(run.notes),
        "incomplete": run.incomplete,
        "tables": sorted(run.tables),
        "pages": sorted(pages),
        "gates": [_gate_record(gate) for gate in run.gates],
        "own_audits": [asdict(audit) for audit in run.own_audits],
        **_command_record(),
    }


def _command_record() -> dict[str, str]:
    """The command that makes the run, which may write it again."""
    command = RUNNING.get()
    if command is None:
        return {}
    return {"command": command.words}


def _gate_record(gate: GateResult) -> dict[str, Any]:
    """A gate as run.json holds it."""
    # A finding without counts holds a read-only mapping, which `asdict` cannot copy: it is written by itself.
    record = asdict(replace(gate, failing=()))
    failing = [finding.as_json() for finding in gate.failing]
    record["failing"] = [json.loads(line) for line in failing]
    return record


def _shown_line(case: Shown) -> str:
    """One line of shown.jsonl; JSON has no NaN, so a missing score is null."""
    record = asdict(case)
    for key in _SCORES_OF_CASE:
        score = record[key]
        if isinstance(score, float) and math.isnan(score):
            record[key] = None
    return json.dumps(record, ensure_ascii=False) + "\n"


def _written_before(folder: Path, what: Literal["tables", "pages"]) -> set[str]:
    """The tables or pages that the run in a folder wrote, by its own list: other files are the user's."""
    unlisted = _OLDER_TABLES if what == "tables" else ()
    try:
        facts = json.loads((folder / "run.json").read_text("utf-8"))
        names = facts.get(what, unlisted)
        return {name for name in names if _stays_in_folder(name)}
    except (OSError, ValueError, AttributeError, TypeError):
        # No run, or one that someone changed: then nothing in the folder is ours to remove.
        return set()


def _stays_in_folder(name: str) -> bool:
    """Whether a name from run.json is that of a file of ours: "../thesis" would lead out of the folder."""
    is_plain_name = Path(name).name == name
    return is_plain_name or _AUTHOR_PAGE.fullmatch(name) is not None


def open_run(folder: str | Path) -> Run:
    """Open the folder of a finished run."""
    folder = Path(folder)
    # Written last: without it a run was stopped while it was written.
    if not (folder / _FINDINGS).is_file():
        raise BadInput(
            "no finished run in this folder",
            code="run.not-finished",
            where=str(folder),
            allowed="a folder that holds findings.jsonl",
            do="name the folder the run was written to, or run the same audit again to finish it",
        )
    try:
        return _read_run(folder)
    except _UNREADABLE as error:
        raise BadInput(
            f"the run cannot be read ({type(error).__name__})",
            code="run.unreadable",
            where=str(folder),
            do="run the audit again; scores are cached",
        ) from error


def _read_run(folder: Path) -> Run:
    """A run as its files have it; whatever is wrong with them is raised."""
    facts = json.loads((folder / "run.json").read_text("utf-8"))
    _refuse_newer_schema(facts, folder)
    findings = read_jsonl(folder / _FINDINGS)
    lines = (folder / "shown.jsonl").read_text("utf-8").splitlines()
    shown = [json.loads(line) for line in lines]
    json.dumps([facts, shown], ensure_ascii=False).encode()  # half a character cannot be written again

    # By name: an earlier run may have left other tables in the same folder. Older runs list none.
    tables_there = [path.stem for path in sorted(folder.glob("*.parquet"))]
    table_names = facts.get("tables", tables_there)

    # Absent in older folders; then the page makes them again.
    headlines: tuple[Headline, ...] = ()
    if (folder / HEADLINES).is_file():
        headlines = read_headlines(folder / HEADLINES)

    own_audits = facts.get("own_audits", ())  # absent in older folders
    run = Run(
        plan=facts["plan"],
        environment=facts["environment"],
        findings=Findings(findings),
        tables={name: pl.read_parquet(folder / f"{name}.parquet") for name in table_names},
        gates=tuple(map(_gate_of, facts["gates"])),
        shown=tuple(map(_shown_of, shown)),
        notes=tuple(facts["notes"]),
        incomplete=facts["incomplete"],
        folder=folder,
        own_audits=tuple(map(_own_audit_of, own_audits)),
        headlines=headlines,
    )

    # Someone may have edited the files by hand.
    parts = (
        run,
        *run.findings,
        *run.gates,
        *run.shown,
        *run.own_audits,
        *run.headlines,
    )
    for part in parts:
        check_values(part, str(folder))

    # Imported when a run is opened: the help of a verb needs no gates and no suites.
    from psycheck.runs.run_reader import readable

    return readable(run)


def _refuse_newer_schema(facts: Mapping[str, Any], folder: Path) -> None:
    """Refuse a run of a later psycheck: its keys may mean something else."""
    version = facts.get("schema_version", SCHEMA_VERSION)  # absent in older folders, which have the same keys
    if version > SCHEMA_VERSION:
        raise BadInput(
            f"the run was written by a later psycheck (schema_version {version})",
            code="run.newer-schema",
            where=str(folder),
            allowed=f"schema_version {SCHEMA_VERSION} or earlier",
            do="update psycheck, or run the audit again; scores are cached",
        )


def _gate_of(record: Mapping[str, Any]) -> GateResult:
    """The gate that `_gate_record` wrote."""
    failing = tuple(finding_of(json.dumps(finding)) for finding in record["failing"])
    lines = tuple(record.get("lines", ()))  # absent in older folders
    return GateResult(**{**record, "failing": failing, "lines": lines})


def _own_audit_of(record: Mapping[str, Any]) -> OwnAudit:
    """An audit from outside the package, with measures that are hashable again."""
    measures = []
    for measure in record["measures"]:
        keys = tuple(measure["keys"])
        measures.append(Measure(**{**measure, "keys": keys}))
    return OwnAudit(**{**record, "measures": tuple(measures)})


def _shown_of(record: Mapping[str, Any]) -> Shown:
    """The case that `_shown_line` wrote."""
    scores = {}
    for key in _SCORES_OF_CASE:
        score = record[key]
        scores[key] = math.nan if score is None else score

    spans = tuple((start, end) for start, end in record["spans"])
    return Shown(**{**record, "spans": spans, **scores})
