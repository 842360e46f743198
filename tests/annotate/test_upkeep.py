"""What changes while a project runs: settings, members, its end, texts that are stuck or erased."""

import json
from pathlib import Path
from secrets import token_hex

import pytest
from sqlalchemy import func, select

from annotators import CONDITIONS, Team, answer, given, marks, team
from psycheck.annotate.adjudication import conflicts, resolve
from psycheck.annotate.annotator_answers import Answers, Span
from psycheck.annotate.database import Database, database_url, open_database
from psycheck.annotate.erasure import ERASED_FROM, erase_author, erase_text
from psycheck.annotate.export import judgements, trail
from psycheck.annotate.inspection import batches, correct, inspected
from psycheck.annotate.item_search import (
    Search,
    close_item,
    free_item,
    search_items,
    stuck_items,
)
from psycheck.annotate.membership import Person, pause, task
from psycheck.annotate.project import parse_project
from psycheck.annotate.queue import Nothing, next_item
from psycheck.annotate.refusals import NotAllowed
from psycheck.annotate.submission import skip, submit
from psycheck.annotate.tables import event, item, metadata, suggestion
from psycheck.annotate.transfer import import_corpus
from psycheck.annotate.upkeep import (
    edit_project,
    end_project,
    invitations,
    remove_member,
    versions,
    withdraw_invitation,
)
from psycheck.core.corpus import Corpus
from refusals import refused

OTHER = CONDITIONS.replace("[welfare]", 'instructions = "Read twice."\n[welfare]')


def test_every_answer_knows_the_version_of_the_settings_under_which_it_was_given(db: Database) -> None:
    ours = team(db)
    ours.fill(2)
    who = ours.add("ada")
    answer(db, who, ours.project, marks(1, 0))
    assert edit_project(db, ours.owner, ours.project, OTHER, based_on=1) == 2
    assert task(db, who, ours.project).project.instructions == "Read twice."
    answer(db, who, ours.project, marks(1, 0))
    assert sorted(judgements(db, ours.owner, ours.project)["version"]) == [1, 1, 2, 2]
    assert [(version.number, version.settings) for version in versions(db, ours.owner, ours.project)] == [
        (2, OTHER),
        (1, CONDITIONS),
    ]
    with refused("project.changed-meanwhile"):
        edit_project(db, ours.owner, ours.project, CONDITIONS, based_on=1)
    with pytest.raises(NotAllowed):
        edit_project(db, who, ours.project, OTHER)


@pytest.mark.parametrize("change", [('"anxiety"]', '"panic"]'), ('name = "conditions"', 'name = "renamed"')])
def test_what_answers_are_about_cannot_change(change: tuple[str, str], db: Database) -> None:
    ours = team(db)
    with refused("project.fixed-setting"):
        edit_project(db, ours.owner, ours.project, CONDITIONS.replace(*change))


def test_another_number_of_annotators_opens_and_closes_places(db: Database) -> None:
    ours = team(db)
    ours.fill(1)
    first, second, third = ours.add("a"), ours.add("b"), ours.add("c")
    answer(db, first, ours.project, marks(1, 0))
    three = CONDITIONS.replace("annotators_per_item = 2", "annotators_per_item = 3")
    edit_project(db, ours.owner, ours.project, three)
    answer(db, second, ours.project, marks(0, 0))
    assert conflicts(db, ours.owner, ours.project) == []
    edit_project(db, ours.owner, ours.project, CONDITIONS)
    assert next_item(db, third, ours.project) == Nothing("done")
    assert len(conflicts(db, ours.owner, ours.project)) == 1


def test_who_is_removed_leaves_their_answers_and_gives_back_what_they_have_open(db: Database) -> None:
    ours = team(db, CONDITIONS.replace("annotators_per_item = 2", "annotators_per_item = 1"))
    ours.fill(2)
    gone, other = ours.add("gone"), ours.add("other")
    answer(db, gone, ours.project, marks(1, 0))
    claimed = given(db, gone, ours.project)
    assert next_item(db, other, ours.project) == Nothing("done")
    remove_member(db, ours.owner, ours.project, gone.id)
    assert given(db, other, ours.project).text == claimed.text
    assert judgements(db, ours.owner, ours.project)["annotator"].unique().to_list() == ["gone"]
    with refused("project.unknown"):
        next_item(db, gone, ours.project)
    with refused("member.last-owner"):
        remove_member(db, ours.owner, ours.project, ours.owner.id)


def test_an_invitation_that_was_withdrawn_is_worth_nothing(db: Database) -> None:
    from psycheck.annotate.accounts import accept, invite

    ours = team(db)
    token = invite(db, ours.owner, ours.project, "annotator")
    (waiting,) = invitations(db, ours.owner, ours.project)
    withdraw_invitation(db, ours.owner, ours.project, waiting.digest)
    assert invitations(db, ours.owner, ours.project) == []
    with refused("invitation.not-valid"):
        accept(db, token, "ada", "correct horse battery")
    with refused("invitation.unknown"):
        withdraw_invitation(db, ours.owner, ours.project, waiting.digest)


