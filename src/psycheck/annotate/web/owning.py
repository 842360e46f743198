"""Pages of owners: the dashboard, agreement, imports and exports."""

from collections.abc import Mapping
from typing import Any, Final

from starlette.datastructures import UploadFile
from starlette.responses import Response

from psycheck.annotate.annotator_agreement import (
    ALL,
    STATUS,
    between,
    by_day,
    by_label,
    by_version,
    in_queues,
    pace,
)
from psycheck.annotate.dashboard import Progress, QueueProgress, progress
from psycheck.annotate.evidence_agreement import evidence_agreement
from psycheck.annotate.export import judgements
from psycheck.annotate.export_files import EXPORTS, Exporting, exported, setup_of
from psycheck.annotate.exported_agreement import marked_texts
from psycheck.annotate.exported_evidence import flagged_items
from psycheck.annotate.imported_files import LARGEST_UPLOAD, import_upload
from psycheck.annotate.item_search import stuck_items
from psycheck.annotate.order import model_agreement
from psycheck.annotate.quality import Alert, alerts, gold_scores
from psycheck.annotate.refusals import NotFound
from psycheck.annotate.transfer import KINDS, Imported
from psycheck.annotate.web.access import Visit
from psycheck.annotate.web.answering import queue_title, titles
from psycheck.annotate.web.respond import page, problem
from psycheck.annotate.web.texts import Texts
from psycheck.core.errors import BadInput, PsycheckError

_SETUP: Final = "label-studio-setup"
_DAYS_SHOWN: Final = 14


def dashboard(visit: Visit) -> Response:
    """Progress, agreement, quality and members of a project."""
    return _dashboard(visit)


def agreement(visit: Visit) -> Response:
    """How far annotators agree, by label, evidence, day and pair; the dashboard loads it by itself."""
    task = visit.task()
    # Flagged posts count: no figure quotes them.
    table = in_queues(judgements(visit.db, visit.person, task.id, flagged=True))
    label_titles = {
        **titles(task),
        ALL: visit.words("agreement.all_labels"),
        STATUS: visit.words("agreement.status"),
    }
    texts = marked_texts(visit.db, visit.person, task.id)
    return page(
        visit,
        "agreement" if visit.by_htmx else "agreements",
        project=task.project,
        # On its own page there is nothing else to see.
        unfolded=not visit.by_htmx,
        rows=[(label_titles.get(agreed.label, agreed.label), agreed) for agreed in by_label(table)],
        on_evidence=[(label_titles[agreed.label], agreed) for agreed in evidence_agreement(texts)],
        days=list(by_day(table)),
        versions=list(by_version(table)),
        pairs=list(between(table)),
        paces=list(pace(table)),
        models=[
            (label_titles[agreed.label], agreed)
            for agreed in model_agreement(visit.db, visit.person, task.id, table)
        ],
    )


def import_file(visit: Visit) -> Response:
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
        return _dashboard(visit, status=getattr(error, "status", 400), problem=problem(visit, error))
    return _dashboard(visit, done=_imported_sentence(visit, imported))


def export(visit: Visit, form: str) -> Response:
    """Download the labels in one of the known forms; with `?flagged=1` also of flagged posts."""
    # Labels and no answers: what Label Studio needs before it takes the tasks.
    if form == _SETUP:
        chosen = Exporting(visit.db, visit.person, visit.member.project, form)
        return _download(f"{visit.member.name}-label-studio.xml", setup_of(chosen).encode(), "text/xml")
    if form not in EXPORTS:
        raise NotFound("there is no such export", code="export.unknown")

    # A link of its own: nobody takes flagged posts along by accident.
    flagged = visit.query("flagged") == "1"
    chosen = Exporting(visit.db, visit.person, visit.member.project, form, flagged=flagged)
    name, content = exported(chosen)
    return _download(name, content, "application/jsonl")


def _download(name: str, content: bytes, media_type: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=media_type, headers=headers)


