"""What was tested and what was not: missing answers, samples, and checks without a value."""

from psycheck.core.errors import counted
from psycheck.core.finding import Finding
from psycheck.core.run import Run
from psycheck.report.check_claims import checks_of
from psycheck.report.display_names import listed, natural, place_of, where_named, why_untested
from psycheck.report.headlines import sentence
from psycheck.report.numbers import count
from psycheck.report.sections import grouped

AUDITS = {
    "behaviour": "behaviour",
    "performance": "performance and calibration",
    "fairness": "fairness between groups",
}


def unanswered(run: Run) -> list[str]:
    """How many texts and cases have no usable answer, and what the figures use instead."""
    lines = []
    for finding in run.findings:
        counts = finding.counts
        missing = counts.get("unanswered", 0)
        if not missing:
            continue

        if finding.measure == "accuracy":
            texts = f"to {count(missing)} of {counted(counts['annotated'], 'annotated text')}"
            consequence = f"; performance is measured on the other {count(finding.n)}"
            lines.append(_unanswered_line(run, finding, texts, consequence))
        elif finding.measure == "flip_rate":
            # A text that the swap leaves as it is makes no pair.
            pairs = counted(counts["generated"] - counts["unchanged"], "gender pair")
            lines.append(
                _unanswered_line(
                    run,
                    finding,
                    f"in {count(missing)} of {pairs}",
                    "",
                )
            )

    # One line for all checks of a place: a suite has dozens.
    for checks in grouped(checks_of(run), place_of).values():
        missing = sum(check.counts.get("unanswered", 0) for check in checks)
        generated = sum(check.counts.get("generated", 0) for check in checks)
        if missing:
            cases = f"in {count(missing)} of {counted(generated, 'case')} of the checks"
            lines.append(
                _unanswered_line(
                    run,
                    checks[0],
                    cases,
                    "; these neither pass nor fail",
                )
            )
    return lines


def _unanswered_line(run: Run, finding: Finding, missing: str, consequence: str) -> str:
    return sentence(
        "tested.unanswered",
        missing=missing,
        where=where_named(finding, run.findings),
        rest=consequence,
    )


def sampled(run: Run) -> list[str]:
    """How many cases were asked, where a budget allowed for some only."""
    budget = run.plan.get("budget")
    if not budget:
        return []

    checks = checks_of(run)
    requested = sum(check.counts.get("generated", 0) for check in checks)
    not_requested = sum(check.counts.get("not_asked", 0) for check in checks)
    return [
        sentence(
            "tested.sampled",
            asked=count(requested),
            cases=counted(requested + not_requested, "case"),
            calls=counted(budget, "call"),
        )
    ]


def untested(run: Run) -> list[str]:
    """Every check without a value, one line per reason."""
    checks = checks_of(run)
    without_value = [check for check in checks if not check.tested]
    by_reason = grouped(without_value, lambda check: (check.where["check"], why_untested(check)))

    # Checks with the same reason at the same places share a line.
    lines: dict[tuple[str, str], list[str]] = {}
    for (name, reason), findings in by_reason.items():
        where = ""
        everywhere = len(findings) == sum(check.where["check"] == name for check in checks)
        if not everywhere:
            places = ", ".join(where_named(finding, run.findings).strip(" ,") for finding in findings)
            where = f" ({places})" if places else ""
        lines.setdefault((reason, where), []).append(name)

    sentences = [
        sentence(
            "tested.no_value",
            checks=listed(sorted(names, key=natural)),
            where=where,
            reason=reason,
        )
        for (reason, where), names in lines.items()
    ]

    # What was not run is not shown to be in order.
    audits = {finding.where.get("audit", "") for finding in run.findings}
    missing = [words for audit, words in AUDITS.items() if audit not in audits]
    if missing:
        sentences.append(sentence("tested.not_run", audits=listed(missing)))
    return sentences
