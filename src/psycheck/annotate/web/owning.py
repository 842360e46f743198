"""Routes of owners: the dashboard, invitations, members, imports and exports."""

from collections.abc import Mapping
from typing import Any, Final

from fastapi import APIRouter
from starlette.datastructures import UploadFile
from starlette.responses import Response

from psycheck.annotate.accounts import INVITATION_DAYS, invite
from psycheck.annotate.adjudication import requeue
from psycheck.annotate.annotator_agreement import between, by_day, by_label, in_queues, pace
from psycheck.annotate.dashboard import Progress, QueueProgress, progress
from psycheck.annotate.export import EXPORTS, exported, judgements
from psycheck.annotate.membership import ROLES, members, pause
from psycheck.annotate.quality import Alert, alerts, gold_scores
from psycheck.annotate.refusals import NotFound
from psycheck.annotate.transfer import KINDS, LARGEST_UPLOAD, Imported, import_upload
from psycheck.annotate.web.access import Admitted, Number, Visit
from psycheck.annotate.web.answering import queue_title, titles
from psycheck.annotate.web.respond import go, page, problem
from psycheck.core.errors import BadInput, PsycheckError, counted

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
_LONGEST_NUMBER: Final = 9  # digits; a database compares no larger ones
_DAYS_SHOWN: Final = 14


@router.get("/p/{project}/dashboard")
def dashboard(visit: Admitted) -> Response:
    """Progress, agreement, quality and members of a project."""
    return _dashboard(visit)


@router.get("/p/{project}/agreement")
def agreement(visit: Admitted) -> Response:
    """How far annotators agree, by label and day, one with another; the dashboard loads it by itself."""
    task = visit.task()
    table = in_queues(judgements(visit.db, visit.person, task.id))
    label_titles = titles(task)
    rows = []
    for agreed in by_label(table):
        title = label_titles.get(agreed.label, agreed.label.capitalize())
        rows.append((title, agreed))

    return page(
        visit,
        "agreement" if visit.by_htmx else "agreements",
        project=task.project,
        rows=rows,
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
    paused = visit.field("do") == "pause"
    pause(visit.db, visit.person, visit.member.project, person, paused=paused)
    return go(f"/p/{visit.member.name}/dashboard")


@router.post("/p/{project}/requeue")
def requeue_one(visit: Admitted) -> Response:
    """Void the answers to an item, and ask for new ones."""
    item = visit.field("item")
    if not item.isdecimal() or len(item) > _LONGEST_NUMBER:
        raise NotFound("there is no such item", code="item.unknown")
    answers = requeue(visit.db, visit.person, visit.member.project, int(item))
    return _dashboard(visit, done=f"{counted(answers, 'answer')} withdrawn; the text is in the queue again.")


@router.post("/p/{project}/import")
def import_file(visit: Admitted) -> Response:
    """Add the texts of an uploaded corpus."""
    file = visit.form.get("file")
    kind = visit.field("kind")
    try:
        if not isinstance(file, UploadFile) or kind not in KINDS:
            raise BadInput(
                "choose a file, and what its texts are for",
                code="upload.incomplete",
                allowed=", ".join(KINDS),
            )
        imported = import_upload(
            visit.db,
            visit.person,
            visit.member.project,
            file.filename or "",
            # One byte more than allowed tells that the file is too large.
            file.file.read(LARGEST_UPLOAD + 1),
            kind=kind,
            queue=visit.field("queue") or None,
        )
    except PsycheckError as error:
        return _dashboard(visit, status=getattr(error, "status", 400), problem=problem(error))
    return _dashboard(visit, done=_imported_sentence(imported))


@router.get("/p/{project}/export/{form}")
def export(visit: Admitted, form: str) -> Response:
    """Download the labels in one of the known forms."""
    if form not in EXPORTS:
        raise NotFound("there is no such export", code="export.unknown")
    name, content = exported(visit.db, visit.person, visit.member.project, form)
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type="application/jsonl", headers=headers)


def _dashboard(visit: Visit, status: int = 200, **parts: Any) -> Response:
    """The dashboard, with parts that say what was just done."""
    task = visit.task()
    state = progress(visit.db, visit.person, task.id)
    queue_titles = {queue: queue_title(task, queue) for queue in task.queues}
    gold = {(score.person, score.queue): score for score in gold_scores(visit.db, visit.person, task.id)}
    latest_days = list(state.days.items())[-_DAYS_SHOWN:]

    return page(
        visit,
        "dashboard",
        status=status,
        project=task.project,
        queues=queue_titles,
        state=state,
        figures=_figures(state),
        bars=[_bar(queue_titles[queue.queue], queue) for queue in state.queues],
        # Without the year.
        days=[(day[5:], answers) for day, answers in latest_days],
        gold=gold,
        alerts=[_alert_sentence(alert, queue_titles) for alert in alerts(visit.db, visit.person, task.id)],
        people=members(visit.db, visit.person, task.id),
        roles=ROLES,
        kinds=_KINDS,
        exports=_EXPORTS,
        days_valid=INVITATION_DAYS,
        largest=LARGEST_UPLOAD // 1_000_000,
        **{"link": "", "linked_role": "", "done": "", **parts},
    )


def _imported_sentence(imported: Imported) -> str:
    """What an import did, as a sentence."""
    parts = [f"{counted(imported.added, 'text')} added"]
    if imported.known:
        parts.append(f"{counted(imported.known, 'text')} known before")
    if imported.elsewhere:
        parts.append(f"{counted(imported.elsewhere, 'text')} of other queues left out")
    return "; ".join(parts) + "."


def _figures(state: Progress) -> list[tuple[str, str]]:
    """The figures at the top of the dashboard."""
    items = sum(queue.items for queue in state.queues)
    complete = sum(queue.complete for queue in state.queues)
    answers = sum(queue.answers for queue in state.queues)
    open_conflicts = sum(queue.conflicts for queue in state.queues)
    waiting_batches = state.batches.get("waiting", 0)
    ages = [queue.oldest for queue in state.queues if queue.oldest is not None]
    return [
        ("Texts complete", f"{complete:,} of {items:,}"),
        ("Answers", f"{answers:,}"),
        ("Open conflicts", f"{open_conflicts:,}"),
        ("Batches to inspect", f"{waiting_batches:,}"),
        ("Oldest open text", age(max(ages)) if ages else "–"),
    ]


def _bar(title: str, queue: QueueProgress) -> tuple[str, float, str]:
    """A queue as a bar: its title, the share of answers that it has, and both in words."""
    words = f"{queue.answers:,} of {queue.needed:,} answers"
    if queue.oldest is not None:
        words += f", oldest {age(queue.oldest)}"
    share = queue.answers / queue.needed if queue.needed else 0.0
    return title, share, words


def age(seconds: float) -> str:
    """A time span in its largest unit."""
    for name, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= size:
            return counted(int(seconds // size), name)
    return "just now"


def _alert_sentence(alert: Alert, queue_titles: Mapping[str, str]) -> str:
    """A drift alert as a sentence."""
    who = f"{alert.name}, {queue_titles[alert.queue]}"
    if alert.before is None:
        return f"{who}: scores {alert.now:.0f} of 100 on the latest {alert.answers} hidden gold texts."

    what = "right on hidden gold" if alert.about == "gold" else "in agreement with the majority"
    latest = f"{alert.now:.0%} of the latest {alert.answers} answers are {what}"
    return f"{who}: {latest}, {alert.before:.0%} before."
