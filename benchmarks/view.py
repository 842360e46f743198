"""How long the pages of `psycheck view` take to open: 200 runs, and a run of 100,000 cases, in Chromium.

`python -m benchmarks.view`; in seconds, from the request to the end of loading. Beside each page stands the
time of an empty page of the same server, which is what the browser and the machine take anyway.
"""

import shutil
import statistics
import tempfile
import threading
from pathlib import Path

import polars as pl
from playwright.sync_api import Page, sync_playwright

import psycheck
from psycheck.view.pages import Places
from psycheck.view.run_index import listed_runs
from psycheck.view.view_server import ViewServer

RUNS = 200
CASES = 100_000
REPEATS = 5
TEXTS = [f"I feel {'sad and tired' if n % 2 else 'fine'} today, note {n}" for n in range(60)]


def by_words(texts: list[str]) -> list[float]:
    """A model of one word."""
    return [0.9 if "sad" in text else 0.1 for text in texts]


def write_runs(place: Path) -> None:
    """One audited run, its copies, and a copy whose table of cases is as long as that of a large corpus."""
    posts = {"text": TEXTS, "depression": [n % 2 for n in range(len(TEXTS))]}
    gates = ["f1>=0.8", "pass_rate>=0.5 where check=T1"]
    psycheck.audit(by_words, posts, out=place / "run-000", gates=gates, store=place / "scores.sqlite")
    for number in range(1, RUNS):
        shutil.copytree(place / "run-000", place / f"run-{number:03}")
    for name in ("run-000", "run-001"):
        cases = pl.read_parquet(place / name / "cases.parquet")
        copies = -(-CASES // len(cases))
        many = [
            cases.with_columns(pl.format("{}-{}", "id", pl.lit(copy)).alias("id")) for copy in range(copies)
        ]
        pl.concat(many).head(CASES).write_parquet(place / name / "cases.parquet")


def seconds_to_open(tab: Page, address: str) -> tuple[float, float]:
    """The first time and the median of the later ones, from the request until the page is loaded."""
    times = []
    for _ in range(REPEATS):
        tab.goto(address)
        times.append(tab.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd / 1000"))
    return times[0], statistics.median(times[1:])


def main() -> None:
    """Print a line per page."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        place = Path(folder)
        write_runs(place)
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        tab = browser.new_page()
        with ViewServer(Places((place,))) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            keys = {run.name: run.key for run in listed_runs([place])}
            # A server that was just started has read nothing yet: the first time counts.
            large, second = keys["run-000"], keys["run-001"]
            pages = {
                # Before the others: a browser that was just started takes its time for any page.
                "a page that does not exist": "nowhere",
                f"list of {RUNS} runs": "",
                f"gate over {RUNS} runs": "trend/",
                f"cases of {CASES:,}": f"cases/{large}",
                "the last page of them": f"cases/{large}?page={CASES // 100 - 1}",
                "failed cases of one check": f"cases/{large}?check=T23&outcome=failed",
                f"two runs of {CASES:,} cases": f"compare/?first={large}&second={second}",
            }
            for name, path in pages.items():
                first, later = seconds_to_open(tab, server.address + path)
                print(f"{name:<32} first {first:.2f} s, then {later:.2f} s", flush=True)
            server.shutdown()
        browser.close()


if __name__ == "__main__":
    main()
