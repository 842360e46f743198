"""How well annotators do on hidden gold items, and alerts when somebody's answers get worse.

The rule for an alert, per annotator and queue: of the latest answers fewer are right than of those before, by
Fisher's exact test (one-sided, p below 0.01); or the skill (`skill`) in the latest gold answers is below the
mark at which an inspected batch is rejected. A gold answer is right if every label is; an answer to an
annotated item if every label is as the majority of the others who answered it says (ties are left out).
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from scipy.stats import fisher_exact
from sqlalchemy import Connection, Row, Select, select

from psycheck.annotate.annotator_answers import KNOWN, answers_of, stored_answers
from psycheck.annotate.database import Database
from psycheck.annotate.membership import OWNS, Person, role_in, stored_task
from psycheck.annotate.skill import Marks, skill_of
from psycheck.annotate.tables import LIVE, assignment, person, standing

LATEST_GOLD: Final = 20
LATEST_ANSWERS: Final = 50
EARLIER_ANSWERS: Final = 150  # that the latest are compared with
FEWEST: Final = 10  # answers on each side
UNLIKELY: Final = 0.01
About = Literal["gold", "agreement", "gold score"]


@dataclass(frozen=True, slots=True)
class GoldScore:
    """An annotator's answers to the hidden gold items of a queue: how many, how many right, skill."""

    person: int
    name: str
    queue: str
    answered: int
    right: int
    score: float


@dataclass(frozen=True, slots=True)
class Alert:
    """An annotator whose answers got worse: shares of right answers before and now, or the skill now."""

    person: int
    name: str
    queue: str
    about: About
    before: float | None
    now: float
    answers: int


def gold_scores(db: Database, who: Person, project_id: int) -> list[GoldScore]:
    """How each annotator does on hidden gold, by queue; for the owner."""
    scores = []
    with db.read() as connection:
        role_in(connection, who, project_id, *OWNS)

        for annotator in _annotators(connection, project_id):
            pairs = _gold_pairs(connection, project_id, annotator)
            if not pairs:
                continue
            scores.append(
                GoldScore(
                    person=annotator.person,
                    name=annotator.name,
                    queue=annotator.queue,
                    answered=len(pairs),
                    right=sum(_is_right(pair) for pair in pairs),
                    score=skill_of(pairs).score,
                )
            )
    return scores


def alerts(db: Database, who: Person, project_id: int) -> list[Alert]:
    """Whose answers got worse, by the rule above; for the owner."""
    raised: list[Alert | None] = []
    with db.read() as connection:
        role_in(connection, who, project_id, *OWNS)
        reject_below = stored_task(connection, project_id).project.inspection.reject_below

        for annotator in _annotators(connection, project_id):
            pairs = _gold_pairs(connection, project_id, annotator)
            right_on_gold = [_is_right(pair) for pair in pairs]
            agreements = _agreements(connection, project_id, annotator)
            raised += [
                _low_gold_score(annotator, pairs, reject_below),
                _fallen_share(annotator, "gold", right_on_gold, LATEST_GOLD),
                _fallen_share(annotator, "agreement", agreements, LATEST_ANSWERS),
            ]
    return [alert for alert in raised if alert is not None]


def _low_gold_score(
    annotator: Row[Any],
    pairs: Sequence[tuple[Marks, Marks]],
    reject_below: float,
) -> Alert | None:
    """An alert if the skill (`skill`) in the latest gold answers is below the mark."""
    latest = pairs[-LATEST_GOLD:]
    # One wrong answer of three is no reason to talk to anybody.
    if len(latest) < FEWEST:
        return None

    # Skill and not the share of right answers, which always no would pass on rare labels.
    score = skill_of(latest).score
    if score >= reject_below:
        return None
    return Alert(
        person=annotator.person,
        name=annotator.name,
        queue=annotator.queue,
        about="gold score",
        before=None,
        now=score,
        answers=len(latest),
    )


