"""A run before anything is scored: its audits, the labels that are the same, and one list of jobs."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import polars as pl
from markupsafe import escape

from psycheck.audits.behaviour import Behaviour, Length, refuse_unscored
from psycheck.audits.fairness import Fairness
from psycheck.audits.histories import Histories
from psycheck.audits.performance import Performance, shared_labels, some_labels
from psycheck.audits.standing import Standing, mark_weakest, standings
from psycheck.audits.suite import Suite, read_suite
from psycheck.audits.summary import ACROSS
from psycheck.corpora.histories import MOST, as_taken
from psycheck.corpora.shorten import fit_texts
from psycheck.corpus import LABEL, Corpus
from psycheck.errors import BadInput, counted, nearest, neighbours
from psycheck.finding import Finding
from psycheck.measure import Measure
from psycheck.model import Audit, Judgement, Model, Scores, Windowed
from psycheck.models.labels import nameless, nameless_score
from psycheck.report.shelf import Shelf
from psycheck.run import OwnAudit, Run
from psycheck.scoring.engine import Piece, Progress, silent
from psycheck.text.gender.edits import scope_of
from psycheck.verbs.evidence import with_evidence
from psycheck.verbs.plan import AUDITS, Settings
from psycheck.verbs.sample import Sample, refuse_too_few
from psycheck.verbs.threshold import DEV, set_aside


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run that is ready to be scored.

    `corpora` have their labels aligned; the jobs hold them with shortened texts where `fit` asks for it.
    `names` are those of each model's columns, `brought` the notes that corpora and models came with. With a
    budget `samples` has one sample per model, and the corpora of the jobs are in random order.
    """

    models: Sequence[Model]
    corpora: list[Corpus]
    audits: list[Audit]
    suites: list[Suite]
    jobs: list[tuple[Audit, Corpus]]
    names: Mapping[str, tuple[str, ...]]
    brought: list[str]
    notes: list[str]
    dev: list[Corpus] = field(default_factory=list)  # set aside: the thresholds are chosen on it
    samples: Mapping[str, Sample] = field(default_factory=dict)

    @property
    def measures(self) -> set[str | Measure]:
        """The measures that findings can have."""
        known = {measure for audit, _ in self.jobs for measure in audit.measures} | {"caution"}
        return known | {*ACROSS} if {"accuracy", "pass_rate"} <= known else known

    @property
    def tags(self) -> set[str]:
        """The tags of all checks, which are keys of their findings."""
        return {tag for suite in self.suites for check in suite.checks for tag in check.tags}

    def pieces(self) -> Iterator[Piece]:
        """The texts that the jobs ask for, slice by slice, with the share of the asking that is done.

        With a budget these are as many as it allows: which ones are asked depends on the answers (`rounds`).
        """
        for sample in [*self.samples.values()][:1]:
            yield from Sample(self.jobs, sample.calls).pieces(None)
            return
        total = sum(len(corpus) for corpus in [*self.dev, *(one for _, one in self.jobs)]) or 1
        done = 0
        for corpus in self.dev:
            done += len(corpus)
            yield done / total, corpus.items
        # Kind by kind: what shares a batch, and so its padding, does not depend on how corpora are judged.
        kinds = list(dict.fromkeys(map(type, self.audits)))
        for audit, corpus in sorted(self.jobs, key=lambda job: kinds.index(type(job[0]))):
            for piece in corpus.slices():
                done += len(piece)
                yield done / total, audit.ask(piece)

    def rounds(self, view: Scores) -> Iterator[Piece]:
        """The texts that a model is asked for within its budget, round by round."""
        return self.samples[view.model].pieces(view)

    def judge(self, views: Sequence[Scores]) -> tuple[list[Finding], dict[str, pl.DataFrame]]:
        """The findings and the tables of all jobs, model by model."""
        findings: list[Finding] = []
        tables: dict[str, list[pl.DataFrame]] = {}
        stand: list[Standing] = []
        for view in views:
            for audit, corpus in self.samples[view.model].jobs() if self.samples else self.jobs:
                if type(audit) is Behaviour:
                    cases = audit.cases(corpus, view)
                    stand += standings(audit, corpus, cases)
                    judgement = audit.judge(corpus, view, cases)
                else:
                    judgement = audit.judge(corpus, view)
                if is_own(audit):
                    judgement = _checked(audit, judgement, {"model": view.model, "corpus": corpus.name})
                findings += judgement.findings
                for name, table in judgement.tables.items():
                    tables.setdefault(name, []).append(table)
        return mark_weakest(findings, stand), {name: pl.concat(parts) for name, parts in tables.items()}


