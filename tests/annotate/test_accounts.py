"""Accounts: invitations that work once, log-ins that can be counted, sessions that end."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from sqlalchemy import select, update

from annotators import Team, team
from psycheck.annotate import credentials
from psycheck.annotate.accounts import accept, invite, join
from psycheck.annotate.database import Database
from psycheck.annotate.membership import members, projects_of
from psycheck.annotate.passwords import change_password, make_password_link, password_link_name, set_password
from psycheck.annotate.refusals import NotAllowed, NotFound, Outdated, TooOften
from psycheck.annotate.sessions import log_in, log_out, revoke_sessions, session_of
from psycheck.annotate.tables import failure, invitation, person, session
from refusals import refused

PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Argon2 with little work: its strength is the library's, our use of it is tested."""
    import argon2

    hasher = argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(credentials, "_hasher", lambda: hasher)


def test_an_invitation_works_once_and_in_time(db: Database) -> None:
    ours = team(db)
    token = invite(db, ours.owner, ours.project, "reviewer")
    who = accept(db, token, "Ada", PASSWORD)
    assert who.name == "ada"
    assert [(one.name, one.role) for one in projects_of(db, who)] == [("conditions", "reviewer")]
    with refused("invitation.not-valid"):
        accept(db, token, "bob", PASSWORD)
    late = invite(db, ours.owner, ours.project, "annotator")
    with db.write() as connection:
        connection.execute(update(invitation).values(expires=time.time() - 1))
    with pytest.raises(NotFound):
        accept(db, late, "bob", PASSWORD)
    with db.read() as connection:
        assert connection.scalar(select(person.c.id).where(person.c.name == "bob")) is None


def test_of_several_who_choose_a_name_at_once_one_gets_it(db: Database) -> None:
    ours = team(db)
    tokens = [invite(db, ours.owner, ours.project, "annotator") for _ in range(4)]
    ready = Barrier(len(tokens))

    def chosen(token: str) -> str:
        ready.wait()
        try:
            return accept(db, token, "cleo", PASSWORD).name
        except Outdated as refusal:
            return refusal.what

    with ThreadPoolExecutor(len(tokens)) as pool:
        assert sorted(pool.map(chosen, tokens)) == ["cleo", *["this name is taken"] * 3]


def test_who_has_an_account_joins_another_project_with_it(db: Database) -> None:
    ours = team(db)
    who = accept(db, invite(db, ours.owner, ours.project, "annotator"), "ada", PASSWORD)
    with refused("member.already"):
        join(db, who, invite(db, ours.owner, ours.project, "reviewer"))
    with refused("account.name-taken"):
        accept(db, invite(db, ours.owner, ours.project, "annotator"), "ADA", PASSWORD)
    assert len(members(db, ours.owner, ours.project)) == 2


def test_only_owners_invite_and_only_the_command_line_makes_owners_of_the_server(db: Database) -> None:
    ours = team(db)
    who = ours.add("ada")
    with pytest.raises(NotAllowed):
        invite(db, who, ours.project, "annotator")
    with pytest.raises(NotAllowed):
        invite(db, ours.owner, None, "owner")
    with refused("invitation.unknown-role", key="role"):
        invite(db, ours.owner, ours.project, "king")
    assert accept(db, invite(db, ours.owner, ours.project, "owner"), "eve", PASSWORD).owner is False
    assert accept(db, invite(db, None, None, "owner"), "boss", PASSWORD).owner is True


@pytest.mark.parametrize(
    "name", ["", "a", "a b", "<script>", "a/../b", "x" * 61, "@sum", "+1+1", "-2+3", "=cmd"]
)
def test_names_that_cannot_be_used(db: Database, name: str) -> None:
    with refused("account.bad-name", key="name"):
        accept(db, invite(db, None, None, "owner"), name, PASSWORD)


@pytest.mark.parametrize("password", ["", "short", "x" * 201, "ada-lovelace"])
def test_passwords_that_cannot_be_used(db: Database, password: str) -> None:
    with refused("account.bad-password", key="password"):
        accept(db, invite(db, None, None, "owner"), "ada-lovelace", password)


def member_of(ours: Team) -> str:
    accept(ours.db, invite(ours.db, ours.owner, ours.project, "annotator"), "ada", PASSWORD)
    return "ada"


def test_sessions_open_and_end(db: Database) -> None:
    ours = team(db)
    name = member_of(ours)
    first, second = log_in(db, name, PASSWORD), log_in(db, " ADA ", PASSWORD)
    assert first.token != second.token
    found = session_of(db, first.token)
    assert found is not None
    assert (found.person.name, found.csrf) == ("ada", first.csrf)
    log_out(db, first.token)
    assert session_of(db, first.token) is None
    revoke_sessions(db, ours.owner, ours.project, second.person.id)
    assert session_of(db, second.token) is None
    assert session_of(db, "guessed") is None


