"""`psycheck audit`: what a model has learned, as a report and a gate."""

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from psycheck.cli import options as opt

if TYPE_CHECKING:
    from psycheck.run import Run
    from psycheck.verbs.plan import Plan

PLAN = "psycheck.toml"


def audit_cli(
    model: Annotated[
        str | None,
        typer.Argument(
            help="hf:DIR, sklearn:FILE, python:module:object, scores:FILE, with ?key=value options."
        ),
    ] = None,
    corpora: Annotated[
        list[str] | None, typer.Argument(metavar="CORPUS…", help="Files, NAME=FILE, demo:NAME or KNOWN:PATH.")
    ] = None,
    more_models: Annotated[
        list[str] | None, typer.Option("--model", "-m", metavar="MODEL", help="A further model; repeatable.")
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option("--plan", help=f"A plan in TOML; {PLAN} in this folder if no model is named."),
    ] = None,
    suites: Annotated[
        list[str] | None,
        typer.Option("--suite", metavar="NAME", help="Shipped suite or TOML file; repeatable."),
    ] = None,
    audits: Annotated[
        list[str] | None,
        typer.Option("--audit", help="performance, behaviour, fairness, length; repeatable."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder of the run.")] = None,
    gates: Annotated[
        list[str] | None, typer.Option("--gate", help='"pass_rate>=0.7 where kind=DIR"; repeatable.')
    ] = None,
    threshold: Annotated[float | None, typer.Option(help="Score from which a label counts as given.")] = None,
    variants: Annotated[
        str | None, typer.Option(help="each: a case passes if every sentence does; one: one sentence a text.")
    ] = None,
    fit: Annotated[
        bool | None,
        typer.Option("--fit/--no-fit", help="Shorten long texts so that added sentences are read."),
    ] = None,
    show_texts: Annotated[
        bool | None, typer.Option("--show-texts/--hide-texts", help="Put the texts of cases into the report.")
    ] = None,
    trained_on: Annotated[
        list[str] | None,
        typer.Option(metavar="CORPUS", help="Corpus that the models were trained on; repeatable."),
    ] = None,
    swap: opt.Swap = None,
    swap_person: opt.SwapPerson = None,
    seed: Annotated[int | None, typer.Option(help="Seed of rotations and intervals.")] = None,
    text: opt.Text = None,
    id_: opt.Id = None,
    labels: opt.Labels = None,
    positive: opt.Positive = None,
    author: opt.Author = None,
    time: opt.Time = None,
    split_column: opt.SplitColumn = None,
    split: opt.Split = None,
    groups: opt.Groups = None,
    format_: opt.Format = None,
    store: opt.Store = None,
    export_texts: Annotated[
        Path | None, typer.Option(help="Write the texts that still need scores (JSONL) and stop.")
    ] = None,
    explain_cache: Annotated[
        bool, typer.Option("--explain-cache", help="Say why something was scored again.")
    ] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print a summary for a program.")] = False,
) -> None:
    """Audit a model: performance in and out of distribution, behaviour, fairness, length; report; gate."""
    from psycheck.corpora.open import corpus_plans

    columns = opt.columns_of(text, id_, labels, positive, author, time, split_column, groups)
    given: dict[str, Any] = {
        "suites": suites,
        "audits": audits,
        "threshold": threshold,
        "variants": variants,
        "fit": fit,
        "show_texts": show_texts,
        "trained_on": trained_on,
        "swap": swap,
        "swap_person": swap_person,
        "seed": seed,
    }
    whole = plan_of(
        plan,
        [spec for spec in [model, *(more_models or ())] if spec],
        corpus_plans(corpora or (), columns, split, format_),
        {key: value for key, value in given.items() if value is not None},
        gates or [],
        out,
        Path(store) if store else None,
    )
    if export_texts is not None:
        _export(whole, export_texts, plan or Path(PLAN))
        return
    run = _run(whole, explain_cache)
    _print(run, whole.out or Path(), json_)
    raise typer.Exit(run.exit_code)


def plan_of(
    file: Path | None,
    models: list[str],
    corpora: list[Any],
    given: dict[str, Any],
    gates: list[str],
    out: Path | None,
    store: Path | None,
) -> "Plan":
    """What the options say, over what the plan file says."""
    from psycheck.errors import BadInput
    from psycheck.models.open import KINDS
    from psycheck.runs.gates import parse_gate
    from psycheck.verbs.plan import Plan, Settings, read_plan, settings_of

    if file is None and not models and Path(PLAN).is_file():
        file = Path(PLAN)
    written = read_plan(file) if file else Plan((), ())
    said = settings_of(given, "options")
    settings = replace(written.settings, **{key: getattr(said, key) for key in given})
    if gates:
        settings = replace(settings, gates=(*settings.gates, *(parse_gate(gate) for gate in gates)))
    if not (models or written.models) or not (corpora or written.corpora):
        raise BadInput(
            "the audit names no model or no corpus",
            allowed=f"psycheck audit MODEL CORPUS…, or a plan ({PLAN})",
            do="psycheck ls models says how a model is named; psycheck demo shows a whole run",
        )
    for corpus in corpora:
        if corpus.path.partition(":")[0] in KINDS:
            raise BadInput(
                f"'{corpus.path}' is a model, where a corpus is meant",
                allowed="psycheck audit MODEL CORPUS…",
                do="name one model first, further ones with --model, then the corpora",
            )
    assert isinstance(settings, Settings)
    return Plan(
        tuple(models) or written.models,
        tuple(corpora) or written.corpora,
        settings,
        out or written.out or Path("runs/audit"),
        store or written.store,
    )


def _run(plan: "Plan", explain: bool) -> "Run":
    from psycheck.cli.progress import ProgressLine
    from psycheck.verbs.audit import open_plan, run_audit

    models, corpora = open_plan(plan)
    for corpus in corpora:
        for note in corpus.notes:
            _note(f"{corpus.name}: {note}")
    for model in models:
        for note in getattr(model, "notes", ()):
            _note(f"{model.name}: {note}")
    if explain:
        _explain(plan, models)
    with ProgressLine() as progress:
        return run_audit(models, corpora, plan.settings, plan.out, plan.store, progress, _note)


def _note(said: str) -> None:
    typer.echo(f"note: {said}", err=True)


def _explain(plan: "Plan", models: list[Any]) -> None:
    from contextlib import closing

    from psycheck.scoring.store import Store, default_store, why_again

    with closing(Store(plan.store or default_store())) as store:
        for model in models:
            typer.echo(f"cache: {why_again(store, model)}", err=True)


def _export(plan: "Plan", path: Path, file: Path) -> None:
    from psycheck.errors import counted
    from psycheck.runs.folder import writing
    from psycheck.scoring.store import default_store
    from psycheck.verbs.audit import texts_to_score
    from psycheck.verbs.plan import inputs_of, refuse_input

    refuse_input(path, [*inputs_of(plan), file, default_store()], "--export-texts")
    with writing(path):
        if path.exists() and not path.is_file():  # a pipe, or /dev/stdout: nothing can be lost
            count = _write_texts(texts_to_score(plan), path)
        else:
            target = path.resolve()  # a link stays one
            part = target.with_name(f"{target.name}.{os.getpid()}.part")
            try:
                count = _write_texts(texts_to_score(plan), part)
                part.replace(target)
            finally:
                part.unlink(missing_ok=True)
    typer.echo(f"{path}: {counted(count, 'text')} without a score")
    typer.echo(
        "give each line a score for each label and audit with scores:FILE"
        if count
        else "all are scored: the same command without --export-texts audits them"
    )


def _write_texts(texts: Iterable[str], path: Path) -> int:
    """Write texts and their hashes as JSON lines; returns how many."""
    import json

    from psycheck.model import digest_of

    count = 0
    with path.open("w", encoding="utf-8") as file:
        for text in texts:
            file.write(
                json.dumps({"text_hash": digest_of(text).hex(), "text": text}, ensure_ascii=False) + "\n"
            )
            count += 1
    return count


def _print(run: "Run", folder: Path, as_json: bool) -> None:
    import json

    from psycheck.errors import counted
    from psycheck.report.verdict import headlines, unanswered

    for note in run.notes:
        if "could not be scored" in note or "incomplete" in note:
            _note(note)
    texts = run.environment["texts"]
    if as_json:
        summary = {
            "report": str(folder / "report.html"),
            "findings": str(folder / "findings.jsonl"),
            "texts": texts,
            "unanswered": unanswered(run),
            "gates": [{"gate": gate.gate, "holds": gate.holds, "reason": gate.reason} for gate in run.gates],
            "incomplete": run.incomplete,
            "exit_code": run.exit_code,
        }
        typer.echo(json.dumps(summary, indent=1))
        return
    for name, tally in texts.items():
        typer.echo(
            f"{name}: {counted(tally['asked'], 'text')} asked for, {tally['distinct']:,} distinct, "
            f"{tally['remembered']:,} remembered, {tally['scored']:,} scored"
        )
    for sentence in [*unanswered(run), *headlines(run)]:
        typer.echo(sentence)
    for gate in run.gates:
        typer.echo(f"gate {'holds' if gate.holds else 'FAILS'}: {gate.gate} ({gate.reason})")
    typer.echo(f"report: {folder / 'report.html'}")