def prepare(
    models: Sequence[Model],
    corpora: Sequence[Corpus],
    settings: Settings,
    more_audits: Sequence[Audit] = (),
    store: Path | None = None,
    progress: Progress = silent,
) -> Prepared:
    """Check models and corpora, align their labels and list the jobs, corpus by corpus.

    Posts of histories are weighed by a symptom model, whose scores are looked up in `store` or added to it.
    """
    corpora = as_taken(corpora, models)
    audits, skipped = _for_histories([*_shipped_audits(settings), *more_audits], corpora, models, settings)
    suites = [audit.suite for audit in audits if isinstance(audit, Behaviour)]
    # A report picks the lowest check of all models, corpora and suites: intervals allow for that.
    places = len(models) * len(corpora)
    checks = places * sum(len(suite.checks) for suite in suites)
    audits = [replace(a, others=checks - len(a.suite.checks)) if type(a) is Behaviour else a for a in audits]
    audits = [replace(a, places=places) if isinstance(a, Fairness | Histories) else a for a in audits]
    for what, named, do in (
        ("model", [model.name for model in models], "append ?name=NAME to the model"),
        ("corpus", [corpus.name for corpus in corpora], "write NAME=PATH"),
        ("suite", [suite.name for suite in suites], "set `name` in the suite file"),
        ("audit", [audit.name for audit in audits], "name each audit once"),
    ):
        for name in named:
            if named.count(name) > 1:
                raise BadInput(f"two of the {what} names are '{name}'", allowed=f"one name per {what}", do=do)
    notes = []
    for corpus in corpora:
        if not len(corpus):
            raise BadInput(f"corpus '{corpus.name}' has no texts to audit")
        left_out = corpus.left_out.items()
        notes += [f"{corpus.name}: {counted(n, 'row')} left out ({why})" for why, n in left_out]
    opened: list[Any] = [*corpora, *models]
    brought = [f"{one.name}: {note}" for one in opened for note in getattr(one, "notes", ())]
    aligned, columns, guessed = _align(models, corpora, suites, audits)
    notes += [*guessed, *_not_audited(settings.trained_on, models, corpora), *check_pools(models, aligned)]
    aligned, dev = set_aside(aligned, columns) if settings.threshold == DEV else (aligned, [])
    readers = [model.read for model in models if isinstance(model, Windowed)]
    sentences = [s for suite in suites for check in suite.checks for s in check.sentences]
    jobs: list[tuple[Audit, Corpus]] = []
    judged = aligned
    if any(isinstance(audit, Histories) for audit in audits):
        labels = dict.fromkeys(label for one in columns.values() for label in one)
        judged = with_evidence(aligned, [*labels], settings.evidence, store, progress, settings.seed)
    for corpus in judged:
        if settings.fit and not corpus.histories:
            corpus, count = fit_texts(corpus, readers, sentences)
            if count:
                texts = counted(count, "text")
                notes.append(f"{corpus.name}: {texts} shortened so that added sentences are read")
        corpus = corpus if settings.budget is None else corpus.shuffled(settings.seed)
        for audit in audits:
            if reason := audit.skips(corpus) if hasattr(audit, "skips") else None:
                skipped.append(f"{corpus.name}: not judged by audit '{audit.name}': {reason}")
            else:
                jobs.append((audit, corpus))
    samples = {}
    if settings.budget is not None:
        refuse_too_few(jobs, settings.budget)
        samples = {model.name: Sample(jobs, settings.budget, settings.until) for model in models}
    found = [*notes, *skipped]
    return Prepared(models, aligned, audits, suites, jobs, columns, brought, found, dev, samples)


def _for_histories(
    audits: list[Audit], corpora: Sequence[Corpus], models: Sequence[Model], settings: Settings
) -> tuple[list[Audit], list[str]]:
    """The audits of a run, with that of histories and without suites where models score histories; notes.

    Suites are left out at once: one for texts may test a label that a model of histories does not have.
    """
    if not any(corpus.histories for corpus in corpora):
        if settings.audits == (Histories.name,):
            what = "audit 'histories' is for models that score histories"
            raise BadInput(
                what, key="audits", allowed="a model with takes = 'histories', such as history:FOLDER"
            )
        return audits, []
    suites = [one for one in audits if isinstance(one, Behaviour)]
    notes = [f"not judged by audit '{one.name}': {one.skips(corpora[0])}" for one in suites]
    kept = [one for one in audits if one not in suites]
    if Histories.name in settings.audits:
        threshold = 0.5 if settings.threshold == DEV else settings.threshold
        most = max(getattr(model, "most", MOST) for model in models)
        kept.append(Histories(threshold, settings.seed, settings.evidence, most=most))
    return kept, notes


