"""Who gets which item: k people per item, never twice to one, nothing lost, whatever happens in between."""

import threading
import time
from collections import Counter
from secrets import token_hex

import pytest
from sqlalchemy import select, update

from annotators import Team, answer, given, marks, team
from psycheck.annotate.database import Database
from psycheck.annotate.membership import Person, pause
from psycheck.annotate.queue import Nothing, next_item
from psycheck.annotate.refusals import NotFound
from psycheck.annotate.submission import Submitted, previous, skip, submit, undo
from psycheck.annotate.tables import assignment, item, judgement, member, standing
from psycheck.core.errors import BadInput
from refusals import refused


def people(ours: Team, n: int) -> list[Person]:
    return [ours.add(f"annotator{k}") for k in range(n)]


def work_off(ours: Team, who: Person) -> list[int]:
    """Answer until nothing is left; the items that were seen."""
    seen = []
    while not isinstance(found := next_item(ours.db, who, ours.project), Nothing):
        submit(ours.db, who, found.id, marks(), seconds=1, token=token_hex(8))
        seen.append(found.id)
    assert found.reason == "done"
    return seen


def places(db: Database) -> Counter[int]:
    """How many annotators each item has."""
    with db.read() as connection:
        wanted = select(assignment.c.item).where(assignment.c.state == "done")
        return Counter(connection.scalars(wanted))


def test_each_item_goes_to_exactly_k_people(db: Database) -> None:
    ours = team(db)
    ours.fill(7)
    done = [len(work_off(ours, who)) for who in people(ours, 3)]
    assert done == [7, 7, 0]
    assert set(places(db).values()) == {2}
    assert len(places(db)) == 7


def test_an_open_item_is_shown_again_and_not_another(db: Database) -> None:
    ours = team(db)
    ours.fill(3)
    (who,) = people(ours, 1)
    assert given(db, who, ours.project).id == given(db, who, ours.project).id


def test_a_skipped_item_goes_to_somebody_else_and_never_back(db: Database) -> None:
    ours = team(db)
    ours.fill(1)
    first, second, third = people(ours, 3)
    skip(db, first, given(db, first, ours.project).id)
    assert next_item(db, first, ours.project) == Nothing("done")
    assert [len(work_off(ours, who)) for who in (second, third)] == [1, 1]
    assert next_item(db, first, ours.project) == Nothing("done")


def test_an_expired_claim_gives_its_place_back_even_to_who_passed_it(db: Database) -> None:
    ours = team(db)
    ours.fill(1)
    slow, second, third = people(ours, 3)
    late = given(db, slow, ours.project)
    work_off(ours, second)
    assert next_item(db, third, ours.project) == Nothing("done")  # passed: it had no place left
    with db.write() as connection:
        connection.execute(update(assignment).where(assignment.c.id == late.id).values(expires=1.0))
    assert len(work_off(ours, third)) == 1
    with refused("assignment.given-back"):
        submit(db, slow, late.id, marks(), seconds=1, token=token_hex(8))
    assert list(places(db).values()) == [2]


def test_a_submission_counts_once_however_often_it_is_sent(db: Database) -> None:
    ours = team(db)
    ours.fill(2)
    (who,) = people(ours, 1)
    found = given(db, who, ours.project)
    first = submit(db, who, found.id, marks(1, 0), seconds=2, token="one-token")
    assert first == Submitted()
    assert submit(db, who, found.id, marks(1, 0), seconds=2, token="one-token").repeated
    with db.read() as connection:
        rows = list(connection.execute(select(judgement.c.label, judgement.c.value)))
        assert sorted(rows) == [("anxiety", 0), ("depression", 1)]
        assert connection.scalar(select(standing.c.done)) == 1


def test_answers_can_be_revised_and_undone(db: Database) -> None:
    ours = team(db)
    ours.fill(2)
    (who,) = people(ours, 1)
    found = answer(db, who, ours.project, marks(1, 0))
    back = previous(db, who, ours.project, "")
    assert back is not None
    assert back.answers == marks(1, 0)
    submit(db, who, back.id, marks(0, 1), seconds=1, token=token_hex(8))
    taken_back = undo(db, who, ours.project, "")
    assert taken_back is not None
    assert (taken_back.id, taken_back.state, taken_back.answers) == (found.id, "claimed", marks(0, 1))
    assert given(db, who, ours.project).id == found.id
    assert places(db) == {}
    with db.read() as connection:
        assert connection.scalar(select(item.c.answered).where(item.c.answered > 0)) is None
    assert len(work_off(ours, who)) == 2


