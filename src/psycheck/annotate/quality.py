"""How well annotators do on hidden gold items, and alerts when somebody's answers get worse.

The rule for an alert, per annotator and queue: of the latest answers fewer are right than of those before, by
Fisher's exact test (one-sided, p below 0.01); or the F-beta of the latest gold answers is below the mark at
which an inspected batch is rejected. A gold answer is right if every label is; an answer to an annotated item
if every label is as the majority of the others who answered it says (ties are left out).
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from scipy.stats import fisher_exact
from sqlalchemy import Connection, Row, Select, select

from psycheck.annotate.answers import answers_of, marks_of
from psycheck.annotate.database import Database
from psycheck.annotate.membership import OWNS, Person, role_in, stored_task
from psycheck.annotate.scores import Marks, f_score
from psycheck.annotate.tables import LIVE, assignment, gold, person, standing

LATEST_GOLD: Final = 20
LATEST_ANSWERS: Final = 50
EARLIER_ANSWERS: Final = 150  # that the latest are compared with
FEWEST: Final = 10  # answers on each side
UNLIKELY: Final = 0.01
About = Literal["gold", "agreement", "gold score"]


@dataclass(frozen=True, slots=True)
class GoldScore:
    """An annotator's answers to the hidden gold items of a queue: how many, how many right, F-beta."""

    person: int
    name: str
    queue: str
    answered: int
    right: int
    score: float


@dataclass(frozen=True, slots=True)
class Alert:
    """An annotator whose answers got worse: shares of right answers before and now, or the F-beta now."""

    person: int
    name: str
    queue: str
    about: About
    before: float | None
    now: float
    answers: int


def gold_scores(db: Database, who: Person, of: int) -> list[GoldScore]:
    """How each annotator does on hidden gold, by queue; for the owner."""
    with db.read() as connection:
        role_in(connection, who, of, *OWNS)
        return [
            GoldScore(row.person, row.name, row.queue, len(pairs), sum(map(_same, pairs)), f_score(pairs))
            for row in _annotators(connection, of)
            if (pairs := _gold_pairs(connection, of, row))
        ]


def alerts(db: Database, who: Person, of: int) -> list[Alert]:
    """Whose answers got worse, by the rule above; for the owner."""
    found: list[Alert] = []
    with db.read() as connection:
        role_in(connection, who, of, *OWNS)
        mark = stored_task(connection, of).project.inspection.reject_below
        for row in _annotators(connection, of):
            pairs = _gold_pairs(connection, of, row)
            latest = pairs[-LATEST_GOLD:]
            if len(latest) >= FEWEST and (score := f_score(latest)) < mark:
                found.append(Alert(row.person, row.name, row.queue, "gold score", None, score, len(latest)))
            answers: tuple[tuple[About, list[bool], int], ...] = (
                ("gold", [_same(pair) for pair in pairs], LATEST_GOLD),
                ("agreement", _agreements(connection, of, row), LATEST_ANSWERS),
            )
            for about, right, most in answers:
                if (fallen := _fallen(right, most)) is not None:
                    found.append(Alert(row.person, row.name, row.queue, about, *fallen, most))
    return found


def _fallen(right: Sequence[bool], most: int) -> tuple[float, float] | None:
    """The shares of right answers before and in the latest, if they fell by more than chance explains."""
    before, now = right[:-most], right[-most:]
    if len(before) < FEWEST or len(now) < FEWEST:
        return None
    table = np.array([[sum(side), len(side) - sum(side)] for side in (now, before)])
    if fisher_exact(table, alternative="less").pvalue >= UNLIKELY:
        return None
    return sum(before) / len(before), sum(now) / len(now)


def _same(pair: tuple[Marks, Marks]) -> bool:
    given, reference = pair
    return all(given.get(label) == value for label, value in reference.items())


def _annotators(connection: Connection, of: int) -> list[Row[Any]]:
    return list(
        connection.execute(
            select(standing.c.person, standing.c.queue, person.c.name)
            .join(person, person.c.id == standing.c.person)
            .where(standing.c.project == of)
            .order_by(person.c.name, standing.c.queue)
        )
    )


def _answered(of: int, row: Row[Any], kind: str) -> Select[Any]:
    """The answers of a person in a queue to items of a kind."""
    return select(assignment.c.id, assignment.c.item).where(
        assignment.c.project == of,
        assignment.c.person == row.person,
        assignment.c.queue == row.queue,
        assignment.c.kind == kind,
        assignment.c.state == "done",
    )


def _gold_pairs(connection: Connection, of: int, row: Row[Any]) -> list[tuple[Marks, Marks]]:
    """A person's marks of gold items with the reference, in the order of their answers."""
    answered = list(connection.execute(_answered(of, row, "gold").order_by(assignment.c.ended)))
    given = answers_of(connection, [one.id for one in answered])
    reference = marks_of(connection, gold, "item", [one.item for one in answered])
    return [(given[one.id].marks, reference[one.item].marks) for one in answered]


def _agreements(connection: Connection, of: int, row: Row[Any]) -> list[bool]:
    """Whether each of a person's latest answers agrees with the others', the latest last."""
    wanted = _answered(of, row, "item").order_by(assignment.c.ended.desc())
    own = list(connection.execute(wanted.limit(LATEST_ANSWERS + EARLIER_ANSWERS)))
    items = [one.item for one in own]
    every = list(
        connection.execute(
            select(assignment.c.id, assignment.c.item).where(
                assignment.c.item.in_(items), assignment.c.state == "done", LIVE
            )
        )
    )
    marks = answers_of(connection, [one.id for one in every])
    by_item: dict[int, list[int]] = defaultdict(list)
    for one in every:
        by_item[one.item].append(one.id)
    found = []
    for one in reversed(own):
        others = [marks[other].marks for other in by_item[one.item] if other != one.id]
        if (majority := _majority(others)) is not None:
            found.append(_same((marks[one.id].marks, majority)))
    return found


def _majority(marks: Sequence[Marks]) -> Marks | None:
    """What most say of each label; None if nobody says anything, or a label is tied."""
    votes = {label: Counter(one[label] for one in marks) for label in (marks[0] if marks else ())}
    if not votes or any(count[0] == count[1] for count in votes.values()):
        return None
    return {label: count.most_common(1)[0][0] for label, count in votes.items()}
