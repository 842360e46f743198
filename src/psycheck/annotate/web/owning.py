"""Routes of owners: the dashboard, invitations, members, imports and exports."""

from collections.abc import Mapping
from typing import Any, Final

from fastapi import APIRouter
from starlette.datastructures import UploadFile
from starlette.responses import Response

from psycheck.annotate.accounts import INVITATION_DAYS, invite
from psycheck.annotate.adjudication import requeue
from psycheck.annotate.agreement import between, by_day, by_label, in_queues, pace
from psycheck.annotate.export import EXPORTS, exported, judgements
from psycheck.annotate.membership import ROLES, members, pause
from psycheck.annotate.progress import Progress, QueueProgress, progress
from psycheck.annotate.quality import Alert, alerts, gold_scores
from psycheck.annotate.refusals import NotFound
from psycheck.annotate.transfer import KINDS, LARGEST_UPLOAD, import_upload
from psycheck.annotate.web.access import Admitted, Number, Visit
from psycheck.annotate.web.answering import queue_title, titles
from psycheck.annotate.web.respond import go, page, problem
from psycheck.errors import BadInput, PsycheckError, counted

router = APIRouter()
_EXPORTS: Final = {
    "any": "Corpus: a label if any annotator gave it",
    "majority": "Corpus: the label that most gave",
    "adjudicated": "Corpus: the adjudicator's label, or the one that all gave",
    "share": "Corpus: soft labels (share of annotators)",
    "competence": "Corpus: soft labels, weighed by how reliable each annotator is",
    "evidence": "Marked evidence, one line per span",
    "judgements": "Every answer, one line per annotator and label",
    "agreement": "Agreement by label, day and pair, and time per text",
    "label-studio": "Texts and answers for Label Studio",
    "argilla": "Texts and answers for Argilla",
    "trail": "The full trail of events, without texts",
}
_KINDS: Final = {
    "item": "Texts to annotate",
    "screening": "Screening test (with labels and a column `why`)",
    "gold": "Hidden gold (with labels)",
}


@router.get("/p/{project}/dashboard")
def dashboard(visit: Admitted) -> Response:
    """Progress, agreement, quality and members of a project."""
    return _dashboard(visit)


@router.get("/p/{project}/agreement")
def agreement(visit: Admitted) -> Response:
    """How far annotators agree, by label and day, one with another; the dashboard loads it by itself."""
    task = visit.task()
    table, named = in_queues(judgements(visit.db, visit.person, task.id)), titles(task)
    return page(
        visit,
        "agreement" if visit.by_htmx else "agreements",
        project=task.project,
        rows=[(named.get(one.label, one.label.capitalize()), one) for one in by_label(table)],
        days=list(by_day(table)),
        pairs=list(between(table)),
        paces=list(pace(table)),
    )


@router.post("/p/{project}/invite")
def invite_one(visit: Admitted) -> Response:
    """A link that lets one person join."""
    role = visit.field("role")
    token = invite(visit.db, visit.person, visit.member.project, role)
    link = f"{visit.request.base_url}invitation/{token}"
    return _dashboard(visit, link=link, linked_role=role)


@router.post("/p/{project}/members/{person}")
def member(visit: Admitted, person: Number) -> Response:
    """Pause a member, or let them go on."""
    pause(visit.db, visit.person, visit.member.project, person, paused=visit.field("do") == "pause")
    return go(_here(visit))


@router.post("/p/{project}/requeue")
def requeue_one(visit: Admitted) -> Response:
    """Void the answers to an item, and ask for new ones."""
    item = visit.field("item")
    if not item.isdecimal() or len(item) > 9:
        raise NotFound("there is no such item")
    number = requeue(visit.db, visit.person, visit.member.project, int(item))
    return _dashboard(visit, done=f"{counted(number, 'answer')} withdrawn; the text is in the queue again.")