def check_pools(models: Sequence[Model], corpora: Sequence[Corpus]) -> list[str]:
    """Notes on few-shot pools that hold some of the texts; a pool that holds many is an error."""
    pools = [(model.name, pool) for model in models if (pool := getattr(model, "pool", None)) is not None]
    return [
        f"{name}: {note}"
        for name, pool in pools
        for corpus in corpora
        for note in pool.check(corpus.name, corpus.texts)
    ]


def _shipped_audits(settings: Settings) -> list[Audit]:
    """The audits that the settings name, in the order in which their findings are written."""
    names = set(settings.audits)
    threshold = 0.5 if settings.threshold == DEV else settings.threshold
    audits: list[Audit] = []
    if "performance" in names:
        audits.append(Performance(threshold, settings.seed))
    if names & {"behaviour", "length"}:
        kind = Behaviour if "behaviour" in names else Length.of
        tested = (threshold, settings.seed, settings.variants, "length" in names)
        audits += [kind(read_suite(name), *tested) for name in settings.suites]
    if "fairness" in names:
        audits.append(Fairness(threshold, scope_of(settings.swap, settings.swap_person)))
    return audits


def split_audits(requested: Iterable[Any]) -> tuple[list[str], list[Audit]]:
    """The names among the requested audits, and the audit objects, checked for what an audit must have."""
    names, objects = [], []
    for audit in [requested] if isinstance(requested, str) else requested:
        if isinstance(audit, str):
            names.append(audit)
            continue
        lacking = [part for part in ("name", "measures", "ask", "judge") if not hasattr(audit, part)]
        if lacking:
            raise BadInput(
                f"{type(audit).__name__} is not an audit: it has no {', '.join(lacking)}",
                where="audits",
                allowed=f"{', '.join(AUDITS)}, or an object with name, measures, ask and judge",
            )
        if is_own(audit) and (not re.fullmatch(r"[\w-]+", str(audit.name), re.ASCII) or audit.name in AUDITS):
            raise BadInput(
                f"an audit cannot be called '{audit.name}'",
                where="audits",
                allowed=f"letters, digits, _ and -, and not {', '.join(AUDITS)}",
            )
        objects.append(audit)
    return names, objects


def is_own(audit: Audit) -> bool:
    """Whether an audit was written outside the package."""
    return not type(audit).__module__.startswith("psycheck.")


def own_audits(audits: Iterable[Audit], run: Run) -> tuple[OwnAudit, ...]:
    """What the run's folder keeps of the audits from outside: title, measures and section."""
    described = []
    for audit in filter(is_own, audits):
        mine = Shelf(replace(run, findings=run.findings.where(audit=audit.name)))
        measures = tuple(measure for measure in audit.measures if isinstance(measure, Measure))
        section = str(escape(audit.section(mine))) if hasattr(audit, "section") else None
        described.append(OwnAudit(audit.name, str(getattr(audit, "title", audit.name)), measures, section))
    return tuple(described)


def _checked(audit: Audit, judgement: object, place: dict[str, str]) -> Judgement:
    """The judgement of an audit from outside: measures as declared, audit, model and corpus in `where`."""
    at = f"audit '{audit.name}'"
    if not isinstance(judgement, Judgement):
        allowed = "a psycheck.model.Judgement(findings, tables)"
        raise BadInput(f"judge returned {type(judgement).__name__}", where=at, allowed=allowed)
    declared = {measure if isinstance(measure, str) else measure.name for measure in audit.measures}
    for finding in judgement.findings:
        if finding.measure not in declared:
            raise BadInput(
                f"the audit reports the measure '{finding.measure}', which it does not declare",
                where=at,
                allowed=nearest(finding.measure, declared),
                do="add it to the audit's measures",
            )
    findings = tuple(
        replace(one, where={**place, **one.where, "audit": audit.name}) for one in judgement.findings
    )
    # Named after the audit: a table of the same name may belong to another one.
    return Judgement(findings, {f"{audit.name}-{name}": table for name, table in judgement.tables.items()})


