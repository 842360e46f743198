"""Projects in the database, and who may do what in them."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal, NoReturn

from sqlalchemy import Connection, Row, select

from psycheck.annotate.database import Database
from psycheck.annotate.project import Project, Task, task_of
from psycheck.annotate.refusals import NotAllowed, NotFound, Outdated
from psycheck.annotate.tables import event, insert_row, member, person, project, version
from psycheck.core.errors import nearest

Role = Literal["annotator", "reviewer", "adjudicator", "owner"]
ROLES: Final[tuple[Role, ...]] = ("annotator", "reviewer", "adjudicator", "owner")
ANNOTATES: Final[tuple[Role, ...]] = ("annotator",)
INSPECTS: Final[tuple[Role, ...]] = ("reviewer", "owner")
ADJUDICATES: Final[tuple[Role, ...]] = ("adjudicator", "owner")
OWNS: Final[tuple[Role, ...]] = ("owner",)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with an account; `owner` of the server means that they may create projects."""

    id: int
    name: str
    owner: bool


@dataclass(frozen=True, slots=True)
class Membership:
    """A project and a person's role in it."""

    project: int
    name: str
    title: str
    role: Role
    paused: bool


@dataclass(frozen=True, slots=True)
class Member:
    """A person's role in a project, as its owner sees it."""

    person: int
    name: str
    role: Role
    paused: bool


def create_project(
    db: Database,
    owner: Person | None,
    settings: Project,
    text: str,
    graph: str | None = None,
) -> int:
    """Store a project, as `read_project` or `parse_project` checked it; its creator owns it.

    One that the command line makes, without a person, belongs to the next owner of the server who joins.
    """
    # The command line comes without a person: whoever reads the database may do everything.
    if owner is not None and not owner.owner:
        raise NotAllowed("only an owner of the server creates projects", code="role.not-server-owner")

    with db.write() as connection:
        same_name = select(project.c.id).where(project.c.name == settings.name)
        # Names are parts of addresses, on the whole server.
        if connection.scalar(same_name) is not None:
            raise Outdated(
                f"there is a project '{settings.name}' already",
                code="project.name-taken",
                do="choose another name",
            )

        project_id = insert_row(
            connection,
            project,
            name=settings.name,
            settings=text,
            graph=graph,
            made=time.time(),
        )
        # Versions begin with the first, so that every answer has one to refer to.
        first_version = version.insert().values(
            project=project_id,
            number=1,
            settings=text,
            person=owner.id if owner else None,
            made=time.time(),
        )
        connection.execute(first_version)
        if owner is not None:
            add_member(connection, project_id, owner.id, "owner")
        record(connection, project_id, owner.id if owner else None, "created")
        return project_id


def add_member(connection: Connection, project_id: int, person_id: int, role: Role) -> None:
    """Give a person a role in a project."""
    connection.execute(member.insert().values(project=project_id, person=person_id, role=role, paused=False))
    record(connection, project_id, person_id, "joined", detail={"role": role})


def adopt_projects(connection: Connection, person_id: int) -> None:
    """Make a person the owner of all projects that have none."""
    owned = select(member.c.project).where(member.c.role == "owner")
    # Made on the command line, before anybody had an account.
    ownerless = select(project.c.id).where(project.c.id.not_in(owned))
    for project_id in connection.scalars(ownerless).all():
        add_member(connection, project_id, person_id, "owner")


def projects_of(db: Database, who: Person) -> list[Membership]:
    """The projects of a person, by name."""
    with db.read() as connection:
        rows = connection.execute(
            select(
                project.c.id,
                project.c.name,
                project.c.settings,
                project.c.graph,
                member.c.role,
                member.c.paused,
            )
            .join(member, member.c.project == project.c.id)
            .where(member.c.person == who.id)
            .order_by(project.c.name)
        )
        return [
            Membership(
                project=row.id,
                name=row.name,
                title=_task(row.id, row.settings, row.graph).project.title,
                role=row.role,
                paused=row.paused,
            )
            for row in rows
        ]


def project_named(db: Database, name: str | None = None) -> int:
    """The project of a name, or the only one; for the command line, which asks for no account."""
    with db.read() as connection:
        rows = connection.execute(select(project.c.id, project.c.name))
        id_of = {row.name: int(row.id) for row in rows}

    if name is not None and name in id_of:
        return id_of[name]
    # With one project, which most databases have, nobody need name it.
    if name is None and len(id_of) == 1:
        return next(iter(id_of.values()))

    what = "several projects, or none" if name is None else f"there is no project '{name}'"
    raise NotFound(
        what,
        code="project.unknown",
        allowed=nearest(name or "", id_of),
        do="name the `project`",
    )


def task(db: Database, who: Person, project_id: int) -> Task:
    """The task of a project, for its members."""
    with db.read() as connection:
        role_in(connection, who, project_id, *ROLES, even_paused=True)
        return stored_task(connection, project_id)


