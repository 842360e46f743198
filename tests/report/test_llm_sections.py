"""What the report shows of LLMs: the curve of a cascade, who decided, its costs, and how replies agree."""

from psycheck.core.finding import Finding, Findings
from psycheck.core.run import Run
from psycheck.report.audit_page import render

WHERE = {"audit": "performance", "model": "cheap+llm", "corpus": "posts", "label": "depression"}


def _point(measure: str, asked: int, value: float, **more: str) -> Finding:
    return Finding(
        measure=measure,
        value=value,
        n=200,
        interval=(value - 0.1, value + 0.05),
        where=WHERE | {"asked": f"{asked / 200:.4f}", **more},
        counts={"asked": asked, "saved": 200 - asked},
    )


def _figure(measure: str, value: float, counts: dict[str, int], **where: str) -> Finding:
    return Finding(
        measure=measure,
        value=value,
        n=200,
        interval=(value * 0.9, value * 1.1),
        where=WHERE | where,
        counts=counts,
    )


CURVE = [
    _point("cascade_f1", 0, 0.7),
    _point("cascade_accuracy", 0, 0.75),
    _point("cascade_f1", 80, 0.8, chosen="yes"),
    _point("cascade_accuracy", 80, 0.85, chosen="yes"),
]
DECIDED = _figure("asked_share", 0.4, {"cheap": 115, "llm": 75, "person": 10}, label="all")
SEAM = _figure("seam_changes", 0.25, {})
COSTS = [
    _figure("cost_per_text", 12.5, {"asked": 80, "person": 10}, decided_by="cascade"),
    _figure("cost_per_text", 20.0, {"asked": 0, "person": 0}, decided_by="cheap"),
]


def _page(*findings: Finding) -> str:
    return render(Run(plan={}, environment={}, findings=Findings(findings)))


def test_the_curve_marks_the_band_of_the_run_and_counts_the_calls_saved() -> None:
    page = _page(*CURVE, DECIDED, SEAM, *COSTS)
    assert 'id="cascade"' in page
    assert page.count("the band of this run: 40 % asked") == 1
    assert "40 % ◆" in page
    assert "saved 120 calls" in page
    for count in ("115", "75", "10"):
        assert count in page
    assert 'id="other"' not in page  # nothing is left over


def test_without_annotations_the_section_says_who_decided() -> None:
    page = _page(DECIDED)
    assert "saved 120 calls" in page
    assert "F1 by the share of texts asked about" not in page


def test_figures_on_replies_have_a_table_of_their_own() -> None:
    changes = _figure("wording_changes", 0.3, {"wordings": 3}, by="wording")
    consistency = _figure("self_consistency", 0.9, {"samples": 5}, label="all")
    page = _page(changes, consistency)
    assert 'id="replies"' in page
    assert "3 wordings" in page
    assert "5 samples" in page
    assert 'id="other"' not in page


def test_a_run_without_llms_has_neither_section() -> None:
    page = _page(_figure("f1", 0.8, {}))
    assert 'id="cascade"' not in page
    assert 'id="replies"' not in page
