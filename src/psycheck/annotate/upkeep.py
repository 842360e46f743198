"""What changes in a project while it runs: its settings, its members, and its end."""

import time
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, select, update

from psycheck.annotate.adjudication import note_conflict
from psycheck.annotate.batches import close_batches_of
from psycheck.annotate.database import Database
from psycheck.annotate.membership import (
    OWNS,
    Person,
    Role,
    check_owner,
    lock_members,
    record,
    refuse_without_owner,
    role_of_member,
    stored_task,
)
from psycheck.annotate.open_places import reopen
from psycheck.annotate.project import Project, Task, parse_project
from psycheck.annotate.refusals import NotFound, Outdated
from psycheck.annotate.tables import (
    CLAIMED,
    assignment,
    invitation,
    item,
    member,
    person,
    project,
    standing,
    version,
)
from psycheck.core.errors import BadInput

# What answers are about cannot change: earlier ones would no longer fit.
_FIXED: Final = ("name", "task", "labels", "diseases", "graph")


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a project: its settings (TOML), who made it ("": the command line) and when."""

    number: int
    settings: str
    person: str
    made: float


@dataclass(frozen=True, slots=True)
class Invitation:
    """An invitation that nobody has used yet; `digest` names it and cannot be used to join."""

    digest: str
    role: Role
    expires: float

    @property
    def name(self) -> str:
        """The beginning of the digest, for the command line."""
        return self.digest[:12]


def versions(db: Database, who: Person | None, project_id: int) -> list[Version]:
    """The versions of a project, the newest first; for its owner."""
    with db.read() as connection:
        check_owner(connection, who, project_id)
        rows = connection.execute(
            select(version, person.c.name)
            .outerjoin(person, person.c.id == version.c.person)
            .where(version.c.project == project_id)
            .order_by(version.c.number.desc())
        )
        return [Version(row.number, row.settings, row.name or "", row.made) for row in rows]


def edit_project(
    db: Database,
    who: Person | None,
    project_id: int,
    text: str,
    *,
    based_on: int | None = None,
) -> int:
    """Give a project new settings, for its owner; returns the number of the version.

    Answers keep the version under which they were given. `based_on` is the version that the editor saw: a
    change that somebody else made meanwhile is not overwritten.
    """
    with db.write() as connection:
        check_owner(connection, who, project_id)
        lock_members(connection, project_id)
        task = stored_task(connection, project_id)
        if based_on is not None and based_on != task.version:
            raise Outdated(
                "somebody has changed the settings meanwhile",
                code="project.changed-meanwhile",
                do="load the page again and repeat your change",
            )

        # A graph of its own is fixed, so a path in the text is compared and never read.
        settings = parse_project(text, "the project file", own_graph=True)
        _refuse_other_questions(task.project, settings)
        number = task.version + 1
        editor = who.id if who else None
        connection.execute(
            project.update().where(project.c.id == project_id).values(settings=text, version=number)
        )
        connection.execute(
            version.insert().values(
                project=project_id, number=number, settings=text, person=editor, made=time.time()
            )
        )
        # In the same transaction: nobody takes a place that is about to close.
        _change_places(connection, task, settings.annotators_per_item)
        record(connection, project_id, editor, "changed the settings", detail={"version": number})
    return number


def _refuse_other_questions(before: Project, after: Project) -> None:
    for name in _FIXED:
        if getattr(before, name) != getattr(after, name):
            raise BadInput(
                f"`{name}` cannot change: answers were given to what it asks",
                code="project.fixed-setting",
                where=name,
                do="create another project",
            )


def _change_places(connection: Connection, task: Task, per_item: int) -> None:
    """Give items more or fewer places, as many as another number of annotators needs."""
    more = per_item - task.project.annotators_per_item
    if not more:
        return

    open_items = (item.c.project == task.id, item.c.kind == "item", ~item.c.closed)
    places = item.c.open + more
    connection.execute(update(item).where(*open_items, places >= 0).values(open=places))
    # More answers than are now wanted: they stay, and the item is complete.
    connection.execute(update(item).where(*open_items, places < 0).values(open=0))
    if more < 0:
        # Items that now have all their answers may be in conflict.
        changed = stored_task(connection, task.id)
        complete = select(item.c.id).where(
            *open_items, item.c.answered >= per_item, item.c.conflict.is_(None)
        )
        for item_id in connection.scalars(complete.order_by(item.c.id)).all():
            note_conflict(connection, changed, item_id)


def end_project(db: Database, who: Person | None, project_id: int, *, ended: bool) -> None:
    """End a project, or open it again: an ended one takes no answers, and can be read and exported."""
    with db.write() as connection:
        check_owner(connection, who, project_id)
        moment = time.time() if ended else None
        connection.execute(project.update().where(project.c.id == project_id).values(ended=moment))
        what = "ended the project" if ended else "opened the project again"
        record(connection, project_id, who.id if who else None, what)


def remove_member(db: Database, who: Person | None, project_id: int, person_id: int) -> None:
    """Remove a member, for the owner: their answers stay, what they have open goes to others."""
    with db.write() as connection:
        check_owner(connection, who, project_id)
        lock_members(connection, project_id)
        role = role_of_member(connection, project_id, person_id)
        if role in OWNS:
            refuse_without_owner(connection, project_id, person_id)

        # Their open batch would never fill, and so never be inspected.
        close_batches_of(connection, stored_task(connection, project_id), person_id)
        _give_claims_back(connection, project_id, person_id)
        membership = (member.c.project == project_id) & (member.c.person == person_id)
        connection.execute(member.delete().where(membership))
        detail = {"person": person_id, "role": role}
        record(connection, project_id, who.id if who else None, "removed", detail=detail)


def _give_claims_back(connection: Connection, project_id: int, person_id: int) -> None:
    """Give back the items that a person has open; the places of their answers stay taken."""
    claims = connection.execute(
        select(assignment.c.id, assignment.c.item, assignment.c.kind).where(
            assignment.c.project == project_id, assignment.c.person == person_id, CLAIMED
        )
    ).all()
    claim_ids = [claim.id for claim in claims]
    connection.execute(assignment.update().where(assignment.c.id.in_(claim_ids)).values(state="void"))
    reopen(connection, project_id, [claim.item for claim in claims if claim.kind == "item"])
    # Whoever comes back begins another batch.
    own_standing = (standing.c.project == project_id) & (standing.c.person == person_id)
    connection.execute(standing.update().where(own_standing).values(batch=None))


def invitations(db: Database, who: Person | None, project_id: int) -> list[Invitation]:
    """The invitations to a project that nobody has used and that are still valid; for its owner."""
    with db.read() as connection:
        check_owner(connection, who, project_id)
        rows = connection.execute(
            select(invitation)
            .where(
                invitation.c.project == project_id,
                invitation.c.used_by.is_(None),
                invitation.c.expires > time.time(),
            )
            .order_by(invitation.c.expires)
        )
        return [Invitation(row.digest, row.role, row.expires) for row in rows]


def invitation_named(db: Database, project_id: int, name: str) -> str:
    """The digest of the invitation that the command line lists under a name."""
    # A prefix of the digest names it: the token itself is stored nowhere.
    for unused in invitations(db, None, project_id):
        if unused.name == name:
            return unused.digest
    raise NotFound("there is no such invitation", code="invitation.unknown", key="withdraw")


def withdraw_invitation(db: Database, who: Person | None, project_id: int, digest: str) -> None:
    """Make an invitation worthless, for the owner of the project."""
    with db.write() as connection:
        check_owner(connection, who, project_id)
        withdrawn = connection.execute(
            invitation.delete().where(
                invitation.c.project == project_id,
                # PostgreSQL cannot compare a NUL.
                invitation.c.digest == digest.replace("\x00", "\ufffd"),
                invitation.c.used_by.is_(None),
            )
        )
        if not withdrawn.rowcount:
            raise NotFound("there is no such invitation", code="invitation.unknown")
        record(connection, project_id, who.id if who else None, "withdrew an invitation")


def member_named(db: Database, project_id: int, name: str) -> int:
    """The member of a project with a name, for the command line, which asks for no account."""
    with db.read() as connection:
        person_id: int | None = connection.scalar(
            select(member.c.person)
            .join(person, person.c.id == member.c.person)
            .where(member.c.project == project_id, person.c.name == name)
        )
    if person_id is None:
        raise NotFound("there is no such member", code="member.unknown", key="name")
    return person_id
