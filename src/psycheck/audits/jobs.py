"""The jobs of a run: which audit judges which corpus. Planned before anything is scored, judged afterwards.

read → **plan jobs** → score → **judge** → run → page → write: `plan_jobs` and `judge_jobs` are two steps of
the line that `psycheck audit` walks (docs/architecture.md).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from psycheck.audits.alignment import align
from psycheck.audits.budget import Sample, refuse_too_few
from psycheck.audits.outside import checked_judgement
from psycheck.audits.plan import Settings
from psycheck.audits.registered import is_own, prepare_audits, tests_suites
from psycheck.audits.suite import Suite, read_suite
from psycheck.audits.summary import ACROSS
from psycheck.audits.thresholds import DEV, set_aside
from psycheck.audits.weakest import mark_weakest
from psycheck.core.audit import Audit, Grounding, RunContext, Scores, Selective
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput, counted, nearest, neighbours
from psycheck.core.finding import Finding
from psycheck.core.measure import Measure
from psycheck.core.model import FewShot, Model, Windowed, capabilities_of
from psycheck.core.registry import AUDITS
from psycheck.corpora.fixed_order import in_fixed_order
from psycheck.corpora.posting_histories import as_taken
from psycheck.corpora.shorten import fit_texts
from psycheck.scoring.engine import Piece

Job = tuple[Audit, Corpus]
NOT_FOR_HISTORIES = "its checks edit texts, and are not for histories"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRun:
    """A run that is ready to be scored; nothing has been scored yet.

    `corpora` have their labels aligned; the jobs hold them with shortened texts where `fit` asks for it.
    `labels` are the names of each model's columns, `brought` the notes that corpora and models came with.
    `dev` is set aside: the thresholds are chosen on it. With a budget `samples` has one sample per model,
    and the corpora of the jobs are in random order.
    """

    models: tuple[Model, ...]
    corpora: tuple[Corpus, ...]
    audits: tuple[Audit, ...]
    suites: tuple[Suite, ...]
    jobs: tuple[Job, ...]
    labels: Mapping[str, tuple[str, ...]]
    brought: tuple[str, ...]
    notes: tuple[str, ...]
    settings: Settings
    dev: tuple[Corpus, ...] = ()
    samples: Mapping[str, Sample] = field(default_factory=dict)

    @property
    def measures(self) -> set[str | Measure]:
        """The measures that findings can have."""
        measures: set[str | Measure] = {"caution"}
        for audit, _ in self.jobs:
            measures.update(audit.measures)
        # Both make figures across corpora, which no single audit reports.
        if {"accuracy", "pass_rate"} <= measures:
            measures |= {*ACROSS}
        return measures

    @property
    def tags(self) -> set[str]:
        """The tags of all checks, which are keys of their findings."""
        tags: set[str] = set()
        for suite in self.suites:
            for check in suite.checks:
                tags.update(check.tags)
        return tags

    @property
    def grounding(self) -> tuple[Grounding, ...]:
        """The audits that need another model's answers before they can ask."""
        return tuple(audit for audit in self.audits if isinstance(audit, Grounding))

    def pieces(self) -> Iterator[Piece]:
        """The texts that the jobs ask for, slice by slice, with the share of the asking that is done.

        With a budget these are as many as it allows: which ones are asked depends on the answers (`rounds`).
        """
        if self.samples:
            any_sample = next(iter(self.samples.values()))
            yield from Sample(self.jobs, any_sample.calls).pieces(None)
            return

        job_corpora = [corpus for _, corpus in self.jobs]
        sizes = [len(corpus) for corpus in (*self.dev, *job_corpora)]
        total = sum(sizes) or 1
        done = 0
        for corpus in self.dev:
            done += len(corpus)
            yield done / total, corpus.items

        for audit, corpus in self._jobs_by_kind():
            for piece in corpus.slices():
                done += len(piece)
                yield done / total, audit.ask(piece)

    def _jobs_by_kind(self) -> list[Job]:
        """The jobs kind by kind: what shares a batch, and so its padding, does not depend on the corpora."""
        kinds = list(dict.fromkeys(map(type, self.audits)))

        def place_of_kind(job: Job) -> int:
            audit, _ = job
            return kinds.index(type(audit))

        return sorted(self.jobs, key=place_of_kind)

    def rounds(self, scores: Scores) -> Iterator[Piece]:
        """The texts that a model is asked for within its budget, round by round."""
        return self.samples[scores.model].pieces(scores)