def test_an_ended_project_takes_no_answers_and_can_be_opened_again(db: Database) -> None:
    ours = team(db)
    ours.fill(2)
    who = ours.add("ada")
    claimed = given(db, who, ours.project)
    end_project(db, ours.owner, ours.project, ended=True)
    assert next_item(db, who, ours.project) == Nothing("ended")
    for refused_work in (
        lambda: submit(db, who, claimed.id, marks(1, 0), seconds=1, token=token_hex(8)),
        lambda: skip(db, who, claimed.id),
        lambda: ours.fill(3),
    ):
        with refused("project.ended"):
            refused_work()
    assert judgements(db, ours.owner, ours.project).is_empty()
    end_project(db, ours.owner, ours.project, ended=False)
    submit(db, who, claimed.id, marks(1, 0), seconds=1, token=token_hex(8))


def test_a_text_that_all_skipped_is_named_and_can_be_freed_or_closed(db: Database) -> None:
    ours = team(db)
    ours.fill(1)
    people = [ours.add("a"), ours.add("b")]
    for who in people:
        assert stuck_items(db, ours.owner, ours.project) == 0
        skip(db, who, given(db, who, ours.project).id)
        assert next_item(db, who, ours.project) == Nothing("done")
    (stuck,) = search_items(db, ours.owner, ours.project, Search(state="stuck"))
    assert stuck.id == "p0"

    close_item(db, ours.owner, ours.project, stuck.number, closed=True)
    assert stuck_items(db, ours.owner, ours.project) == 0
    newcomer = ours.add("c")
    assert next_item(db, newcomer, ours.project) == Nothing("done")
    close_item(db, ours.owner, ours.project, stuck.number, closed=False)
    assert given(db, newcomer, ours.project).text
    free_item(db, ours.owner, ours.project, stuck.number)
    assert given(db, people[0], ours.project).text


def test_texts_are_found_by_id_label_annotator_and_state(db: Database) -> None:
    ours = team(db)
    ours.fill(12)
    first, second = ours.add("ada"), ours.add("bob")
    shown = answer(db, first, ours.project, marks(1, 0))
    answer(db, second, ours.project, marks(0, 1))

    def ids(**search: object) -> list[str]:
        found = search_items(db, ours.owner, ours.project, Search(**search))  # type: ignore[arg-type]
        return [listed.id for listed in found]

    name = f"p{shown.text.split()[2]}"
    assert len(ids()) == 12
    assert set(ids(id="p1")) == {"p1", "p10", "p11"}
    assert ids(id="%") == []
    assert ids(label="depression", annotator="ada") == [name]
    assert ids(state="conflict") == [name]
    assert name not in ids(state="open")
    with pytest.raises(NotAllowed):
        search_items(db, first, ours.project, Search())


SECRET = "the harbour master knows my name"


def _worked(db: Database, secret: str = SECRET) -> tuple[Team, Person]:
    """A text that was answered, inspected, adjudicated and scored, and one of another author."""
    ours = team(db, more="[inspection]\nbatch = 1\nshare = 1.0\n")
    corpus = Corpus.of("c", [secret, "a harmless text"], ids=["id-of-secret", "y"], author=["capt-ahab", "b"])
    import_corpus(db, ours.owner, ours.project, corpus)
    people = ours.add("ada"), ours.add("bob")
    for who, depression in zip(people, (1, 0), strict=True):
        for _ in range(2):
            shown = given(db, who, ours.project)
            spans = (Span("depression", 0, 5),) if depression else ()
            said = Answers({"depression": depression, "anxiety": 0}, spans=spans, comment=f"on {secret}")
            submit(db, who, shown.id, said, seconds=1, token=token_hex(8))
    for batch in batches(db, ours.owner, ours.project):
        for drawn in inspected(db, ours.owner, batch.id)[1]:
            correct(db, ours.owner, drawn.assignment, Answers({"depression": 1, "anxiety": 0}, spans=spans))
    for number in conflicts(db, ours.owner, ours.project):
        resolve(db, ours.owner, number, marks(1, 0))
    with db.write() as connection:
        for number in connection.scalars(select(item.c.id)).all():
            row = {"item": number, "model": "m", "label": "depression", "score": 0.5}
            connection.execute(suggestion.insert().values(row))
    return ours, people[0]


