"""Model-assisted order: the items that models are least sure of, or disagree about, come first.

Scores are stored as suggestions, which no page shows before the annotator has answered.
"""

from collections.abc import Mapping, Sequence
from operator import itemgetter

import numpy as np
from sqlalchemy import bindparam, delete, select

from psycheck.annotate.database import Database
from psycheck.annotate.membership import Person, check_owner, lock_members, record, stored_task
from psycheck.annotate.places import FRESH
from psycheck.annotate.refusals import NotFound
from psycheck.annotate.tables import assignment, item, standing, suggestion
from psycheck.errors import BadInput, nearest
from psycheck.model import FloatArray

_PIECE = 1_000
Scores = Mapping[str, tuple[Sequence[str], FloatArray]]  # by model: labels, and scores (n, k) with NaN


def unsureness(scores: Sequence[FloatArray]) -> FloatArray:
    """How unsure models are of each item, 0 to 1, (n,): 1 where a label of the mean score is at 0.5."""
    stacked = np.stack(scores)
    with np.errstate(invalid="ignore"):  # nobody scored it
        mean = np.nansum(stacked, axis=0) / (~np.isnan(stacked)).sum(axis=0)
    return np.asarray(np.fmax.reduce(1 - 2 * np.abs(mean - 0.5), axis=1))


def disagreement(scores: Sequence[FloatArray]) -> FloatArray:
    """How far models disagree about each item, 0 to 1, (n,): the widest gap of a label's scores."""
    stacked = np.stack(scores)
    gaps = np.fmax.reduce(stacked, axis=0) - np.fmin.reduce(stacked, axis=0)
    return np.asarray(np.fmax.reduce(gaps, axis=1))


def order_items(db: Database, who: Person | None, of: int, ids: Sequence[str], scores: Scores) -> int:
    """Put the items of a project in the order that its file asks for; returns how many moved.

    `ids` name the items that were scored. Items without a usable score, and those that came back to the
    queue, keep their place after and before the others.
    """
    with db.write() as connection:
        check_owner(connection, who, of)
        task = stored_task(connection, of)
        how, asked = task.project.order.how, {label for queue in task.queues for label in task.labels(queue)}
        if how == "random":
            allowed = 'how = "unsure" or "disagree" in [order] of the project file'
            raise BadInput("this project asks for a random order", allowed=allowed)
        if how == "disagree" and len(scores) < 2:
            raise BadInput("models can only disagree if there are two or more", do="name another `model`")
        shared = sorted(asked.intersection(*(labels for labels, _ in scores.values())))
        if not shared:
            known = sorted({label for labels, _ in scores.values() for label in labels})
            what = "the models score no label that this project asks about"
            raise BadInput(what, allowed=nearest(known[0] if known else "", asked))
        columns = {
            name: values[:, [list(labels).index(label) for label in shared]]
            for name, (labels, values) in scores.items()
        }
        measure = unsureness if how == "unsure" else disagreement
        lock_members(connection, of)  # nobody passes items by the old order meanwhile
        first = np.nan_to_num(measure(list(columns.values())), nan=-1.0)
        rank = dict(zip(ids, first.tolist(), strict=True))
        rows = list(
            connection.execute(
                select(item.c.id, item.c.name, item.c.position)
                .where(item.c.project == of, item.c.kind == "item", item.c.lane == FRESH, item.c.open > 0)
                .order_by(item.c.position)
            )
        )
        wanted = sorted(rows, key=lambda row: -rank.get(row.name, -1.0))  # stable: ties keep their order
        moved = [
            {"one": row.id, "place": place.position}
            for row, place in zip(wanted, rows, strict=True)
            if row.position != place.position
        ]
        if moved:
            moved.sort(key=itemgetter("one"))  # as everybody locks items
            update = item.update().where(item.c.id == bindparam("one")).values(position=bindparam("place"))
            connection.execute(update, moved)
        connection.execute(standing.update().where(standing.c.project == of).values(fresh_upto=0))
        places = {one: k for k, one in enumerate(ids)}
        for name, values in columns.items():
            kept = [
                {"item": row.id, "model": name, "label": label, "score": float(score)}
                for row in rows  # an item of several queues is in several rows
                if row.name in places
                for label, score in zip(shared, values[places[row.name]], strict=True)
                if not np.isnan(score)
            ]
            connection.execute(
                delete(suggestion).where(
                    suggestion.c.model == name,
                    suggestion.c.item.in_(select(item.c.id).where(item.c.project == of)),
                )
            )
            for start in range(0, len(kept), _PIECE):
                connection.execute(suggestion.insert(), kept[start : start + _PIECE])
        detail = {"how": how, "models": list(scores), "moved": len(moved)}
        record(connection, of, who.id if who else None, "ordered", detail=detail)
    return len(moved)


def suggestions(db: Database, who: Person, of: int) -> dict[str, dict[str, float]]:
    """What models said of an item, by model and label: only for whoever has answered the assignment `of`."""
    with db.read() as connection:
        row = connection.execute(
            select(assignment.c.item).where(
                assignment.c.id == of, assignment.c.person == who.id, assignment.c.state == "done"
            )
        ).first()
        if row is None:
            raise NotFound("there is no such answer")
        found: dict[str, dict[str, float]] = {}
        for one in connection.execute(select(suggestion).where(suggestion.c.item == row.item)):
            found.setdefault(one.model, {})[one.label] = one.score
        return found
