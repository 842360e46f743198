"""Fifty annotators for ten minutes, with slow requests beside them: waits, memory, answers lost or doubled.

Each annotator is a client without a browser that thinks for two to six seconds about a text, marks evidence
in every fourth, and sends every twentieth answer twice at once, as a phone does that lost its connection. In
the middle third of the time 1,300 requests are held open that never end. Afterwards the database is read,
and compared with what the server has acknowledged.

    python benchmarks/annotate_load.py [MINUTES]
"""

import json
import random
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import numpy as np
from sqlalchemy import select

from annotate_server import (
    KINDS,
    WORK,
    annotator_name,
    answer_form,
    fill,
    free_port,
    log_in,
    new_database,
    postgres_server,
    running,
    serve_command,
)
from psycheck.annotate.database import open_database
from psycheck.annotate.tables import assignment, judgement, span
from timing import machine, table

MINUTES = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
ITEMS = 4_000
ANNOTATORS = 50
PER_ITEM = 3
THINK = (2.0, 6.0)  # seconds
EVIDENCE_EVERY, TWICE_EVERY = 4, 20
SLOW_REQUESTS = 1_300
LABELS = 2
EVIDENCE = json.dumps([{"label": "depression", "start": 0, "end": 4}])


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """An answer that the server has confirmed, when it was sent, and how long the next text took."""

    assignment: int
    token: str
    spans: int
    sent: float
    seconds: float


@dataclass(slots=True)
class Annotator:
    """Somebody who answers text after text until told to stop."""

    name: str
    address: str
    stop: threading.Event
    acknowledged: list[Acknowledged] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)

    def work(self) -> None:
        """Log in and answer."""
        draw = random.Random(self.name)
        number = 0
        with httpx.Client(base_url=self.address, timeout=120) as client:
            page = log_in(client, self.name)
            while not self.stop.wait(draw.uniform(*THINK)):
                number += 1
                page = self._answer(client, page, number) or client.get(WORK).text

    def _answer(self, client: httpx.Client, page: str, number: int) -> str | None:
        """Send an answer; returns the page of the next text, or None if there was no such page."""
        form = answer_form(page)
        marks_evidence = number % EVIDENCE_EVERY == 0
        if marks_evidence:
            form["spans"] = EVIDENCE

        sent = time.time()
        begun = time.perf_counter()
        try:
            if number % TWICE_EVERY == 0:
                response = self._send_twice(client, form)
            else:
                response = _send(client, form)
        except httpx.TransportError as error:
            self.refused[type(error).__name__] += 1
            return None
        if response.status_code != 200:
            self.refused[str(response.status_code)] += 1
            return None

        answered = Acknowledged(
            assignment=int(form["assignment"]),
            token=form["token"],
            spans=int(marks_evidence),
            sent=sent,
            seconds=time.perf_counter() - begun,
        )
        self.acknowledged.append(answered)
        return response.text

    def _send_twice(self, client: httpx.Client, form: dict[str, str]) -> httpx.Response:
        """Send an answer and its copy at the same time; the first response counts."""
        with ThreadPoolExecutor(1) as pool:
            copy = pool.submit(_send, client, form)
            response = _send(client, form)
            copy.result()
        return response


def _send(client: httpx.Client, form: dict[str, str]) -> httpx.Response:
    return client.post(WORK, data=form, headers={"hx-request": "true"})


