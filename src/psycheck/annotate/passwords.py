"""New passwords: set by their person, or with a one-time link that an owner makes."""

import time
from secrets import token_urlsafe
from typing import Final

from sqlalchemy import Connection, Row, delete, select

from psycheck.annotate.credentials import (
    check_password,
    digest_of,
    hash_password,
    is_password,
)
from psycheck.annotate.database import Database
from psycheck.annotate.membership import (
    OWNS,
    ROLES,
    Person,
    record,
    role_in,
)
from psycheck.annotate.refusals import NotAllowed, NotFound, Refusal
from psycheck.annotate.tables import member, password_link, person, session

LINK_DAYS: Final = 7


def change_password(db: Database, who: Person, old: str, new: str) -> None:
    """Set a new password and end all sessions."""
    with db.read() as connection:
        # The old password too: an open session on a shared computer must not be enough.
        hashed = connection.scalar(select(person.c.password).where(person.c.id == who.id))
    if hashed is None or not is_password(hashed, old):
        raise Refusal("the password is wrong", code="password.wrong")
    check_password(who.name, new)
    new_hash = hash_password(new)

    with db.write() as connection:
        _store_password(connection, who.id, new_hash)


def make_password_link(db: Database, owner: Person | None, project_id: int, person_id: int) -> str:
    """A one-time token with which a member sets a new password; earlier ones are worth nothing then.

    For an owner of all projects that the member is in: nobody gets into the projects of others by it. The
    command line makes one without an `owner`.
    """
    token = token_urlsafe(32)
    with db.write() as connection:
        if owner is not None:
            role_in(connection, owner, project_id, *OWNS)
        # Refuses a person who is not a member.
        role_in(
            connection,
            Person(person_id, "", owner=False),
            project_id,
            *ROLES,
            even_paused=True,
        )
        if owner is not None:
            _refuse_power_elsewhere(connection, owner, person_id)

        # Of several links only the newest works, so that a lost one can be replaced.
        connection.execute(delete(password_link).where(password_link.c.person == person_id))
        connection.execute(
            password_link.insert().values(
                digest=digest_of(token),
                person=person_id,
                expires=time.time() + LINK_DAYS * 86_400,
            )
        )
        detail = {"person": person_id}
        record(
            connection,
            project_id,
            owner.id if owner else None,
            "made a password link",
            detail=detail,
        )
    return token


def password_link_name(db: Database, token: str) -> str | None:
    """The name of the person whose password a link sets; None if the link is not valid."""
    with db.read() as connection:
        row = _valid_password_link(connection, token)
    return None if row is None else row.name


def set_password(db: Database, token: str, password: str) -> Person:
    """Set a new password with a one-time link, and end all sessions of the person."""
    with db.read() as connection:
        row = _valid_password_link(connection, token)
    if row is None:
        raise _no_password_link()
    check_password(row.name, password)
    # Before the transaction: hashing takes long, and nobody else could write meanwhile.
    hashed = hash_password(password)

    with db.write() as connection:
        row = _valid_password_link(connection, token)
        if row is None:
            raise _no_password_link()
        connection.execute(delete(password_link).where(password_link.c.person == row.id))
        _store_password(connection, row.id, hashed)
        return Person(id=row.id, name=row.name, owner=row.owner)


def _refuse_power_elsewhere(connection: Connection, owner: Person, person_id: int) -> None:
    """Refuse a password link for somebody who owns the server, or is in a project of others."""
    # A link is a way into all that a person sees: their other projects, or the whole server.
    owns_server = connection.scalar(select(person.c.owner).where(person.c.id == person_id))
    owned = select(member.c.project).where(member.c.person == owner.id, member.c.role == "owner")
    elsewhere = connection.scalar(
        select(member.c.project).where(member.c.person == person_id, member.c.project.not_in(owned)).limit(1)
    )
    if (owns_server and person_id != owner.id) or elsewhere is not None:
        raise NotAllowed(
            "this person also belongs to projects of others, or owns the server",
            code="password.not-yours",
            do="ask whoever runs the server: psycheck annotate member FOLDER NAME password",
        )


def _valid_password_link(connection: Connection, token: str) -> Row[int, str, bool] | None:
    """The person of a password link that is unused and has not expired."""
    return connection.execute(
        select(person.c.id, person.c.name, person.c.owner)
        .join(password_link, password_link.c.person == person.c.id)
        .where(
            password_link.c.digest == digest_of(token),
            password_link.c.expires > time.time(),
        )
    ).first()


def _no_password_link() -> NotFound:
    return NotFound(
        "this link is not valid, was used or has expired",
        code="password.link-not-valid",
        do="ask for another one",
    )


def _store_password(connection: Connection, person_id: int, hashed: str) -> None:
    """Store the hash of a new password and end all sessions."""
    connection.execute(person.update().where(person.c.id == person_id).values(password=hashed))
    # Whoever stole the old password may still be logged in.
    connection.execute(delete(session).where(session.c.person == person_id))
