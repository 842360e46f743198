"""The steps of an audit: check gates, score, judge, save; and what only counts or lists texts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from psycheck.audits.baseline_gates import StoredAnswers
from psycheck.audits.gates import Gate, check_gates, judge_gates, refuse_incomparable
from psycheck.audits.jobs import PlannedRun, judge_jobs, plan_jobs, with_grounds
from psycheck.audits.plan import Plan
from psycheck.audits.shown_cases import cases_to_show
from psycheck.audits.thresholds import DEV, Thresholds, choose_thresholds
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput
from psycheck.core.finding import Findings
from psycheck.core.model import Model, capabilities_of
from psycheck.core.progress import Progress, silent
from psycheck.core.run import Run
from psycheck.corpora.judged_split import judged_part
from psycheck.corpora.opening import open_corpus
from psycheck.models.opening import open_awaited
from psycheck.runs.audit_run import Judged, plan_record
from psycheck.runs.environment import environment_of
from psycheck.runs.folder import open_run
from psycheck.runs.pages import save
from psycheck.scoring.answers import Answers, answers, forecast, in_equal_shares, not_scored
from psycheck.scoring.tally import Tally


def open_baselines(gates: Sequence[Gate]) -> dict[str, Run]:
    """The runs that gates refer to, by their folders."""
    return {gate.no_worse_than: _baseline(gate) for gate in gates if gate.no_worse_than}


def _baseline(gate: Gate) -> Run:
    """The run that a gate refers to."""
    folder = Path(gate.no_worse_than or "")
    if not folder.exists():
        do = f"create it first: run the same audit without this gate, with `out={folder}`"
        raise gate.refused(f"baseline run not found: {folder}", "the folder of a finished run", do)
    return open_run(folder)


def refuse_bad_gates(planned: PlannedRun, baselines: Mapping[str, Run]) -> None:
    """Refuse gates that no finding of the run could meet, and baselines that cannot be compared."""
    gates = planned.settings.gates
    check_gates(gates, planned.measures, planned.tags)
    if not baselines:
        return

    # Two runs are compared by their plans and environments; the findings of this one do not exist yet.
    environment = environment_of(planned.models, planned.corpora, planned.suites)
    run_to_be = Run(plan_record(planned), environment, Findings())
    refuse_incomparable(gates, baselines, run_to_be)


@contextmanager
def score_jobs(
    planned: PlannedRun, store: Path | None, progress: Progress, say: Callable[[str], None]
) -> Iterator[tuple[PlannedRun, Answers]]:
    """Score what the jobs ask for; what audits need from other models comes first, through the same store."""
    grounded = _with_answers_for_audits(planned, store, progress)
    with answers(
        grounded.models,
        grounded.pieces(),
        names=grounded.labels,
        store=store,
        progress=progress,
        limits=grounded.settings,
        say=say,
        rounds=grounded.rounds if grounded.samples else None,
        engine=grounded.settings.engine,
    ) as scored:
        yield grounded, scored


def _with_answers_for_audits(planned: PlannedRun, store: Path | None, progress: Progress) -> PlannedRun:
    """The run in which audits have the answers of other models that they need before they can ask."""
    for audit in planned.grounding:
        corpora = [corpus for job_audit, corpus in planned.jobs if job_audit is audit]
        pieces = in_equal_shares([audit.needed(corpus) for corpus in corpora])
        with answers(audit.needs, pieces, store=store, progress=progress) as grounds:
            lookups = [view.of for view in grounds.views]
            planned = with_grounds(planned, audit, audit.ground(corpora, lookups))
    return planned


def judge(planned: PlannedRun, scored: Answers) -> Judged:
    """What the jobs found, at the thresholds that the settings ask for: a number, or the best of dev."""
    thresholds: dict[str, Thresholds] = {}
    asked_threshold = planned.settings.threshold
    for view in scored.views:
        # Of exclusive classes the largest score decides, not a threshold.
        if view.traits.exclusive:
            continue
        if planned.dev:
            thresholds[view.model] = choose_thresholds(view, planned.dev)
            view.decide_at(thresholds[view.model].values)
        elif isinstance(asked_threshold, float):
            # What the user typed comes before what a model brings along.
            view.decide_at(np.full(len(view.labels), asked_threshold))

    findings, tables = judge_jobs(planned, scored.views)
    shown = tuple(cases_to_show(planned, tables))
    return Judged(findings, tables, shown, thresholds)


def gated_and_saved(run: Run, gates: Sequence[Gate], baselines: Mapping[str, Run], out: Path | None) -> Run:
    """The run with its gates judged, written to its folder in any case."""
    try:
        own_measures = [measure for audit in run.own_audits for measure in audit.measures]
        earlier = {folder: baseline.findings for folder, baseline in baselines.items()}
        stored = {
            folder: StoredAnswers(before=baseline.tables, now=run.tables)
            for folder, baseline in baselines.items()
        }
        results = judge_gates(gates, run.findings, earlier, own_measures, stored)
        run = replace(run, gates=results)
    except BadInput as error:
        # The gate names something that no finding has, which shows only now. The scores are not at fault:
        # the report is written below, and the message says where it is.
        if out:
            error.do = f"correct the gate; the report is in {out / 'report.html'}"
        raise
    finally:
        run = save(run, out)
    return run


def dry_run(models: Sequence[Model], corpora: Sequence[Corpus], plan: Plan) -> dict[str, Tally]:
    """How many texts an audit would score with each model, and about how long that takes.

    Of a model that replies in words nothing is asked: requests, tokens and cost are what it expects.
    """
    planned = plan_jobs(models, corpora, plan.settings)
    check_gates(plan.settings.gates, planned.measures, planned.tags)
    grounded = _with_answers_for_audits(planned, plan.store, silent)
    return forecast(models, grounded.pieces, plan.store, plan.settings)


def texts_to_score(plan: Plan) -> Iterator[str]:
    """The distinct texts that the plan's models have not scored yet, for a model on another machine."""
    if plan.settings.budget is not None:
        raise BadInput(
            "texts cannot be exported within a budget: which are asked depends on the answers",
            code="export.with-budget",
            key="budget",
            do="export all texts, or a corpus with fewer texts",
        )
    corpora = open_corpora_of(plan)
    models = [open_awaited(spec) for spec in plan.models]
    for model in models:
        if capabilities_of(model).takes != "texts":
            raise BadInput(
                f"model '{model.name}' scores histories, which cannot be exported as texts",
                code="export.histories",
                do="audit it on this machine",
            )
    return not_scored(models, plan_jobs(models, corpora, plan.settings).pieces, plan.store)


def open_corpora_of(plan: Plan) -> list[Corpus]:
    """The judged splits of the corpora of a plan, with dev where a threshold is chosen on it."""
    needs_dev = plan.settings.threshold == DEV
    corpora = []
    for corpus_plan in plan.corpora:
        # Opened with all splits: leaks between them show only there.
        whole = open_corpus(replace(corpus_plan, split=None))
        corpora.append(judged_part(whole, corpus_plan.split, with_dev=needs_dev))
    return corpora