def plan_jobs(
    models: Sequence[Model],
    corpora: Sequence[Corpus],
    settings: Settings,
    audit_objects: Sequence[Audit] = (),
    more_suites: Sequence[Suite] = (),
) -> PlannedRun:
    """Check models and corpora, align their labels, let the audits prepare themselves, and list the jobs.

    `more_suites` are tested besides those that the settings name.

    Everything that can be refused is refused here, before anything is scored.
    """
    # Only now: where times are missing, the posts of a history stand as in the file.
    corpora = list(map(in_fixed_order, as_taken(corpora, models)))
    # Cheap checks come first: preparing an audit may open another model.
    suites, notes = _suites(corpora, settings, more_suites)
    _refuse_repeated_names(models, corpora, suites)
    _refuse_empty(corpora)

    # Only audits from outside can do without a label that model and corpora share.
    is_any_ours = any(AUDITS.is_ours(name) for name in settings.audits)
    strict = is_any_ours or not all(map(is_own, audit_objects))
    alignment = align(models, corpora, suites, strict=strict)
    notes = [
        *_left_out_notes(corpora),
        *alignment.notes,
        *_trained_on_notes(settings.trained_on, models, corpora),
        *check_pools(models, alignment.corpora),
        *notes,
    ]

    # Thresholds are chosen on dev, so dev must not be judged with them.
    judged_corpora = alignment.corpora
    dev: tuple[Corpus, ...] = ()
    if settings.threshold == DEV:
        judged_corpora, dev = set_aside(alignment.corpora, alignment.labels)

    context = RunContext(
        models=tuple(models),
        corpora=judged_corpora,
        labels=alignment.labels,
        suites=suites,
        settings=settings,
    )
    audits = prepare_audits(context, settings.audits, audit_objects)
    _refuse_repeated("audit", [audit.name for audit in audits], "name each audit once")

    jobs, job_notes = _jobs(context, audits)
    samples: dict[str, Sample] = {}
    if settings.budget is not None:
        refuse_too_few(jobs, settings.budget)
        for model in models:
            samples[model.name] = Sample(jobs, settings.budget, settings.until)

    return PlannedRun(
        models=tuple(models),
        corpora=judged_corpora,
        audits=tuple(audits),
        suites=suites,
        jobs=tuple(jobs),
        labels=alignment.labels,
        brought=tuple(_brought_notes(corpora, models)),
        notes=(*notes, *job_notes),
        settings=settings,
        dev=dev,
        samples=samples,
    )


def judge_jobs(
    planned: PlannedRun,
    scores: Sequence[Scores],
) -> tuple[list[Finding], dict[str, pl.DataFrame]]:
    """The findings and the tables of all jobs, model by model."""
    findings: list[Finding] = []
    tables: dict[str, list[pl.DataFrame]] = {}
    standings: list[Any] = []
    for view in scores:
        jobs: Iterable[Job] = planned.jobs
        if planned.samples:
            # With a budget each model was asked about texts of its own.
            jobs = planned.samples[view.model].jobs()

        for audit, corpus in jobs:
            judgement = audit.judge(corpus, view)
            # What comes from outside is checked, as a wrong finding would break pages and gates later.
            if is_own(audit):
                place = {"model": view.model, "corpus": corpus.name}
                judgement = checked_judgement(audit, judgement, place)
            findings += judgement.findings
            standings += judgement.standings
            for name, table in judgement.tables.items():
                parts = tables.setdefault(name, [])
                parts.append(table)

    # Which check is the weakest is known only among all models, corpora and suites of the run.
    findings = mark_weakest(findings, standings)
    joined_tables = {name: pl.concat(parts) for name, parts in tables.items()}
    return findings, joined_tables


def check_pools(models: Sequence[Model], corpora: Sequence[Corpus]) -> list[str]:
    """Notes on few-shot pools that hold some of the texts; a pool that holds many is an error."""
    notes: list[str] = []
    for model in models:
        if not isinstance(model, FewShot) or model.pool is None:
            continue
        # An example that is also judged would give its label away.
        for corpus in corpora:
            notes_of_pool = model.pool.check(corpus.name, corpus.texts)
            notes += [f"{model.name}: {note}" for note in notes_of_pool]
    return notes


def _suites(
    corpora: Sequence[Corpus], settings: Settings, more_suites: Sequence[Suite]
) -> tuple[tuple[Suite, ...], list[str]]:
    """The suites that the audits test, with notes; none where models score histories.

    Suites are left out at once there: one for texts may test a label that a model of histories does not have.
    """
    if not tests_suites(settings.audits):
        return (), []

    suites = (*map(read_suite, settings.suites), *more_suites)
    has_histories = any(corpus.histories for corpus in corpora)
    if not has_histories:
        return suites, []
    notes = [f"not judged by audit 'behaviour:{suite.name}': {NOT_FOR_HISTORIES}" for suite in suites]
    return (), notes


