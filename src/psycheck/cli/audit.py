"""`psycheck audit`: what a model has learned, as a report and a gate."""

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from psycheck.cli import options as opt
from psycheck.cli.output import ProgressLine, print_notes, span
from psycheck.errors import BadInput, counted

if TYPE_CHECKING:
    from psycheck.corpora.columns import Columns
    from psycheck.corpora.open import CorpusPlan
    from psycheck.run import Run
    from psycheck.verbs.plan import Plan

PLAN = Path("psycheck.toml")
_LINES = 10  # figures of a gate on the console
_METRICS = ("accuracy", "accuracy_over_trivial", "f1", "auc", "brier", "ece", "pass_rate", "flip_rate")


@opt.verb("audit")
def audit_cli(
    ctx: typer.Context,
    columns: "Columns",
    model: str | None = None,
    corpora: list[str] | None = None,
    more_models: list[str] | None = None,
    plan: Path | None = None,
    out: Path | None = None,
    swap: list[str] | None = None,
    swap_person: Literal["all", "main"] | None = None,
    seed: int | None = None,
    split: str | None = None,
    format_: str | None = None,
    store: str | None = None,
    export_texts: Path | None = None,
    explain_cache: bool = False,
    dry_run: bool = False,
    quiet: bool = False,
    json_: bool = False,
) -> None:
    """Audit a model: performance in and out of distribution, behaviour, fairness, length; report; gate."""
    from psycheck.corpora.open import corpus_plans

    models = [spec for spec in [model, *(more_models or ())] if spec]
    if plan is None and not models and PLAN.is_file():
        plan = PLAN
    whole = _plan(ctx, plan, models, corpus_plans(corpora or (), columns, split, format_))
    if export_texts is not None:
        _export(whole, export_texts, plan or PLAN)
        return
    if dry_run:
        _forecast(whole, json_)
        return
    run = _run(whole, plan or PLAN, explain_cache, quiet)
    _print(run, whole.out or Path(), json_, quiet)
    raise typer.Exit(run.exit_code)


def _plan(
    ctx: typer.Context, file: Path | None, models: Sequence[str], corpora: "Sequence[CorpusPlan]"
) -> "Plan":
    """The plan file, overridden by the options."""
    from psycheck.models.open import KINDS
    from psycheck.runs.gates import parse_gate
    from psycheck.verbs.plan import Plan, Settings, read_plan, settings_of

    plan = read_plan(file) if file else Plan((), ())
    for spec in () if models else [one for one in plan.models if one.startswith("python:")]:
        typer.echo(f"note: the plan {file} runs Python code: {spec}", err=True)
    options = opt.values_for(ctx, Settings)
    gates = options.pop("gates", ())
    checked = settings_of(options)
    changes: dict[str, Any] = {name: getattr(checked, name) for name in options}
    changes["gates"] = (*plan.settings.gates, *map(parse_gate, gates))
    if not (models or plan.models) or not (corpora or plan.corpora):
        raise BadInput(
            "the audit names no model or no corpus",
            allowed=f"psycheck audit MODEL CORPUS…, or a plan file ({PLAN})",
            do="see psycheck ls models for model specs, or run psycheck demo for an example",
        )
    for corpus in corpora:
        if corpus.path.partition(":")[0] in KINDS:
            raise BadInput(
                f"expected a corpus, got a model: '{corpus.path}'",
                allowed="psycheck audit MODEL CORPUS…",
                do="put one model first, add others with --model, then list the corpora",
            )
    return Plan(
        tuple(models) or plan.models,
        tuple(corpora) or plan.corpora,
        replace(plan.settings, **changes),
        Path(ctx.params["out"] or plan.out or "runs/audit"),
        Path(ctx.params["store"]) if ctx.params["store"] else plan.store,
    )


def _forecast(plan: "Plan", as_json: bool) -> None:
    from psycheck.verbs.audit import dry_run, open_plan

    tallies = {name: asdict(tally) for name, tally in dry_run(*open_plan(plan), plan).items()}
    if as_json:
        typer.echo(json.dumps(tallies, indent=1))
        return
    for name, tally in tallies.items():
        typer.echo(f"{_counts(name, tally)} to score, about {span(tally['seconds'])}")


