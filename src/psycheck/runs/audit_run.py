"""The run of an audit, made from what was planned, scored and judged."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from psycheck.audits.asked_of_llm import cascade_findings, consistency_findings, history_findings
from psycheck.audits.cascade_curve import curve_findings
from psycheck.audits.jobs import PlannedRun
from psycheck.audits.outside import described_audits
from psycheck.audits.performance import HARD
from psycheck.audits.prompt_sensitivity import sensitivity_findings
from psycheck.audits.quoted_items import evidence_findings
from psycheck.audits.registered import is_own
from psycheck.audits.summary import across_corpora, across_models
from psycheck.audits.thresholds import Thresholds
from psycheck.audits.training_overlap import training_overlap
from psycheck.core.corpus import Corpus
from psycheck.core.errors import counted
from psycheck.core.finding import Finding, Findings
from psycheck.core.model import capabilities_of
from psycheck.core.run import Run, Shown
from psycheck.corpora.cautions import cheap_cautions, not_searched
from psycheck.runs.environment import described, environment_of
from psycheck.runs.replies import TABLE, replies_table
from psycheck.runs.run_reader import Reader
from psycheck.scoring.answers import Answers
from psycheck.text.gender.edits import scope_of

_PLANNED_SETTINGS = ("variants", "seed", "fit", "show_texts")  # recorded as they were set
_OPTIONAL_SETTINGS = ("budget", "until")  # recorded where they were set


@dataclass(frozen=True, slots=True)
class Judged:
    """What the jobs of a run found, the cases to show, and the thresholds chosen on dev, by model name."""

    findings: Sequence[Finding]
    tables: Mapping[str, pl.DataFrame]
    shown: tuple[Shown, ...]
    thresholds: Mapping[str, Thresholds]


def run_of(planned: PlannedRun, answers: Answers, judged: Judged) -> Run:
    """The run: findings of all jobs, what holds across them, cautions about the corpora, cases to show."""
    overlap = training_overlap(planned.models, planned.corpora)
    plan = plan_record(planned)
    plan["thresholds"] = _chosen_thresholds(judged)
    environment = environment_of(
        planned.models,
        planned.corpora,
        planned.suites,
        answers.tallies,
    )
    findings = [
        *_all_findings(planned, judged),
        *overlap.findings,
        *_evidence(planned, answers),
    ]
    run = Run(
        plan=plan,
        environment=environment,
        findings=Findings(findings),
        tables=_with_replies(planned, answers, judged),
        shown=judged.shown,
        notes=(*_notes(planned, answers, judged), *overlap.notes),
        incomplete=sum(tally.failed for tally in answers.tallies.values()),
        reader=Reader(corpora=_read_corpora(planned), suites=planned.suites),
    )
    return replace(run, own_audits=described_audits(planned.audits, run))


def _read_corpora(planned: PlannedRun) -> tuple[Corpus, ...]:
    """The corpora as the models read them: shortened where the run asked for that."""
    corpora = {corpus.name: corpus for corpus in planned.corpora}
    # Those of the jobs last: they are the shortened ones. A corpus that no audit judges has no job.
    corpora |= {corpus.name: corpus for _, corpus in planned.jobs}
    return tuple(corpora.values())


def _evidence(planned: PlannedRun, answers: Answers) -> Iterator[Finding]:
    """What replies with quotes show, and who decided in a cascade, and what wordings change."""
    for model, view in zip(answers.models, answers.views, strict=True):
        yield from evidence_findings(model, view, planned.corpora)
        yield from cascade_findings(model, view, planned.corpora)
        yield from curve_findings(model, view, planned.corpora)
        yield from history_findings(model, view, planned.corpora)
        yield from consistency_findings(model, view, planned.corpora)
    yield from sensitivity_findings(answers.models, answers.views, planned.corpora)


def _with_replies(planned: PlannedRun, answers: Answers, judged: Judged) -> Mapping[str, pl.DataFrame]:
    """The tables of the audits, and the replies where a model replies in words."""
    replies = replies_table(
        answers.models,
        answers.views,
        planned.corpora,
        show_texts=planned.settings.show_texts,
    )
    if replies is None:
        return judged.tables
    return {**judged.tables, TABLE: replies}


def plan_record(planned: PlannedRun) -> dict[str, Any]:
    """The plan as it was carried out, for the folder and the page."""
    settings = planned.settings
    models = []
    trained_on = {}
    for model in planned.models:
        labels = list(planned.labels[model.name])
        models.append({"name": model.name, "labels": labels})
        corpora = _trained_on(model, settings.trained_on)
        if corpora:
            trained_on[model.name] = sorted(corpora)

    # An audit from outside may be named with its options; its own name is what pages know.
    outside_audits = [audit.name for audit in planned.audits if is_own(audit)]
    shipped_names = [name for name in settings.audits if name.partition("?")[0] not in outside_audits]
    record: dict[str, Any] = {
        "models": models,
        **described(planned.corpora, planned.suites),
        "gates": [str(gate) for gate in settings.gates],
        "trained_on": trained_on,
        "audits": (*shipped_names, *outside_audits),
    }
    # Where none was set, that of models without one of their own.
    record["threshold"] = settings.threshold or settings.fixed_threshold
    for key in _PLANNED_SETTINGS:
        record[key] = getattr(settings, key)
    for key in _OPTIONAL_SETTINGS:
        value = getattr(settings, key)
        if value is not None:
            record[key] = value
    record["swap"] = list(scope_of(settings.swap).words)
    record["swap_person"] = settings.swap_person
    return record


def _trained_on(model: Any, by_model: Mapping[str, Sequence[str]]) -> set[str]:
    """The corpora that a model was trained on, as its card and the user say; "" stands for every model."""
    return {
        *by_model.get("", ()),
        *by_model.get(model.name, ()),
        *capabilities_of(model).trained_on,
    }


def _chosen_thresholds(judged: Judged) -> dict[str, dict[str, float]]:
    """The thresholds chosen on dev, by model and label."""
    return {name: thresholds.by_label for name, thresholds in judged.thresholds.items()}


def _all_findings(planned: PlannedRun, judged: Judged) -> list[Finding]:
    """The findings of the jobs, then those across corpora and models, then cautions."""
    findings = list(judged.findings)
    for name, thresholds in judged.thresholds.items():
        for corpus in planned.corpora:
            findings += thresholds.findings(name, corpus)

    findings += across_corpora(findings)
    # A single pair of model and corpus has nothing to correlate.
    if len(planned.models) > 1 or len(planned.corpora) > 1:
        findings += across_models(findings)

    for corpus in planned.corpora:
        # Of all splits: what they share, and what tells a label, shows only there.
        all_splits = corpus.whole or corpus
        cautions = cheap_cautions(all_splits, show=planned.settings.show_texts)
        findings += [caution.finding() for caution in cautions]
    return findings


def _notes(planned: PlannedRun, answers: Answers, judged: Judged) -> Iterator[str]:
    """What was guessed, left out, clustered, could not be scored, and chosen on dev."""
    yield from planned.brought
    yield from planned.notes
    for corpus in planned.corpora:
        yield from corpus.clustering()
        yield from not_searched(corpus.whole or corpus)
    yield from _scoring_notes(answers)
    for thresholds in judged.thresholds.values():
        yield from thresholds.notes


def _scoring_notes(answers: Answers) -> Iterator[str]:
    """Notes on texts that could not be scored."""
    for view in answers.views:
        for reason, count in view.complaints.items():
            yield f"model '{view.model}': {counted(count, 'text')} could not be scored: {reason}"
        if view.traits.hard:
            yield f"model '{view.model}' answers only 0 or 1, so {HARD}"

    for name, tally in answers.tallies.items():
        yield from (f"model '{name}': {note}" for note in tally.notes_on_replies())
        if tally.dropped:
            scores = counted(tally.dropped, "stored score")
            yield f"model '{name}' gives other scores than before: {scores} dropped, every text scored again"
        if tally.failed:
            texts = counted(tally.failed, "text")
            yield f"model '{name}': {texts} could not be scored; the run is incomplete"
