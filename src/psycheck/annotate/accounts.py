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

from sqlalchemy import Connection, Row, delete, select
from sqlalchemy.dialects import postgresql, sqlite

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
from psycheck.annotate.tables import failure, invitation, member, password_link, person, session
from psycheck.core.errors import BadInput, library

SESSION_HOURS: Final = 12
INVITATION_DAYS: Final = 7
SHORTEST_PASSWORD: Final = 10
_LONGEST_PASSWORD: Final = 200
_NAME: Final = re.compile(r"\w[\w.@+-]{1,59}")  # a spreadsheet would run one that begins with @, + or -
_WINDOW: Final = 15 * 60.0  # seconds that failed log-ins count
# Failed log-ins per window of one name from one address. Where an address or a name has failed far more
# often, a single failure of the pair is enough: a stranger tries few passwords, and locks out neither an
# office nor a person, since who gets the password right at once is let in.
_MOST_FAILURES: Final = 5
_MANY_FAILURES: Final = {"address": 30, "name": 100}
_FEW_FAILURES: Final = 1
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


def invite(db: Database, owner: Person | None, project_id: int | None, role: str) -> str:
    """A one-time token to join a project with a role; the command line invites without an `owner`.

    Without a project the token makes an owner of the server; only the command line gives these.
    """
    if role not in ROLES or (project_id is None and role != "owner"):
        raise BadInput(
            f"unknown role '{role}'",
            code="invitation.unknown-role",
            allowed=", ".join(ROLES),
            key="role",
        )
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
                digest=_digest(token),
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
    name = _checked_name(name)
    _check_password(name, password)
    # Before the transaction: hashing takes long, and nobody else could write meanwhile.
    hashed = _hash(password)

    with db.write() as connection:
        new_account = (
            _insert(connection)(person)
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
        return _use_invitation(connection, token, Person(id=person_id, name=name, owner=False))


def join(db: Database, who: Person, token: str) -> Person:
    """Accept an invitation with the account that a person already has."""
    with db.write() as connection:
        return _use_invitation(connection, token, who)


def log_in(db: Database, name: str, password: str, address: str = "") -> LogIn:
    """Open a session; a name that failed too often from an address is not tried at all."""
    name = _folded(name)
    # Digests: the names of people who failed to log in are not kept.
    failure_keys = {
        "pair": _digest(f"{name} {address}"),
        "address": _digest(f" {address}"),
        "name": _digest(f"{name} "),
    }
    with db.read() as connection:
        _refuse_too_often(connection, failure_keys)
        row = connection.execute(
            select(person).where(
                # PostgreSQL cannot compare a NUL.
                person.c.name == name.replace("\x00", "\ufffd"),
                # Annotators of another program have no password.
                person.c.password != "",
            )
        ).first()

    # A name that nobody has takes as long as a wrong password.
    hashed = _hash_of_nobody() if row is None else row.password
    is_right = _verified(hashed, password)

    with db.write() as connection:
        if row is not None and is_right:
            connection.execute(delete(failure).where(failure.c.who == failure_keys["pair"]))
            connection.execute(delete(session).where(session.c.expires < time.time()))
            return _new_session(connection, Person(id=row.id, name=row.name, owner=row.owner))

        # Again: others may have failed while the password was checked.
        _refuse_too_often(connection, failure_keys)
        for key in failure_keys.values():
            _count_failure(connection, key)
    # Outside the transaction: the failures stay counted.
    raise Refusal("the name or the password is wrong", code="login.wrong")


def session_of(db: Database, token: str) -> Session | None:
    """The open session of a token; None if there is none, it expired or was revoked."""
    with db.read() as connection:
        row = connection.execute(
            select(session.c.csrf, session.c.expires, person.c.id, person.c.name, person.c.owner)
            .join(person, person.c.id == session.c.person)
            .where(session.c.digest == _digest(token), session.c.expires > time.time())
        ).first()
    if row is None:
        return None
    return Session(
        person=Person(id=row.id, name=row.name, owner=row.owner),
        csrf=row.csrf,
        expires=row.expires,
    )


def log_out(db: Database, token: str) -> None:
    """End a session."""
    with db.write() as connection:
        connection.execute(delete(session).where(session.c.digest == _digest(token)))


def revoke_sessions(db: Database, owner: Person, project_id: int, person_id: int) -> None:
    """End all sessions of a member; for the owner of a project that they belong to."""
    with db.write() as connection:
        role_in(connection, owner, project_id, *OWNS)
        # Refuses a person who is not a member.
        role_in(connection, Person(person_id, "", owner=False), project_id, *ROLES, even_paused=True)
        connection.execute(delete(session).where(session.c.person == person_id))


def change_password(db: Database, who: Person, old: str, new: str) -> None:
    """Set a new password and end all sessions."""
    with db.read() as connection:
        hashed = connection.scalar(select(person.c.password).where(person.c.id == who.id))
    if hashed is None or not _verified(hashed, old):
        raise Refusal("the password is wrong", code="password.wrong")
    _check_password(who.name, new)
    new_hash = _hash(new)

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
        role_in(connection, Person(person_id, "", owner=False), project_id, *ROLES, even_paused=True)
        if owner is not None:
            _refuse_power_elsewhere(connection, owner, person_id)

        connection.execute(delete(password_link).where(password_link.c.person == person_id))
        connection.execute(
            password_link.insert().values(
                digest=_digest(token),
                person=person_id,
                expires=time.time() + INVITATION_DAYS * 86_400,
            )
        )
        detail = {"person": person_id}
        record(connection, project_id, owner.id if owner else None, "made a password link", detail=detail)
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
    _check_password(row.name, password)
    # Before the transaction: hashing takes long, and nobody else could write meanwhile.
    hashed = _hash(password)

    with db.write() as connection:
        row = _valid_password_link(connection, token)
        if row is None:
            raise _no_password_link()
        connection.execute(delete(password_link).where(password_link.c.person == row.id))
        _store_password(connection, row.id, hashed)
        return Person(id=row.id, name=row.name, owner=row.owner)


def _refuse_power_elsewhere(connection: Connection, owner: Person, person_id: int) -> None:
    """Refuse a password link for somebody who owns the server, or is in a project of others."""
    owns_server = connection.scalar(select(person.c.owner).where(person.c.id == person_id))
    owned = select(member.c.project).where(member.c.person == owner.id, member.c.role == "owner")
    elsewhere = connection.scalar(
        select(member.c.project).where(member.c.person == person_id, member.c.project.not_in(owned)).limit(1)
    )
    if (owns_server and person_id != owner.id) or elsewhere is not None:
        raise NotAllowed(
            "this person also belongs to projects of others, or owns the server",
            code="password.not-yours",
            do="ask whoever runs the server: psycheck annotate password FOLDER NAME",
        )


def _valid_password_link(connection: Connection, token: str) -> Row[int, str, bool] | None:
    """The person of a password link that is unused and has not expired."""
    return connection.execute(
        select(person.c.id, person.c.name, person.c.owner)
        .join(password_link, password_link.c.person == person.c.id)
        .where(password_link.c.digest == _digest(token), password_link.c.expires > time.time())
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
    connection.execute(delete(session).where(session.c.person == person_id))


def _new_session(connection: Connection, who: Person) -> LogIn:
    """Store a new session; only its digest stays in the database."""
    token = token_urlsafe(32)
    csrf = token_urlsafe(32)
    expires = time.time() + SESSION_HOURS * 3_600
    connection.execute(
        session.insert().values(digest=_digest(token), person=who.id, csrf=csrf, expires=expires)
    )
    return LogIn(token=token, person=who, csrf=csrf, expires=expires)


def _valid_invitation(connection: Connection, token: str, *, lock: bool = False) -> Row[Any] | None:
    """The row of an invitation that is unused and has not expired."""
    query = select(invitation).where(
        invitation.c.digest == _digest(token),
        invitation.c.used_by.is_(None),
        invitation.c.expires > time.time(),
    )
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
        adopt_projects(connection, who.id)
        return Person(id=who.id, name=who.name, owner=True)

    membership = select(member.c.role).where(
        member.c.project == row.project,
        member.c.person == who.id,
    )
    if connection.scalar(membership) is not None:
        raise Outdated("you are a member of this project already", code="member.already")
    add_member(connection, row.project, who.id, row.role)
    return who


def _refuse_too_often(connection: Connection, failure_keys: dict[str, str]) -> None:
    """Refuse a log-in of a name from an address that has failed too often in the window."""
    failures = {kind: _failures(connection, key) for kind, key in failure_keys.items()}
    is_under_attack = any(failures[kind][0] >= many for kind, many in _MANY_FAILURES.items())
    allowed = _FEW_FAILURES if is_under_attack else _MOST_FAILURES

    times, seconds_left = failures["pair"]
    if times >= allowed:
        raise TooOften("too many failed log-ins", code="login.too-often", after=seconds_left)


def _failures(connection: Connection, key: str) -> tuple[int, float]:
    """How often a key has failed in its window, and for how many seconds that counts."""
    row = connection.execute(select(failure).where(failure.c.who == key)).first()
    seconds_left = 0.0 if row is None else row.since + _WINDOW - time.time()
    if row is None or seconds_left <= 0:
        return 0, 0.0
    return row.times, seconds_left


def _count_failure(connection: Connection, key: str) -> None:
    """Count one failure; a new window begins when the last one has passed."""
    now = time.time()
    row = connection.execute(select(failure).where(failure.c.who == key).with_for_update()).first()
    if row is None:
        first_failure = _insert(connection)(failure).values(who=key, times=1, since=now)
        connection.execute(first_failure.on_conflict_do_nothing())
        return

    window_passed = now - row.since > _WINDOW
    times = 1 if window_passed else row.times + 1
    since = now if window_passed else row.since
    connection.execute(failure.update().where(failure.c.who == key).values(times=times, since=since))


def _insert(connection: Connection) -> Any:
    """The INSERT of this database, which can pass over a row that another transaction has just made."""
    return postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert


def _folded(name: str) -> str:
    """A name as it is stored: one spelling for all that look alike."""
    return unicodedata.normalize("NFKC", name).strip().casefold()


def _checked_name(name: str) -> str:
    folded = _folded(name)
    if not _NAME.fullmatch(folded):
        raise BadInput(
            "this name cannot be used",
            code="account.bad-name",
            allowed="2 to 60 letters, digits and . _ @ + -, a letter or digit first",
            key="name",
        )
    return folded


def _check_password(name: str, password: str) -> None:
    fits = SHORTEST_PASSWORD <= len(password) <= _LONGEST_PASSWORD
    if not fits or _folded(password) == name:
        raise BadInput(
            "this password cannot be used",
            code="account.bad-password",
            allowed=f"{SHORTEST_PASSWORD} to {_LONGEST_PASSWORD} characters, and not your name",
            key="password",
        )


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
    """The hash of a password that nobody knows, to be checked where an account does not exist."""
    return _hash(token_urlsafe(16))


def _verified(hashed: str, password: str) -> bool:
    """Whether a password is the one that was hashed."""
    # Imported here: the extra is missing where nobody annotates.
    import argon2

    if len(password) > _LONGEST_PASSWORD:
        return False
    with _hashing:
        try:
            return bool(_hasher().verify(hashed, password.encode("utf-8", "surrogatepass")))
        except argon2.exceptions.VerificationError:
            return False