class SlowRequests(threading.Thread):
    """Requests that never end, kept at their number while others are answered."""

    def __init__(self, address: str, begin: float, end: float) -> None:
        super().__init__(daemon=True)
        host, port = address.removeprefix("http://").split(":")
        self.place = host, int(port)
        self.begin, self.end = begin, end
        self.opened = 0

    def run(self) -> None:
        """Open half requests, and new ones for those that the server has closed."""
        time.sleep(max(0.0, self.begin - time.time()))
        held: list[socket.socket] = []
        while time.time() < self.end:
            held = [connection for connection in held if not _is_closed(connection)]
            # Not all in one moment: whoever attacks has a network in between, too.
            for _ in range(min(100, SLOW_REQUESTS - len(held))):
                with suppress(OSError):
                    held.append(self._half_request())
            time.sleep(0.25)
        for connection in held:
            connection.close()

    def _half_request(self) -> socket.socket:
        connection = socket.create_connection(self.place, timeout=2)
        connection.sendall(b"POST /p/posts/work HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        connection.setblocking(False)
        self.opened += 1
        return connection


def _is_closed(connection: socket.socket) -> bool:
    """Whether the server has closed a connection, which is then closed here, too."""
    try:
        closed = not connection.recv(100)
    except BlockingIOError:
        return False
    except OSError:
        closed = True
    if closed:
        connection.close()
    return closed


@dataclass(frozen=True, slots=True)
class Load:
    """What ten minutes led to; waits are seconds, memory is MB of the server."""

    quiet: list[float]
    beside_slow: list[float]
    memory: list[float]
    slow_requests: int
    refused: Counter[str]
    lost: int
    doubled: int
    answers: int


def under_load(url: str, folder: Path) -> Load:
    """Serve a project, let fifty people work, and compare the database with what was acknowledged."""
    fill(url, ITEMS, ANNOTATORS)
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    stop = threading.Event()
    annotators = [Annotator(annotator_name(number), address, stop) for number in range(ANNOTATORS)]
    memory: list[float] = []

    with running(serve_command(url, port), f"{address}/login", folder) as server:
        threads = [threading.Thread(target=annotator.work) for annotator in annotators]
        for thread in threads:
            thread.start()
        # Passwords are hashed two at a time: the ten minutes begin when everybody is in.
        while any(not annotator.acknowledged for annotator in annotators):
            time.sleep(0.2)

        begun = time.time()
        third = 20 * MINUTES
        slow = SlowRequests(address, begun + third, begun + 2 * third)
        slow.start()
        while time.time() < begun + 3 * third:
            memory.append(_resident_megabytes(server.pid))
            time.sleep(1)

        stop.set()
        for thread in threads:
            thread.join()
        slow.join()

    acknowledged = [answer for annotator in annotators for answer in annotator.acknowledged]
    measured = [answer for answer in acknowledged if answer.sent >= begun]
    lost, doubled = compare(url, acknowledged)
    return Load(
        quiet=[answer.seconds for answer in measured if not slow.begin <= answer.sent < slow.end],
        beside_slow=[answer.seconds for answer in measured if slow.begin <= answer.sent < slow.end],
        memory=memory,
        slow_requests=slow.opened,
        refused=sum((annotator.refused for annotator in annotators), Counter()),
        lost=lost,
        doubled=doubled,
        answers=len(measured),
    )


def compare(url: str, acknowledged: list[Acknowledged]) -> tuple[int, int]:
    """How many acknowledged answers the database lacks in any part, and how many it holds more than once."""
    db = open_database(url)
    with db.read() as connection:
        rows = connection.execute(select(assignment).where(assignment.c.state == "done")).all()
        marks = Counter(connection.scalars(select(judgement.c.assignment)))
        spans = Counter(connection.scalars(select(span.c.assignment)))
    db.close()

    token_of = {row.id: row.token for row in rows}
    lost = sum(
        token_of.get(answer.assignment) != answer.token
        or marks[answer.assignment] < LABELS
        or spans[answer.assignment] < answer.spans
        for answer in acknowledged
    )
    answers_of_person = Counter((row.item, row.person) for row in rows)
    answers_of_item = Counter(row.item for row in rows)
    doubled = (
        sum(number - 1 for number in answers_of_person.values())
        + sum(max(0, number - PER_ITEM) for number in answers_of_item.values())
        + sum(number > LABELS for number in marks.values())
        + sum(number > 1 for number in spans.values())
    )
    return lost, doubled


def _resident_megabytes(process_id: int) -> float:
    status = Path(f"/proc/{process_id}/status").read_text("utf-8")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def _waits(seconds: list[float]) -> list[str]:
    percentiles = 1_000 * np.percentile(seconds, [50, 95, 99, 100])
    return [" / ".join(f"{milliseconds:.0f}" for milliseconds in percentiles)]


def main() -> None:
    """Print the table."""
    rows = []
    notes = []
    with tempfile.TemporaryDirectory() as scratch:
        server = postgres_server(Path(scratch) / "pg")
        for kind in KINDS:
            folder = Path(scratch) / kind
            load = under_load(new_database(kind, folder, server, "load"), folder)
            memory = load.memory
            rows.append(
                [
                    kind,
                    f"{load.answers:,}",
                    *_waits(load.quiet),
                    *_waits(load.beside_slow),
                    f"{memory[0]:.0f} → {memory[-1]:.0f}, most {max(memory):.0f}",
                    load.lost,
                    load.doubled,
                ]
            )
            refused = ", ".join(f"{number} × {what}" for what, number in load.refused.items())
            notes.append(f"{kind}: {load.slow_requests:,} slow requests; refused: {refused or 'none'}")
            print(kind, rows[-1], notes[-1], file=sys.stderr, flush=True)

    print(f"{machine()}; {MINUTES:g} minutes, {ANNOTATORS} annotators, {ITEMS:,} texts")
    waits = "ms, median / p95 / p99 / most"
    head = ["database", "answers", waits, f"{waits}, slow requests", "memory, MB", "lost", "doubled"]
    print(table(head, rows))
    print("\n".join(f"- {note}" for note in notes))


if __name__ == "__main__":
    main()
