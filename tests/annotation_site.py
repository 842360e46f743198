"""A server of our own: two projects, an account for every role, work in every state."""

import re
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from secrets import token_hex

import httpx
import uvicorn
from sqlalchemy import select

from annotators import CONDITIONS, SYMPTOMS, answer, given, marks
from psycheck.annotate.accounts import accept, invite
from psycheck.annotate.adjudication import conflicts
from psycheck.annotate.database import Database
from psycheck.annotate.inspection import batches, inspected
from psycheck.annotate.membership import ROLES, Person, create_project
from psycheck.annotate.project import parse_project
from psycheck.annotate.tables import member, person
from psycheck.annotate.transfer import import_corpus
from psycheck.annotate.web.app import create_app
from psycheck.core.corpus import Corpus

PASSWORD = "correct horse battery"
HOSTILE = "</textarea></title>\"'><script>alert(1)</script><img src=x onerror=alert(1)>"
_CSRF = re.compile(r'name="csrf" value="([^"]+)"')


@dataclass(frozen=True)
class World:
    """A running server; `at` are numbers of things of the project "conditions", `elsewhere` of "other"."""

    address: str
    db: Database
    people: dict[str, Person]
    projects: dict[str, int]
    at: dict[str, int] = field(default_factory=dict)
    elsewhere: dict[str, int] = field(default_factory=dict)

    def browser(self, name: str = "") -> "Browser":
        """A browser without an account, or one in which somebody has logged in."""
        made = Browser(self.address)
        if name:
            made.post("/login", name=name, password=PASSWORD).raise_for_status()
        return made


class Browser(httpx.Client):
    """A client that keeps cookies and sends the CSRF token of its pages."""

    def __init__(self, address: str) -> None:
        super().__init__(base_url=address, timeout=30)
        self.csrf = ""

    def token(self, page: str = "/login") -> str:
        """The CSRF token of a page."""
        found = _CSRF.search(self.get(page, follow_redirects=True).text)
        assert found, page
        return found[1]

    def post(self, url: str, **fields: object) -> httpx.Response:  # type: ignore[override]  # fields, not options
        """Send a form, with the token unless it has one."""
        files = fields.pop("files", None)
        sent = fields if "csrf" in fields else {"csrf": self.csrf or self.token(), **fields}
        answered = super().post(url, data=sent, files=files)  # type: ignore[arg-type]  # any file that httpx takes
        if url == "/login" and answered.status_code == 303:
            self.csrf = self.token("/")
            answered.status_code = 200
        return answered


@contextmanager
def served(db: Database, names: Iterable[str] = (), **settings: object) -> Iterator[str]:
    """The address of a real server in a thread."""
    config = uvicorn.Config(create_app(db, names), port=0, log_config=None, server_header=False, **settings)  # type: ignore[arg-type]
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


def corpus(*texts: str, **labels: list[float]) -> Corpus:
    return Corpus.of("ours", texts, ids=[f"{token_hex(2)}-{k}" for k in range(len(texts))], labels=labels)


def _team(db: Database, settings: str, owner: Person, people: dict[str, Person], prefix: str) -> int:
    """A project with members; they share the hash of the owner's password, which takes time to make."""
    project = create_project(db, owner, parse_project(settings), settings)
    with db.write() as connection:
        hashed = connection.scalar(select(person.c.password).where(person.c.id == owner.id))
        for role in (*ROLES[:-1], "second", "spare"):
            name, asked = f"{prefix}{role}", role if role in ROLES else "annotator"
            row = {"name": name, "password": hashed, "owner": False, "made": 0.0}
            made = connection.execute(person.insert().values(row)).inserted_primary_key
            assert made is not None
            people[name] = Person(made[0], name, owner=False)
            row = {"project": project, "person": made[0], "role": asked, "paused": False}
            connection.execute(member.insert().values(row))
    return project


def _work(db: Database, people: dict[str, Person], prefix: str, project: int) -> dict[str, int]:
    """Six posts: a batch that waits, a conflict, an item that is open."""
    first, second = people[f"{prefix}annotator"], people[f"{prefix}second"]
    import_corpus(db, people[f"{prefix}owner"], project, corpus(*(f"{HOSTILE} post {k}" for k in range(6))))
    for k in range(4):
        answer(db, first, project, marks(depression=1))
        answer(db, second, project, marks(depression=k % 2))
    batch = batches(db, people[f"{prefix}reviewer"], project)[0].id
    return {
        "batch": batch,
        "assignment": inspected(db, people[f"{prefix}reviewer"], batch)[1][0].assignment,
        "item": conflicts(db, people[f"{prefix}adjudicator"], project)[0],
        "claim": given(db, first, project).id,
        "person": people[f"{prefix}spare"].id,
    }


def build(db: Database) -> World:
    """Projects "conditions" and "other" with the same people in the same roles, but for a prefix."""
    hostile = f"instructions = '''{HOSTILE}'''\n"
    extra = f"{hostile}[inspection]\nbatch = 2\nshare = 0.5\n"
    settings = CONDITIONS.replace(
        "[welfare]", f"{extra}[welfare]\nwarning = '''{HOSTILE}'''\ncontacts = ['''{HOSTILE}''']"
    )
    settings = settings.replace('title = "Depression and anxiety"', f"title = '''{HOSTILE}'''")
    people = {
        name: accept(db, invite(db, None, None, "owner"), name, PASSWORD) for name in ("owner", "x-owner")
    }
    projects = {
        "conditions": _team(db, settings, people["owner"], people, ""),
        "other": _team(
            db, settings.replace('name = "conditions"', 'name = "other"'), people["x-owner"], people, "x-"
        ),
        "symptoms": create_project(db, people["owner"], parse_project(SYMPTOMS), SYMPTOMS),
    }
    at = _work(db, people, "", projects["conditions"])
    elsewhere = _work(db, people, "x-", projects["other"])
    return World("", db, people, projects, at, elsewhere)
