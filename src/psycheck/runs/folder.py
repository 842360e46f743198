"""The folder of a run: written whole, and opened again."""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from functools import wraps
from inspect import signature
from pathlib import Path
from types import MappingProxyType
from typing import ParamSpec, TypeVar

import polars as pl

from psycheck.corpora.open import CorpusPlan
from psycheck.errors import UNREADABLE, BadInput
from psycheck.files.write import refuse_overwriting, sole_writer, together, writing
from psycheck.finding import Findings, finding_of, read_jsonl, write_csv, write_jsonl
from psycheck.measure import Measure
from psycheck.run import GateResult, OwnAudit, Run, Shown
from psycheck.settings.reader import check_values

FILES = ("findings.jsonl", "findings.csv", "run.json", "shown.jsonl", "report.html", "junit.xml", "study.md")
MORE = ("improve.md", "improve.csv", "explanations.jsonl", "suspects.csv")
TABLES = ("cases", "pairs", "histories", "predictions", "outcomes", "map", "cautions", "words")
EXPLAINED = ("people", "mentions", "coverage", "marks", "suspects", "links")
P = ParamSpec("P")
R = TypeVar("R")
Beside = Mapping[Path, Callable[[Path], object]]
_NOTHING: Beside = MappingProxyType({})
_PAGE = re.compile(r"people/[\w-]+\.html", re.ASCII)


