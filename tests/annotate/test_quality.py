"""Quality control: screening, inspection, hidden gold, conflicts, alerts."""

from secrets import token_hex

import pytest
from sqlalchemy import select

from annotators import CONDITIONS, Team, answer, given, marks, team
from psycheck.annotate.adjudication import conflict, conflicts, requeue, resolve
from psycheck.annotate.annotator_answers import Answers, Span
from psycheck.annotate.database import Database
from psycheck.annotate.inspection import (
    batches,
    close_batches,
    correct,
    finish_inspection,
    inspected,
    reject,
)
from psycheck.annotate.membership import Person
from psycheck.annotate.quality import alerts, gold_scores
from psycheck.annotate.queue import Nothing, next_item
from psycheck.annotate.refusals import NotAllowed, NotFound, Outdated
from psycheck.annotate.screening import retake, screening_result
from psycheck.annotate.submission import skip, submit
from psycheck.annotate.tables import assignment
from psycheck.annotate.transfer import import_corpus
from psycheck.core.corpus import Corpus
from refusals import refused


def known(ours: Team, kind: str, answers: list[Answers]) -> None:
    """Items with known labels, in this order."""
    n = len(answers)
    corpus = Corpus.of(
        kind,
        [f"{kind} {k}" for k in range(n)],
        ids=[f"{kind}{k}" for k in range(n)],
        labels={label: [one.marks[label] for one in answers] for label in ("depression", "anxiety")},
    )
    reasons = {text: f"because of {text}" for text in corpus.texts}
    import_corpus(ours.db, ours.owner, ours.project, corpus, kind=kind, reasons=reasons)


def take_test(ours: Team, who: Person, answers: list[Answers | None]) -> None:
    for one in answers:
        found = given(ours.db, who, ours.project)
        assert found.stage == "screening"
        if one is None:
            skip(ours.db, who, found.id)
        else:
            submit(ours.db, who, found.id, one, seconds=1, token=token_hex(8))


# Ten texts: each label five times yes. Who guesses all of them right does so once in 252² tries.
TEST = [marks(1, 0), marks(0, 1)] * 5
WRONG = [marks(0, 1), marks(1, 0)] * 5


def test_who_passes_the_test_annotates_and_who_fails_tries_again_without_the_answers(db: Database) -> None:
    ours = team(db, more="[screening]\ntries = 2\n")
    ours.fill(3)
    known(ours, "screening", TEST)
    good, bad = ours.add("good"), ours.add("bad")
    take_test(ours, good, [*TEST])
    assert screening_result(db, good, ours.project, "").score == 100.0
    assert [row.why for row in screening_result(db, good, ours.project, "").items][:1] == [
        "because of screening 0"
    ]
    assert given(db, good, ours.project).stage == "annotation"

    take_test(ours, bad, [*WRONG[:9]])
    assert screening_result(db, bad, ours.project, "").items == ()  # nothing is shown before the end
    take_test(ours, bad, [WRONG[9]])
    result = screening_result(db, bad, ours.project, "")
    assert (result.state, result.score, result.tries_left) == ("failed", 0.0, 1)
    assert result.items == ()  # the same texts come again
    assert next_item(db, bad, ours.project) == Nothing("screening_failed")
    retake(db, bad, ours.project, "")
    # One of twenty marks is wrong: 1 expected by chance of 10 per label, 100 (1 - 1 / 10).
    take_test(ours, bad, [marks(1, 1), *TEST[1:]])
    assert screening_result(db, bad, ours.project, "").score == pytest.approx(90.0)
    assert given(db, bad, ours.project).stage == "annotation"


def test_when_tries_run_out_the_answers_are_shown(db: Database) -> None:
    ours = team(db, more="[screening]\ntries = 1\n")
    known(ours, "screening", TEST)
    who = ours.add("ada")
    take_test(ours, who, [*WRONG])
    with refused("screening.no-tries-left"):
        retake(db, who, ours.project, "")
    result = screening_result(db, who, ours.project, "")
    assert result.items[1].expected.marks == {"depression": 0, "anxiety": 1}


@pytest.mark.parametrize("answers", [[marks(1, 0)] * 9, [marks(0, 0)] * 30, TEST[:4]])
def test_a_test_that_guessing_may_pass_is_refused(answers: list[Answers], db: Database) -> None:
    ours = team(db)
    with refused("import.test-too-short"):
        known(ours, "screening", answers)


def test_test_items_may_be_skipped_but_not_most_of_them(db: Database) -> None:
    ours = team(db)
    known(ours, "screening", [*TEST, *TEST])
    half, most = ours.add("half"), ours.add("most")
    take_test(ours, half, [*TEST, *[None] * 10])
    assert screening_result(db, half, ours.project, "").state == "passed"
    take_test(ours, most, [*TEST[:9], *[None] * 11])
    assert screening_result(db, most, ours.project, "").state == "failed"


