"""Accounts: one-time invitations, passwords, log-in with rate limits, and sessions.

Tokens are random and stored as digests: who reads the database cannot use them.
"""

import re
import time
import unicodedata
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from secrets import token_urlsafe
from threading import BoundedSemaphore
from typing import Any, Final

from sqlalchemy import Connection, delete, select

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
from psycheck.annotate.refusals import NotAllowed, NotFound, Outdated, Refusal, TooOften
from psycheck.annotate.tables import failure, invitation, member, person, session
from psycheck.errors import BadInput, library

SESSION_HOURS: Final = 12
INVITATION_DAYS: Final = 7
SHORTEST_PASSWORD: Final = 10
_LONGEST_PASSWORD: Final = 200
_NAME: Final = re.compile(r"\w[\w.@+-]{1,59}")  # a spreadsheet would run one that begins with @, + or -
_WINDOW: Final = 15 * 60.0  # seconds that failed log-ins count
# Failed log-ins per window: few for one name from one address, more for an address or a name, so that a
# stranger can neither try many names nor lock a person out from afar.
_MOST: Final = {"pair": 5, "address": 30, "name": 100}
_hashing = BoundedSemaphore(2)  # argon2 takes 64 MB each time


@dataclass(frozen=True, slots=True)
class LogIn:
    """A new session: `token` goes into the cookie and is stored nowhere."""

    token: str
    person: Person
    csrf: str
    expires: float


@dataclass(frozen=True, slots=True)
class Session:
    """A session that is open; `csrf` must come with every request that changes something."""

    person: Person
    csrf: str
    expires: float


def invite(db: Database, owner: Person | None, project: int | None, role: str) -> str:
    """A one-time token to join a project with a role; the command line invites without an `owner`.

    Without a project the token makes an owner of the server; only the command line gives these.
    """
    if role not in ROLES or (project is None and role != "owner"):
        raise BadInput(f"unknown role '{role}'", allowed=", ".join(ROLES), key="role")
    token = token_urlsafe(32)
    with db.write() as connection:
        if owner is not None:
            if project is None:
                raise NotAllowed("owners of the server are invited on the command line")
            role_in(connection, owner, project, *OWNS)
        connection.execute(
            invitation.insert().values(
                digest=_digest(token),
                project=project,
                role=role,
                expires=time.time() + INVITATION_DAYS * 86_400,
            )
        )
        if project is not None:
            record(connection, project, owner.id if owner else None, "invited", detail={"role": role})
    return token


def invited_role(db: Database, token: str) -> Role | None:
    """The role that an unused invitation gives, for the page that shows it; None if it is not valid."""
    with db.read() as connection:
        row = _invitation(connection, token)
        return None if row is None else row.role


def accept(db: Database, token: str, name: str, password: str) -> Person:
    """Make an account with an invitation, which is then used up."""
    name = _checked_name(name)
    _check_password(name, password)
    hashed = _hash(password)
    with db.write() as connection:
        values = {"name": name, "password": hashed, "owner": False, "made": time.time()}
        wanted = _insert(connection)(person).values(values).on_conflict_do_nothing()
        made = connection.scalar(wanted.returning(person.c.id))  # none if another request was first
        if made is None:
            raise Outdated("this name is taken", do="choose another one, or log in to accept the invitation")
        return _use(connection, token, Person(made, name, owner=False))


def join(db: Database, who: Person, token: str) -> Person:
    """Accept an invitation with the account that a person already has."""
    with db.write() as connection:
        return _use(connection, token, who)


def log_in(db: Database, name: str, password: str, address: str = "") -> LogIn:
    """Open a session; too many failures of a name or an address are refused before the password is tried."""
    name = _folded(name)
    keys = {"pair": f"{name} {address}", "address": f" {address}", "name": f"{name} "}
    who = {kind: _digest(key) for kind, key in keys.items()}  # names of people are not kept
    with db.read() as connection:
        _refuse_too_often(connection, who)
        # Annotators of another program have no password; PostgreSQL cannot compare a NUL.
        mine = (person.c.name == name.replace("\x00", "\ufffd"), person.c.password != "")
        row = connection.execute(select(person).where(*mine)).first()
    # A name that nobody has takes as long as a wrong password.
    right = _verified(row.password if row else _hash_of_nobody(), password)
    with db.write() as connection:
        if row is None or not right:
            _refuse_too_often(connection, who)
            for key in who.values():
                _count_failure(connection, key)
        else:
            connection.execute(delete(failure).where(failure.c.who == who["pair"]))
            connection.execute(delete(session).where(session.c.expires < time.time()))
            return _new_session(connection, Person(row.id, row.name, row.owner))
    raise Refusal("the name or the password is wrong")


def session_of(db: Database, token: str) -> Session | None:
    """The open session of a token; None if there is none, it expired or was revoked."""
    with db.read() as connection:
        row = connection.execute(
            select(session.c.csrf, session.c.expires, person.c.id, person.c.name, person.c.owner)
            .join(person, person.c.id == session.c.person)
            .where(session.c.digest == _digest(token), session.c.expires > time.time())
        ).first()
    return None if row is None else Session(Person(row.id, row.name, row.owner), row.csrf, row.expires)


