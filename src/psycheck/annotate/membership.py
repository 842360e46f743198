"""Projects in the database, and who may do what in them."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal

from sqlalchemy import Connection, Row, select

from psycheck.annotate.database import Database
from psycheck.annotate.project import Project, Task, task_of
from psycheck.annotate.refusals import NotAllowed, NotFound, Outdated
from psycheck.annotate.tables import event, member, person, project

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
    db: Database, owner: Person | None, settings: Project, text: str, graph: str | None = None
) -> int:
    """Store a project, as `read_project` or `parse_project` checked it; its creator owns it.

    One that the command line makes, without a person, belongs to the next owner of the server who joins.
    """
    if owner is not None and not owner.owner:
        raise NotAllowed("only an owner of the server creates projects")
    with db.write() as connection:
        if connection.scalar(select(project.c.id).where(project.c.name == settings.name)) is not None:
            raise Outdated(f"there is a project '{settings.name}' already", do="choose another name")
        now = time.time()
        made = connection.execute(
            project.insert().values(name=settings.name, settings=text, graph=graph, made=now)
        ).inserted_primary_key
        assert made is not None
        if owner is not None:
            add_member(connection, made[0], owner.id, "owner")
        record(connection, made[0], owner.id if owner else None, "created")
        return int(made[0])


def add_member(connection: Connection, of: int, who: int, role: Role) -> None:
    """Give a person a role in a project."""
    connection.execute(member.insert().values(project=of, person=who, role=role, paused=False))
    record(connection, of, who, "joined", detail={"role": role})


def adopt_projects(connection: Connection, who: int) -> None:
    """Make a person the owner of all projects that have none."""
    owned = select(member.c.project).where(member.c.role == "owner")
    for one in connection.scalars(select(project.c.id).where(project.c.id.not_in(owned))).all():
        add_member(connection, one, who, "owner")


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
                row.id, row.name, _task(row.id, row.settings, row.graph).project.title, row.role, row.paused
            )
            for row in rows
        ]


def project_named(db: Database, name: str | None = None) -> int:
    """The project of a name, or the only one; for the command line, which asks for no account."""
    from psycheck.errors import nearest

    with db.read() as connection:
        known = {row.name: row.id for row in connection.execute(select(project.c.id, project.c.name))}
    if name is None and len(known) == 1:
        return int(next(iter(known.values())))
    if name is None or name not in known:
        what = "several projects, or none" if name is None else f"there is no project '{name}'"
        raise NotFound(what, allowed=nearest(name or "", known), do="name the `project`")
    return int(known[name])


def task(db: Database, who: Person, of: int) -> Task:
    """The task of a project, for its members."""
    with db.read() as connection:
        role_in(connection, who, of, *ROLES)
        return stored_task(connection, of)


def stored_task(connection: Connection, of: int) -> Task:
    """The task of a project."""
    row = connection.execute(select(project.c.settings, project.c.graph).where(project.c.id == of)).first()
    if row is None:
        raise NotFound("there is no such project")
    return _task(of, row.settings, row.graph)


_task = lru_cache(maxsize=64)(task_of)


def role_in(connection: Connection, who: Person, of: int, *roles: Role, lock: bool = False) -> Row[Any]:
    """A person's row of membership; an error if they have none, or another role than these."""
    wanted = select(member).where(member.c.project == of, member.c.person == who.id)
    row = connection.execute(wanted.with_for_update() if lock else wanted).first()
    if row is None:
        raise NotFound("there is no such project")
    if row.role not in roles:
        raise NotAllowed("your role in this project does not permit this", allowed=", ".join(roles))
    return row


def check_owner(connection: Connection, who: Person | None, of: int) -> None:
    """Allow only the owner of a project, and the command line, which comes without a person."""
    if who is not None:
        role_in(connection, who, of, *OWNS)


def lock_members(connection: Connection, of: int) -> None:
    """Lock all members of a project, in one order: first of all, by whoever changes rows of several of them.

    The order of locks: members, then assignments, batches and standings, then the project, then its items.
    """
    wanted = select(member.c.person).where(member.c.project == of).order_by(member.c.person)
    connection.execute(wanted.with_for_update()).all()


def members(db: Database, who: Person, of: int) -> list[Member]:
    """The members of a project, for its owner."""
    with db.read() as connection:
        role_in(connection, who, of, *OWNS)
        rows = connection.execute(
            select(member.c.person, person.c.name, member.c.role, member.c.paused)
            .join(person, person.c.id == member.c.person)
            .where(member.c.project == of)
            .order_by(person.c.name)
        )
        return [Member(*row) for row in rows]


def pause(db: Database, who: Person, of: int, whom: int, *, paused: bool) -> None:
    """Stop giving items to a member, or resume; for the owner."""
    with db.write() as connection:
        role_in(connection, who, of, *OWNS)
        changed = connection.execute(
            member.update()
            .where(member.c.project == of, member.c.person == whom, member.c.role != "owner")
            .values(paused=paused)
        )
        if not changed.rowcount:
            raise NotFound("there is no such member")
        record(connection, of, who.id, "paused" if paused else "resumed", detail={"person": whom})


def record(
    connection: Connection,
    of: int,
    who: int | None,
    what: str,
    *,
    item: int | None = None,
    assignment: int | None = None,
    detail: Mapping[str, Any] | None = None,
) -> None:
    """Append an event to the trail of a project; details hold no texts."""
    import json

    connection.execute(
        event.insert().values(
            project=of,
            person=who,
            item=item,
            assignment=assignment,
            time=time.time(),
            what=what,
            detail=json.dumps(detail or {}),
        )
    )
