"""The folder of a run: written whole, and opened again."""

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import polars as pl

from psycheck.errors import BadInput, StoreFailure, refusal
from psycheck.finding import Findings, finding_of, read_jsonl, write_csv, write_jsonl
from psycheck.measure import Measure
from psycheck.run import GateResult, OwnAudit, Run, Shown


def save_run(run: Run, folder: Path, pages: Mapping[str, str]) -> None:
    """Write a run into its folder; `pages` are further files (report.html, junit.xml) by name.

    findings.jsonl is written last and by renaming, so that a folder that has it is whole. Tables of the run
    that was there before are removed once the new ones are written.
    """
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "findings.jsonl").unlink(missing_ok=True)
        facts = {
            "plan": dict(run.plan),
            "environment": dict(run.environment),
            "notes": list(run.notes),
            "incomplete": run.incomplete,
            "tables": sorted(run.tables),
            "gates": [
                {**asdict(gate), "failing": [json.loads(f.as_json()) for f in gate.failing]}
                for gate in run.gates
            ],
            "own_audits": [asdict(audit) for audit in run.own_audits],
        }
        for name, table in run.tables.items():
            table.write_parquet(folder / f"{name}.parquet")
        for name in _tables_before(folder) - run.tables.keys():
            (folder / f"{name}.parquet").unlink(missing_ok=True)
        (folder / "run.json").write_text(json.dumps(facts, indent=1, ensure_ascii=False), "utf-8")
        with (folder / "shown.jsonl").open("w", encoding="utf-8") as file:
            for case in run.shown:
                facts = {k: None if v != v else v for k, v in asdict(case).items()}  # JSON has no NaN
                file.write(json.dumps(facts, ensure_ascii=False) + "\n")
        for name, page in pages.items():
            (folder / name).write_text(page, "utf-8")
        write_csv(run.findings, folder / "findings.csv")
        write_jsonl(run.findings, folder / "findings.jsonl.part")
        (folder / "findings.jsonl.part").replace(folder / "findings.jsonl")


def _tables_before(folder: Path) -> set[str]:
    """The tables that the run in a folder wrote, by its own list: other files are the user's."""
    try:
        named = json.loads((folder / "run.json").read_text("utf-8")).get("tables", ("cases", "predictions"))
        return {name for name in named if Path(name).name == name}
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
            do="name the folder of --out, or run the same audit again to finish it",
        )
    findings = read_jsonl(folder / "findings.jsonl")
    try:
        raw = json.loads((folder / "run.json").read_text("utf-8"))
        for gate in raw["gates"]:
            gate["failing"] = tuple(finding_of(json.dumps(finding)) for finding in gate["failing"])
            gate["lines"] = tuple(gate.get("lines", ()))  # absent in older folders
        for audit in raw.setdefault("own_audits", []):  # absent in older folders
            measures = [{**measure, "keys": tuple(measure["keys"])} for measure in audit["measures"]]
            audit["measures"] = tuple(Measure(**measure) for measure in measures)
        shown = [json.loads(line) for line in (folder / "shown.jsonl").read_text("utf-8").splitlines()]
        for case in shown:
            case["spans"] = tuple((start, end) for start, end in case["spans"])
            case |= {key: math.nan for key in ("before", "after") if case[key] is None}
        # By name: an earlier run may have left other tables in the same folder. Older runs have no names.
        named = raw.get("tables", [path.stem for path in sorted(folder.glob("*.parquet"))])
        return Run(
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
    except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError) as error:
        raise BadInput(
            f"the run cannot be read ({type(error).__name__})",
            where=str(folder),
            do="run the audit again; scores are cached",
        ) from error


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """Turn the system's refusals (disk full, read-only, not a folder) into one clear error."""
    try:
        yield
    except (OSError, pl.exceptions.ComputeError) as error:
        raise StoreFailure(
            f"cannot write results: {refusal(error)}",
            where=str(place),
            allowed="a folder with free space that you may write to",
            do="free space or name another folder; scores are cached",
        ) from error
