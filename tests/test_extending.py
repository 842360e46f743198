"""An audit, a measure and a model kind from outside the package, as docs/how-to/extend.md shows them."""

import re
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import polars as pl
import pytest
from markupsafe import Markup

import psycheck
from psycheck.audits.gates import Gate
from psycheck.audits.history_edits import Histories
from psycheck.audits.jobs import plan_jobs
from psycheck.audits.performance import Performance
from psycheck.audits.plan import Settings
from psycheck.audits.registered import split_audits
from psycheck.commands.audit import run_audit
from psycheck.core.audit import Judgement
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput
from psycheck.core.finding import Finding, Findings
from psycheck.core.measure import catalogue
from psycheck.core.registry import AUDITS, MODEL_KINDS
from psycheck.core.run import Run
from psycheck.report.sections import Section, UnshownFindings
from psycheck.runs.folder import open_run
from psycheck.runs.pages import pages_of

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "extend.md"
MODULES = ("capitals_rate", "capitals", "keyword_model")
# "tired" is found in the first two alone; in capitals in none: 2 of 4 decisions change.
POSTS = Corpus.of(
    "posts",
    ["I am tired", "so tired of it", "a walk in the park", "TIRED"],
    labels={"depression": [1, 1, 0, 1]},
)


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The files of the page in a folder that Python imports from; yields the audit's module."""
    folder = tmp_path / "outside"
    folder.mkdir()
    for name, code in re.findall(r"```python\n# (\w+)\.py\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL):
        (folder / f"{name}.py").write_text(code, "utf-8")
    monkeypatch.syspath_prepend(str(folder))
    with MODEL_KINDS.adding("keyword", import_module("keyword_model").KIND):
        yield import_module("capitals")
    for name in MODULES:
        sys.modules.pop(name, None)


def test_an_audit_a_measure_and_a_model_kind_work_from_one_file_each(outside: Any, tmp_path: Path) -> None:
    run = psycheck.audit(
        "keyword:tired?name=words&weight=0.8",
        POSTS,
        audits=[outside.Capitals(), "performance"],
        gates=["capitals_rate<=0.4 where label=depression", "accuracy>=0.7"],
        out=tmp_path / "run",
    )
    (rate,) = [f for f in run.findings if f.measure == "capitals_rate"]
    assert (rate.value, rate.n, sorted(rate.examples)) == (0.5, 4, ["1", "2"])
    assert rate.where == {"audit": "capitals", "model": "words", "corpus": "posts", "label": "depression"}
    assert [gate.holds for gate in run.gates] == [False, True]
    assert run.exit_code == 1
    assert run.plan["audits"] == ("performance", "capitals")
    assert pl.read_parquet(tmp_path / "run" / "capitals-cases.parquet")["changed"].sum() == 2
    page = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert '<h2 id="h-own-capitals">Does the decision depend on capitals?</h2>' in page
    assert "Decisions changed by capitals" in page
    assert "50 % (9–91)" in re.sub("<[^>]+>", "", page)
    case = Xml.parse(tmp_path / "run" / "junit.xml").find("testsuite[@name='capitals']/testcase")
    assert case is not None
    assert case.get("name") == "capitals_rate: model words, corpus posts, label depression"
    failure = case.find("failure")
    assert failure is not None
    assert failure.get("message") == "50 % (9–91) breaks capitals_rate<=0.4 where label=depression"


def test_the_folder_alone_holds_what_an_outside_audit_needs(outside: Any, tmp_path: Path) -> None:
    psycheck.audit("keyword:tired", POSTS, audits=[outside.Capitals()], out=tmp_path / "run")
    sys.modules.pop("capitals")
    opened = open_run(tmp_path / "run")
    assert opened.own_audits[0].measures[0].title == "Decisions changed by capitals"
    drawn = pages_of(opened)
    assert drawn == {name: (tmp_path / "run" / name).read_text("utf-8") for name in drawn}


def test_a_gate_on_an_outside_measure_knows_its_direction_and_keys(outside: Any, tmp_path: Path) -> None:
    audits = [outside.Capitals()]
    # Many texts, because a gate fails on what is shown: of these a quarter changes.
    texts = [f"{text} Day {day}." for day in range(40) for text in POSTS.texts]
    posts = Corpus.of("posts", texts, labels={"depression": POSTS.targets()[:, 0].tolist() * 40})
    psycheck.audit("keyword:walk", posts, audits=audits, out=tmp_path / "old")
    gate = Gate("capitals_rate", no_worse_than=str(tmp_path / "old"))
    for word, holds in (("tired", False), ("walk", True), ("nothing", True)):
        model = psycheck.open_model(f"keyword:{word}")
        run = run_audit([model], [posts], Settings(audits=(), gates=(gate,)), audit_objects=audits)
        assert run.gates[0].holds is holds
    with pytest.raises(BadInput, match="gate has a condition on 'kind'"):
        psycheck.audit("keyword:tired", POSTS, audits=audits, gates=["capitals_rate<=1 where kind=DIR"])
    with pytest.raises(BadInput, match="measure that this run does not have: 'accuracy'"):
        psycheck.audit("keyword:tired", POSTS, audits=audits, gates=["accuracy>=0.1"])


def test_an_outside_audit_needs_no_labels(outside: Any) -> None:
    bare = Corpus.of("bare", POSTS.texts)
    run = psycheck.audit("keyword:tired", bare, audits=[outside.Capitals()])
    assert [f.value for f in run.findings if f.measure == "capitals_rate"] == [0.5]


class Own:
    """An audit that asks for nothing and reports one figure."""

    name = "own"
    measures: tuple[str, ...] = ("accuracy",)

    def __init__(self, section: str | None = None) -> None:
        if section is not None:
            self.section = lambda findings: section

    def ask(self, corpus: Corpus) -> list[str]:
        return []

    def judge(self, corpus: Corpus, scores: object) -> Judgement:
        return Judgement((Finding("accuracy", 0.25, 4, None, {"audit": "performance"}),))


def test_every_shipped_audit_declares_what_one_from_outside_does() -> None:
    declared = [
        *plan_jobs([], [], Settings(suites=("symptoms",))).audits,
        *plan_jobs([], [], Settings(suites=("symptoms",), audits=("length",))).audits,
        Histories(),  # runs where models score histories
    ]
    shipped = {name: AUDITS.get(name) for name in AUDITS.names() if AUDITS.is_ours(name)}
    assert {type(audit) for audit in declared} == set(shipped.values())
    assert {audit.name.split(":")[0] for audit in declared} == set(shipped)
    empty = UnshownFindings(Run({}, {}, Findings()))
    for audit in declared:
        assert split_audits([audit]) == ([], [audit])  # name, measures, ask and judge
        assert set(audit.measures) <= set(catalogue())
        assert shipped[audit.name.split(":")[0]].section(empty) == []


def weather_section(unshown: UnshownFindings) -> list[Section]:
    return [Section("weather", "Weather", Markup("<p>wet</p>"))]


def test_the_page_walks_the_sections_that_shipped_audits_declare(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run({}, {}, Findings([Finding("accuracy", 0.5, 4, None, {"audit": "performance"})]))
    assert '<a href="#performance">Performance</a>' in pages_of(run)["report.html"]
    monkeypatch.setattr(Performance, "section", staticmethod(weather_section))
    page = pages_of(run)["report.html"]
    assert '<a href="#weather">Weather</a>' in page
    assert "<p>wet</p>" in page
    assert 'id="performance"' not in page
    assert "Findings that have no section of their own" in page


class Tabled(Own):
    def judge(self, corpus: Corpus, scores: object) -> Judgement:
        return Judgement(super().judge(corpus, scores).findings, {"rows": pl.DataFrame({"id": corpus.ids})})

    def section(self, findings: UnshownFindings) -> str:
        return f"{len(findings)} finding, {len(findings.run.tables['own-rows'])} rows"


def test_a_section_from_outside_sees_its_findings_and_the_tables_of_the_run(outside: Any) -> None:
    run = psycheck.audit("keyword:tired", POSTS, audits=[Tabled(), "performance"])
    assert run.own_audits[0].section == "1 finding, 4 rows"


@pytest.mark.parametrize(
    ("section", "drawn"),
    [
        ("<b>1 < 2</b>", "<div>&lt;b&gt;1 &lt; 2&lt;/b&gt;</div>"),
        (Markup("<b>one</b>"), "<div><b>one</b></div>"),
        (None, "<caption>Findings of audit own</caption>"),
    ],
)
def test_a_section_is_escaped_unless_it_is_markup(section: str | None, drawn: str, outside: Any) -> None:
    run = psycheck.audit("keyword:tired", POSTS, audits=[Own(section), "performance"])
    assert drawn in pages_of(run)["report.html"]


def test_findings_of_an_outside_audit_stay_out_of_the_other_sections(outside: Any) -> None:
    run = psycheck.audit("keyword:tired", POSTS, audits=[Own()])
    assert {f.where["audit"] for f in run.findings if f.measure == "accuracy"} == {"own"}
    assert 'id="performance"' not in pages_of(run)["report.html"]


class Skipping(Own):
    def skips(self, corpus: Corpus) -> str | None:
        return "it is Monday"


def test_an_audit_says_why_it_skips_a_corpus(outside: Any) -> None:
    run = psycheck.audit("keyword:tired", POSTS, audits=[Skipping(), "performance"])
    assert "posts: not judged by audit 'own': it is Monday" in run.notes
    assert {f.where["audit"] for f in run.findings} == {"performance"}


class Undeclared(Own):
    measures = ("f1",)


class Shapeless(Own):
    def judge(self, corpus: Corpus, scores: object) -> Any:
        return []


class Misnamed(Own):
    name = "performance"


@pytest.mark.parametrize(
    ("audits", "wrong"),
    [
        ([Undeclared()], "reports the measure 'accuracy', which it does not declare"),
        ([Shapeless()], "judge returned list"),
        ([Misnamed()], "an audit cannot be called 'performance'"),
        ([Own(), Own()], "two of the audit names are 'own'"),
        ([object()], "object is not an audit: it has no name, measures, ask, judge"),
        (["lenght"], "length"),
    ],
)
def test_what_is_not_an_audit_is_refused(audits: Sequence[Any], wrong: str, outside: Any) -> None:
    with pytest.raises(BadInput, match=wrong):
        psycheck.audit("keyword:tired", POSTS, audits=audits)
