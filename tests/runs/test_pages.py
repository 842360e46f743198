"""Pages are found by the verb of a run, and drawn from its folder as they were drawn from the run itself."""

import subprocess
import sys
from pathlib import Path

import pytest

from psycheck.commands.compare import compare_corpora
from psycheck.core.finding import Finding, Findings
from psycheck.core.headline import Headline
from psycheck.core.registry import PAGES
from psycheck.core.run import Page, Run
from psycheck.corpora.distances import Comparing
from psycheck.runs.folder import open_run
from psycheck.runs.pages import pages_of, registered_page, save, with_headlines
from psycheck.studies.corpora_study import study_corpora
from psycheck.studies.gender_study import study_gender
from refusals import refused
from tools.demo_corpora.domains import generate

QUICK = Comparing(parts=("words",), texts=60)


@pytest.mark.parametrize("verb", ["compare", "study corpora", "study gender"])
def test_a_folder_holds_what_its_pages_are_drawn_from(verb: str, tmp_path: Path) -> None:
    notes, tweets = generate("notes", 240, 21), generate("tweets", 120, 21)
    match verb:
        case "compare":
            compare_corpora([notes, tweets], encoder="tfidf", how=QUICK, out=tmp_path)
        case "study corpora":
            study_corpora([notes, tweets], encoder="tfidf", how=QUICK, out=tmp_path)
        case _:
            study_gender(notes, out=tmp_path, encoder="tfidf", names=["lr"])
    opened = open_run(tmp_path)
    assert opened.plan["verb"] == verb
    drawn = pages_of(opened)
    assert drawn == {name: (tmp_path / name).read_text("utf-8") for name in drawn}
    assert drawn.keys() == {"report.html"} | ({"study.md"} if verb.startswith("study") else set())


AUDITED = Run({}, {}, Findings([Finding("accuracy", 0.5, 4, where={"audit": "performance"})]))
# A page may build on another one, as that of `improve` builds on the audit's.
MODULES = {registered_page(verb).draw.__module__ for verb in PAGES.names()}


@pytest.mark.parametrize("verb", PAGES.names())
def test_every_page_of_ours_declares_how_it_is_drawn_and_its_verdict(verb: str) -> None:
    page = registered_page(verb)
    assert callable(page.draw)
    assert callable(page.verdict)
    assert PAGES.is_ours(verb)


@pytest.mark.parametrize("module", ["comparison_page", "diff_page", "bias_page", "curation_page"])
def test_a_page_imports_no_other_page(module: str) -> None:
    name = f"psycheck.report.{module}"
    code = f"import sys, {name}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert MODULES & set(done.stdout.split()) == {name}


def _weather(run: Run) -> dict[str, str]:
    return {"report.html": f"wet, {len(run.findings)} findings. {run.verdict}"}


def test_a_page_from_outside_is_drawn_for_its_verb_with_its_own_headlines() -> None:
    run = Run({"verb": "weather"}, {}, Findings())
    page = Page(draw=_weather, verdict=lambda run: [Headline("weather.rain", "It rained.")])
    with PAGES.adding("weather", page):
        assert pages_of(run) == {"report.html": "wet, 0 findings. It rained."}


def test_a_page_without_a_verdict_has_no_headlines() -> None:
    run = Run({"verb": "weather"}, {}, Findings())
    with PAGES.adding("weather", Page(draw=_weather)):
        assert with_headlines(run) == run
        assert pages_of(run) == {"report.html": "wet, 0 findings. "}


def test_a_plain_function_is_a_page_without_a_verdict() -> None:
    run = Run({"verb": "weather"}, {}, Findings())
    with PAGES.adding("weather", _weather):  # type: ignore[arg-type]  # as older packages register it
        assert pages_of(run) == {"report.html": "wet, 0 findings. "}


@pytest.mark.parametrize("verb", [None, "", "of a package that is gone", 3])
def test_a_run_without_a_page_of_its_own_gets_that_of_an_audit(verb: object) -> None:
    run = Run({"verb": verb}, {}, AUDITED.findings)
    pages = pages_of(run)
    assert pages.keys() == {"report.html", "junit.xml"}
    assert 'id="performance"' in pages["report.html"]


def test_the_verdict_is_made_once_and_read_from_the_folder(tmp_path: Path) -> None:
    saved = save(AUDITED, tmp_path)
    assert [headline.rule for headline in saved.headlines] == ["run.nothing"]
    assert open_run(tmp_path).headlines == saved.headlines

    # What the folder holds is printed, even if it would be made otherwise today.
    claim = Headline("run.nothing", "It rained.", "warning", "Take an umbrella.", ({"measure": "rain"},), 0.5)
    (tmp_path / "headlines.jsonl").write_text(claim.as_json() + "\n", "utf-8")
    (read,) = open_run(tmp_path).headlines
    assert (read, read.least) == (claim, 0.5)
    pages = pages_of(open_run(tmp_path))
    assert "It rained." in pages["report.html"]
    assert '<property name="run.nothing" value="It rained." />' in pages["junit.xml"]


def test_the_verdict_of_an_older_folder_is_made_when_its_pages_are_drawn(tmp_path: Path) -> None:
    saved = save(AUDITED, tmp_path)
    (tmp_path / "headlines.jsonl").unlink()
    opened = open_run(tmp_path)
    assert opened.headlines == ()
    assert with_headlines(opened).headlines == saved.headlines
    assert pages_of(opened)["report.html"] == (tmp_path / "report.html").read_text("utf-8")


def test_a_run_without_a_folder_has_a_verdict_too() -> None:
    assert save(AUDITED, None).verdict == with_headlines(AUDITED).headlines[0].sentence


@pytest.mark.parametrize(
    "line", ["[]", "{}", "{", '{"figures": 3}', '{"rule": "a", "sentence": "\\ud800", "figures": []}']
)
def test_broken_headlines_are_one_clear_error(line: str, tmp_path: Path) -> None:
    save(AUDITED, tmp_path)
    (tmp_path / "headlines.jsonl").write_text(line, "utf-8")
    with refused("run.unreadable-headlines", where="headlines.jsonl"):
        open_run(tmp_path)