def _fallen_share(
    annotator: Row[Any],
    about: About,
    right: Sequence[bool],
    latest: int,
) -> Alert | None:
    """An alert if the share of right answers in the `latest` ones fell by more than chance explains."""
    before = right[:-latest]
    now = right[-latest:]
    if len(before) < FEWEST or len(now) < FEWEST:
        return None

    # Rows: now and before; columns: right and wrong answers.
    table = np.array(
        [
            [sum(now), len(now) - sum(now)],
            [sum(before), len(before) - sum(before)],
        ]
    )
    if fisher_exact(table, alternative="less").pvalue >= UNLIKELY:
        return None
    return Alert(
        person=annotator.person,
        name=annotator.name,
        queue=annotator.queue,
        about=about,
        before=sum(before) / len(before),
        now=sum(now) / len(now),
        answers=latest,
    )


def _is_right(pair: tuple[Marks, Marks]) -> bool:
    """Whether marks agree with the reference on every label of the reference."""
    marks, reference = pair
    return all(marks.get(label) == value for label, value in reference.items())


def _annotators(connection: Connection, project_id: int) -> list[Row[Any]]:
    """Each annotator in each queue that they have entered."""
    query = (
        select(standing.c.person, standing.c.queue, person.c.name)
        .join(person, person.c.id == standing.c.person)
        .where(standing.c.project == project_id)
        .order_by(person.c.name, standing.c.queue)
    )
    return list(connection.execute(query))


def _done_by(project_id: int, annotator: Row[Any], kind: str) -> Select[Any]:
    """The answers of a person in a queue to items of a kind."""
    return select(assignment.c.id, assignment.c.item).where(
        assignment.c.project == project_id,
        assignment.c.person == annotator.person,
        assignment.c.queue == annotator.queue,
        assignment.c.kind == kind,
        assignment.c.state == "done",
    )


def _gold_pairs(
    connection: Connection,
    project_id: int,
    annotator: Row[Any],
) -> list[tuple[Marks, Marks]]:
    """A person's marks of gold items with the reference, in the order of their answers."""
    query = _done_by(project_id, annotator, "gold").order_by(assignment.c.ended)
    done = connection.execute(query).all()
    answers = answers_of(connection, [row.id for row in done])
    reference = stored_answers(connection, KNOWN, [row.item for row in done])
    return [(answers[row.id].marks, reference[row.item].marks) for row in done]


def _agreements(connection: Connection, project_id: int, annotator: Row[Any]) -> list[bool]:
    """Whether each of a person's latest answers agrees with the others', the latest last."""
    # Only what the rule compares is read: an annotator may have thousands of answers.
    latest_first = (
        _done_by(project_id, annotator, "item")
        .order_by(assignment.c.ended.desc())
        .limit(LATEST_ANSWERS + EARLIER_ANSWERS)
    )
    own_rows = connection.execute(latest_first).all()
    item_ids = [row.item for row in own_rows]

    all_rows = connection.execute(
        select(assignment.c.id, assignment.c.item).where(
            assignment.c.item.in_(item_ids),
            assignment.c.state == "done",
            LIVE,
        )
    ).all()
    answers = answers_of(connection, [row.id for row in all_rows])

    # Grouped once: a query per item would make the dashboard slow.
    ids_of_item: dict[int, list[int]] = defaultdict(list)
    for row in all_rows:
        ids_of_item[row.item].append(row.id)

    agreements = []
    for row in reversed(own_rows):
        # Their own answer is left out: nobody is compared with themselves.
        other_ids = [answer_id for answer_id in ids_of_item[row.item] if answer_id != row.id]
        majority = _majority([answers[answer_id].marks for answer_id in other_ids])
        # Without a majority there is nothing to be right about.
        if majority is not None:
            agreements.append(_is_right((answers[row.id].marks, majority)))
    return agreements


def _majority(all_marks: Sequence[Marks]) -> Marks | None:
    """What most say of each label; None if nobody says anything, or a label is tied."""
    if not all_marks:
        return None

    majority = {}
    for label in all_marks[0]:
        votes = Counter(marks[label] for marks in all_marks)
        if votes[0] == votes[1]:
            return None
        majority[label] = votes.most_common(1)[0][0]
    return majority or None
