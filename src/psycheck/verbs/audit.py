"""One audit run: ask → score → judge → report."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from psycheck.audits.fairness import Fairness
from psycheck.audits.performance import HARD
from psycheck.audits.summary import across_corpora, across_models, holm_families
from psycheck.corpora.cautions import cheap_cautions
from psycheck.corpora.histories import TEXTS
from psycheck.corpora.open import CorpusLike, open_corpora, open_corpus
from psycheck.corpus import Corpus
from psycheck.errors import BadInput, counted, nearest
from psycheck.finding import Findings
from psycheck.model import Audit, Model
from psycheck.models.open import open_awaited, open_model
from psycheck.run import Run
from psycheck.runs.environment import described, environment_of
from psycheck.runs.examples import shown_cases, shown_pairs
from psycheck.runs.folder import open_run, paths_in, writes_run
from psycheck.runs.gates import (
    Gate,
    check_gates,
    judge_gates,
    parse_gate,
    refuse_incomparable,
    refuse_own_baseline,
)
from psycheck.runs.pages import save
from psycheck.scoring.answers import Answers, answers, forecast, not_scored
from psycheck.scoring.engine import Progress, silent
from psycheck.scoring.tally import Tally
from psycheck.text.gender.edits import scope_of
from psycheck.verbs.jobs import Prepared, is_own, own_audits, prepare, split_audits
from psycheck.verbs.plan import Plan, Settings, settings_of
from psycheck.verbs.threshold import DEV, choose_thresholds, open_with_dev, with_dev

ModelLike = str | Model | Callable[..., Any]


def audit(
    model: ModelLike | Sequence[ModelLike],
    corpora: CorpusLike | Sequence[CorpusLike],
    *,
    text: str | None = None,
    labels: str | Sequence[str] = (),
    split: str | None = None,
    out: str | Path | None = None,
    store: str | Path | None = None,
    gates: Sequence[str] = (),
    progress: Progress = silent,
    **settings: Any,
) -> Run:
    """Audit one or several models on one or several corpora, and write the run's folder where `out` is given.

    A model is a spec ("hf:DIR"), a Model, or a function from texts to scores; a corpus is a path,
    "demo:NAME", a Corpus, a pandas or polars frame, a Hugging Face dataset or a list of texts. `text` and
    `labels` name columns, which are guessed otherwise; `split` keeps one split of every corpus.
    `settings` are those of `psycheck.verbs.plan.Settings`: suites, threshold, variants, fit …
    `audits` may hold audit objects of your own besides names.
    """
    known = {f.name for f in fields(Settings)} - {"gates"}
    for key in settings:
        if key not in known:
            raise BadInput(f"audit() has no setting '{key}'", allowed=nearest(key, known))
    objects: list[Audit] = []
    if "audits" in settings:
        settings["audits"], objects = split_audits(settings["audits"])
    checked = settings_of(settings, "audit()")
    models: list[Any] = list(model) if isinstance(model, list | tuple) else [model]
    dev = checked.threshold == DEV
    opened = open_corpora(corpora, text=text, labels=labels, split=None if dev else split)
    return run_audit(
        [open_model(one) for one in models],
        [with_dev(corpus, split) for corpus in opened] if dev else opened,
        replace(checked, gates=tuple(parse_gate(gate) for gate in gates)),
        None if out is None else Path(out),
        None if store is None else Path(store),
        progress,
        more_audits=objects,
        inputs=list(paths_in([*models, corpora, checked.suites])),
    )


def open_plan(plan: Plan) -> tuple[list[Model], list[Corpus]]:
    """Open everything that a plan names, corpora first: a mistake in a file shows before weights are read."""
    refuse_own_baseline(plan.settings.gates, plan.out)
    opened = open_with_dev if plan.settings.threshold == DEV else open_corpus
    corpora = [opened(corpus) for corpus in plan.corpora]
    return [open_model(spec) for spec in plan.models], corpora


@writes_run("inputs")
def run_audit(
    models: Sequence[Model],
    corpora: Sequence[Corpus],
    settings: Settings,
    out: Path | None = None,
    store_path: Path | None = None,
    progress: Progress = silent,
    say: Callable[[str], None] = lambda note: None,
    more_audits: Sequence[Audit] = (),
    inputs: Sequence[Path] = (),
) -> Run:
    """Ask, score once, judge, and save; everything is checked before anything is scored.

    `say` receives the notes of the run before scoring, except those that corpora and models bring along.
    `more_audits` are audit objects besides those that the settings name; `inputs` are files that the run
    must not overwrite.
    """
    refuse_own_baseline(settings.gates, out)
    earlier = {gate.no_worse_than: _baseline(gate) for gate in settings.gates if gate.no_worse_than}
    prepared = prepare(models, corpora, settings, more_audits, store_path, progress)
    check_gates(settings.gates, prepared.measures, prepared.tags)
    if earlier:
        marks = environment_of(models, prepared.corpora, prepared.suites)
        refuse_incomparable(settings.gates, earlier, Run(_plan_of(prepared, settings), marks, Findings()))
    for note in prepared.notes:
        say(note)
    how: dict[str, Any] = {"names": prepared.names, "store": store_path, "limits": settings, "say": say}
    rounds = prepared.rounds if prepared.samples else None
    with answers(models, prepared.pieces(), progress=progress, rounds=rounds, **how) as found:
        run = replace(_judged(prepared, found, settings), folder=out)
    try:
        own = [measure for audit in run.own_audits for measure in audit.measures]
        before = {name: run.findings for name, run in earlier.items()}
        run = replace(run, gates=judge_gates(settings.gates, run.findings, before, own))
    except BadInput as error:  # the gate names something that does not exist
        error.do = f"correct the gate; the report is in {out / 'report.html'}" if out else error.do
        raise
    finally:  # the report is written in any case
        if out is not None:
            save(run, out)
    return run


def dry_run(models: Sequence[Model], corpora: Sequence[Corpus], plan: Plan) -> dict[str, Tally]:
    """How many texts an audit would score with each model, and about how long that takes.

    Of a model that replies in words nothing is asked: requests, tokens and cost are what it expects.
    """
    prepared = prepare(models, corpora, plan.settings, store=plan.store)
    check_gates(plan.settings.gates, prepared.measures, prepared.tags)
    return forecast(models, prepared.pieces, plan.store, plan.settings)


def texts_to_score(plan: Plan) -> Iterator[str]:
    """The distinct texts that the plan's models have not scored yet, for a model on another machine."""
    opened = open_with_dev if plan.settings.threshold == DEV else open_corpus
    corpora = [opened(corpus) for corpus in plan.corpora]
    if plan.settings.budget is not None:
        raise BadInput(
            "texts cannot be exported within a budget: which are asked depends on the answers",
            key="budget",
            do="export all texts, or a corpus with fewer texts",
        )
    models = [open_awaited(spec) for spec in plan.models]
    if taking := [model.name for model in models if getattr(model, "takes", TEXTS) != TEXTS]:
        what = f"model '{taking[0]}' scores histories, which cannot be exported as texts"
        raise BadInput(what, do="audit it on this machine")
    return not_scored(models, prepare(models, corpora, plan.settings).pieces, plan.store)


