"""Findings as JUnit XML, for continuous integration."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from xml.etree import ElementTree as Xml

from psycheck.core.finding import Finding
from psycheck.core.headline import Headline
from psycheck.core.run import GateResult, OwnAudit, Run
from psycheck.report.check_claims import checks_of
from psycheck.report.display_names import order, why_untested
from psycheck.report.numbers import count, plain
from psycheck.report.outside_audits import place_of_own, value_of, without_own
from psycheck.report.sections import by, grouped

_XML_HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_COUNTED = {
    "tests": "testcase",
    "failures": "failure",
    "skipped": "skipped",
}  # attribute and its element
BrokenGates = dict[tuple[object, ...], list[str]]  # the gates that a finding breaks, by its identity


@dataclass(frozen=True, slots=True)
class _Case:
    """What a testcase says of a finding: its name, the value as text, and why it has none."""

    name: str
    finding: Finding
    value: str
    untested: str
    seconds: float = 0.0


def junit(run: Run) -> str:
    """One testcase per check, model and corpus, per finding of an own audit, and per gate.

    Only what breaks a gate fails. The headlines are properties of a suite of their own. All texts of a model
    are scored together: a check's time is the model's scoring time, shared out by the number of cases.
    """
    root = Xml.Element("testsuites", name="psycheck")
    broken_gates = _broken_gates(run.gates)

    if run.headlines:
        _add_headlines(_add_suite(root, "verdict"), run.headlines)
    _add_checks(
        root,
        checks_of(without_own(run)),
        broken_gates,
        _seconds_per_case(run),
    )
    for audit in run.own_audits:
        suite = _add_suite(root, audit.name)
        for finding in run.findings.where(audit=audit.name):
            _add_case(suite, _own_case(finding, audit), broken_gates)
    if run.gates:
        _add_gates(_add_suite(root, "gates"), run.gates)

    _count_outcomes(root)
    Xml.indent(root, " ")
    content = Xml.tostring(root, encoding="unicode")
    return f"{_XML_HEAD}\n{content}\n"


def _broken_gates(gates: Iterable[GateResult]) -> BrokenGates:
    # A gate keeps copies of its findings, so they are recognised by what they say.
    broken: BrokenGates = {}
    for gate in gates:
        if gate.holds:
            continue
        for finding in gate.failing:
            broken.setdefault(_identity(finding), []).append(gate.gate)
    return broken


def _count_outcomes(root: Xml.Element) -> None:
    """Write how many cases each suite, and all of them together, have."""
    for element in (*root, root):
        for attribute, tag in _COUNTED.items():
            outcomes = element.findall(f".//{tag}")
            element.set(attribute, str(len(outcomes)))

        times = [float(case.get("time", "0")) for case in element.iter("testcase")]
        element.set("time", _seconds(sum(times)))
        # Errors of the run itself stop it before a report is written.
        element.set("errors", "0")


def _seconds_per_case(run: Run) -> dict[str, float]:
    """The seconds that scoring took, per case of the checks, by model; cached scores took none."""
    cases: Counter[str] = Counter()
    for check in checks_of(without_own(run)):
        cases[check.where.get("model", "")] += check.n

    seconds = {}
    for model, tally in run.environment.get("texts", {}).items():
        if cases[model]:
            seconds[model] = tally.get("seconds", 0.0) / cases[model]
    return seconds


def _add_checks(
    root: Xml.Element,
    checks: Sequence[Finding],
    broken_gates: BrokenGates,
    seconds_by_model: Mapping[str, float],
) -> None:
    """One suite per model, corpus and suite of checks."""
    for place, findings in grouped(checks, by("model", "corpus", "suite")).items():
        # Programs that show JUnit group by dots; an empty part would shift the others.
        name = ".".join(part or "-" for part in place)
        suite = _add_suite(root, name)
        model, _, _ = place
        seconds = seconds_by_model.get(model, 0.0)
        for case in _check_cases(findings):
            timed_case = replace(case, seconds=seconds * case.finding.n)
            _add_case(suite, timed_case, broken_gates)


def _check_cases(findings: Sequence[Finding]) -> Iterable[_Case]:
    """The cases of checks on one corpus with one model; the label tells checks of one name apart."""
    names = Counter(map(_name, findings))
    for finding in sorted(findings, key=order):
        name = _name(finding)
        if names[name] > 1:
            name += f" [{finding.where.get('label', '')}]"
        yield _Case(
            name=name,
            finding=finding,
            value=plain(finding),
            untested=f"not tested: {why_untested(finding)}",
        )


def _own_case(finding: Finding, audit: OwnAudit) -> _Case:
    return _Case(
        name=f"{finding.measure}: {place_of_own(finding)}",
        finding=finding,
        value=value_of(finding, audit),
        untested="not tested",
    )


def _add_suite(root: Xml.Element, name: str) -> Xml.Element:
    return Xml.SubElement(
        root,
        "testsuite",
        name=_legal(name),
    )


def _add_headlines(suite: Xml.Element, headlines: Iterable[Headline]) -> None:
    properties = Xml.SubElement(suite, "properties")
    for headline in headlines:
        values = {
            headline.rule: headline.sentence,
            f"{headline.rule}.severity": headline.severity,
            f"{headline.rule}.remedy": headline.remedy,
        }
        for name, value in values.items():
            if value:
                Xml.SubElement(
                    properties,
                    "property",
                    name=name,
                    value=_legal(value),
                )


def _add_case(suite: Xml.Element, case: _Case, broken_gates: BrokenGates) -> None:
    finding = case.finding
    element = _add_testcase(suite, case.name, case.seconds)
    gates = broken_gates.get(_identity(finding))
    if gates:
        ids = ", ".join(finding.examples)
        message = f"{case.value} breaks {'; '.join(gates)}"
        _add_failure(element, message, f"failing ids: {ids}" if ids else "")
    elif not finding.tested:
        Xml.SubElement(
            element,
            "skipped",
            message=_legal(case.untested),
        )

    outcomes = [f"{name} {count(number)}" for name, number in finding.counts.items()]
    ledger = ", ".join(outcomes)
    output = Xml.SubElement(element, "system-out")
    output.text = _legal(f"{case.value}, n {count(finding.n)}; {ledger}")


def _add_gates(suite: Xml.Element, gates: Iterable[GateResult]) -> None:
    for gate in gates:
        element = _add_testcase(suite, gate.gate)
        lines = "\n".join(gate.lines)
        if not gate.holds:
            _add_failure(element, gate.reason, lines)
        elif lines:
            Xml.SubElement(element, "system-out").text = _legal(lines)


def _add_testcase(suite: Xml.Element, name: str, seconds: float = 0.0) -> Xml.Element:
    classname = suite.get("name", "")
    return Xml.SubElement(
        suite,
        "testcase",
        name=_legal(name),
        classname=classname,
        time=_seconds(seconds),
    )


def _add_failure(case: Xml.Element, message: str, text: str) -> None:
    failure = Xml.SubElement(
        case,
        "failure",
        message=_legal(message),
        type="gate",
    )
    failure.text = _legal(text) or None


def _seconds(seconds: float) -> str:
    # Microseconds: a check of few cases takes less than a millisecond, and the sum should still be right.
    return f"{seconds:.6f}"


def _identity(finding: Finding) -> tuple[object, ...]:
    """What makes a finding of a gate the same as one of the run."""
    return (finding.measure, finding.n, *sorted(finding.where.items()))


def _name(finding: Finding) -> str:
    check = finding.where["check"]
    title = finding.where.get("title", "")
    return f"{check} {title}".strip()


def _legal(text: str) -> str:
    """XML allows no control characters."""
    return _ILLEGAL.sub("\ufffd", text)