def writes_run(*reads: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function be the only writer of its folder `out`, and refuse to overwrite what it reads.

    `reads` names the parameters that name inputs. Both are settled before the function begins its work.
    """

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def alone(*args: P.args, **kwargs: P.kwargs) -> R:
            values = signature(function).bind(*args, **kwargs).arguments
            if values.get("out") is None:
                return function(*args, **kwargs)
            folder, inputs = Path(values["out"]), list(paths_in([values.get(name) for name in reads]))
            own = [f"{audit.name}-*.parquet" for audit in values.get("more_audits", ())]
            targets = [folder / path.name for path in inputs if any(map(path.match, own))]
            if (folder / "run.json").is_file():  # an earlier run may lie in the folder of a model
                inputs = [path for path in inputs if not path.is_dir()]
            refuse_overwriting([*targets, *run_files(folder)], inputs)
            with sole_writer(folder):
                return function(*args, **kwargs)

        return alone

    return decorated


def run_files(folder: Path) -> list[Path]:
    """The files that a run may write or remove in its folder."""
    tables = (f"{name}.parquet" for name in {*TABLES, *EXPLAINED, *_before(folder, "tables")})
    return [folder / name for name in (*FILES, *MORE, *tables)]


def paths_in(value: object) -> Iterator[Path]:
    """The files and folders that an argument names: paths, corpora, model specs, and lists of these."""
    if isinstance(value, CorpusPlan):
        value = value.path
    if isinstance(value, list | tuple | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from paths_in(one)
    elif isinstance(value, str | Path):
        target = str(value).partition("?")[0]
        for name in filter(None, (str(value), target, target.partition(":")[2])):
            with suppress(OSError, RuntimeError):  # a text, too long for a name, or a "~" without a home
                yield from [path] if (path := Path(name).expanduser()).exists() else []


def save_run(run: Run, folder: Path, pages: Mapping[str, str], beside: Beside = _NOTHING) -> None:
    """Write a run into its folder; `pages` are further files (report.html, junit.xml) by name.

    Nothing changes before all files are on the disk, `beside` (files elsewhere, and how to write each)
    included. Then findings.jsonl goes first and comes last, so that a folder that has it is whole. Tables and
    pages of the run that was there before are removed.
    """
    facts = {
        "plan": dict(run.plan),
        "environment": dict(run.environment),
        "notes": list(run.notes),
        "incomplete": run.incomplete,
        "tables": sorted(run.tables),
        "pages": sorted(pages),
        "gates": [
            {**asdict(gate), "failing": [json.loads(f.as_json()) for f in gate.failing]} for gate in run.gates
        ],
        "own_audits": [asdict(audit) for audit in run.own_audits],
    }
    # JSON has no NaN.
    shown = ({k: None if v != v else v for k, v in asdict(case).items()} for case in run.shown)
    gone = [f"{name}.parquet" for name in sorted(_before(folder, "tables") - run.tables.keys())]
    gone += sorted(_before(folder, "pages") - pages.keys())
    outdated = [folder / name for name in ("findings.jsonl", *gone)]
    with writing(folder), together(outdated) as part_of:
        for path, write in beside.items():
            write(part_of(path))
        for name, table in run.tables.items():
            table.write_parquet(part_of(folder / f"{name}.parquet"))
        part_of(folder / "run.json").write_text(json.dumps(facts, indent=1, ensure_ascii=False), "utf-8")
        with part_of(folder / "shown.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(case, ensure_ascii=False) + "\n" for case in shown)
        for name, page in pages.items():
            part_of(folder / name).write_text(page, "utf-8")
        write_csv(run.findings, part_of(folder / "findings.csv"))
        write_jsonl(run.findings, part_of(folder / "findings.jsonl"))


def _before(folder: Path, what: str) -> set[str]:
    """The tables or pages that the run in a folder wrote, by its own list: other files are the user's."""
    try:
        older = ("cases", "predictions") if what == "tables" else ()  # a run that lists none
        named = json.loads((folder / "run.json").read_text("utf-8")).get(what, older)
        return {name for name in named if _PAGE.fullmatch(name) or Path(name).name == name}
    except (OSError, ValueError, AttributeError, TypeError):
        return set()


def open_run(folder: str | Path) -> Run:
    """Open the folder of a finished run."""
    folder = Path(folder)
    if not (folder / "findings.jsonl").is_file():
        raise BadInput(
            "no finished run in this folder",
            where=str(folder),
            allowed="a folder that holds findings.jsonl",
            do="name the folder the run was written to, or run the same audit again to finish it",
        )
    try:
        findings = read_jsonl(folder / "findings.jsonl")
        raw = json.loads((folder / "run.json").read_text("utf-8"))
        shown = [json.loads(line) for line in (folder / "shown.jsonl").read_text("utf-8").splitlines()]
        json.dumps([raw, shown], ensure_ascii=False).encode()  # half a character cannot be written again
        for gate in raw["gates"]:
            gate["failing"] = tuple(finding_of(json.dumps(finding)) for finding in gate["failing"])
            gate["lines"] = tuple(gate.get("lines", ()))  # absent in older folders
        for audit in raw.setdefault("own_audits", []):  # absent in older folders
            measures = [{**measure, "keys": tuple(measure["keys"])} for measure in audit["measures"]]
            audit["measures"] = tuple(Measure(**measure) for measure in measures)
        for case in shown:
            case["spans"] = tuple((start, end) for start, end in case["spans"])
            case |= {key: math.nan for key in ("before", "after") if case[key] is None}
        # By name: an earlier run may have left other tables in the same folder. Older runs have no names.
        named = raw.get("tables", [path.stem for path in sorted(folder.glob("*.parquet"))])
        run = Run(
            plan=raw["plan"],
            environment=raw["environment"],
            findings=Findings(findings),
            tables={name: pl.read_parquet(folder / f"{name}.parquet") for name in named},
            gates=tuple(GateResult(**gate) for gate in raw["gates"]),
            shown=tuple(Shown(**case) for case in shown),
            notes=tuple(raw["notes"]),
            incomplete=raw["incomplete"],
            folder=folder,
            own_audits=tuple(OwnAudit(**audit) for audit in raw["own_audits"]),
        )
        for part in (run, *run.findings, *run.gates, *run.shown, *run.own_audits):
            check_values(part, str(folder))
        return run
    except (*UNREADABLE, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise BadInput(
            f"the run cannot be read ({type(error).__name__})",
            where=str(folder),
            do="run the audit again; scores are cached",
        ) from error