def _judged(prepared: Prepared, found: Answers, settings: Settings) -> Run:
    """The findings of all jobs, what holds across them, cautions about the corpora, and the cases to show."""
    chosen = {}
    for view in found.views if prepared.dev else ():
        if not view.exclusive:  # of exclusive classes the largest score decides
            one = choose_thresholds(view, prepared.dev)
            chosen[view.model], view.thresholds = one, one.values
    findings, tables = prepared.judge(found.views)
    findings += [f for name, one in chosen.items() for c in prepared.corpora for f in one.findings(name, c)]
    findings += [*across_corpora(findings), *holm_families(findings, "accuracy_over_trivial_p", ())]
    if len(found.views) > 1 or len(prepared.corpora) > 1:
        findings += across_models(findings)
    for corpus in prepared.corpora:
        findings += [one.finding() for one in cheap_cautions(corpus, show=settings.show_texts)]
    clustering = [note for corpus in prepared.corpora for note in corpus.clustering()]
    fitted = list({id(corpus): corpus for _, corpus in prepared.jobs}.values())
    scopes = [one.scope for one in prepared.audits if isinstance(one, Fairness)]
    run = Run(
        plan=_plan_of(prepared, settings)
        | {"thresholds": {name: one.by_label for name, one in chosen.items()}},
        environment=environment_of(prepared.models, prepared.corpora, prepared.suites, found.tallies),
        findings=Findings(findings),
        tables=tables,
        shown=(
            *shown_cases(tables.get("cases"), fitted, prepared.suites, settings.show_texts),
            *shown_pairs(tables.get("pairs"), prepared.corpora, scopes, settings.show_texts),
        ),
        notes=(
            *(*prepared.brought, *prepared.notes, *clustering, *_failures(found)),
            *(note for one in chosen.values() for note in one.notes),
        ),
        incomplete=sum(tally.failed for tally in found.tallies.values()),
    )
    return replace(run, own_audits=own_audits(prepared.audits, run))


def _plan_of(prepared: Prepared, settings: Settings) -> dict[str, Any]:
    """The plan as it was carried out, for the folder and the page."""
    on = settings.trained_on
    trained = {
        one.name: {*on.get("", ()), *on.get(one.name, ()), *getattr(one, "trained_on", ())}
        for one in prepared.models
    }
    keys = ("threshold", "variants", "seed", "fit", "show_texts")
    return {
        "models": [{"name": m.name, "labels": list(prepared.names[m.name])} for m in prepared.models],
        **described(prepared.corpora, prepared.suites),
        "gates": [str(gate) for gate in settings.gates],
        "trained_on": {name: sorted(names) for name, names in trained.items() if names},
        "audits": (*settings.audits, *(one.name for one in prepared.audits if is_own(one))),
        **{key: getattr(settings, key) for key in keys},
        **{key: value for key in ("budget", "until") if (value := getattr(settings, key)) is not None},
        "swap": list(scope_of(settings.swap).words),
        "swap_person": settings.swap_person,
    }


def _failures(found: Answers) -> Iterator[str]:
    """Notes on texts that could not be scored."""
    for view in found.views:
        for reason, count in view.complaints.items():
            yield f"model '{view.model}': {counted(count, 'text')} could not be scored: {reason}"
        if view.hard:
            yield f"model '{view.model}' answers only 0 or 1, so {HARD}"
    for name, tally in found.tallies.items():
        if tally.unreadable:
            replies = counted(tally.unreadable, "text")
            yield f"model '{name}': {replies} got a reply that answers no label; they count as unanswered"
        if tally.dropped:
            scores = counted(tally.dropped, "stored score")
            yield f"model '{name}' gives other scores than before: {scores} dropped, every text scored again"
        if tally.failed:
            texts = counted(tally.failed, "text")
            yield f"model '{name}': {texts} could not be scored; the run is incomplete"


def _baseline(gate: Gate) -> Run:
    """The run that a gate refers to."""
    folder = Path(gate.no_worse_than or "")
    if not folder.exists():
        do = f"create it first: run the same audit without this gate, with `out={folder}`"
        raise gate.refused(f"baseline run not found: {folder}", "the folder of a finished run", do)
    return open_run(folder)
