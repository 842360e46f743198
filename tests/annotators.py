"""A project of our own with people in it, for the tests of annotation."""

from dataclasses import dataclass
from secrets import token_hex

from psycheck.annotate.annotator_answers import Answers
from psycheck.annotate.database import Database
from psycheck.annotate.membership import Person, Role, create_project
from psycheck.annotate.project import parse_project
from psycheck.annotate.queue import Assignment, Nothing, next_item
from psycheck.annotate.submission import submit
from psycheck.annotate.tables import member, person
from psycheck.annotate.transfer import import_corpus
from psycheck.core.corpus import Corpus

CONDITIONS = """
name = "conditions"
title = "Depression and anxiety"
task = "conditions"
labels = ["depression", "anxiety"]
annotators_per_item = 2
[welfare]
break_after = 0
daily_cap = 0
"""
SYMPTOMS = """
name = "symptoms"
title = "Symptoms"
task = "symptoms"
diseases = ["depression", "ocd"]
annotators_per_item = 2
[welfare]
break_after = 0
daily_cap = 0
"""


@dataclass(frozen=True)
class Team:
    """A project, its owner, and a way to add people."""

    db: Database
    owner: Person
    project: int

    def add(self, name: str, role: Role = "annotator") -> Person:
        """A member who never logs in: a password takes half a second to hash."""
        with self.db.write() as connection:
            made = connection.execute(
                person.insert().values(name=name, password="", owner=False, made=0.0)
            ).inserted_primary_key
            assert made is not None
            connection.execute(
                member.insert().values(project=self.project, person=made[0], role=role, paused=False)
            )
        return Person(made[0], name, owner=False)

    def fill(self, n: int) -> None:
        texts = [f"post number {k} of ours" for k in range(n)]
        corpus = Corpus.of("ours", texts, ids=[f"p{k}" for k in range(n)])
        import_corpus(self.db, self.owner, self.project, corpus)


def team(db: Database, settings: str = CONDITIONS, more: str = "") -> Team:
    name, text = f"owner-{token_hex(3)}", settings + more
    with db.write() as connection:
        made = connection.execute(
            person.insert().values(name=name, password="", owner=True, made=0.0)
        ).inserted_primary_key
    assert made is not None
    owner = Person(made[0], name, owner=True)
    return Team(db, owner, create_project(db, owner, parse_project(text), text))


def marks(depression: int = 0, anxiety: int = 0) -> Answers:
    return Answers({"depression": depression, "anxiety": anxiety})


def given(db: Database, who: Person, project: int, queue: str | None = None) -> Assignment:
    """The next item, where there must be one."""
    found = next_item(db, who, project, queue)
    assert not isinstance(found, Nothing), found
    return found


def answer(db: Database, who: Person, project: int, answers: Answers, queue: str | None = None) -> Assignment:
    """Answer the next item."""
    found = given(db, who, project, queue)
    submit(db, who, found.id, answers, seconds=1.5, token=token_hex(8))
    return found
