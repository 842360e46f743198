"""Model-assisted order: the items that models are least sure of, or disagree about, come first.

Scores are stored as suggestions, which no page shows before the annotator has answered.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final

import numpy as np
import polars as pl
from sqlalchemy import Connection, Row, bindparam, delete, select

from psycheck.annotate.database import Database
from psycheck.annotate.membership import OWNS, Person, check_owner, lock_members, record, role_in, stored_task
from psycheck.annotate.open_places import FRESH
from psycheck.annotate.project import Task
from psycheck.annotate.refusals import NotFound
from psycheck.annotate.tables import assignment, item, standing, suggestion
from psycheck.core.arrays import FloatArray
from psycheck.core.errors import BadInput, nearest
from psycheck.statistics.intervals import Interval, wilson

_PIECE: Final = 1_000  # rows per statement
Scores = Mapping[str, tuple[Sequence[str], FloatArray]]  # by model: labels, and scores (n, k) with NaN


def unsureness(scores: Sequence[FloatArray]) -> FloatArray:
    """How unsure models are of each item, 0 to 1, (n,): 1 where a label of the mean score is at 0.5."""
    stacked = np.stack(scores)
    scored = (~np.isnan(stacked)).sum(axis=0)
    # 0 / 0 is NaN where no model scored an item.
    with np.errstate(invalid="ignore"):
        # Of those models that scored the item: a missing score says nothing.
        mean = np.nansum(stacked, axis=0) / scored
    unsure = 1 - 2 * np.abs(mean - 0.5)
    return np.asarray(np.fmax.reduce(unsure, axis=1))


def disagreement(scores: Sequence[FloatArray]) -> FloatArray:
    """How far models disagree about each item, 0 to 1, (n,): the widest gap of a label's scores."""
    stacked = np.stack(scores)
    gaps = np.fmax.reduce(stacked, axis=0) - np.fmin.reduce(stacked, axis=0)
    return np.asarray(np.fmax.reduce(gaps, axis=1))


def order_items(
    db: Database,
    who: Person | None,
    project_id: int,
    ids: Sequence[str],
    scores: Scores,
    how: str | None = None,
) -> int:
    """Put the items of a project in an order, by default what its file asks for; returns how many moved.

    `ids` name the items that were scored. Items without a usable score, and those that came back to the
    queue, keep their place after and before the others.
    """
    with db.write() as connection:
        check_owner(connection, who, project_id)
        task = stored_task(connection, project_id)
        how = how or task.project.order.how
        _refuse_order(how, models=len(scores))
        labels = _shared_labels(task, scores)
        scores_of_model = {
            model: values[:, [list(model_labels).index(label) for label in labels]]
            for model, (model_labels, values) in scores.items()
        }

        # Nobody passes items by the old order meanwhile.
        lock_members(connection, project_id)
        measure = unsureness if how == "unsure" else disagreement
        urgency = np.nan_to_num(measure(list(scores_of_model.values())), nan=-1.0)
        urgency_of = dict(zip(ids, urgency.tolist(), strict=True))

        rows = _fresh_items(connection, project_id)
        moved = _move(connection, rows, urgency_of)
        # The first item for each member may now be one that they had passed.
        connection.execute(standing.update().where(standing.c.project == project_id).values(fresh_upto=0))

        for model, values in scores_of_model.items():
            _forget_suggestions(connection, project_id, model)
            _store_suggestions(connection, model, rows, labels, dict(zip(ids, values, strict=True)))

        detail = {"how": how, "models": list(scores), "moved": moved}
        record(connection, project_id, who.id if who else None, "ordered", detail=detail)
    return moved


def suggestions(db: Database, who: Person, assignment_id: int) -> dict[str, dict[str, float]]:
    """The scores of an item by model and label: only for whoever has answered the assignment."""
    with db.read() as connection:
        item_id = connection.scalar(
            select(assignment.c.item).where(
                assignment.c.id == assignment_id,
                assignment.c.person == who.id,
                assignment.c.state == "done",
            )
        )
        if item_id is None:
            raise NotFound("there is no such answer", code="answer.unknown")

        scores: dict[str, dict[str, float]] = {}
        for row in connection.execute(select(suggestion).where(suggestion.c.item == item_id)):
            scores.setdefault(row.model, {})[row.label] = row.score
        return scores


@dataclass(frozen=True, slots=True)
class ModelAgreed:
    """How often a model that ordered the items says of a label what the majority of the annotators said."""

    model: str
    label: str
    share: float
    interval: Interval
    n: int


