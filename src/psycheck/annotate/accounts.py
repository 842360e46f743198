"""Accounts: one-time invitations, and who accepts them.

Tokens are random and stored as digests: who reads the database cannot use them.
"""

import time
from secrets import token_urlsafe
from typing import Any, Final

from sqlalchemy import Connection, Row, select

from psycheck.annotate.credentials import check_password, checked_name, digest_of, hash_password
from psycheck.annotate.database import Database
from psycheck.annotate.membership import (
    OWNS,
    ROLES,
    Person,
    Role,
    add_member,
    adopt_projects,
    record,
    role_in,
)
from psycheck.annotate.refusals import NotAllowed, NotFound, Outdated
from psycheck.annotate.tables import insert_once, invitation, member, person
from psycheck.core.errors import BadInput

INVITATION_DAYS: Final = 7


def invite(db: Database, owner: Person | None, project_id: int | None, role: str) -> str:
    """A one-time token to join a project with a role; the command line invites without an `owner`.

    Without a project the token makes an owner of the server; only the command line gives these.
    """
    # A server has owners only: all other roles belong to a project.
    if role not in ROLES or (project_id is None and role != "owner"):
        raise BadInput(
            f"unknown role '{role}'",
            code="invitation.unknown-role",
            allowed=", ".join(ROLES),
            key="role",
        )
    # The token is shown once and never stored: a lost link is replaced, not looked up.
    token = token_urlsafe(32)
    with db.write() as connection:
        if owner is not None:
            if project_id is None:
                raise NotAllowed(
                    "owners of the server are invited on the command line",
                    code="invitation.server-owner",
                )
            role_in(connection, owner, project_id, *OWNS)

        connection.execute(
            invitation.insert().values(
                digest=digest_of(token),
                project=project_id,
                role=role,
                expires=time.time() + INVITATION_DAYS * 86_400,
                made=time.time(),
            )
        )
        if project_id is not None:
            record(connection, project_id, owner.id if owner else None, "invited", detail={"role": role})
    return token


def invited_role(db: Database, token: str) -> Role | None:
    """The role that an unused invitation gives, for the page that shows it; None if it is not valid."""
    with db.read() as connection:
        row = _valid_invitation(connection, token)
    return None if row is None else row.role


def accept(db: Database, token: str, name: str, password: str) -> Person:
    """Make an account with an invitation, which is then used up."""
    name = checked_name(name)
    check_password(name, password)
    # Before the transaction: hashing takes long, and nobody else could write meanwhile.
    hashed = hash_password(password)

    with db.write() as connection:
        new_account = (
            insert_once(connection, person)
            .values(name=name, password=hashed, owner=False, made=time.time())
            .on_conflict_do_nothing()
            .returning(person.c.id)
        )
        # None if the name exists, also if another request has just made it.
        person_id = connection.scalar(new_account)
        if person_id is None:
            raise Outdated(
                "this name is taken",
                code="account.name-taken",
                do="choose another one, or log in to accept the invitation",
            )
        # In the same transaction: a link that is no longer valid leaves no account behind.
        return _use_invitation(connection, token, Person(id=person_id, name=name, owner=False))


def join(db: Database, who: Person, token: str) -> Person:
    """Accept an invitation with the account that a person already has."""
    with db.write() as connection:
        return _use_invitation(connection, token, who)


def _valid_invitation(connection: Connection, token: str, *, lock: bool = False) -> Row[Any] | None:
    """The row of an invitation that is unused and has not expired."""
    query = select(invitation).where(
        invitation.c.digest == digest_of(token),
        invitation.c.used_by.is_(None),
        invitation.c.expires > time.time(),
    )
    # Of two requests with one link, the second waits here and then finds it used.
    if lock:
        query = query.with_for_update()
    return connection.execute(query).first()


def _use_invitation(connection: Connection, token: str, who: Person) -> Person:
    """Give a person the role of an invitation; returns them as they are now."""
    row = _valid_invitation(connection, token, lock=True)
    if row is None:
        raise NotFound(
            "this invitation is not valid, was used or has expired",
            code="invitation.not-valid",
            do="ask for another one",
        )
    connection.execute(invitation.update().where(invitation.c.digest == row.digest).values(used_by=who.id))

    if row.project is None:
        connection.execute(person.update().where(person.c.id == who.id).values(owner=True))
        # Projects that the command line made had nobody to own them.
        adopt_projects(connection, who.id)
        return Person(id=who.id, name=who.name, owner=True)

    membership = select(member.c.role).where(
        member.c.project == row.project,
        member.c.person == who.id,
    )
    # The transaction is undone: the link can still be given to the person it was meant for.
    if connection.scalar(membership) is not None:
        raise Outdated("you are a member of this project already", code="member.already")
    add_member(connection, row.project, who.id, row.role)
    return who
