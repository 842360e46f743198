"""Sessions: log-in with rate limits, and what a session's token stands for."""

import time
from dataclasses import dataclass
from secrets import token_urlsafe
from typing import Final

from sqlalchemy import Connection, delete, select

from psycheck.annotate.credentials import digest_of, folded_name, hash_of_nobody, is_password
from psycheck.annotate.database import Database
from psycheck.annotate.membership import OWNS, ROLES, Person, role_in
from psycheck.annotate.refusals import Refusal, TooOften
from psycheck.annotate.tables import failure, insert_once, person, session

SESSION_HOURS: Final = 12
_WINDOW: Final = 15 * 60.0  # seconds that failed log-ins count
# Failed log-ins per window of one name from one address. Where an address or a name has failed far more
# often, a single failure of the pair is enough: a stranger tries few passwords, and locks out neither an
# office nor a person, since who gets the password right at once is let in.
_MOST_FAILURES: Final = 5
_MANY_FAILURES: Final = {"address": 30, "name": 100}
_FEW_FAILURES: Final = 1


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


def log_in(db: Database, name: str, password: str, address: str = "") -> LogIn:
    """Open a session; a name that failed too often from an address is not tried at all."""
    name = folded_name(name)
    # Digests: the names of people who failed to log in are not kept.
    failure_keys = {
        "pair": digest_of(f"{name} {address}"),
        "address": digest_of(f" {address}"),
        "name": digest_of(f"{name} "),
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
    hashed = hash_of_nobody() if row is None else row.password
    is_right = is_password(hashed, password)

    with db.write() as connection:
        if row is not None and is_right:
            connection.execute(delete(failure).where(failure.c.who == failure_keys["pair"]))
            connection.execute(delete(session).where(session.c.expires < time.time()))
            return new_session(connection, Person(id=row.id, name=row.name, owner=row.owner))

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
            .where(session.c.digest == digest_of(token), session.c.expires > time.time())
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
        connection.execute(delete(session).where(session.c.digest == digest_of(token)))


def revoke_sessions(db: Database, owner: Person, project_id: int, person_id: int) -> None:
    """End all sessions of a member; for the owner of a project that they belong to."""
    with db.write() as connection:
        role_in(connection, owner, project_id, *OWNS)
        # Refuses a person who is not a member.
        role_in(connection, Person(person_id, "", owner=False), project_id, *ROLES, even_paused=True)
        connection.execute(delete(session).where(session.c.person == person_id))


def new_session(connection: Connection, who: Person) -> LogIn:
    """Store a new session; only its digest stays in the database."""
    token = token_urlsafe(32)
    csrf = token_urlsafe(32)
    expires = time.time() + SESSION_HOURS * 3_600
    connection.execute(
        session.insert().values(digest=digest_of(token), person=who.id, csrf=csrf, expires=expires)
    )
    return LogIn(token=token, person=who, csrf=csrf, expires=expires)


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
        first_failure = insert_once(connection, failure).values(who=key, times=1, since=now)
        connection.execute(first_failure.on_conflict_do_nothing())
        return

    window_passed = now - row.since > _WINDOW
    times = 1 if window_passed else row.times + 1
    since = now if window_passed else row.since
    connection.execute(failure.update().where(failure.c.who == key).values(times=times, since=since))