def test_sessions_expire_and_tokens_are_not_stored(db: Database) -> None:
    ours = team(db)
    opened = log_in(db, member_of(ours), PASSWORD)
    with db.write() as connection:
        rows = list(connection.execute(select(session)))
        assert opened.token not in str(rows)
        connection.execute(update(session).values(expires=time.time() - 1))
    assert session_of(db, opened.token) is None


def test_a_new_password_ends_all_sessions(db: Database) -> None:
    ours = team(db)
    opened = log_in(db, member_of(ours), PASSWORD)
    with refused("password.wrong"):
        change_password(db, opened.person, "another guess", "a new password")
    change_password(db, opened.person, PASSWORD, "a new password")
    assert session_of(db, opened.token) is None
    with refused("login.wrong"):
        log_in(db, "ada", PASSWORD)
    assert log_in(db, "ada", "a new password").person == opened.person


def test_failed_log_ins_are_limited_by_name_and_address(db: Database) -> None:
    ours = team(db)
    name = member_of(ours)
    for _ in range(5):
        with refused("login.wrong"):
            log_in(db, name, "guessed password", "10.0.0.1")
    with pytest.raises(TooOften) as stopped:
        log_in(db, name, PASSWORD, "10.0.0.1")  # also with the right password
    assert 800 < stopped.value.after <= 900
    assert log_in(db, name, PASSWORD, "10.0.0.2").person.name == name  # nobody is locked out from afar
    with db.write() as connection:
        assert name not in str(list(connection.execute(select(failure))))
        connection.execute(update(failure).values(since=time.time() - 901))
    assert log_in(db, name, PASSWORD, "10.0.0.1").person.name == name


def test_an_address_that_tries_many_names_has_one_try_per_name_and_shuts_out_nobody(db: Database) -> None:
    name = member_of(team(db))
    for number in range(30):
        with refused("login.wrong"):
            log_in(db, f"nobody{number}", "guessed password", "10.0.0.1")
    with pytest.raises(TooOften):
        log_in(db, "nobody0", "guessed password", "10.0.0.1")
    # Colleagues behind the same address get in, as long as they know their password.
    assert log_in(db, name, PASSWORD, "10.0.0.1").person.name == name
    with refused("login.wrong"):
        log_in(db, name, "guessed password", "10.0.0.1")
    with pytest.raises(TooOften):
        log_in(db, name, PASSWORD, "10.0.0.1")
    assert log_in(db, name, PASSWORD, "10.0.0.2").person.name == name


def test_a_password_link_works_once_and_ends_all_sessions(db: Database) -> None:
    ours = team(db)
    name = member_of(ours)
    opened = log_in(db, name, PASSWORD)
    token = make_password_link(db, ours.owner, ours.project, opened.person.id)
    assert password_link_name(db, token) == name
    with refused("account.bad-password", key="password"):
        set_password(db, token, "short")
    set_password(db, token, "quite another password")
    assert session_of(db, opened.token) is None
    assert log_in(db, name, "quite another password").person.name == name
    with refused("password.link-not-valid"):
        set_password(db, token, "a third password")


def test_nobody_gets_into_the_projects_of_others_by_a_password_link(db: Database) -> None:
    from annotators import CONDITIONS

    ours = team(db)
    theirs = team(db, CONDITIONS.replace('name = "conditions"', 'name = "theirs"'))
    who = accept(db, invite(db, ours.owner, ours.project, "annotator"), "ada", PASSWORD)
    join(db, who, invite(db, theirs.owner, theirs.project, "owner"))
    boss = accept(db, invite(db, None, None, "owner"), "boss", PASSWORD)
    join(db, boss, invite(db, ours.owner, ours.project, "annotator"))
    for powerful in (who, boss):
        with refused("password.not-yours"):
            make_password_link(db, ours.owner, ours.project, powerful.id)
    with pytest.raises(NotAllowed):
        make_password_link(db, who, ours.project, ours.owner.id)
    assert make_password_link(db, None, ours.project, who.id)


def test_a_project_without_an_owner_goes_to_the_next_owner_of_the_server(db: Database) -> None:
    from annotators import CONDITIONS
    from psycheck.annotate.membership import create_project
    from psycheck.annotate.project import parse_project

    create_project(db, None, parse_project(CONDITIONS), CONDITIONS)
    boss = accept(db, invite(db, None, None, "owner"), "boss", PASSWORD)
    assert [one.role for one in projects_of(db, boss)] == ["owner"]
    other = accept(db, invite(db, None, None, "owner"), "other", PASSWORD)
    assert projects_of(db, other) == []


@pytest.mark.parametrize("name", ["imported:ann", "a\x00b", "\x00"])
def test_who_came_with_imported_answers_and_nobody_are_refused_alike(db: Database, name: str) -> None:
    with db.write() as connection:
        connection.execute(person.insert().values(name="imported:ann", password="", owner=False, made=0.0))
    with refused("login.wrong"):
        log_in(db, name, PASSWORD)
