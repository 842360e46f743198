"""Fifty people at once, over HTTP, on both kinds of database."""

import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from secrets import token_hex

import httpx
from sqlalchemy import select

from annotation_site import corpus, served
from annotators import CONDITIONS, Team, team
from psycheck.annotate.accounts import _new_session
from psycheck.annotate.database import Database, server_value
from psycheck.annotate.membership import Person
from psycheck.annotate.tables import assignment
from psycheck.annotate.transfer import import_corpus
from psycheck.annotate.web.cookies import SESSION, Signing

PEOPLE, ITEMS, PER_ITEM = 50, 60, 3
_FIELD = re.compile(r'name="(assignment|token|csrf)" value="([^"]+)"')


@dataclass(frozen=True)
class Annotator:
    """Somebody who answers until nothing is left."""

    cookie: str

    def label(self, address: str) -> int:
        answered = 0
        with httpx.Client(base_url=address, cookies={"psycheck-session": self.cookie}, timeout=60) as client:
            page = client.get("/p/conditions/work?queue=")
            while fields := dict(_FIELD.findall(page.text.partition('id="answer"')[2])):
                sent = {**fields, "queue": "", "do": "next", "label-depression": "yes", "label-anxiety": "no"}
                page = client.post("/p/conditions/work", data=sent, headers={"hx-request": "true"})
                assert page.status_code == 200, page.status_code
                answered += 1
        return answered


def _logged_in(db: Database, who: Person) -> Annotator:
    """A session without a password, which takes half a second to check."""
    with db.write() as connection:
        secret = server_value(connection, "secret") or ""
        token = _new_session(connection, who).token
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