@router.post("/p/{project}/import")
def import_file(visit: Admitted) -> Response:
    """Add the texts of an uploaded corpus."""
    file = visit.form.get("file")
    kind = visit.field("kind")
    try:
        if not isinstance(file, UploadFile) or kind not in KINDS:
            raise BadInput("choose a file, and what its texts are for", allowed=", ".join(KINDS))
        added = import_upload(
            visit.db,
            visit.person,
            visit.member.project,
            file.filename or "",
            file.file.read(LARGEST_UPLOAD + 1),
            kind=kind,
            queue=visit.field("queue") or None,
        )
    except PsycheckError as error:
        return _dashboard(visit, status=getattr(error, "status", 400), problem=problem(error))
    known = f"; {counted(added.known, 'text')} known before" if added.known else ""
    elsewhere = f"; {counted(added.elsewhere, 'text')} of other queues left out" if added.elsewhere else ""
    return _dashboard(visit, done=f"{counted(added.added, 'text')} added{known}{elsewhere}.")


@router.get("/p/{project}/export/{form}")
def export(visit: Admitted, form: str) -> Response:
    """Download the labels in one of the known forms."""
    known = next((one for one in EXPORTS if one == form), None)
    if known is None:
        raise NotFound("there is no such export")
    name, content = exported(visit.db, visit.person, visit.member.project, known)
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type="application/jsonl", headers=headers)


def _here(visit: Visit) -> str:
    return f"/p/{visit.member.name}/dashboard"


def _dashboard(visit: Visit, status: int = 200, **parts: Any) -> Response:
    task = visit.task()
    state = progress(visit.db, visit.person, task.id)
    queues = {one: queue_title(task, one) for one in task.queues}
    gold = {(one.person, one.queue): one for one in gold_scores(visit.db, visit.person, task.id)}
    shown = {"link": "", "linked_role": "", "done": "", **parts}
    return page(
        visit,
        "dashboard",
        status=status,
        project=task.project,
        queues=queues,
        state=state,
        figures=_figures(state),
        bars=[_bar(queues[one.queue], one) for one in state.queues],
        days=[(day[5:], count) for day, count in list(state.days.items())[-14:]],
        gold=gold,
        alerts=[_alarm(one, queues) for one in alerts(visit.db, visit.person, task.id)],
        people=members(visit.db, visit.person, task.id),
        roles=ROLES,
        kinds=_KINDS,
        exports=_EXPORTS,
        days_valid=INVITATION_DAYS,
        largest=LARGEST_UPLOAD // 1_000_000,
        **shown,
    )


def _figures(state: Progress) -> list[tuple[str, str]]:
    """The figures at the top of the dashboard."""
    items, complete = sum(one.items for one in state.queues), sum(one.complete for one in state.queues)
    waited = [one.oldest for one in state.queues if one.oldest is not None]
    return [
        ("Texts complete", f"{complete:,} of {items:,}"),
        ("Answers", f"{sum(one.answers for one in state.queues):,}"),
        ("Open conflicts", f"{sum(one.conflicts for one in state.queues):,}"),
        ("Batches to inspect", f"{state.batches.get('waiting', 0):,}"),
        ("Oldest open text", age(max(waited)) if waited else "–"),
    ]


def _bar(title: str, one: QueueProgress) -> tuple[str, float, str]:
    waited = f", oldest {age(one.oldest)}" if one.oldest is not None else ""
    words = f"{one.answers:,} of {one.needed:,} answers{waited}"
    return title, one.answers / one.needed if one.needed else 0.0, words


def age(seconds: float) -> str:
    """A time span in its largest unit."""
    for name, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= size:
            return counted(int(seconds // size), name)
    return "just now"


def _alarm(one: Alert, queues: Mapping[str, str]) -> str:
    """A drift alert as a sentence."""
    who = f"{one.name}, {queues[one.queue]}"
    if one.before is None:
        return f"{who}: scores {one.now:.0f} of 100 on the latest {one.answers} hidden gold texts."
    what = "right on hidden gold" if one.about == "gold" else "in agreement with the majority"
    return f"{who}: {one.now:.0%} of the latest {one.answers} answers are {what}, {one.before:.0%} before."
