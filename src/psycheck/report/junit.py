"""Findings as JUnit XML, for continuous integration."""

import re
from collections import Counter
from xml.etree import ElementTree as Xml

from psycheck.finding import Finding
from psycheck.report.numbers import count, plain
from psycheck.report.own import place_of_own, value_of, without_own
from psycheck.report.shelf import by, grouped
from psycheck.report.words import order, why_untested
from psycheck.run import Run

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(run: Run) -> str:
    """One testcase per check, model and corpus, per finding of an own audit, and per gate.

    Only what breaks a gate fails.
    """
    broken = grouped(
        [(_identity(f), gate.gate) for gate in run.gates if not gate.holds for f in gate.failing],
        lambda one: one[0],
    )
    root = Xml.Element("testsuites", name="psycheck")

    def suite_of(name: str) -> Xml.Element:
        return Xml.SubElement(root, "testsuite", name=_legal(name))

    def case(suite: Xml.Element, name: str, finding: Finding, value: str, untested: str) -> None:
        one = _case(suite, name)
        if gates := broken.get(_identity(finding)):
            ids = "failing ids: " + ", ".join(finding.examples) if finding.examples else ""
            _failure(one, f"{value} breaks {'; '.join(gate for _, gate in gates)}", ids)
        elif not finding.tested:
            Xml.SubElement(one, "skipped", message=_legal(untested))
        ledger = ", ".join(f"{name} {count(number)}" for name, number in finding.counts.items())
        Xml.SubElement(one, "system-out").text = _legal(f"{value}, n {count(finding.n)}; {ledger}")

    checks = [f for f in without_own(run).findings if f.measure == "pass_rate" and f.where.get("check")]
    for place, findings in grouped(checks, by("model", "corpus", "suite")).items():
        suite = suite_of(".".join(part or "-" for part in place))
        names = Counter(map(_name, findings))
        for f in sorted(findings, key=order):
            label = f" [{f.where.get('label', '')}]" if names[_name(f)] > 1 else ""
            case(suite, _name(f) + label, f, plain(f), f"not tested: {why_untested(f)}")
    for audit in run.own_audits:
        suite = suite_of(audit.name)
        for f in run.findings.where(audit=audit.name):
            case(suite, f"{f.measure}: {place_of_own(f)}", f, value_of(f, audit), "not tested")
    if run.gates:
        suite = suite_of("gates")
        for gate in run.gates:
            one, lines = _case(suite, gate.gate), "\n".join(gate.lines)
            if not gate.holds:
                _failure(one, gate.reason, lines)
            elif lines:
                Xml.SubElement(one, "system-out").text = _legal(lines)
    for suite in (*root, root):
        for key, tag in (("tests", "testcase"), ("failures", "failure"), ("skipped", "skipped")):
            suite.set(key, str(len(suite.findall(f".//{tag}"))))
        suite.set("errors", "0")
    Xml.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def _case(suite: Xml.Element, name: str) -> Xml.Element:
    classname = suite.get("name", "")
    return Xml.SubElement(suite, "testcase", name=_legal(name), classname=classname, time="0")


def _failure(case: Xml.Element, message: str, text: str) -> None:
    Xml.SubElement(case, "failure", message=_legal(message), type="gate").text = _legal(text) or None


def _identity(finding: Finding) -> tuple[object, ...]:
    return (finding.measure, finding.n, *sorted(finding.where.items()))


def _name(finding: Finding) -> str:
    return f"{finding.where['check']} {finding.where.get('title', '')}".strip()


def _legal(text: str) -> str:
    """XML allows no control characters."""
    return _ILLEGAL.sub("\ufffd", text)
