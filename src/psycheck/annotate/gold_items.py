"""What the project's own judges say of screening and hidden gold items, and why."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection

from psycheck.annotate.database import Database
from psycheck.annotate.project import Task
from psycheck.annotate.tables import gold, reason
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput

UNCERTAIN: Final = "uncertain"  # the label of gold items whose symptoms are uncertain


def gold_rows(task: Task, corpus: Corpus, queues: Sequence[str | None]) -> list[list[dict[str, Any]]]:
    """The rows of the gold table for each text, without its item."""
    values_of_label = {label: corpus.targets([label])[:, 0].tolist() for label in corpus.labels}
    uncertainties = values_of_label.get(UNCERTAIN, [0.0] * len(corpus))

    rows_of_text: list[list[dict[str, Any]]] = []
    for number, queue in enumerate(queues):
        status = None
        if task.project.task == "symptoms":
            status = "uncertain" if uncertainties[number] > 0.5 else "present"

        rows = []
        # A text of a queue that is not asked is left out later, and needs no labels.
        labels = () if queue is None else task.labels(queue)
        for label in labels:
            value = values_of_label[label][number] if label in values_of_label else None
            if value not in (0.0, 1.0):
                raise BadInput(
                    "a gold label is missing",
                    code="import.missing-gold-label",
                    where=f"text {number + 1}, label '{label}'",
                    allowed="0 or 1",
                    do="annotate every label of the queue in the file that holds the gold items",
                )
            # Only a symptom that is marked has a status.
            rows.append({"label": label, "value": int(value), "status": status if value else None})
        rows_of_text.append(rows)
    return rows_of_text


def store_gold(
    connection: Connection,
    item_ids: Sequence[int],
    gold_rows: Sequence[list[dict[str, Any]]],
) -> None:
    """Store the expected marks of items."""
    rows: list[dict[str, Any]] = []
    for item_id, item_gold in zip(item_ids, gold_rows, strict=True):
        rows += [{"item": item_id, **row} for row in item_gold]
    if rows:
        connection.execute(gold.insert(), rows)


def store_reasons(
    db: Database,
    connection: Connection,
    item_ids: Sequence[int],
    reasons: Sequence[str],
) -> None:
    """Store the reasons for the marks of items that have one."""
    rows = [
        {"item": item_id, "why": db.sealed(why)}
        for item_id, why in zip(item_ids, reasons, strict=True)
        if why
    ]
    if rows:
        connection.execute(reason.insert(), rows)