def _run(plan: "Plan", file: Path, explain: bool, quiet: bool) -> "Run":
    from psycheck.scoring.store import Store, default_store, why_again
    from psycheck.verbs.audit import open_plan, run_audit
    from psycheck.verbs.plan import inputs_of

    models, corpora = open_plan(plan)
    named: list[Any] = [*corpora, *models]
    for one in () if quiet else named:
        print_notes(getattr(one, "notes", ()), one.name)
    if explain:
        with closing(Store(plan.store or default_store())) as store:
            for model in models:
                typer.echo(f"cache: {why_again(store, model)}", err=True)
    with ProgressLine() as line:
        more: dict[str, Any] = {} if quiet else {"progress": line, "say": lambda note: print_notes([note])}
        more["inputs"] = [*inputs_of(plan), file]
        run = run_audit(models, corpora, plan.settings, plan.out, plan.store, **more)
    for name, tally in run.environment["texts"].items() if explain else ():
        if tally["checked"]:
            state = f"{tally['dropped']:,} dropped" if tally["dropped"] else "unchanged"
            typer.echo(f"cache: '{name}': {tally['checked']} stored scores checked: {state}", err=True)
    return run


def _export(plan: "Plan", path: Path, file: Path) -> None:
    from psycheck.files.write import refuse_overwriting, writing, written
    from psycheck.model import digest_of
    from psycheck.scoring.store import default_store
    from psycheck.verbs.audit import texts_to_score
    from psycheck.verbs.plan import inputs_of

    refuse_overwriting([path], [*inputs_of(plan), file, default_store()])
    count = 0
    with writing(path):
        texts = texts_to_score(plan)
        with written(path) as part, part.open("w", encoding="utf-8") as lines:
            for text in texts:
                line = {"text_hash": digest_of(text).hex(), "text": text}
                lines.write(json.dumps(line, ensure_ascii=False) + "\n")
                count += 1
    typer.echo(f"{path}: {counted(count, 'text')} without a score")
    typer.echo(
        "add a score for each label to each line, then audit with scores:FILE"
        if count
        else "all texts are scored: run the same command without --export-texts"
    )


def _counts(name: str, tally: Mapping[str, Any]) -> str:
    requested = counted(tally["asked"], "text")
    cached = f"{tally['remembered']:,} cached, {tally['scored']:,}"
    return f"{name}: {requested} requested, {tally['distinct']:,} distinct, {cached}"


def _print(run: "Run", folder: Path, as_json: bool, quiet: bool) -> None:
    from psycheck.report.verdict import headlines, unanswered

    told = ("could not be scored", "incomplete", "decision threshold of")
    print_notes(note for note in run.notes if any(words in note for words in told))
    texts = run.environment["texts"]
    if as_json:
        summary = {
            "report": str(folder / "report.html"),
            "findings": str(folder / "findings.jsonl"),
            "texts": texts,
            "verdict": headlines(run),
            "metrics": [
                {key: value for key, value in json.loads(one.as_json()).items() if key != "examples"}
                for one in run.findings
                if one.measure in _METRICS
            ],
            "unanswered": unanswered(run),
            "gates": [
                {"gate": gate.gate, "holds": gate.holds, "reason": gate.reason, "figures": gate.lines}
                for gate in run.gates
            ],
            "incomplete": run.incomplete,
            "exit_code": run.exit_code,
        }
        typer.echo(json.dumps(summary, indent=1))
        return
    for name, tally in () if quiet else texts.items():
        typer.echo(f"{_counts(name, tally)} scored")
    for sentence in () if quiet else [*unanswered(run), *headlines(run)]:
        typer.echo(sentence)
    for gate in [gate for gate in run.gates if not (quiet and gate.holds)]:
        typer.echo(f"gate {'holds' if gate.holds else 'FAILS'}: {gate.gate} ({gate.reason})")
        for line in gate.lines[:_LINES]:
            typer.echo(f"  {line}")
        if len(gate.lines) > _LINES:
            typer.echo(f"  and {len(gate.lines) - _LINES:,} more: {folder / 'junit.xml'}")
    if not quiet:
        typer.echo(f"report: {folder / 'report.html'}")
