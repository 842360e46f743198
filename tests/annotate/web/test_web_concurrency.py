"""Many people at once, over HTTP, on both kinds of database; and a server that is killed meanwhile."""

import re
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from secrets import token_hex

import httpx
from sqlalchemy import select

from annotation_site import corpus, served
from annotators import CONDITIONS, Team, team
from psycheck.annotate.database import Database, open_database, server_value
from psycheck.annotate.membership import Person
from psycheck.annotate.sessions import new_session
from psycheck.annotate.tables import assignment, judgement
from psycheck.annotate.transfer import import_corpus
from psycheck.annotate.web.cookies import SESSION, Signing

PEOPLE, ITEMS, PER_ITEM = 50, 60, 3
_FIELD = re.compile(r'name="(assignment|token|csrf)" value="([^"]+)"')


@dataclass(frozen=True)
class Annotator:
    """Somebody who answers until nothing is left."""

    cookie: str
    seen: list[dict[str, str]] = field(default_factory=list)  # submissions that the server acknowledged

    def label(self, address: str) -> int:
        with httpx.Client(base_url=address, cookies={"psycheck-session": self.cookie}, timeout=60) as client:
            page = client.get("/p/conditions/work?queue=")
            while fields := dict(_FIELD.findall(page.text.partition('id="answer"')[2])):
                sent = {**fields, "queue": "", "do": "next", "label-depression": "yes", "label-anxiety": "no"}
                page = client.post("/p/conditions/work", data=sent, headers={"hx-request": "true"})
                assert page.status_code == 200, page.status_code
                self.seen.append(fields)
        return len(self.seen)


def _logged_in(db: Database, who: Person) -> Annotator:
    """A session without a password, which takes half a second to check."""
    with db.write() as connection:
        secret = server_value(connection, "secret") or ""
        token = new_session(connection, who).token
    return Annotator(Signing(secret.encode())._signer(SESSION).sign(token).decode())


def test_no_item_goes_to_more_people_than_asked_or_twice_to_one(db: Database) -> None:
    ours: Team = team(db, CONDITIONS.replace("annotators_per_item = 2", f"annotators_per_item = {PER_ITEM}"))
    import_corpus(db, ours.owner, ours.project, corpus(*(f"{token_hex(4)} of ours" for _ in range(ITEMS))))
    people = [_logged_in(db, ours.add(f"person-{k}")) for k in range(PEOPLE)]
    with served(db) as address, ThreadPoolExecutor(PEOPLE) as pool:
        answered = sum(pool.map(lambda one: one.label(address), people))
    with db.read() as connection:
        rows = connection.execute(select(assignment.c.item, assignment.c.person, assignment.c.state)).all()
    assert answered == len(rows) == ITEMS * PER_ITEM
    assert {row.state for row in rows} == {"done"}
    assert set(Counter(row.item for row in rows).values()) == {PER_ITEM}
    assert len({(row.item, row.person) for row in rows}) == len(rows)


@contextmanager
def process(url: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """`psycheck annotate serve` in a process of its own, and its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "psycheck", "annotate", "serve", url, "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while True:
        with suppress(httpx.TransportError):
            httpx.get(f"http://127.0.0.1:{port}/login")
            break
        assert server.poll() is None
        time.sleep(0.1)
    yield f"http://127.0.0.1:{port}", server
    server.kill()
    server.wait()


def test_what_a_killed_server_acknowledged_is_there_exactly_once(url: str) -> None:
    db = open_database(url, new=True)
    ours = team(db)
    ours.fill(400)
    people = [_logged_in(db, ours.add(f"person-{k}")) for k in range(8)]
    db.close()
    with process(url) as (address, server), ThreadPoolExecutor(len(people)) as pool:
        for one in people:
            pool.submit(one.label, address)  # ends with a cut connection
        while sum(len(one.seen) for one in people) < 60:
            time.sleep(0.01)
        server.send_signal(signal.SIGKILL)
    seen = [fields for one in people for fields in one.seen]
    assert 60 <= len(seen) < 800
    with process(url) as (address, _):  # the same browsers go on where they were
        again = Annotator(people[0].cookie)
        with httpx.Client(base_url=address, cookies={"psycheck-session": again.cookie}, timeout=60) as client:
            said = {"queue": "", "do": "next", "label-depression": "yes", "label-anxiety": "no"}
            repeated = client.post("/p/conditions/work", data={**people[0].seen[-1], **said})
            assert repeated.status_code in (200, 303)
    db = open_database(url)
    with db.read() as connection:
        rows = {row.id: row for row in connection.execute(select(assignment))}
        marks = Counter(connection.scalars(select(judgement.c.assignment)))
    db.close()
    assert all(rows[int(one["assignment"])].token == one["token"] for one in seen)
    done = [row.id for row in rows.values() if row.state == "done"]
    assert len(seen) <= len(done) <= len(seen) + len(people)  # one each may have been under way
    assert marks == Counter(dict.fromkeys(done, 2))
