"""Findings as JUnit XML, for continuous integration."""

import re
from collections import Counter
from xml.etree import ElementTree as Xml

from psycheck.finding import Finding
from psycheck.report.numbers import count, plain
from psycheck.report.own import findings_of, place_of_own, value_of, without_own
from psycheck.report.words import order, why_untested
from psycheck.run import GateResult, Run

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(run: Run) -> str:
    """One testcase per check, model and corpus, per finding of an own audit, and per gate.

    Only what breaks a gate fails.
    """
    broken: dict[tuple[object, ...], list[str]] = {}
    for gate in run.gates:
        for finding in gate.failing if not gate.holds else ():
            broken.setdefault(_identity(finding), []).append(gate.gate)
    suites: dict[str, list[Finding]] = {}
    for finding in without_own(run).findings:
        if finding.measure == "pass_rate" and finding.where.get("check"):
            suites.setdefault(_classname(finding), []).append(finding)
    root = Xml.Element("testsuites", name="psycheck")
    for name, findings in suites.items():
        names = Counter(_name(finding) for finding in findings)
        suite = Xml.SubElement(root, "testsuite", name=_legal(name))
        for finding in sorted(findings, key=order):
            label = f" [{finding.where.get('label', '')}]" if names[_name(finding)] > 1 else ""
            reason = f"not tested: {why_untested(finding)}"
            failing = broken.get(_identity(finding), [])
            _case(suite, finding, _name(finding) + label, plain(finding), failing, reason)
    for audit in run.own_audits:
        suite = Xml.SubElement(root, "testsuite", name=_legal(audit.name))
        for finding in findings_of(audit, run):
            name = f"{finding.measure}: {place_of_own(finding)}"
            failing = broken.get(_identity(finding), [])
            _case(suite, finding, name, value_of(finding, audit), failing, "not tested")
    if run.gates:
        suite = Xml.SubElement(root, "testsuite", name="gates")
        for gate in run.gates:
            _gate(suite, gate)
    for suite in (*root, root):
        for key, tag in (("tests", "testcase"), ("failures", "failure"), ("skipped", "skipped")):
            suite.set(key, str(len(suite.findall(f".//{tag}"))))
        suite.set("errors", "0")
    Xml.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def _case(
    suite: Xml.Element, finding: Finding, name: str, value: str, gates: list[str], untested: str
) -> None:
    classname = suite.get("name", "")
    case = Xml.SubElement(suite, "testcase", name=_legal(name), classname=classname, time="0")
    if gates:
        message = _legal(f"{value} breaks {'; '.join(gates)}")
        failure = Xml.SubElement(case, "failure", message=message, type="gate")
        failure.text = _legal("failing ids: " + ", ".join(finding.examples)) if finding.examples else None
    elif not finding.tested:
        Xml.SubElement(case, "skipped", message=_legal(untested))
    ledger = ", ".join(f"{name} {count(number)}" for name, number in finding.counts.items())
    Xml.SubElement(case, "system-out").text = _legal(f"{value}, n {count(finding.n)}; {ledger}")


def _gate(suite: Xml.Element, gate: GateResult) -> None:
    case = Xml.SubElement(suite, "testcase", name=_legal(gate.gate), classname="gates", time="0")
    if not gate.holds:
        failure = Xml.SubElement(case, "failure", message=_legal(gate.reason), type="gate")
        failure.text = _legal("\n".join(map(_line, gate.failing))) or None


def _line(finding: Finding) -> str:
    where = ", ".join(f"{key} {value}" for key, value in finding.where.items() if key != "title" and value)
    return f"{finding.measure} {plain(finding)}, n {count(finding.n)}: {where}"


def _identity(finding: Finding) -> tuple[object, ...]:
    return (finding.measure, finding.n, *sorted(finding.where.items()))


def _name(finding: Finding) -> str:
    return f"{finding.where['check']} {finding.where.get('title', '')}".strip()


def _classname(finding: Finding) -> str:
    return ".".join(finding.where.get(key, "") or "-" for key in ("model", "corpus", "suite"))


def _legal(text: str) -> str:
    """XML allows no control characters."""
    return _ILLEGAL.sub("\ufffd", text)
