"""What was acknowledged is there exactly once, although the process was killed in the middle of its work."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from sqlalchemy import func, select

from annotators import team
from psycheck.annotate.database import open_database
from psycheck.annotate.membership import Person
from psycheck.annotate.queue import Nothing, next_item
from psycheck.annotate.submission import submit
from psycheck.annotate.tables import assignment, item, judgement

# Each thread is a client: it notes a submission only after the acknowledgement, as a browser would see it.
CLIENTS = """
import sys, threading
from secrets import token_hex
from annotators import marks
from psycheck.annotate.database import open_database
from psycheck.annotate.membership import Person
from psycheck.annotate.queue import next_item
from psycheck.annotate.submission import submit

url, project, *people = sys.argv[1:]
db, lock = open_database(url), threading.Lock()

def annotate(who):
    while True:
        found = next_item(db, who, int(project))
        token = token_hex(8)
        submit(db, who, found.id, marks(1, 0), seconds=1, token=token)
        with lock:
            sys.stdout.write(f"{who.id} {found.id} {token}\\n")
            sys.stdout.flush()

for one in people:
    threading.Thread(target=annotate, args=(Person(int(one), "", False),), daemon=True).start()
threading.Event().wait()
"""


def test_every_acknowledged_answer_survives_a_kill_exactly_once(url: str, tmp_path: Path) -> None:
    db = open_database(url, new=True)
    ours = team(db)
    ours.fill(500)
    people = [ours.add(f"annotator{k}") for k in range(8)]
    log = tmp_path / "acknowledged"
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    with log.open("wb") as out:
        clients = subprocess.Popen(
            [sys.executable, "-c", CLIENTS, url, str(ours.project), *(str(who.id) for who in people)],
            stdout=out,
            env={**os.environ, "PYTHONPATH": path},
        )
        while log.stat().st_size < 2_000 and clients.poll() is None:  # some 80 answers
            time.sleep(0.01)
        clients.send_signal(signal.SIGKILL)
        clients.wait()
    # A line that the kill cut short was not seen whole.
    seen = [line.split() for line in log.read_text().splitlines(keepends=True) if line.endswith("\n")]
    assert len(seen) > 60
    db.close()
    again = open_database(url)
    with again.read() as connection:
        for person, one, token in seen:
            row = connection.execute(select(assignment).where(assignment.c.id == int(one))).one()
            assert (row.person, row.state, row.token) == (int(person), "done", token)
        done = connection.scalar(select(func.count()).where(assignment.c.state == "done"))
        marked = connection.scalar(select(func.count()).select_from(judgement))
        answered = connection.scalar(select(func.sum(item.c.answered)))
        claimed = connection.scalar(select(func.count()).where(assignment.c.state == "claimed"))
        free = connection.scalar(select(func.sum(item.c.open)))
    assert done is not None
    assert len(seen) <= done <= len(seen) + len(people)  # at most one answer each was not yet acknowledged
    assert (marked, answered) == (2 * done, done)
    assert free == 2 * 500 - done - (claimed or 0)
    # Sent again after the restart, as a browser does that saw no answer: still once.
    from annotators import marks

    person, one, token = seen[-1]
    who = Person(int(person), "", owner=False)
    assert submit(again, who, int(one), marks(1, 0), seconds=1, token=token).repeated
    assert not isinstance(next_item(again, who, ours.project), Nothing)
    again.close()
