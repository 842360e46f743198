"""The page of improve says what was measured, and first what it brings elsewhere."""

import re
from dataclasses import replace

from psycheck.core.finding import Finding, Findings
from psycheck.core.run import Run
from psycheck.report.studies.improve_claims import improvement_headlines
from psycheck.runs.pages import pages_of


def figure(measure: str, value: float, flag: str, **where: str) -> Finding:
    place = {"audit": "improve", "trained_on": "posts", "label": "depression", "seed": "0", **where}
    return Finding(measure, value, 40, interval=(value - 0.1, value + 0.1), where=place, flags=(flag,))


def run() -> Run:
    findings = []
    for corpus, flag, gain in (
        ("posts", "in_distribution", -0.01),
        ("notes", "out_of_distribution", 0.05),
    ):
        where = {"corpus": corpus, "arm": "augmented", "model": "m"}
        for measure, decision, change in (
            ("macro_f1", "0.5", gain),
            ("macro_f1", "dev", gain / 2),
            ("auc", "ranking", 0.02),
        ):
            findings += [figure(measure, 0.7, flag, decision=decision, **where)]
            findings += [figure(f"{measure}_change", change, flag, decision=decision, **where)]
        cut = figure("threshold", 0.437, flag, decision="dev", **where)
        findings.append(replace(cut, interval=None))
    plan = {"verb": "improve", "corpora": [{"name": "posts"}, {"name": "notes"}]}
    return Run(plan=plan, environment={}, findings=Findings(findings))


def test_the_verdict_is_the_change_on_the_other_corpora() -> None:
    page = pages_of(run())["report.html"]
    found = re.search(r'class="verdict">(.*?)</p>', page)
    assert found is not None
    assert re.sub("<[^>]*>", "", found[1]) == (
        "The arm “augmented” is not shown to change macro-F1: "
        "it changes by 0.025 (−0.075 to 0.125) on notes, with both models at their dev thresholds."
    )
    assert "not tested in this run" not in page
    assert "on its own corpus: macro-F1 at 0.5 −0.010" in page


def change(arm: str, interval: tuple[float, float]) -> Finding:
    where = {"arm": arm, "decision": "dev", "corpus": "notes"}
    return Finding(
        "macro_f1_change",
        sum(interval) / 2,
        80,
        interval=interval,
        where=where,
        flags=("out_of_distribution",),
    )


def test_where_the_threshold_suffices_the_verdict_says_so_with_the_command() -> None:
    findings = [change("plain", (0.05, 0.15)), change("augmented", (-0.05, 0.07))]
    first, arm, suffices = improvement_headlines(findings, "psycheck threshold models/a depression=0.3")
    assert first.rule == "improve.threshold_first"
    assert arm.rule == "improve.not_shown"
    assert suffices.rule == "improve.threshold_suffices"
    assert first.remedy == suffices.remedy == "psycheck threshold models/a depression=0.3"


def test_an_arm_that_beats_the_threshold_raises() -> None:
    findings = [change("plain", (0.05, 0.15)), change("augmented", (0.02, 0.1))]
    rules = [claim.rule for claim in improvement_headlines(findings)]
    assert rules[:2] == ["improve.threshold_first", "improve.rises"]
    assert "improve.threshold_suffices" not in rules


def test_the_page_says_which_threshold_dev_chose() -> None:
    page = pages_of(run())["report.html"]
    assert ">threshold</th>" in page
    assert page.count(">0.437</td>") == 2  # both tests


def test_without_a_change_the_page_claims_none() -> None:
    empty = Run(plan={"verb": "improve"}, environment={}, findings=Findings())
    assert "No change could be measured." in pages_of(empty)["report.html"]