def stored_task(connection: Connection, project_id: int) -> Task:
    """The task of a project."""
    row = connection.execute(
        select(project.c.settings, project.c.graph, project.c.version, project.c.ended).where(
            project.c.id == project_id
        )
    ).first()
    if row is None:
        raise NotFound("there is no such project", code="project.unknown")
    return _task(project_id, row.settings, row.graph, row.version, ended=row.ended is not None)


# Reading a project file takes longer than most requests, and a version of a project does not change.
_task = lru_cache(maxsize=64)(task_of)


def refuse_ended(task: Task) -> None:
    """Refuse work in a project that its owner has ended."""
    if task.ended:
        raise Outdated(
            "this project has ended",
            code="project.ended",
            do="its owner can open it again",
        )


def role_in(
    connection: Connection,
    who: Person,
    project_id: int,
    *roles: Role,
    lock: bool = False,
    even_paused: bool = False,
) -> Row[Any]:
    """A person's row of membership; an error if they have none, another role than these, or are paused."""
    query = select(member).where(member.c.project == project_id, member.c.person == who.id)
    if lock:
        query = query.with_for_update()

    row = connection.execute(query).first()
    if row is None:
        # The same words as for a project that does not exist: nobody learns which ones do.
        raise NotFound("there is no such project", code="project.unknown")
    # Before the pause: a role that may not do this is not told about its pause either.
    refuse_other_roles(row.role, roles)
    if row.paused and not even_paused:
        refuse_paused()
    return row


def refuse_paused() -> NoReturn:
    """Refuse a member whose work is paused."""
    raise Outdated("the owner of the project has paused your work", code="member.paused")


def refuse_other_roles(role: str, allowed_roles: tuple[Role, ...]) -> None:
    """Refuse a member whose role is not one of these."""
    if role not in allowed_roles:
        raise NotAllowed(
            "your role in this project does not permit this",
            code="role.not-allowed",
            allowed=", ".join(allowed_roles),
        )


def check_owner(connection: Connection, who: Person | None, project_id: int) -> None:
    """Allow only the owner of a project, and the command line, which comes without a person."""
    # Whoever can open the database on the command line needs no role.
    if who is not None:
        role_in(connection, who, project_id, *OWNS)


def lock_members(connection: Connection, project_id: int) -> None:
    """Lock all members of a project, in one order: first of all, by whoever changes rows of several of them.

    The order of locks: members, then assignments, batches and standings, then the project, then its items.
    """
    everybody = (
        select(member.c.person)
        .where(member.c.project == project_id)
        .order_by(member.c.person)
        .with_for_update()
    )
    connection.execute(everybody).all()


def members(db: Database, who: Person, project_id: int) -> list[Member]:
    """The members of a project, for its owner."""
    with db.read() as connection:
        role_in(connection, who, project_id, *OWNS)
        rows = connection.execute(
            select(member.c.person, person.c.name, member.c.role, member.c.paused)
            .join(person, person.c.id == member.c.person)
            .where(member.c.project == project_id)
            .order_by(person.c.name)
        )
        return [Member(person=row.person, name=row.name, role=row.role, paused=row.paused) for row in rows]


def pause(db: Database, who: Person | None, project_id: int, person_id: int, *, paused: bool) -> None:
    """Stop the work of a member in any role, or resume it; for the owner."""
    with db.write() as connection:
        check_owner(connection, who, project_id)
        lock_members(connection, project_id)
        role = role_of_member(connection, project_id, person_id)
        if paused and role in OWNS:
            refuse_without_owner(connection, project_id, person_id)

        membership = (member.c.project == project_id) & (member.c.person == person_id)
        connection.execute(member.update().where(membership).values(paused=paused))
        what = "paused" if paused else "resumed"
        record(connection, project_id, who.id if who else None, what, detail={"person": person_id})


def role_of_member(connection: Connection, project_id: int, person_id: int) -> str:
    """The role of a member; an error if there is no such member."""
    membership = (member.c.project == project_id) & (member.c.person == person_id)
    role: str | None = connection.scalar(select(member.c.role).where(membership))
    if role is None:
        raise NotFound("there is no such member", code="member.unknown")
    return role


def refuse_without_owner(connection: Connection, project_id: int, leaving: int) -> None:
    """Refuse to let an owner go if no other is left who can work; the caller has locked all members."""
    other_owners = select(member.c.person).where(
        member.c.project == project_id,
        member.c.role.in_(OWNS),
        member.c.person != leaving,
        # Whoever is paused could not let anybody in again.
        ~member.c.paused,
    )
    if connection.scalar(other_owners.limit(1)) is None:
        raise Outdated(
            "a project needs an owner who is not paused",
            code="member.last-owner",
            do="invite another owner first",
        )


def record(
    connection: Connection,
    project_id: int,
    person_id: int | None,
    what: str,
    *,
    item: int | None = None,
    assignment: int | None = None,
    detail: Mapping[str, Any] | None = None,
) -> None:
    """Append an event to the trail of a project; details hold no texts."""
    connection.execute(
        event.insert().values(
            project=project_id,
            person=person_id,
            item=item,
            assignment=assignment,
            time=time.time(),
            what=what,
            detail=json.dumps(detail or {}),
        )
    )