def log_out(db: Database, token: str) -> None:
    """End a session."""
    with db.write() as connection:
        connection.execute(delete(session).where(session.c.digest == _digest(token)))


def revoke_sessions(db: Database, owner: Person, project: int, whom: int) -> None:
    """End all sessions of a member; for the owner of a project that they belong to."""
    with db.write() as connection:
        role_in(connection, owner, project, *OWNS)
        role_in(connection, Person(whom, "", owner=False), project, *ROLES)
        connection.execute(delete(session).where(session.c.person == whom))


def change_password(db: Database, who: Person, old: str, new: str) -> None:
    """Set a new password and end all sessions."""
    with db.read() as connection:
        hashed = connection.scalar(select(person.c.password).where(person.c.id == who.id))
    if hashed is None or not _verified(hashed, old):
        raise Refusal("the password is wrong")
    _check_password(who.name, new)
    replacement = _hash(new)
    with db.write() as connection:
        connection.execute(person.update().where(person.c.id == who.id).values(password=replacement))
        connection.execute(delete(session).where(session.c.person == who.id))


def _new_session(connection: Connection, who: Person) -> LogIn:
    token, csrf, expires = token_urlsafe(32), token_urlsafe(32), time.time() + SESSION_HOURS * 3_600
    connection.execute(
        session.insert().values(digest=_digest(token), person=who.id, csrf=csrf, expires=expires)
    )
    return LogIn(token, who, csrf, expires)


def _invitation(connection: Connection, token: str, *, lock: bool = False) -> Any:
    wanted = select(invitation).where(
        invitation.c.digest == _digest(token),
        invitation.c.used_by.is_(None),
        invitation.c.expires > time.time(),
    )
    return connection.execute(wanted.with_for_update() if lock else wanted).first()


def _use(connection: Connection, token: str, who: Person) -> Person:
    row = _invitation(connection, token, lock=True)
    if row is None:
        raise NotFound("this invitation is not valid, was used or has expired", do="ask for another one")
    connection.execute(invitation.update().where(invitation.c.digest == row.digest).values(used_by=who.id))
    if row.project is None:
        connection.execute(person.update().where(person.c.id == who.id).values(owner=True))
        adopt_projects(connection, who.id)
        return Person(who.id, who.name, owner=True)
    known = select(member.c.role).where(member.c.project == row.project, member.c.person == who.id)
    if connection.scalar(known) is not None:
        raise Outdated("you are a member of this project already")
    add_member(connection, row.project, who.id, row.role)
    return who


def _refuse_too_often(connection: Connection, who: dict[str, str]) -> None:
    for kind, key in who.items():
        row = connection.execute(select(failure).where(failure.c.who == key)).first()
        if row is not None and row.times >= _MOST[kind]:
            after = row.since + _WINDOW - time.time()
            if after > 0:
                raise TooOften("too many failed log-ins", after=after)


def _count_failure(connection: Connection, key: str) -> None:
    """Count one failure; a new window begins when the last one has passed."""
    now = time.time()
    row = connection.execute(select(failure).where(failure.c.who == key).with_for_update()).first()
    if row is None:
        connection.execute(
            _insert(connection)(failure).values(who=key, times=1, since=now).on_conflict_do_nothing()
        )
        return
    fresh = now - row.since > _WINDOW
    values = {"times": 1 if fresh else row.times + 1, "since": now if fresh else row.since}
    connection.execute(failure.update().where(failure.c.who == key).values(values))


def _insert(connection: Connection) -> Any:
    """The INSERT of this database, which can pass over a row that another transaction has just made."""
    from sqlalchemy.dialects import postgresql, sqlite

    return postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).strip().casefold()


def _checked_name(name: str) -> str:
    name = _folded(name)
    if not _NAME.fullmatch(name):
        allowed = "2 to 60 letters, digits and . _ @ + -, a letter or digit first"
        raise BadInput("this name cannot be used", allowed=allowed, key="name")
    return name


def _check_password(name: str, password: str) -> None:
    if not SHORTEST_PASSWORD <= len(password) <= _LONGEST_PASSWORD or _folded(password) == name:
        allowed = f"{SHORTEST_PASSWORD} to {_LONGEST_PASSWORD} characters, and not your name"
        raise BadInput("this password cannot be used", allowed=allowed, key="password")


def _digest(token: str) -> str:
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


@cache
def _hasher() -> Any:
    return library("argon2", "annotation", "annotate").PasswordHasher()


def _hash(password: str) -> str:
    with _hashing:
        return str(_hasher().hash(password.encode("utf-8", "surrogatepass")))


@cache
def _hash_of_nobody() -> str:
    return _hash(token_urlsafe(16))


def _verified(hashed: str, password: str) -> bool:
    import argon2

    if len(password) > _LONGEST_PASSWORD:
        return False
    with _hashing:
        try:
            return bool(_hasher().verify(hashed, password.encode("utf-8", "surrogatepass")))
        except argon2.exceptions.VerificationError:
            return False
