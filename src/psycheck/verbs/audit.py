"""The straight line: ask → score → judge → report."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import polars as pl

from psycheck.audits.across import across_models
from psycheck.audits.behaviour import Behaviour
from psycheck.audits.fairness import Fairness
from psycheck.audits.length import length_findings
from psycheck.audits.performance import Performance
from psycheck.audits.suite import Suite, read_suite
from psycheck.audits.summary import across_corpora
from psycheck.corpora.cautions import cheap_cautions
from psycheck.corpora.open import CorpusLike, corpus_plan, corpus_plans, open_corpus
from psycheck.corpora.shorten import fit_texts
from psycheck.corpus import Corpus
from psycheck.errors import BadInput, counted
from psycheck.finding import Finding
from psycheck.model import Audit, Model, Scores, Windowed
from psycheck.models.open import open_awaited, open_model
from psycheck.run import Run
from psycheck.runs.environment import environment_of
from psycheck.runs.examples import shown_cases, shown_pairs
from psycheck.runs.folder import open_run
from psycheck.runs.gates import Gate, check_gates, judge_gates, parse_gate, refuse_own_baseline
from psycheck.runs.pages import save
from psycheck.scoring.answers import answers, not_scored
from psycheck.scoring.engine import Piece, Progress, Tally, silent
from psycheck.text.gender.edits import scope_of
from psycheck.verbs.align import (
    align_corpora,
    align_model,
    check_annotated,
    check_suites,
    check_tested,
    check_trained_on,
    expected_labels,
)
from psycheck.verbs.plan import Plan, Settings, settings_of

ModelLike = str | Model | Callable[..., Any]


def unsaid(note: str, /) -> None:
    """Notes stay in the run alone."""


def audit(
    model: ModelLike | Sequence[ModelLike],
    corpora: CorpusLike | Sequence[CorpusLike],
    *,
    out: str | Path | None = None,
    store: str | Path | None = None,
    gates: Sequence[str] = (),
    progress: Progress = silent,
    **settings: Any,
) -> Run:
    """Audit one or several models on one or several corpora, and write the run's folder where `out` is given.

    A model is a spec ("hf:DIR"), a Model, or a function from texts to scores; a corpus is a path, "demo:NAME"
    or a Corpus. `settings` are those of `psycheck.verbs.plan.Settings`: suites, threshold, variants, fit …
    """
    models: list[Any] = list(model) if isinstance(model, list | tuple) else [model]
    wanted: list[Any] = list(corpora) if isinstance(corpora, list | tuple) else [corpora]
    chosen = settings_of(_known_settings(settings), "audit()")
    chosen = replace(chosen, gates=tuple(parse_gate(text) for text in gates))
    opened_models = [open_model(one) for one in models]
    opened_corpora = [open_corpus(one) for one in wanted]
    return run_line(opened_models, opened_corpora, chosen, _path(out), _path(store), progress)


def open_plan(plan: Plan) -> tuple[list[Model], list[Corpus]]:
    """Open everything that a plan names, corpora first: a mistake in a file shows before weights are read."""
    if not plan.models or not plan.corpora:
        what = "a model" if not plan.models else "a corpus"
        raise BadInput(
            f"the audit names no {what.split()[1]}", do=f"name {what}: psycheck audit MODEL CORPUS…"
        )
    refuse_own_baseline(plan.settings.gates, plan.out)
    corpora = [open_corpus(said) for said in plan.corpora]
    return [open_model(spec) for spec in plan.models], corpora


def run_line(
    models: Sequence[Model],
    corpora: Sequence[Corpus],
    settings: Settings,
    out: Path | None = None,
    store_path: Path | None = None,
    progress: Progress = silent,
    say: Callable[[str], None] = unsaid,
) -> Run:
    """Ask, score once, judge, and write down; everything before scoring is checked before scoring.

    `say` is told before scoring what was found out beyond the notes that corpora and models bring along.
    """
    refuse_own_baseline(settings.gates, out)
    before = {gate.no_worse_than: _baseline(gate) for gate in settings.gates if gate.no_worse_than}
    line = _prepared(models, corpora, settings)
    check_gates(settings.gates, line.audits, line.tags)
    for note in line.notes:
        say(note)
    with answers(models, line.pieces(), names=line.names, store=store_path, progress=progress) as found:
        tallies = found.tallies
        findings, tables = _judged(line, found.views)
        noticed = [
            cheap_cautions(corpus, called=corpus.called, show=settings.show_texts) for corpus in line.corpora
        ]
        findings += tuple(caution.finding() for cautions in noticed for caution in cautions)
        complaints = [
            f"model '{view.model}': {counted(count, 'text')} could not be scored: {reason}"
            for view in found.views
            for reason, count in view.complaints.items()
        ]
        run = Run(
            plan=_plan_said(line, models, settings),
            environment=environment_of(models, line.corpora, line.suites, tallies),
            findings=findings,
            tables=tables,
            shown=(
                *shown_cases(tables.get("cases"), line.fitted, line.suites, settings.show_texts),
                *shown_pairs(tables.get("pairs"), line.corpora, line.fairness, settings.show_texts),
            ),
            notes=(*line.brought, *line.notes, *complaints, *_unscored_notes(tallies)),
            incomplete=sum(tally.failed for tally in tallies.values()),
            folder=out,
        )
    try:
        run = replace(run, gates=judge_gates(settings.gates, findings, before))
    except BadInput as error:  # a gate that names what does not exist is an error, but the report is there
        if out is not None:
            save(run, out)
            error.do = f"mend the gate; the report is there: {out / 'report.html'}"
        raise
    if out is not None:
        save(run, out)
    return run


def texts_to_score(plan: Plan) -> Iterator[str]:
    """The distinct texts that the plan's models have not scored yet, for a model on another machine."""
    corpora = [open_corpus(said) for said in plan.corpora]
    models = [open_awaited(spec) for spec in plan.models]
    line = _prepared(models, corpora, plan.settings)
    return not_scored(models, line.pieces, plan.store)