def model_agreement(
    db: Database,
    who: Person,
    project_id: int,
    judgements: pl.DataFrame,
) -> Iterator[ModelAgreed]:
    """The agreement of each model with the annotators on each label that it scored; for the owner.

    The model says yes from 0.5 up. Texts whose annotators are split in half do not count.
    """
    with db.read() as connection:
        role_in(connection, who, project_id, *OWNS)
        rows = connection.execute(
            select(item.c.name, item.c.queue, suggestion.c.model, suggestion.c.label, suggestion.c.score)
            .join(item, item.c.id == suggestion.c.item)
            .where(item.c.project == project_id)
            .order_by(item.c.id)
        ).all()
    if not rows or judgements.is_empty():
        return

    # The majority per text and label, so that texts with many answers count no more than others.
    share_of_yes = judgements.group_by("item", "label").agg(pl.col("value").mean().alias("yes"))
    scores = pl.DataFrame(
        [(f"{row.queue} {row.name}", row.model, row.label, row.score) for row in rows],
        schema={"item": pl.String, "model": pl.String, "label": pl.String, "score": pl.Float64},
        orient="row",
    )
    compared = scores.join(share_of_yes, on=["item", "label"], how="inner").filter(pl.col("yes") != 0.5)
    for (model, label), pairs in compared.sort("model", "label").group_by(
        "model", "label", maintain_order=True
    ):
        agrees = ((pairs["score"] >= 0.5) == (pairs["yes"] > 0.5)).to_numpy()
        yield ModelAgreed(
            model=str(model),
            label=str(label),
            share=float(agrees.mean()),
            interval=wilson(float(agrees.sum()), len(agrees)),
            n=len(agrees),
        )


def _refuse_order(how: str, *, models: int) -> None:
    if how in ("random", "file"):
        raise BadInput(
            "this project asks for a random order, or that of the file",
            code="order.random",
            allowed='how = "unsure" or "disagree" in [order] of the project file',
        )
    if how == "disagree" and models < 2:
        raise BadInput(
            "models can only disagree if there are two or more",
            code="order.one-model",
            do="name another `model`",
        )


def _shared_labels(task: Task, scores: Scores) -> list[str]:
    """The labels that the project asks about and all models score."""
    project_labels: set[str] = set()
    for queue in task.queues:
        project_labels.update(task.labels(queue))

    labels_of_models = [set(labels) for labels, _ in scores.values()]
    shared = project_labels.intersection(*labels_of_models)
    if not shared:
        model_labels = sorted(set().union(*labels_of_models))
        raise BadInput(
            "the models score no label that this project asks about",
            code="order.no-shared-label",
            allowed=nearest(model_labels[0] if model_labels else "", project_labels),
        )
    return sorted(shared)


def _fresh_items(connection: Connection, project_id: int) -> list[Row[Any]]:
    """The items of a project that wait for their first turn, in their present order."""
    query = (
        select(item.c.id, item.c.name, item.c.position)
        .where(
            item.c.project == project_id,
            item.c.kind == "item",
            item.c.lane == FRESH,
            item.c.open > 0,
        )
        .order_by(item.c.position)
    )
    return list(connection.execute(query))


def _move(connection: Connection, rows: Sequence[Row[Any]], urgency_of: Mapping[str, float]) -> int:
    """Deal the positions of these items out again, the most urgent first; returns how many moved."""
    # The sort is stable: ties keep their order.
    by_urgency = sorted(rows, key=lambda row: -urgency_of.get(row.name, -1.0))
    moves = [
        {"item_id": row.id, "new_position": place.position}
        for row, place in zip(by_urgency, rows, strict=True)
        if row.position != place.position
    ]
    if moves:
        # In the order of their ids: everybody locks items in this order.
        moves.sort(key=itemgetter("item_id"))
        update = (
            item.update().where(item.c.id == bindparam("item_id")).values(position=bindparam("new_position"))
        )
        connection.execute(update, moves)
    return len(moves)


def _forget_suggestions(connection: Connection, project_id: int, model: str) -> None:
    items_of_project = select(item.c.id).where(item.c.project == project_id)
    connection.execute(
        delete(suggestion).where(
            suggestion.c.model == model,
            suggestion.c.item.in_(items_of_project),
        )
    )


def _store_suggestions(
    connection: Connection,
    model: str,
    rows: Sequence[Row[Any]],
    labels: Sequence[str],
    scores_of: Mapping[str, FloatArray],
) -> None:
    """Store a model's scores (k,) of the items, by name; an item of several queues is in several rows."""
    records = []
    for row in rows:
        if row.name not in scores_of:
            continue
        for label, score in zip(labels, scores_of[row.name], strict=True):
            if not np.isnan(score):
                records.append({"item": row.id, "model": model, "label": label, "score": float(score)})

    for start in range(0, len(records), _PIECE):
        connection.execute(suggestion.insert(), records[start : start + _PIECE])
