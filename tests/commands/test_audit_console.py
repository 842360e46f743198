"""What a claim says of itself: page, console, JUnit, folder and Python have one severity and one remedy."""

from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

import psycheck
from psycheck.commands.audit_console import print_audit
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Findings
from psycheck.core.headline import Headline
from psycheck.core.run import Run
from psycheck.report.headlines import headline
from psycheck.runs.folder import open_run

CAUTIONS = [
    Headline("caution.length", "Length tells.", "warning", "psycheck clean a"),
    Headline("caution.single_word", "A word tells.", "warning", "psycheck clean a"),
]
CRITICAL = headline("performance.both", subject="The model", figures="AUC 0.50")
NOTE = headline("gender.untested", why="no text names a gender")


def printed(claims: list[Headline], capsys: pytest.CaptureFixture[str]) -> list[str]:
    run = Run({}, {"texts": {}}, Findings([]), headlines=tuple(claims))
    print_audit(run, Path("out"), as_json=False, quiet=False)
    return capsys.readouterr().out.splitlines()


def test_the_console_prints_severity_and_remedy_of_what_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed([CRITICAL, NOTE], capsys)[:-1] == [
        f"critical: {CRITICAL.sentence}",
        f"  do: {CRITICAL.remedy}",
        NOTE.sentence,
    ]


def test_one_command_against_two_cautions_is_printed_once_below_both(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert printed([*CAUTIONS, NOTE], capsys)[:3] == [
        "caution: Length tells.",
        "caution: A word tells.",
        "  do: psycheck clean a",
    ]


def test_page_console_junit_and_python_share_severity_and_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = [f"I am {'sad' if k % 2 else 'fine'} on day {k}." for k in range(40)]
    corpus = Corpus.of("days", texts, labels={"depression": [float(k % 2) for k in range(40)]})
    run = psycheck.audit(always, corpus, labels="depression", suites=["deck"], out=tmp_path)
    claim = run.headlines[0]
    assert (claim.rule, claim.severity) == ("performance.constant", "critical")

    assert open_run(tmp_path).headlines[0] == claim
    print_audit(run, tmp_path, as_json=False, quiet=False)
    lines = capsys.readouterr().out.splitlines()
    assert lines[lines.index(f"critical: {claim.sentence}") + 1] == f"  do: {claim.remedy}"

    properties = Xml.parse(tmp_path / "junit.xml").findall(".//property")
    values = {entry.get("name"): entry.get("value") for entry in properties}
    assert values["performance.constant.severity"] == "critical"
    assert values["performance.constant.remedy"] == claim.remedy

    page = (tmp_path / "report.html").read_text("utf-8")
    first_card = page[page.index('<article class="card') : page.index("</article>")]
    assert first_card.startswith('<article class="card critical"')
    # The page sets commands as code.
    assert claim.remedy.split("`")[0].strip() in first_card


def always(texts: list[str]) -> list[float]:
    return [0.7 for _ in texts]
