"""Which audit judges which corpus: one list of jobs that serves asking and judging."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import polars as pl
from markupsafe import escape

from psycheck.audits.behaviour import Behaviour, Length
from psycheck.audits.fairness import Fairness
from psycheck.audits.performance import Performance
from psycheck.audits.suite import Suite, read_suite
from psycheck.corpus import Corpus
from psycheck.errors import BadInput, nearest
from psycheck.finding import Finding
from psycheck.measure import Measure
from psycheck.model import Audit, Judgement, Scores
from psycheck.run import OwnAudit
from psycheck.scoring.engine import Piece
from psycheck.text.gender.edits import scope_of
from psycheck.verbs.plan import AUDITS, Settings

_NAME = re.compile(r"[A-Za-z0-9_-]+")


class Job(NamedTuple):
    """One audit of one corpus."""

    audit: Audit
    corpus: Corpus


def shipped_audits(settings: Settings) -> list[Audit]:
    """The audits that the settings name, in the order in which their findings are written."""
    names = set(settings.audits)
    suites = [read_suite(name) for name in settings.suites] if names & {"behaviour", "length"} else []
    checks = [
        Behaviour(suite, settings.threshold, settings.seed, settings.variants, "length" in names)
        for suite in suites
    ]
    audits: list[Audit] = []
    if "performance" in names:
        audits.append(Performance(settings.threshold, settings.seed))
    audits += checks if "behaviour" in names else map(Length.of, checks)
    if "fairness" in names:
        audits.append(Fairness(settings.threshold, scope_of(settings.swap, settings.swap_person)))
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
        if is_own(audit) and (not _NAME.fullmatch(str(audit.name)) or audit.name in AUDITS):
            raise BadInput(
                f"an audit cannot be called '{audit.name}'",
                where="audits",
                allowed=f"letters, digits, _ and -, and not {', '.join(AUDITS)}",
            )
        objects.append(audit)
    return names, objects


def jobs_of(audits: Sequence[Audit], corpora: Sequence[Corpus]) -> tuple[list[Job], list[str]]:
    """Every audit of every corpus, corpus by corpus, and a note on each corpus that an audit skips."""
    jobs, notes = [], []
    for corpus in corpora:
        for audit in audits:
            reason = audit.skips(corpus) if hasattr(audit, "skips") else None
            if reason:
                notes.append(f"{corpus.name}: not judged by audit '{audit.name}': {reason}")
            else:
                jobs.append(Job(audit, corpus))
    return jobs, notes


def suites_of(audits: Iterable[Audit]) -> list[Suite]:
    """The suites that the audits test."""
    checks = (audit.behaviour if isinstance(audit, Length) else audit for audit in audits)
    return [audit.suite for audit in checks if isinstance(audit, Behaviour)]


def pieces_of(jobs: Sequence[Job]) -> Iterator[Piece]:
    """The texts that the jobs ask for, slice by slice, with the share of the asking that is done."""
    total = sum(len(corpus) for _, corpus in jobs) or 1
    done = 0
    for audit, corpus in jobs:
        for piece in corpus.slices():
            done += len(piece)
            yield done / total, audit.ask(piece)


def judge_jobs(jobs: Sequence[Job], views: Sequence[Scores]) -> tuple[list[Finding], dict[str, pl.DataFrame]]:
    """The findings and the tables of all jobs, model by model."""
    findings: list[Finding] = []
    tables: dict[str, list[pl.DataFrame]] = {}
    for view in views:
        for audit, corpus in jobs:
            judgement = audit.judge(corpus, view)
            if is_own(audit):
                judgement = _checked(audit, judgement, {"model": view.model, "corpus": corpus.name})
            findings += judgement.findings
            for name, table in judgement.tables.items():
                tables.setdefault(name, []).append(table)
    return findings, {name: pl.concat(parts) for name, parts in tables.items()}


def is_own(audit: Audit) -> bool:
    """Whether an audit was written outside the package."""
    return not type(audit).__module__.startswith("psycheck.")


def own_audits(audits: Iterable[Audit], findings: Sequence[Finding]) -> tuple[OwnAudit, ...]:
    """What the run's folder keeps of the audits from outside: title, measures and section."""
    described = []
    for audit in filter(is_own, audits):
        mine = tuple(finding for finding in findings if finding.where.get("audit") == audit.name)
        described.append(
            OwnAudit(
                audit.name,
                str(getattr(audit, "title", audit.name)),
                tuple(measure for measure in audit.measures if isinstance(measure, Measure)),
                str(escape(audit.section(mine))) if hasattr(audit, "section") else None,
            )
        )
    return tuple(described)


def _checked(audit: Audit, judgement: object, place: dict[str, str]) -> Judgement:
    """The judgement of an audit from outside: measures as declared, audit, model and corpus in `where`."""
    if not isinstance(judgement, Judgement):
        raise BadInput(
            f"judge returned {type(judgement).__name__}",
            where=f"audit '{audit.name}'",
            allowed="a psycheck.model.Judgement(findings, tables)",
        )
    declared = {measure if isinstance(measure, str) else measure.name for measure in audit.measures}
    for finding in judgement.findings:
        if finding.measure not in declared:
            raise BadInput(
                f"the audit reports the measure '{finding.measure}', which it does not declare",
                where=f"audit '{audit.name}'",
                allowed=nearest(finding.measure, declared),
                do="add it to the audit's measures",
            )
    findings = tuple(
        replace(finding, where={**place, **finding.where, "audit": audit.name})
        for finding in judgement.findings
    )
    # Named after the audit: a table of the same name may belong to another one.
    return Judgement(findings, {f"{audit.name}-{name}": table for name, table in judgement.tables.items()})