def test_an_undone_skip_takes_its_place_again_if_there_is_one(db: Database) -> None:
    ours = team(db)
    ours.fill(1)
    first, second, third = people(ours, 3)
    skip(db, first, given(db, first, ours.project).id)
    back = undo(db, first, ours.project, "")
    assert back is not None
    skip(db, first, back.id)
    work_off(ours, second)
    work_off(ours, third)
    with refused("assignment.gone"):
        undo(db, first, ours.project, "")


def test_nobody_answers_for_another(db: Database) -> None:
    ours = team(db)
    ours.fill(1)
    first, second = people(ours, 2)
    found = given(db, first, ours.project)
    for who in (second, ours.owner):
        with pytest.raises(NotFound):
            submit(db, who, found.id, marks(), seconds=1, token=token_hex(8))


def test_incomplete_or_foreign_answers_are_refused(db: Database) -> None:
    from psycheck.annotate.annotator_answers import Answers, Span

    ours = team(db)
    ours.fill(1)
    (who,) = people(ours, 1)
    found = given(db, who, ours.project)
    for wrong in (
        Answers({"depression": 1}),
        Answers({"depression": 1, "anxiety": 2}),
        Answers({"depression": 1, "anxiety": 0, "ocd": 0}),
        Answers({"depression": 1, "anxiety": 0}, {"depression": "present"}),
        Answers({"depression": 1, "anxiety": 0}, spans=(Span("anxiety", 0, 4),)),
        Answers({"depression": 1, "anxiety": 0}, spans=(Span("depression", 0, 999),)),
    ):
        with pytest.raises(BadInput):
            submit(db, who, found.id, wrong, seconds=1, token=token_hex(8))
    assert places(db) == {}


def test_a_paused_member_gets_nothing_and_submits_nothing(db: Database) -> None:
    ours = team(db)
    ours.fill(2)
    (who,) = people(ours, 1)
    found = given(db, who, ours.project)
    pause(db, ours.owner, ours.project, who.id, paused=True)
    assert next_item(db, who, ours.project) == Nothing("paused")
    with refused("member.paused"):
        submit(db, who, found.id, marks(), seconds=1, token=token_hex(8))
    pause(db, ours.owner, ours.project, who.id, paused=False)
    assert given(db, who, ours.project).id == found.id


def test_breaks_and_the_daily_cap_are_enforced(db: Database) -> None:
    ours = team(db, "", CAPPED)
    ours.fill(9)
    (who,) = people(ours, 1)
    for _ in range(2):
        answer(db, who, ours.project, marks())
    resting = next_item(db, who, ours.project)
    assert isinstance(resting, Nothing)
    assert resting.reason == "break"
    assert resting.until is not None
    assert 290 < resting.until - time.time() <= 300
    _wait_until(db, 0.0)
    answer(db, who, ours.project, marks())
    capped = next_item(db, who, ours.project)
    assert isinstance(capped, Nothing)
    assert capped.reason == "daily_cap"
    with db.write() as connection:
        connection.execute(update(member).values(day="2001-01-01"))
    answer(db, who, ours.project, marks())


CAPPED = """
name = "conditions"
title = "Depression and anxiety"
task = "conditions"
labels = ["depression", "anxiety"]
[welfare]
break_after = 2
break_minutes = 5
daily_cap = 3
"""


def _wait_until(db: Database, when: float) -> None:
    with db.write() as connection:
        connection.execute(update(member).values(rests_until=when))


def test_items_added_later_reach_those_who_were_finished(db: Database) -> None:
    ours = team(db)
    ours.fill(2)
    (who,) = people(ours, 1)
    assert len(work_off(ours, who)) == 2
    ours.fill(5)  # the first two are known
    assert len(work_off(ours, who)) == 3


def test_fifty_clients_at_once_share_the_items_out_exactly(db: Database) -> None:
    ours = team(db)
    ours.fill(40)
    everybody = people(ours, 50)
    start, wrong = threading.Barrier(50), list[BaseException]()

    def annotate(who: Person) -> None:
        try:
            start.wait()
            work_off(ours, who)
        except BaseException as error:  # noqa: BLE001  # shown by the test
            wrong.append(error)

    threads = [threading.Thread(target=annotate, args=(who,)) for who in everybody]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert Counter(places(db).values()) == {2: 40}
    with db.read() as connection:
        pairs = list(connection.execute(select(assignment.c.item, assignment.c.person)))
    assert len(pairs) == len(set(pairs)) == 80
