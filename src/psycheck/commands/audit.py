"""`psycheck audit`, one audit run: ask → score → judge → report; and a gate.

What audits is imported in the functions that use it: `psycheck audit --help` needs none of it.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

import typer

from psycheck.commands import options as opt
from psycheck.commands.audit_console import print_audit, print_checked_scores, print_forecast
from psycheck.commands.audit_keywords import (
    AuditKeywords,
    open_models,
    split_keywords,
    split_suites,
    with_scores_by_id,
)
from psycheck.commands.console import ProgressLine, print_notes, shown_progress
from psycheck.commands.github import tell_github
from psycheck.core.audit import Audit
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput, counted
from psycheck.core.item import digest_of
from psycheck.core.model import Model, capabilities_of
from psycheck.core.progress import Progress, silent
from psycheck.core.registry import MODEL_KINDS
from psycheck.core.run import Run
from psycheck.corpora.opening import CorporaLike, CorpusPlan, corpus_plans, open_corpora
from psycheck.runs.folder import paths_in, writes_run

if TYPE_CHECKING:
    from psycheck.audits.plan import Plan, Settings
    from psycheck.audits.suite import Suite
    from psycheck.commands.audit_keywords import ModelsLike
    from psycheck.corpora.columns import Columns

PLAN_FILE = Path("psycheck.toml")


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
    from psycheck.audits.plan import inputs_of

    models = [spec for spec in [model, *(more_models or ())] if spec]
    plan_file = plan
    # A plan file is picked up only if no model is named: an audit typed out in full must not depend on a
    # file that happens to be in the folder.
    if plan_file is None and not models and PLAN_FILE.is_file():
        plan_file = PLAN_FILE
    complete_plan = _plan_with_options(
        ctx,
        plan_file,
        models,
        corpus_plans(corpora or (), columns, split, format_),
    )

    inputs = [*inputs_of(complete_plan), plan_file or PLAN_FILE]
    if export_texts is not None:
        _export_texts(complete_plan, export_texts, inputs)
        return
    if dry_run:
        _print_dry_run(complete_plan, as_json=json_)
        return

    run = _run_plan(complete_plan, inputs, explain_cache=explain_cache)
    print_audit(run, complete_plan.out or Path(), as_json=json_, quiet=quiet)
    tell_github(run, "audit")
    raise typer.Exit(run.exit_code)


def _plan_with_options(
    ctx: typer.Context, file: Path | None, models: Sequence[str], corpora: Sequence[CorpusPlan]
) -> "Plan":
    """The plan file, overridden by the options."""
    from psycheck.audits.plan import Plan, read_plan

    plan = read_plan(file) if file else Plan((), ())
    if not models:
        _warn_of_python_code(plan, file)

    chosen_models = tuple(models) or plan.models
    chosen_corpora = tuple(corpora) or plan.corpora
    _refuse_incomplete(chosen_models, chosen_corpora)
    _refuse_models_as_corpora(corpora)

    store_option = ctx.params["store"]
    return Plan(
        models=chosen_models,
        corpora=chosen_corpora,
        settings=_settings_with_options(ctx, plan.settings),
        out=Path(ctx.params["out"] or plan.out or "runs/audit"),
        store=Path(store_option) if store_option else plan.store,
    )


def _warn_of_python_code(plan: "Plan", file: Path | None) -> None:
    """Print which code a plan file will run: it may come from somebody else."""
    for spec in plan.models:
        if spec.startswith("python:"):
            typer.echo(f"note: the plan {file} runs Python code: {spec}", err=True)


def _settings_with_options(ctx: typer.Context, settings: "Settings") -> "Settings":
    """The settings with the options that were set; gates are added to those of the plan."""
    from psycheck.audits.gates import parse_gate
    from psycheck.audits.plan import Settings, settings_of

    options = opt.values_for(ctx, Settings)
    gates = [parse_gate(gate) for gate in options.pop("gates", ())]

    # Only what the user set is taken over: the other fields of `checked` are defaults, which would undo
    # what the plan file says.
    checked = settings_of(options)
    changes: dict[str, Any] = {name: getattr(checked, name) for name in options}
    return replace(settings, **changes, gates=(*settings.gates, *gates))


def _refuse_incomplete(models: Sequence[str], corpora: Sequence[CorpusPlan]) -> None:
    if not models or not corpora:
        raise BadInput(
            "the audit names no model or no corpus",
            code="audit.nothing-named",
            allowed=f"psycheck audit MODEL CORPUS…, or a plan file ({PLAN_FILE})",
            do="see psycheck ls models for model specs, or run psycheck demo for an example",
        )


def _refuse_models_as_corpora(corpora: Sequence[CorpusPlan]) -> None:
    for corpus in corpora:
        if corpus.path.partition(":")[0] in MODEL_KINDS:
            raise BadInput(
                f"expected a corpus, got a model: '{corpus.path}'",
                code="audit.model-as-corpus",
                allowed="psycheck audit MODEL CORPUS…",
                do="put one model first, add others with --model, then list the corpora",
            )


def _print_dry_run(plan: "Plan", *, as_json: bool) -> None:
    from psycheck.commands.audit_steps import dry_run

    models, corpora = open_plan(plan)
    tallies = {name: asdict(tally) for name, tally in dry_run(models, corpora, plan).items()}
    print_forecast(tallies, as_json=as_json)


def _run_plan(plan: "Plan", inputs: Sequence[Path], *, explain_cache: bool) -> Run:
    """Carry out a plan, with its notes and progress on standard error."""
    with ProgressLine() as line:
        line.phase("reading")
        models, corpora = open_plan(plan)
        line.clear()
        for corpus in corpora:
            print_notes(corpus.notes, corpus.name)
        for model in models:
            print_notes(capabilities_of(model).notes, model.name)

        # Before scoring: afterwards the store holds all scores, and no longer tells why they were missing.
        if explain_cache:
            _print_why_again(models, plan.store)
        run = run_audit(
            models,
            corpora,
            plan.settings,
            out=plan.out,
            store_path=plan.store,
            inputs=inputs,
            progress=line,
            phase=line.phase,
            say=lambda note: print_notes([note]),
        )
    if explain_cache:
        print_checked_scores(run)
    return run


def _print_why_again(models: Sequence[Model], store_file: Path | None) -> None:
    """Print, for each model, what the store holds, and what changed if its texts are scored again."""
    from psycheck.scoring.model_changes import why_again
    from psycheck.scoring.store import Store, default_store

    with closing(Store(store_file or default_store())) as store:
        for model in models:
            typer.echo(f"cache: {why_again(store, model)}", err=True)


def _export_texts(plan: "Plan", path: Path, inputs: Sequence[Path]) -> None:
    """Write the texts that still need a score, one JSON object per line, and print what to do with them."""
    from psycheck.commands.audit_steps import texts_to_score
    from psycheck.io.writing import refuse_overwriting, writing, written
    from psycheck.scoring.store import default_store

    refuse_overwriting([path], [*inputs, default_store()])
    count = 0
    with writing(path):
        texts = texts_to_score(plan)
        # The texts of a corpus need not fit into memory: each is written as soon as it is found.
        with written(path) as part, part.open("w", encoding="utf-8") as lines:
            for text in texts:
                line = {"text_hash": digest_of(text).hex(), "text": text}
                lines.write(json.dumps(line, ensure_ascii=False) + "\n")
                count += 1

    typer.echo(f"{path}: {counted(count, 'text')} without a score")
    if count:
        typer.echo("add a score for each label to each line, then audit with scores:FILE")
    else:
        typer.echo("all texts are scored: run the same command without --export-texts")


def audit(
    model: "ModelsLike",
    corpora: CorporaLike,
    *,
    split: str | None = None,
    out: str | Path | None = None,
    store: str | Path | None = None,
    gates: str | Sequence[str] = (),
    progress: Progress | None = None,
    **keywords: Unpack[AuditKeywords],
) -> Run:
    """Audit one or several models on one or several corpora, and write the run's folder where `out` is given.

    A model is a spec ("hf:DIR"), or an object: a fitted pipeline, a network, a function of texts, a training
    of psycheck; a list or {name: model} holds several. A corpus is a path, "demo:NAME", a Corpus, a pandas or
    polars frame, a Hugging Face dataset, a list of records, a mapping of columns or a list of texts.
    Columns are named by `text`, `label`, `positive`, `id`, `author`, `time`, `groups` and `split_column`, and
    guessed otherwise. `split` is the split to judge: by default test where a corpus has one, "all" for every
    text. The other keywords are settings (`psycheck.audits.plan.Settings`): suites, threshold, seed …
    `suites` and `audits` may hold objects of your own besides names.
    """
    from psycheck.audits.gates import parse_gate
    from psycheck.audits.plan import settings_of
    from psycheck.audits.registered import split_audits
    from psycheck.audits.thresholds import DEV
    from psycheck.corpora.judged_split import judged_part

    columns, settings = split_keywords(keywords)
    audit_objects: list[Audit] = []
    if "audits" in settings:
        settings["audits"], audit_objects = split_audits(settings["audits"])
    settings["suites"], suites = split_suites(settings.get("suites"))
    checked = settings_of(settings, "audit()")
    gate_texts = [gates] if isinstance(gates, str) else gates

    # Opened with all splits: leaks between them show only there.
    opened = open_corpora(corpora, **columns)
    needs_dev = checked.threshold == DEV
    judged = [judged_part(corpus, split, with_dev=needs_dev) for corpus in opened]
    models = open_models(model, positive=columns.get("positive"))
    with shown_progress(progress) as report:
        return run_audit(
            models,
            judged,
            replace(checked, gates=tuple(map(parse_gate, gate_texts))),
            out=None if out is None else Path(out),
            store_path=None if store is None else Path(store),
            progress=report,
            audit_objects=audit_objects,
            suites=suites,
            inputs=list(paths_in([model, corpora, checked.suites])),
        )


def open_plan(plan: "Plan") -> tuple[list[Model], list[Corpus]]:
    """Open everything that a plan names, corpora first: a mistake in a file shows before weights are read."""
    from psycheck.audits.gates import refuse_own_baseline
    from psycheck.commands.audit_steps import open_corpora_of
    from psycheck.models.opening import open_model

    refuse_own_baseline(plan.settings.gates, plan.out)
    corpora = open_corpora_of(plan)
    models = [open_model(spec) for spec in plan.models]
    return models, corpora


@writes_run("inputs")
def run_audit(
    models: Sequence[Model],
    corpora: Sequence[Corpus],
    settings: "Settings",
    out: Path | None = None,
    store_path: Path | None = None,
    progress: Progress = silent,
    say: Callable[[str], None] = lambda note: None,
    audit_objects: Sequence[Audit] = (),
    inputs: Sequence[Path] = (),
    suites: "Sequence[Suite]" = (),
    phase: Callable[[str], None] = lambda name: None,
) -> Run:
    """Plan the jobs, score once, judge, and write the run; everything is checked before anything is scored.

    `say` receives the notes of the run before scoring, except those that corpora and models bring along;
    `phase` what is done next.
    `audit_objects` and `suites` are used besides those that the settings name; `inputs` are files that the
    run must not overwrite.
    """
    from psycheck.audits.gates import refuse_own_baseline
    from psycheck.audits.jobs import plan_jobs
    from psycheck.commands.audit_steps import (
        gated_and_saved,
        judge,
        open_baselines,
        refuse_bad_gates,
        score_jobs,
    )
    from psycheck.runs.audit_run import run_of

    models, settings = with_scores_by_id(models, corpora, settings)
    # Scoring may take hours or cost money: a gate that cannot be judged is refused before it.
    refuse_own_baseline(settings.gates, out)
    baselines = open_baselines(settings.gates)
    planned = plan_jobs(models, corpora, settings, audit_objects, suites)
    refuse_bad_gates(planned, baselines)
    for note in planned.notes:
        say(note)

    phase("scoring")
    with score_jobs(planned, store_path, progress, say) as (grounded, scored):
        phase("judging")
        judged = judge(grounded, scored)
        run = replace(run_of(grounded, scored, judged), folder=out)
    phase("drawing")
    return gated_and_saved(run, settings.gates, baselines, out)