def test_gold_comes_every_n_answers_looks_like_any_other_and_is_no_label(db: Database) -> None:
    from psycheck.annotate.export import judgements

    ours = team(db, more="[gold]\nevery = 2\n")
    ours.fill(6)
    known(ours, "gold", [marks(1, 0), marks(1, 1)])
    who = ours.add("ada")
    texts = [answer(db, who, ours.project, marks(1, 0)).text.split()[0] for _ in range(8)]
    assert texts == ["post", "post", "gold", "post", "post", "gold", "post", "post"]
    (score,) = gold_scores(db, ours.owner, ours.project)
    # Depression is always yes in both; anxiety is once missed, as chance would have it: 100 (1 - 1 / 1).
    assert (score.answered, score.right, score.score) == (2, 1, 0.0)
    assert judgements(db, ours.owner, ours.project)["item"].n_unique() == 6
    with pytest.raises(NotAllowed):
        gold_scores(db, who, ours.project)


def test_gold_labels_must_be_complete(db: Database) -> None:

    ours = team(db)
    corpus = Corpus.of("g", ["a text"], labels={"depression": [1.0]})
    with refused("import.missing-gold-label"):
        import_corpus(db, ours.owner, ours.project, corpus, kind="gold")


SMALL = "[inspection]\nbatch = 4\nshare = 0.5\n"


def inspect_all(ours: Team, reviewer: Person, right: Answers) -> tuple[str, float | None]:
    """Answer every sampled text of the first waiting batch, and finish it; a small sample grows."""
    batch = batches(ours.db, reviewer, ours.project)[0]
    while batch.state == "waiting":
        _, sample = inspected(ours.db, reviewer, batch.id)
        with refused("inspection.incomplete"):
            finish_inspection(ours.db, reviewer, batch.id)
        for drawn in sample:
            correct(ours.db, reviewer, drawn.assignment, right)
        batch = finish_inspection(ours.db, reviewer, batch.id)
    return batch.state, batch.score


def test_a_good_batch_is_accepted(db: Database) -> None:
    ours = team(db, more=SMALL)
    ours.fill(6)
    who, reviewer = ours.add("ada"), ours.add("rev", "reviewer")
    for _ in range(6):
        answer(db, who, ours.project, marks(1, 0))
    assert len(batches(db, reviewer, ours.project)) == 1
    assert inspect_all(ours, reviewer, marks(1, 0)) == ("accepted", 100.0)
    assert batches(db, reviewer, ours.project) == []
    assert close_batches(db, reviewer, ours.project) == 1
    assert batches(db, reviewer, ours.project)[0].size == 2


def test_a_bad_batch_is_void_and_all_of_it_is_annotated_again(db: Database) -> None:
    from psycheck.annotate.export import judgements

    ours = team(db, more=SMALL)
    ours.fill(4)
    who, other, reviewer = ours.add("ada"), ours.add("bob"), ours.add("rev", "reviewer")
    for _ in range(4):
        answer(db, who, ours.project, marks(1, 0))
    for _ in range(4):
        answer(db, other, ours.project, marks(0, 1))
    assert next_item(db, other, ours.project) == Nothing("done")
    # Each sampled answer: 1 wrong, 1 missed.
    assert inspect_all(ours, reviewer, marks(0, 1)) == ("rejected", 0.0)
    left = judgements(db, ours.owner, ours.project)
    assert set(left["annotator"]) == {"bob"}
    assert next_item(db, other, ours.project) == Nothing("done")
    for _ in range(4):
        answer(db, who, ours.project, marks(0, 1))  # the same person may do better
    assert next_item(db, ours.add("eve"), ours.project) == Nothing("done")
    assert judgements(db, ours.owner, ours.project).height == 16
    with db.read() as connection:
        states = sorted(connection.scalars(select(assignment.c.state)))
    assert states == ["done"] * 8 + ["void"] * 4


def test_a_reviewer_does_not_see_an_answer_before_their_own_and_sets_evidence_and_flag(db: Database) -> None:
    from psycheck.annotate.exported_evidence import flagged_items

    ours = team(db, more=SMALL)
    ours.fill(4)
    who, reviewer = ours.add("ada"), ours.add("rev", "reviewer")
    for _ in range(4):
        answer(db, who, ours.project, marks(1, 0))
    (waiting,) = batches(db, reviewer, ours.project)
    _, sample = inspected(db, reviewer, waiting.id)
    assert [drawn.given for drawn in sample] == [None, None]

    own = Answers({"depression": 1, "anxiety": 0}, spans=(Span("depression", 0, 4),), identifying=True)
    correct(db, reviewer, sample[0].assignment, own)
    _, sample = inspected(db, reviewer, waiting.id)
    assert (sample[0].given, sample[1].given) == (marks(1, 0), None)
    assert sample[0].corrected is not None
    assert sample[0].corrected.spans == (Span("depression", 0, 4),)
    assert len(list(flagged_items(db, ours.owner, ours.project))) == 1