def test_erasing_an_author_leaves_nothing_of_them_in_any_table(db: Database) -> None:
    ours, _ = _worked(db)
    before = len(list(trail(db, ours.owner, ours.project)))
    assert erase_author(db, ours.owner, ours.project, "capt-ahab") == 1
    with db.read() as connection:
        for table in metadata.sorted_tables:
            for row in connection.execute(select(table)):
                assert "harbour" not in repr(row).replace(f"on {SECRET}", ""), table.name
                assert "ahab" not in repr(row), table.name
                assert "id-of-secret" not in repr(row), table.name
        assert connection.scalar(select(func.count()).select_from(item)) == 1
        erased = connection.scalars(select(event.c.detail).where(event.c.detail.contains("erased"))).all()
    assert erased
    # That something happened stays; not what it was about.
    assert len(list(trail(db, ours.owner, ours.project))) == before + 1
    assert judgements(db, ours.owner, ours.project)["item"].unique().to_list() == ["y"]
    with refused("author.unknown"):
        erase_author(db, ours.owner, ours.project, "capt-ahab")


def test_erasing_reaches_the_database_file_and_its_log(tmp_path: Path) -> None:
    db = open_database(database_url(tmp_path / "db"), new=True)
    ours, who = _worked(db)
    edit_about = b"".join(file.read_bytes() for file in (tmp_path / "db").iterdir())
    assert SECRET.encode() in edit_about
    assert erase_text(db, ours.owner, ours.project, "id-of-secret") == 1
    assert erase_text(db, ours.owner, ours.project, "y") == 1  # its comments quote the other text
    bytes_left = b"".join(file.read_bytes() for file in (tmp_path / "db").iterdir())
    for trace in (b"harbour", b"ahab", b"id-of-secret"):
        assert trace not in bytes_left
    with pytest.raises(NotAllowed):
        erase_text(db, who, ours.project, "y")
    db.close()


def test_erasing_reaches_the_files_of_postgresql_and_what_it_knows_of_columns(postgres_db: Database) -> None:
    word = token_hex(8)  # other tests have schemas in the same files
    ours, _ = _worked(postgres_db, f"the {word} knows my name")
    by_hand = postgres_db.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
    with by_hand as connection:
        folder = Path(connection.exec_driver_sql("SHOW data_directory").scalar_one())
        # The planner keeps samples of the columns it has looked at: common texts word by word.
        connection.exec_driver_sql("ANALYZE")
        connection.exec_driver_sql("CHECKPOINT")
        assert len(files_with(folder / "base", word)) >= 3  # items, comments and samples
        for name in ("id-of-secret", "y"):
            erase_text(postgres_db, ours.owner, ours.project, name)
        # Files of before are unlinked, and tables of now written, at a checkpoint.
        connection.exec_driver_sql("CHECKPOINT")
    assert files_with(folder / "base", word) == []


def files_with(folder: Path, trace: str) -> list[str]:
    return [file.name for file in folder.rglob("*") if file.is_file() and trace.encode() in file.read_bytes()]


def test_every_table_about_items_is_erased_from() -> None:
    assert {
        "assignment",
        "correction",
        "correction_span",
        "event",
        "gold",
        "judgement",
        "reason",
        "resolution",
        "resolution_span",
        "span",
        "suggestion",
    } == ERASED_FROM


def test_who_is_paused_takes_part_in_no_role(db: Database) -> None:
    ours = team(db)
    ours.fill(1)
    reviewer, judge = ours.add("r", "reviewer"), ours.add("j", "adjudicator")
    for who, work in ((reviewer, batches), (judge, conflicts)):
        pause(db, ours.owner, ours.project, who.id, paused=True)
        with refused("member.paused"):
            work(db, who, ours.project)
        pause(db, ours.owner, ours.project, who.id, paused=False)
        assert work(db, who, ours.project) == []


def test_an_owner_can_be_paused_while_another_is_there(db: Database) -> None:
    ours = team(db)
    with refused("member.last-owner"):
        pause(db, ours.owner, ours.project, ours.owner.id, paused=True)
    second = ours.add("second", "owner")
    pause(db, ours.owner, ours.project, second.id, paused=True)
    for refused_work in (
        lambda: search_items(db, second, ours.project, Search()),
        lambda: judgements(db, second, ours.project),
        lambda: edit_project(db, second, ours.project, OTHER),
        lambda: pause(db, second, ours.project, second.id, paused=False),
    ):
        with refused("member.paused"):
            refused_work()
    # The other is now the only one who can do anything.
    with refused("member.last-owner"):
        pause(db, ours.owner, ours.project, ours.owner.id, paused=True)
    with refused("member.last-owner"):
        remove_member(db, ours.owner, ours.project, ours.owner.id)
    pause(db, ours.owner, ours.project, second.id, paused=False)
    remove_member(db, second, ours.project, ours.owner.id)
    with refused("member.unknown"):
        pause(db, second, ours.project, ours.owner.id, paused=True)


def test_a_description_of_no_label_is_refused() -> None:
    with refused("project.unknown-description"):
        parse_project(CONDITIONS + '[descriptions]\nsadness = "Low mood."\n')


def test_details_of_events_hold_no_texts(db: Database) -> None:
    ours, _ = _worked(db)
    assert "harbour" not in json.dumps(list(trail(db, ours.owner, ours.project)))