@dataclass(frozen=True, slots=True)
class _Line:
    """What is asked of which corpora: labels aligned, texts fitted where wished."""

    corpora: list[Corpus]
    fitted: list[Corpus]
    suites: list[Suite]
    performance: list[Performance]
    behaviour: list[Behaviour]
    fairness: list[Fairness]
    names: Mapping[str, tuple[str, ...]]
    brought: list[str]
    notes: list[str]
    length: bool

    @property
    def audits(self) -> list[str]:
        """What findings will speak of, as far as it is known before they are there."""
        both = ["across"] if self.performance and self.behaviour else []
        behaviour = ["behaviour", *(["length"] if self.length else [])] if self.behaviour else []
        fixed = [*(["performance"] if self.performance else []), *(["fairness"] if self.fairness else [])]
        return [*fixed, *behaviour, *both, "caution"]

    @property
    def tags(self) -> set[str]:
        """By what the checks are told apart besides their kind and label."""
        return {tag for suite in self.suites for check in suite.checks for tag in check.tags}

    def pieces(self) -> Iterator[Piece]:
        """The texts of all audits and corpora, slice by slice, with the share that is done."""
        asked = [(audit, corpus) for corpus in self.corpora for audit in self.performance]
        asked_fitted = [(audit, corpus) for corpus in self.fitted for audit in self.behaviour]
        swapped = [(audit, corpus) for corpus in self.corpora for audit in self.fairness]
        jobs: list[tuple[Audit, Corpus]] = [*asked, *asked_fitted, *swapped]
        total = sum(len(corpus) for _, corpus in jobs) or 1
        done = 0
        for audit, corpus in jobs:
            for piece in corpus.slices():
                done += len(piece)
                yield done / total, audit.ask(piece)


def _prepared(models: Sequence[Model], corpora: Sequence[Corpus], settings: Settings) -> _Line:
    _distinct([model.name for model in models], "model", "append ?name=NAME to the model")
    _distinct([corpus.name for corpus in corpora], "corpus", "write NAME=PATH")
    wanted = settings.suites if "behaviour" in settings.audits else ()
    suites = [read_suite(name) for name in wanted]
    brought = [f"{corpus.name}: {note}" for corpus in corpora for note in corpus.notes]
    brought += [f"{model.name}: {note}" for model in models for note in getattr(model, "notes", ())]
    notes: list[str] = []
    for corpus in corpora:
        notes += [
            f"{corpus.name}: {counted(n, 'row')} left out ({why})" for why, n in corpus.left_out.items()
        ]
        if not len(corpus):
            raise BadInput(f"corpus '{corpus.name}' has no texts to audit")
    expected = expected_labels(suites, corpora)
    aligned, said = align_corpora(corpora, models, expected)
    notes += said
    check_suites(suites, aligned)
    notes += check_trained_on(settings.trained_on, models, corpora)
    names = {}
    for model in models:
        names[model.name], said = align_model(model, aligned, expected)
        check_tested(suites, model.name, names[model.name])
        if "performance" in settings.audits:
            check_annotated(aligned, model.name, names[model.name])
        notes += said
    fitted = list(aligned)
    if settings.fit:
        readers = [model.read for model in models if isinstance(model, Windowed)]
        sentences = [s for suite in suites for check in suite.checks for s in check.sentences]
        for k, corpus in enumerate(aligned):
            fitted[k], count = fit_texts(corpus, readers, sentences)
            if count:
                shortened = counted(count, "text")
                notes.append(f"{corpus.name}: {shortened} shortened so that added sentences are read (--fit)")
    return _Line(
        corpora=aligned,
        fitted=fitted,
        suites=suites,
        performance=[Performance(settings.threshold, settings.resamples, settings.seed)]
        if "performance" in settings.audits and any(corpus.labels for corpus in aligned)
        else [],
        behaviour=[
            Behaviour(suite, settings.threshold, settings.seed, settings.variants) for suite in suites
        ],
        fairness=[Fairness(settings.threshold, scope_of(settings.swap, settings.swap_person))]
        if "fairness" in settings.audits
        else [],
        names=names,
        brought=brought,
        notes=notes,
        length="length" in settings.audits,
    )