def _align(
    models: Sequence[Model], corpora: Sequence[Corpus], suites: Sequence[Suite], audits: Sequence[Audit]
) -> tuple[list[Corpus], dict[str, tuple[str, ...]], list[str]]:
    """Give labels of models, corpora and suites the same names, and refuse those that do not fit together.

    Returns the corpora with their labels renamed, the names of each model's columns, and notes on guesses.
    """
    # The labels that a run is about: those of the suites, or else those of the corpora.
    tested = dict.fromkeys(check.label for suite in suites for check in suite.checks)
    expected = tuple(tested) or tuple(dict.fromkeys(label for corpus in corpora for label in corpus.labels))
    renamed, notes = _name_labels(corpora, models, expected)
    known = {label for corpus in renamed for label in corpus.labels}
    for suite in suites:
        for check in suite.checks:
            # A label that is almost that of a corpus: one of the two is misspelt.
            if check.label not in known and get_close_matches(check.label, known, n=1, cutoff=0.8):
                raise BadInput(
                    f"suite '{suite.name}' tests '{check.label}', which no corpus is annotated for",
                    where=f"check {check.id}",
                    allowed=nearest(check.label, known),
                    do="correct the label in the suite, or rename the column: `labels=COLUMN=NAME`",
                )
    names, strict = {}, not all(map(is_own, audits))
    for model in models:
        names[model.name], guessed = align_model(model, renamed, expected, strict=strict)
        notes += guessed
        for suite in suites:
            refuse_unscored(suite, model.name, names[model.name])
        for corpus in renamed:
            if corpus.labels and any(isinstance(audit, Performance) for audit in audits):
                shared_labels(corpus, model.name, names[model.name])
    return renamed, names, notes


def align_model(
    model: Model, corpora: Sequence[Corpus], expected: Sequence[str], *, strict: bool = True
) -> tuple[tuple[str, ...], list[str]]:
    """The names under which a model's columns are judged; only a nameless one takes another name.

    With `strict` the model must score a label that a corpus or a suite has.
    """
    wanted = list(dict.fromkeys([*expected, *(label for corpus in corpora for label in corpus.labels)]))
    by_fold = {label.casefold(): label for label in wanted}
    names = tuple(by_fold.get(label.casefold(), label) for label in model.labels)
    if any(name in wanted for name in names):
        return names, []
    if len(names) == 1 and nameless_score(names[0]):
        sole = expected[0] if len(expected) == 1 else wanted[0] if len(wanted) == 1 else None
        if sole:
            return (sole,), [f"model '{model.name}': its only score '{names[0]}' is used for '{sole}'"]
    if not strict:
        return names, []
    if not wanted:
        raise BadInput(
            f"no corpus of this run has a label, and no suite names one for model '{model.name}'",
            do="name the label column (`labels`), or a suite",
        )
    raise BadInput(
        f"model '{model.name}' scores {some_labels(names)}; corpora and suites have {some_labels(wanted)}",
        allowed=nearest(names[0], wanted),
        do="if they are the same, rename one: append ?label=NAME to the model, or use `labels=COLUMN=NAME`",
    )


def _not_audited(
    trained_on: Mapping[str, Sequence[str]], models: Sequence[Model], corpora: Sequence[Corpus]
) -> list[str]:
    """Refuse a model that this run does not have; note corpora that it does not have, as it need not."""
    names, known = [model.name for model in models], [corpus.name for corpus in corpora]
    for model in trained_on:
        if model and model not in names:
            what = f"no model of this run is called '{model}'"
            raise BadInput(what, where="trained_on", allowed=nearest(model, names))
    others = dict.fromkeys(name for trained in trained_on.values() for name in trained if name not in known)
    missing = {name: f"trained_on: '{name}' is not a corpus of this run" for name in others}
    return ["; ".join(filter(None, (note, neighbours(name, known)))) for name, note in missing.items()]


def _name_labels(
    corpora: Sequence[Corpus], models: Sequence[Model], expected: Sequence[str]
) -> tuple[list[Corpus], list[str]]:
    """Give the nameless label of a corpus the name of the one label that the run is about."""
    meant = expected[0] if len(expected) == 1 else None
    if meant is None or nameless(meant):
        meant = next((m.labels[0] for m in models if len(m.labels) == 1 and not nameless(m.labels[0])), None)
    out, notes = [], []
    for corpus in corpora:
        sole = corpus.labels[0] if len(corpus.labels) == 1 else ""
        if meant and sole != meant and nameless(sole):
            corpus = replace(corpus, table=corpus.table.rename({LABEL + sole: LABEL + meant}))
            notes.append(f"{corpus.name}: the label '{sole}' is used for '{meant}'")
        out.append(corpus)
    return out, notes
