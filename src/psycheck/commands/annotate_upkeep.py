"""`psycheck annotate` while a project runs: members, settings, erasing, the end."""

from pathlib import Path
from typing import Literal

import typer

from psycheck.commands import options as opt
from psycheck.commands.annotate_database import open_database_at, print_invitation
from psycheck.core.errors import counted


@opt.verb("annotate invite")
def invite_cli(place: str, role: str, project: str | None = None, key_file: Path | None = None) -> None:
    """Print a one-time invitation to a project."""
    from psycheck.annotate.accounts import invite
    from psycheck.annotate.membership import project_named

    db = open_database_at(place, key_file)
    token = invite(db, None, project_named(db, project), role)
    article = "an" if role[0] in "ao" else "a"
    print_invitation(token, f"{article} {role}")


@opt.verb("annotate invitations")
def invitations_cli(
    place: str,
    withdraw: str | None = None,
    project: str | None = None,
    key_file: Path | None = None,
) -> None:
    """List the invitations that nobody has used, or withdraw one of them."""
    from psycheck.annotate.membership import project_named
    from psycheck.annotate.upkeep import invitation_named, invitations, withdraw_invitation

    db = open_database_at(place, key_file)
    project_id = project_named(db, project)
    if withdraw is not None:
        withdraw_invitation(db, None, project_id, invitation_named(db, project_id, withdraw))
        typer.echo("invitation withdrawn")
        return
    for invitation in invitations(db, None, project_id):
        typer.echo(f"{invitation.name}  {invitation.role}, until {_utc(invitation.expires)}")


@opt.verb("annotate member")
def member_cli(
    place: str,
    name: str,
    change: Literal["pause", "resume", "remove", "password"],
    project: str | None = None,
    key_file: Path | None = None,
) -> None:
    """Pause a member, let them go on, remove them, or print a one-time link for a new password."""
    from psycheck.annotate.membership import pause, project_named
    from psycheck.annotate.passwords import make_password_link
    from psycheck.annotate.upkeep import member_named, remove_member

    db = open_database_at(place, key_file)
    project_id = project_named(db, project)
    person_id = member_named(db, project_id, name)
    if change == "password":
        token = make_password_link(db, None, project_id, person_id)
        typer.echo(f"new password for {name}, once within 7 days: /password/{token}")
        return
    if change == "remove":
        remove_member(db, None, project_id, person_id)
    else:
        pause(db, None, project_id, person_id, paused=change == "pause")
    typer.echo(f"{name}: {change}")


@opt.verb("annotate edit")
def edit_cli(place: str, file: Path, project: str | None = None, key_file: Path | None = None) -> None:
    """Give a project new settings from a file; earlier versions and their answers are kept."""
    from psycheck.annotate.membership import project_named
    from psycheck.annotate.project import read_project
    from psycheck.annotate.upkeep import edit_project

    _, text, _ = read_project(file)
    db = open_database_at(place, key_file)
    number = edit_project(db, None, project_named(db, project), text)
    typer.echo(f"version {number}")


@opt.verb("annotate end")
def end_cli(
    place: str,
    reopen: bool = False,
    project: str | None = None,
    key_file: Path | None = None,
) -> None:
    """End a project: it takes no more answers, and can still be exported."""
    from psycheck.annotate.membership import project_named
    from psycheck.annotate.upkeep import end_project

    db = open_database_at(place, key_file)
    end_project(db, None, project_named(db, project), ended=not reopen)
    typer.echo("project opened again" if reopen else "project ended")


@opt.verb("annotate erase")
def erase_cli(
    place: str,
    text: str | None = None,
    author: str | None = None,
    project: str | None = None,
    key_file: Path | None = None,
) -> None:
    """Erase a text, or all texts of an author, with everything that was said of them."""
    from psycheck.annotate.erasure import erase_author, erase_text
    from psycheck.annotate.membership import project_named
    from psycheck.core.errors import BadInput

    if (text is None) == (author is None):
        raise BadInput(
            "nothing tells what to erase",
            code="erase.nothing-named",
            do="name either a `text` or an `author`",
        )
    db = open_database_at(place, key_file)
    project_id = project_named(db, project)
    if text is not None:
        erased = erase_text(db, None, project_id, text)
    else:
        erased = erase_author(db, None, project_id, author or "")
    typer.echo(f"{counted(erased, 'item')} erased; backups that were made before still hold them")


def _utc(seconds: float) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