def test_answers_in_a_waiting_batch_can_no_longer_be_changed(db: Database) -> None:
    ours = team(db, more=SMALL)
    ours.fill(4)
    who = ours.add("ada")
    last = [answer(db, who, ours.project, marks(1, 0)) for _ in range(4)][-1]
    with refused("submission.settled"):
        submit(db, who, last.id, marks(0, 0), seconds=1, token=token_hex(8))


def test_who_may_inspect(db: Database) -> None:
    ours, other = team(db, more=SMALL), team(db, CONDITIONS.replace("conditions", "others", 1))
    ours.fill(4)
    who = ours.add("ada")
    for _ in range(4):
        answer(db, who, ours.project, marks(1, 0))
    (waiting,) = batches(db, ours.owner, ours.project)
    for stranger in (who, ours.add("judge", "adjudicator")):
        with pytest.raises(NotAllowed):
            batches(db, stranger, ours.project)
    with pytest.raises(NotFound):
        inspected(db, who, waiting.id)
    with pytest.raises((NotFound, NotAllowed)):
        inspected(db, other.owner, waiting.id)
    reject(db, ours.owner, waiting.id)
    with pytest.raises(Outdated):
        reject(db, ours.owner, waiting.id)


def test_conflicts_go_to_an_adjudicator_without_names(db: Database) -> None:
    ours = team(db)
    ours.fill(2)
    first, second, judge = ours.add("ada"), ours.add("bob"), ours.add("judge", "adjudicator")
    for one in (marks(1, 0), marks(0, 0)):
        answer(db, first, ours.project, one)
    assert conflicts(db, judge, ours.project) == []  # nothing is complete yet
    for one in (marks(0, 1), marks(0, 0)):
        answer(db, second, ours.project, one)
    (item,) = conflicts(db, judge, ours.project)
    shown = conflict(db, judge, item)
    assert sorted(one.marks["anxiety"] for one in shown.given) == [0, 1]
    assert marks(1, 0) in shown.given
    assert marks(0, 1) in shown.given
    assert "ada" not in repr(shown)
    resolve(db, judge, item, marks(1, 1))
    assert conflict(db, judge, item).resolved == marks(1, 1)
    with pytest.raises(NotAllowed):
        conflicts(db, first, ours.project)
    with pytest.raises((NotFound, NotAllowed)):
        conflict(db, first, item)
    with pytest.raises(NotFound):
        requeue(db, ours.owner, ours.project + 1, item)
    assert requeue(db, ours.owner, ours.project, item) == 2
    with pytest.raises(NotFound):
        conflict(db, judge, item)
    assert given(db, first, ours.project).state == "claimed"


def test_an_alert_when_gold_answers_get_worse_and_none_when_they_do_not(db: Database) -> None:
    ours = team(db, more="[gold]\nevery = 1\n")
    ours.fill(30)
    known(ours, "gold", [marks(1, 0), marks(0, 0)] * 15)
    right = {f"gold {k}": marks(1 - k % 2, 0) for k in range(30)}
    steady, falling = ours.add("ada"), ours.add("bob")
    for number in range(60):
        for who in (steady, falling):
            shown = given(db, who, ours.project)
            is_worse = who == falling and number >= 20
            said = marks(1, 1) if is_worse else right.get(shown.text, marks(1, 0))
            submit(db, who, shown.id, said, seconds=1, token=token_hex(8))
    found = alerts(db, ours.owner, ours.project)
    assert [(alert.name, alert.about) for alert in found] == [("bob", "gold score"), ("bob", "gold")]
    assert (found[1].before, found[1].now) == (1.0, 0.0)


def test_an_alert_when_an_annotator_leaves_the_others(db: Database) -> None:
    ours = team(db, CONDITIONS.replace("annotators_per_item = 2", "annotators_per_item = 3"))
    ours.fill(60)
    people = [ours.add(name) for name in ("ada", "bob", "eve")]
    for number in range(60):
        for who in people:
            answer(db, who, ours.project, marks(int(who.name == "eve" and number >= 10), 0))
    about = {(one.name, one.about) for one in alerts(db, ours.owner, ours.project)}
    assert about == {("eve", "agreement")}
