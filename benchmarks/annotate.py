"""How long an annotator waits for the next text: alone and among 50, with 2,000 and with 200,000 texts.

A real browser against the real server; the other annotators are clients without a browser, who think for two
to six seconds about a text. The same job is done on Potato, another annotation tool, if the environment
variable POTATO names its program (`pip install potato-annotation` in an environment of its own).
"""

import json
import os
import random
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np
from playwright.sync_api import Browser, sync_playwright

from annotate_server import (
    KINDS,
    PASSWORD,
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
    text,
)
from timing import machine, table, verdict

FEW, MANY = 2_000, 200_000
COLLEAGUES = 49
ITEMS = int(sys.argv[1]) if len(sys.argv) > 1 else 100  # labelled in the browser, per row
BLOCKS = 4
THINK = (2.0, 6.0)  # seconds
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


class Colleague(threading.Thread):
    """An annotator without a browser, who sends what the page would send."""

    def __init__(self, address: str, name: str, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self.address, self.login, self.stop = address, name, stop
        self.answers = 0

    def run(self) -> None:
        """Log in, then answer until told to stop."""
        draw = random.Random(self.login)
        with httpx.Client(base_url=self.address, timeout=120) as client:
            page = log_in(client, self.login)
            while not self.stop.wait(draw.uniform(*THINK)):
                response = client.post(WORK, data=answer_form(page), headers={"hx-request": "true"})
                page = response.text
                self.answers += 1


class Labelling:
    """A page in which texts are labelled by keyboard; the last key leads to the next text."""

    def __init__(self, browser: Browser, text_place: str, keys: tuple[str, ...]) -> None:
        self.page = browser.new_page()
        self.text_place = text_place
        self.keys = keys
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
            if number == 0:
                self.page.wait_for_timeout(200)
                earlier = self.sent - self.cached
            seconds = self._label_one()
            if number >= 0:
                self.waits.append(seconds)

        self.page.wait_for_timeout(200)
        self.requests += self.sent - self.cached - earlier

    def _label_one(self) -> float:
        """Label a text; the seconds from the last key to the next text."""
        self._wait_for_text("")
        before = self.page.inner_text(self.text_place)
        self.page.wait_for_timeout(50)  # nobody reads a text in less
        for key in self.keys[:-1]:
            self.page.keyboard.press(key)

        begun = time.perf_counter()
        self.page.keyboard.press(self.keys[-1])
        self._wait_for_text(before)
        return time.perf_counter() - begun

    def _wait_for_text(self, before: str) -> None:
        """Wait for a text other than the one before."""
        arguments = [self.text_place, before]
        self.page.wait_for_function(_ANOTHER, arg=arguments, polling="raf", timeout=60_000)

    def figures(self) -> Waits:
        """What was measured."""
        return Waits(self.waits, self.requests / len(self.waits))


@contextmanager
def labelling_of(browser: Browser, url: str, folder: Path, colleagues: int = 0) -> Iterator[Labelling]:
    """A page of psycheck for the first annotator, while so many colleagues work."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with running(serve_command(url, port), f"{address}/login", folder):
        stop = threading.Event()
        crowd = [Colleague(address, annotator_name(number + 1), stop) for number in range(colleagues)]
        for colleague in crowd:
            colleague.start()
        while any(not colleague.answers for colleague in crowd):
            time.sleep(0.2)

        labelling = Labelling(browser, ".words", ("1", "Shift+Digit2", "Enter"))
        page = labelling.page
        page.goto(f"{address}/login")
        page.fill("[name=name]", annotator_name(0))
        page.fill("[name=password]", PASSWORD)
        page.click("button.main")
        page.wait_for_selector("h1")
        page.goto(f"{address}{WORK}")
        yield labelling

        stop.set()
        for colleague in crowd:
            colleague.join()
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


Measured = dict[tuple[str, int, int], Waits]  # by database, texts and colleagues


def measure(browser: Browser, kind: str, server: str, scratch: Path) -> Measured:
    """The waits with each kind of database: few and many texts in turns, then few with colleagues."""
    folders = {items: scratch / f"{kind}-{items}" for items in (FEW, MANY)}
    urls = {
        items: new_database(kind, folder, server, schema=f"s{items}") for items, folder in folders.items()
    }
    for items, url in urls.items():
        fill(url, items, COLLEAGUES + 1)

    with ExitStack() as stack:
        pages = {
            items: stack.enter_context(labelling_of(browser, urls[items], folders[items]))
            for items in (FEW, MANY)
        }
        # In turns, so that both meet the same machine.
        for _ in range(BLOCKS):
            for page in pages.values():
                page.label(ITEMS // BLOCKS)
        measured = {(kind, items, 0): page.figures() for items, page in pages.items()}

    with labelling_of(browser, urls[FEW], folders[FEW], COLLEAGUES) as page:
        page.label(ITEMS)
        measured[kind, FEW, COLLEAGUES] = page.figures()
    return measured


def main() -> None:
    """Print the tables."""
    measured: Measured = {}
    rows = []
    with sync_playwright() as play, tempfile.TemporaryDirectory() as scratch:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        server = postgres_server(Path(scratch) / "pg")
        for kind in KINDS:
            measured |= measure(browser, kind, server, Path(scratch))
            print(kind, file=sys.stderr)
        for (kind, items, colleagues), waits in measured.items():
            rows.append([kind, f"{items:,}", colleagues + 1, *_figures(waits), 3])

        if program := os.environ.get("POTATO"):
            folder = Path(scratch) / "potato"
            folder.mkdir()
            rows.append(["Potato (files)", f"{FEW:,}", 1, *_figures(potato(browser, program, folder)), 2])
        else:
            print("POTATO is not set: no comparison with Potato", file=sys.stderr)
        browser.close()

    print(f"{machine()}; {ITEMS} texts per row")
    print(table(["database", "texts", "annotators", "median", "p95", "requests a text", "keys a text"], rows))
    for kind in KINDS:
        alone, crowd, many = (
            measured[kind, items, colleagues]
            for items, colleagues in ((FEW, 0), (FEW, COLLEAGUES), (MANY, 0))
        )
        by_crowd = crowd.p95 / alone.p95
        by_size = many.median / alone.median
        print(verdict(f"{kind}, p95 of 50 annotators by that of 1", by_crowd, 3, at_least=False))
        print(verdict(f"{kind}, 200,000 texts by 2,000 (median)", by_size, 1.2, at_least=False))


def _figures(waits: Waits) -> list[str]:
    return [f"{waits.median:.0f} ms", f"{waits.p95:.0f} ms", f"{waits.requests:.1f}"]


if __name__ == "__main__":
    main()