def _jobs(context: RunContext, audits: Sequence[Audit]) -> tuple[list[Job], list[str]]:
    """Each audit with each corpus that it judges, corpus by corpus; notes on what is not judged."""
    jobs: list[Job] = []
    notes: list[str] = []
    skipped: list[str] = []
    for corpus in context.corpora:
        job_corpus, fit_notes = _job_corpus(corpus, context)
        notes += fit_notes
        for audit in audits:
            reason = None
            if isinstance(audit, Selective):
                reason = audit.skips(job_corpus)
            if reason:
                # Reported, so that nobody takes a missing figure for a passed one.
                skipped.append(f"{corpus.name}: not judged by audit '{audit.name}': {reason}")
            else:
                jobs.append((audit, job_corpus))
    return jobs, [*notes, *skipped]


def _job_corpus(corpus: Corpus, context: RunContext) -> tuple[Corpus, list[str]]:
    """A corpus as its jobs see it: long texts shortened if so wished, in random order with a budget."""
    settings = context.settings
    notes: list[str] = []
    if settings.fit and not corpus.histories:
        readers = [model.read for model in context.models if isinstance(model, Windowed)]
        sentences: list[str] = []
        for suite in context.suites:
            for check in suite.checks:
                sentences += check.sentences

        # Room for the longest sentence of all checks, so that each text is shortened once.
        corpus, shortened = fit_texts(corpus, readers, sentences)
        if shortened:
            texts = counted(shortened, "text")
            notes.append(f"{corpus.name}: {texts} shortened so that added sentences are read")
    if settings.budget is not None:
        # The first texts of a random order are a random sample, however many the budget allows.
        corpus = corpus.shuffled(settings.seed)
    return corpus, notes


def _refuse_repeated_names(
    models: Sequence[Model],
    corpora: Sequence[Corpus],
    suites: Sequence[Suite],
) -> None:
    """Refuse two of one name: findings are told apart by names alone."""
    model_names = [model.name for model in models]
    corpus_names = [corpus.name for corpus in corpora]
    suite_names = [suite.name for suite in suites]
    _refuse_repeated("model", model_names, "append ?name=NAME to the model")
    _refuse_repeated("corpus", corpus_names, "write NAME=PATH")
    _refuse_repeated("suite", suite_names, "set `name` in the suite file")


def _refuse_repeated(what: str, names: Sequence[str], remedy: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise BadInput(
                f"two of the {what} names are '{name}'",
                code="run.repeated-name",
                allowed=f"one name per {what}",
                do=remedy,
            )


def _refuse_empty(corpora: Sequence[Corpus]) -> None:
    for corpus in corpora:
        if not len(corpus):
            raise BadInput(f"corpus '{corpus.name}' has no texts to audit", code="corpus.no-texts")


def _left_out_notes(corpora: Sequence[Corpus]) -> Iterator[str]:
    for corpus in corpora:
        for reason, rows in corpus.left_out.items():
            yield f"{corpus.name}: {counted(rows, 'row')} left out ({reason})"


def _brought_notes(corpora: Sequence[Corpus], models: Sequence[Model]) -> Iterator[str]:
    """What corpora and models say about themselves."""
    for corpus in corpora:
        for note in corpus.notes:
            yield f"{corpus.name}: {note}"
    for model in models:
        for note in capabilities_of(model).notes:
            yield f"{model.name}: {note}"


def _trained_on_notes(
    trained_on: Mapping[str, Sequence[str]],
    models: Sequence[Model],
    corpora: Sequence[Corpus],
) -> list[str]:
    """Refuse a model that this run does not have; note corpora that it does not have, as it need not."""
    model_names = [model.name for model in models]
    corpus_names = [corpus.name for corpus in corpora]
    for model in trained_on:
        if model and model not in model_names:
            raise BadInput(
                f"no model of this run is called '{model}'",
                code="trained-on.unknown-model",
                where="trained_on",
                allowed=nearest(model, model_names),
            )

    training_names: dict[str, None] = {}
    for names in trained_on.values():
        training_names.update(dict.fromkeys(names))

    notes: list[str] = []
    for name in training_names:
        # It need not be one of this run, but a misspelt name would hide that a corpus is no new one.
        if name in corpus_names:
            continue
        note = f"trained_on: '{name}' is not a corpus of this run"
        suggestion = neighbours(name, corpus_names)
        if suggestion:
            note += f"; {suggestion}"
        notes.append(note)
    return notes


def with_grounds(planned: PlannedRun, audit: Grounding, corpora: Sequence[Corpus]) -> PlannedRun:
    """The run in which an audit judges corpora that hold what it needed to know before asking."""
    # In the order of the jobs: the audit was handed the corpora of its jobs in that order.
    grounded_corpora = iter(corpora)
    jobs: list[Job] = []
    for job_audit, job_corpus in planned.jobs:
        if job_audit is audit:
            job_corpus = next(grounded_corpora)
        jobs.append((job_audit, job_corpus))
    return replace(planned, jobs=tuple(jobs))