def _judged(line: _Line, views: Sequence[Scores]) -> tuple[tuple[Finding, ...], dict[str, pl.DataFrame]]:
    findings: list[Finding] = []
    tables: dict[str, list[pl.DataFrame]] = {}
    for view in views:
        for corpus, fitted in zip(line.corpora, line.fitted, strict=True):
            jobs: list[tuple[Audit, Corpus]] = [
                (audit, corpus) for audit in line.performance if corpus.labels
            ]
            jobs += [(audit, fitted) for audit in line.behaviour]
            jobs += [(audit, corpus) for audit in line.fairness]
            for one, judged in jobs:
                judgement = one.judge(judged, view)
                findings += judgement.findings
                for name, table in judgement.tables.items():
                    tables.setdefault(name, []).append(table)
                if line.length and "cases" in judgement.tables:
                    where = {"model": view.model, "corpus": corpus.name, "suite": one.name.partition(":")[2]}
                    findings += length_findings(fitted, judgement.tables["cases"], where)
    findings += across_corpora(findings)
    if len(views) > 1 or len(line.corpora) > 1:
        findings += across_models(findings)
    return tuple(findings), {name: pl.concat(parts) for name, parts in tables.items()}


def _plan_said(line: _Line, models: Sequence[Model], settings: Settings) -> dict[str, Any]:
    """The plan as it was carried out, for the folder and the page."""
    everyone = settings.trained_on.get("", ())
    trained = {m.name: [*everyone, *settings.trained_on.get(m.name, ())] for m in models}
    for model in models:
        trained[model.name] += [name for name in getattr(model, "trained_on", ()) if name not in everyone]
    return {
        "models": [{"name": model.name, "labels": list(line.names[model.name])} for model in models],
        "corpora": [
            {"name": c.name, "texts": len(c), "labels": list(c.labels), "left_out": dict(c.left_out)}
            for c in line.corpora
        ],
        "suites": [{"name": s.name, "title": s.title, "checks": len(s.checks)} for s in line.suites],
        "gates": [str(gate) for gate in settings.gates],
        "trained_on": {name: sorted(set(names)) for name, names in trained.items() if names},
        **{
            key: getattr(settings, key)
            for key in ("audits", "threshold", "variants", "seed", "fit", "show_texts", "resamples")
        },
        "swap": list(scope_of(settings.swap).words),
        "swap_person": settings.swap_person,
    }


def _unscored_notes(tallies: Mapping[str, Tally]) -> list[str]:
    return [
        f"model '{name}': {counted(tally.failed, 'text')} could not be scored; the run is incomplete"
        for name, tally in tallies.items()
        if tally.failed
    ]


def _baseline(gate: Gate) -> tuple[Finding, ...]:
    """The findings of the run that a gate refers to."""
    folder = Path(gate.no_worse_than or "")
    if not folder.exists():
        raise BadInput(
            f"there is no run to hold this one against: {folder}",
            where=str(gate),
            allowed="the folder of a finished run",
            do=f"make it first: the same audit without this gate, with --out {folder}",
        )
    return open_run(folder).findings


def _distinct(names: Sequence[str], what: str, do: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"two of the {what} names are '{name}'", allowed=f"one name a {what}", do=do)


def _known_settings(raw: dict[str, Any]) -> dict[str, Any]:
    from psycheck.errors import nearest

    known = {f.name for f in fields(Settings)} - {"gates"}
    for key in raw:
        if key not in known:
            raise BadInput(f"audit() has no setting '{key}'", allowed=nearest(key, known))
    return raw


def _path(said: str | Path | None) -> Path | None:
    return None if said is None else Path(said)


__all__ = [
    "audit",
    "corpus_plan",
    "corpus_plans",
    "open_corpus",
    "open_plan",
    "run_line",
    "texts_to_score",
]