def _dashboard(visit: Visit, status: int = 200, **parts: Any) -> Response:
    """The dashboard, with parts that say what was just done."""
    task = visit.task()
    words = visit.words
    state = progress(visit.db, visit.person, task.id)
    queue_titles = {queue: queue_title(task, queue, words) for queue in task.queues}
    # By person and queue, as the table of annotators has them.
    gold = {(score.person, score.queue): score for score in gold_scores(visit.db, visit.person, task.id)}
    # Two weeks: more bars would not fit on a phone.
    latest_days = list(state.days.items())[-_DAYS_SHOWN:]
    flagged = sum(1 for _ in flagged_items(visit.db, visit.person, task.id))

    return page(
        visit,
        "dashboard",
        status=status,
        project=task.project,
        ended=task.ended,
        version=task.version,
        queues=queue_titles,
        state=state,
        figures=_figures(visit, state),
        bars=[_bar(visit, queue_titles[queue.queue], queue) for queue in state.queues],
        # Without the year.
        days=[(day[5:], answers) for day, answers in latest_days],
        gold=gold,
        alerts=[
            _alert_sentence(visit, alert, queue_titles) for alert in alerts(visit.db, visit.person, task.id)
        ],
        stuck=stuck_items(visit.db, visit.person, task.id),
        flagged=flagged,
        kinds=KINDS,
        exports=[*EXPORTS, _SETUP],
        largest=LARGEST_UPLOAD // 1_000_000,
        **{"done": "", **parts},
    )


def _imported_sentence(visit: Visit, imported: Imported) -> str:
    """What an import did, as a sentence."""
    words = visit.words
    parts = [words.counted("import.added", imported.added)]
    if imported.known:
        parts.append(words.counted("import.known", imported.known))
    if imported.elsewhere:
        parts.append(words.counted("import.elsewhere", imported.elsewhere))
    return "; ".join(parts) + "."


def _figures(visit: Visit, state: Progress) -> list[tuple[str, str]]:
    """The figures at the top of the dashboard."""
    words = visit.words
    items = sum(queue.items for queue in state.queues)
    complete = sum(queue.complete for queue in state.queues)
    answers = sum(queue.answers for queue in state.queues)
    open_conflicts = sum(queue.conflicts for queue in state.queues)
    waiting_batches = state.batches.get("waiting", 0)
    ages = [queue.oldest for queue in state.queues if queue.oldest is not None]
    return [
        (words("dashboard.complete"), words("dashboard.of", n=f"{complete:,}", all=f"{items:,}")),
        (words("dashboard.answers"), f"{answers:,}"),
        (words("dashboard.open_conflicts"), f"{open_conflicts:,}"),
        (words("dashboard.to_inspect"), f"{waiting_batches:,}"),
        (words("dashboard.oldest"), age(words, max(ages)) if ages else "–"),
    ]


def _bar(visit: Visit, title: str, queue: QueueProgress) -> tuple[str, float, str]:
    """A queue as a bar: its title, the share of answers that it has, and both in words."""
    words = visit.words
    progress_words = words("dashboard.answers_of", n=f"{queue.answers:,}", all=f"{queue.needed:,}")
    # A queue that is complete has no age.
    if queue.oldest is not None:
        progress_words += words("dashboard.and_oldest", age=age(words, queue.oldest))
    share = queue.answers / queue.needed if queue.needed else 0.0
    return title, share, progress_words


def age(words: Texts, seconds: float) -> str:
    """A time span in its largest unit."""
    for name, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= size:
            return words.counted(f"age.{name}", int(seconds // size))
    return words("age.now")


def _alert_sentence(visit: Visit, alert: Alert, queue_titles: Mapping[str, str]) -> str:
    """A drift alert as a sentence."""
    words = visit.words
    who = f"{alert.name}, {queue_titles[alert.queue]}"
    # The skill has no "before": it is held against the mark.
    if alert.before is None:
        return words("alert.gold_score", who=who, score=f"{alert.now:.0f}", n=alert.answers)
    return words(
        f"alert.{alert.about}",
        who=who,
        now=f"{alert.now:.0%}",
        before=f"{alert.before:.0%}",
        n=alert.answers,
    )
