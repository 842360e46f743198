"""Pages of owners: settings with their versions, the end of a project, members and invitations."""

from typing import Any

from starlette.responses import Response

from psycheck.annotate.accounts import INVITATION_DAYS, invite
from psycheck.annotate.membership import ROLES, members, pause
from psycheck.annotate.passwords import make_password_link
from psycheck.annotate.sessions import revoke_sessions
from psycheck.annotate.upkeep import (
    edit_project,
    end_project,
    invitations,
    remove_member,
    versions,
    withdraw_invitation,
)
from psycheck.annotate.web.access import Visit, no_page
from psycheck.annotate.web.respond import go, page, problem
from psycheck.core.errors import PsycheckError


def settings(visit: Visit) -> Response:
    """The settings of a project, to be changed, and its earlier versions."""
    return _settings_page(visit)


def change_settings(visit: Visit) -> Response:
    """Give a project new settings: another version, under which the answers from now on are given."""
    # Browsers send line ends as CR LF.
    text = visit.field("settings").replace("\r\n", "\n")
    based_on = visit.field("version")
    try:
        edit_project(
            visit.db,
            visit.person,
            visit.member.project,
            text,
            # 0 is no version: a form without one is refused as outdated.
            based_on=int(based_on) if based_on.isdecimal() else 0,
        )
    except PsycheckError as error:
        status = getattr(error, "status", 400)
        return _settings_page(visit, status=status, settings=text, problem=problem(visit, error))
    return go(f"/p/{visit.member.name}/settings")


def end(visit: Visit) -> Response:
    """End a project, or open it again."""
    end_project(visit.db, visit.person, visit.member.project, ended=visit.field("do") == "end")
    return go(f"/p/{visit.member.name}/settings")


def all_members(visit: Visit) -> Response:
    """The members of a project, and the invitations that wait."""
    return _members_page(visit)


def invite_one(visit: Visit) -> Response:
    """A link that lets one person join."""
    role = visit.field("role")
    token = invite(visit.db, visit.person, visit.member.project, role)
    # Shown once: the database keeps only a digest of the token.
    link = f"{visit.request.base_url}invitation/{token}"
    sentence = visit.words("members.invited", role=visit.words(f"role.{role}"), days=INVITATION_DAYS)
    return _members_page(visit, link=link, link_sentence=sentence)


def change_member(visit: Visit, person: int) -> Response:
    """Pause or resume a member, end their sessions, make a link for a new password, or remove them."""
    db, who, project_id = visit.db, visit.person, visit.member.project
    match visit.field("do"):
        case "pause" | "resume" as action:
            pause(db, who, project_id, person, paused=action == "pause")
        case "log-out":
            revoke_sessions(db, who, project_id, person)
        case "remove":
            remove_member(db, who, project_id, person)
        case "password":
            token = make_password_link(db, who, project_id, person)
            link = f"{visit.request.base_url}password/{token}"
            sentence = visit.words("members.password_link", days=INVITATION_DAYS)
            return _members_page(visit, link=link, link_sentence=sentence)
        case _:
            raise no_page()
    # Who has removed themselves cannot see the page any more.
    left = visit.field("do") == "remove" and person == who.id
    return go("/" if left else f"/p/{visit.member.name}/members")


def withdraw(visit: Visit) -> Response:
    """Withdraw an invitation that nobody has used."""
    withdraw_invitation(visit.db, visit.person, visit.member.project, visit.field("digest"))
    return go(f"/p/{visit.member.name}/members")


def _settings_page(visit: Visit, status: int = 200, **parts: Any) -> Response:
    task = visit.task()
    all_versions = versions(visit.db, visit.person, task.id)
    return page(
        visit,
        "settings",
        status=status,
        project=task.project,
        version=task.version,
        ended=task.ended,
        versions=all_versions,
        **{"settings": all_versions[0].settings, **parts},
    )


def _members_page(visit: Visit, **parts: Any) -> Response:
    project_id = visit.member.project
    return page(
        visit,
        "members",
        project=visit.task().project,
        people=members(visit.db, visit.person, project_id),
        waiting=invitations(visit.db, visit.person, project_id),
        roles=ROLES,
        **{"link": "", "link_sentence": "", **parts},
    )
