"""Pages over several runs, as a browser shows them."""

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from playwright.sync_api import Browser, expect

import psycheck
from planted import NEGATIVE, POSITIVE, oracle
from psycheck.view.gate_trend import gates_of, trend_of
from psycheck.view.pages import Places
from psycheck.view.run_index import listed_runs
from psycheck.view.two_runs import changed_cases, shared_figures
from psycheck.view.view_server import ViewServer

POSTS = {"text": [*POSITIVE, *NEGATIVE], "depression": [1] * len(POSITIVE) + [0] * len(NEGATIVE)}
GATES = ["f1>=0.8", "pass_rate>=0.5 where check=T1"]


def good(texts: list[str]) -> list[float]:
    return [oracle(text) for text in texts]


def blind(texts: list[str]) -> list[float]:
    return [0.2 + len(text) / 1000 for text in texts]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two runs, of which only the second may show texts; and what is not a run."""
    place = tmp_path_factory.mktemp("runs")
    settings: dict[str, Any] = {"gates": GATES, "label": "depression", "store": place / "s.sqlite"}
    psycheck.audit(blind, POSTS, out=place / "monday", **settings)
    psycheck.audit(good, POSTS, out=place / "inner" / "tuesday", show_texts=True, **settings)
    (place / "broken").mkdir()
    (place / "broken" / "findings.jsonl").write_text("")
    (place / "broken" / "run.json").write_text("[")
    return place


@contextmanager
def served(*folders: Path, show_texts: bool = False) -> Iterator[ViewServer]:
    with ViewServer(Places(folders, show_texts=show_texts)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def status_of(server: ViewServer, path: str, **headers: str) -> int:
    connection = HTTPConnection("127.0.0.1", server.server_port)
    connection.request("GET", path, headers=headers)
    status = connection.getresponse().status
    connection.close()
    return status


def page(address: str) -> str:
    with urllib.request.urlopen(address) as reply:
        content: str = reply.read().decode()
        return content


def test_runs_are_found_below_a_folder_the_newest_first(runs: Path) -> None:
    found = listed_runs([runs])
    assert [run.name for run in found] == ["inner/tuesday", "monday"]
    assert [run.holding for run in found] == [2, 1]
    assert listed_runs([runs / "monday"])[0].name == "monday"


def test_a_gate_over_time_has_the_figure_of_each_run(runs: Path) -> None:
    found = listed_runs([runs])
    assert set(gates_of(found)) == set(GATES)
    trend = trend_of("f1>=0.8", found)
    assert trend.bound == 0.8
    assert [(point.model, point.holds) for point in trend.points] == [("blind", False), ("good", True)]
    f1 = [psycheck.open_run(run.folder).findings.where(measure="f1")[0].value for run in reversed(found)]
    assert [point.value for point in trend.points] == pytest.approx(f1)


def test_two_runs_have_their_figures_and_changed_cases_side_by_side(runs: Path) -> None:
    tuesday, monday = listed_runs([runs])
    figures = shared_figures(monday, tuesday)
    (f1,) = [row for row in figures if row["measure"] == "f1"]
    assert (f1["value"], f1["value_second"], f1["difference"]) == (0.0, 1.0, 1.0)

    changed = changed_cases(monday, tuesday, page=0, size=2)
    tables = [pl.read_parquet(run.folder / "cases.parquet") for run in (monday, tuesday)]
    keys = ["check", "id"]
    left, right = (table.with_columns(pl.col("check", "outcome").cast(pl.String)) for table in tables)
    expected = left.join(right, on=keys).filter(pl.col("outcome") != pl.col("outcome_right"))
    assert changed.total == len(expected) > 2
    assert len(changed.rows) == 2


def test_only_the_address_with_its_token_opens_anything(runs: Path) -> None:
    with served(runs) as server:
        own = f"127.0.0.1:{server.server_port}"
        assert status_of(server, f"/{server.token}/", Host=own) == 200
        assert status_of(server, "/", Host=own) == 404
        assert status_of(server, f"/{server.token.swapcase()}/", Host=own) == 404
        # A name that someone else's page points to this machine.
        assert status_of(server, f"/{server.token}/", Host="evil.example") == 404
        for path in (
            "run/../../etc",
            "run/none",
            "cases",
            "run/%2e%2e%2fmonday",
            "nowhere",
            "compare/?first=x",
        ):
            assert status_of(server, f"/{server.token}/{path}", Host=own) == 404
        request = urllib.request.Request(server.address, b"x", method="POST")
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(request)
        assert server.server_address[0] == "127.0.0.1"


def test_texts_are_shown_only_when_asked_for_and_allowed_by_the_run(runs: Path) -> None:
    tuesday, monday = listed_runs([runs])
    shown = [json.loads(line) for line in (tuesday.folder / "shown.jsonl").read_text().splitlines()]
    check = shown[0]["check"]
    for show_texts in (False, True):
        with served(runs, show_texts=show_texts) as server:
            of_tuesday = page(f"{server.address}cases/{tuesday.key}?check={check}")
            assert ("<q>" in of_tuesday) is show_texts
            assert "<q>" not in page(f"{server.address}cases/{monday.key}?check={check}")


def test_a_person_walks_through_the_pages(runs: Path, chromium: Browser) -> None:
    tab = chromium.new_page(viewport={"width": 1280, "height": 800})
    problems: list[str] = []
    tab.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    tab.on("pageerror", lambda error: problems.append(str(error)))
    with served(runs) as server:
        tab.goto(server.address)
        expect(tab.locator("tr.run")).to_have_count(2)
        tab.fill("#search", "monday blind")
        expect(tab.locator("tr.run:visible")).to_have_count(1)
        tab.fill("#search", "")

        # The two newest are chosen already: the older first.
        tab.click("text=Compare the two chosen")
        expect(tab.locator("h2 a")).to_have_text(["monday", "inner/tuesday"])
        expect(tab.locator(".pager")).to_contain_text("in all, page 1 of 1")

        tab.click("nav a")
        tab.click("text=Gates over time")
        tab.select_option("select", "f1>=0.8")
        tab.click("text=Show")
        expect(tab.locator("svg.trend circle")).to_have_count(1)
        expect(tab.locator("svg.trend rect.fails")).to_have_count(1)

        tab.click("nav a")
        tab.locator("tr.run", has_text="tuesday").get_by_text("cases").click()
        tab.select_option("select[name=outcome]", "unchanged")
        tab.click("text=Show")
        assert set(tab.locator("tbody td:nth-child(5)").all_text_contents()) == {"unchanged"}

        tab.click("h1 a")
        expect(tab.locator(".card").first).to_be_visible()
        tab.set_viewport_size({"width": 390, "height": 800})
        tab.goto(server.address)
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    assert problems == []
    tab.close()
