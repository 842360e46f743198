from collections.abc import Callable
from dataclasses import replace
from xml.etree import ElementTree as Xml

from psycheck.audits.gates import judge_gates, parse_gate
from psycheck.core.finding import Finding, Findings
from psycheck.core.run import Run
from psycheck.report.junit import junit

MakeRun = Callable[..., Run]


def gated(run: Run, *gates: str) -> Run:
    return replace(run, gates=judge_gates([parse_gate(gate) for gate in gates], run.findings))


def test_one_testcase_a_check_model_and_corpus(make_run: MakeRun) -> None:
    root = Xml.fromstring(junit(make_run(models=("a", "b"), corpora=("posts", "tweets"))).encode())
    assert len(root.findall(".//testcase")) == 4 * 19
    assert {case.get("classname") for case in root.iter("testcase")} == {
        "a.posts.deck",
        "a.tweets.deck",
        "b.posts.deck",
        "b.tweets.deck",
    }
    first = next(root.iter("testcase"))
    assert first.get("name") == "T1 he becomes she"


def test_without_a_gate_nothing_fails_and_untested_is_skipped(make_run: MakeRun) -> None:
    root = Xml.fromstring(junit(make_run()).encode())
    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("19", "0", "1")
    skipped = root.find(".//testcase[skipped]")
    assert skipped is not None
    assert skipped.get("name") == "T6 they, he and she become I"
    reason = skipped.find("skipped")
    assert reason is not None
    assert reason.get("message") == "not tested: the edit changes no text"


def test_what_breaks_a_gate_fails_and_so_does_the_gate(make_run: MakeRun) -> None:
    run = gated(make_run(), "pass_rate>=0.7 where kind=DIR", "f1>=0.5")
    root = Xml.fromstring(junit(run).encode())
    failed = [
        case.get("name", "").split()[0] for case in root.iter("testcase") if case.find("failure") is not None
    ]
    assert failed == ["T8", "T13", "T23", "pass_rate>=0.7"]
    gates = root.find("testsuite[@name='gates']")
    assert gates is not None
    assert (gates.get("tests"), gates.get("failures")) == ("2", "1")
    failure = gates.find(".//failure")
    assert failure is not None
    assert failure.get("message") == "3 of 13 outside the bound"
    assert failure.text is not None
    assert len(failure.text.splitlines()) == 3
    out = gates.find("testcase[@name='f1>=0.5']/system-out")
    assert out is not None
    assert out.text is not None
    assert out.text.startswith("f1 0.")
    assert root.get("failures") == "4"


def test_an_untested_check_that_a_gate_asks_for_fails(make_run: MakeRun) -> None:
    root = Xml.fromstring(junit(gated(make_run(), "pass_rate>=0.1 where check=T6")).encode())
    assert (root.get("failures"), root.get("skipped")) == ("2", "0")


def test_checks_of_two_labels_have_two_names(make_run: MakeRun) -> None:
    root = Xml.fromstring(junit(make_run(labels=("depression", "anxiety"))).encode())
    names = [case.get("name") for case in root.iter("testcase")]
    assert len(names) == len(set(names)) == 38
    assert "T1 he becomes she [anxiety]" in names


def test_titles_with_markup_and_control_characters_stay_well_formed() -> None:
    where = {"model": "m", "corpus": "c", "suite": "s", "check": "T1", "title": 'adds: <b>"&\x00\x1b'}
    root = Xml.fromstring(
        junit(
            Run({}, {}, Findings([Finding("pass_rate", 1.0, 3, interval=(0.4, 1.0), where=where)]))
        ).encode()
    )
    assert next(root.iter("testcase")).get("name") == 'T1 adds: <b>"&\ufffd\ufffd'


def test_the_scoring_time_of_a_model_is_shared_out_by_cases() -> None:
    def check(name: str, n: int) -> Finding:
        where = {"model": "m", "corpus": "c", "suite": "s", "check": name, "title": ""}
        return Finding("pass_rate", 1.0, n, interval=(0.4, 1.0), where=where)

    run = Run({}, {"texts": {"m": {"seconds": 6.0}}}, Findings([check("T1", 10), check("T2", 30)]))
    root = Xml.fromstring(junit(run).encode())
    times = {case.get("name"): float(case.get("time", "")) for case in root.iter("testcase")}
    assert times == {"T1": 1.5, "T2": 4.5}
    assert float(root.get("time", "")) == 6.0
    assert float(root[0].get("time", "")) == 6.0
