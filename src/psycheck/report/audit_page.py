"""A run as one HTML file that works offline: no fonts or scripts from elsewhere."""

import json
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from psycheck.core.errors import counted
from psycheck.core.finding import Finding, Findings
from psycheck.core.headline import Headline
from psycheck.core.registry import AUDITS
from psycheck.core.run import Page, Run
from psycheck.report.cards import cards, glance
from psycheck.report.cases import case_groups, outcomes
from psycheck.report.cautions import commands
from psycheck.report.check_claims import checks_of
from psycheck.report.checks import blocks
from psycheck.report.display_names import file_text, listed
from psycheck.report.gender_claims import judged_pairs
from psycheck.report.group_claims import compared_columns
from psycheck.report.junit import junit
from psycheck.report.learned import learned
from psycheck.report.numbers import count
from psycheck.report.outside_audits import own_section, unclaimed_table, without_own
from psycheck.report.page import draw
from psycheck.report.sections import Section, UnshownFindings, by, unique
from psycheck.report.tested import sampled, unanswered, untested
from psycheck.report.verdict import headlines, headlines_of

# Sections take their findings in this order: what two of them could show goes to the first.
SECTION_ORDER = ("performance", "behaviour", "fairness", "length", "histories")
Draw = Callable[[UnshownFindings], list[Section]]


def pages(run: Run) -> dict[str, str]:
    """The files of an audit."""
    return {"report.html": render(run), "junit.xml": junit(run)}


def verdict(run: Run) -> tuple[Headline, ...]:
    """The headlines of an audit."""
    return headlines_of(run)


PAGE = Page(draw=pages, verdict=verdict)


def render(run: Run) -> str:
    """Draw the report of a run as one HTML page; it selects, sorts and formats findings and computes none."""
    shipped = without_own(run)
    # Each section takes what it shows; the table of other findings shows what is left.
    unshown = UnshownFindings(shipped)
    cautions = unshown.take(lambda finding: finding.measure == "caution", by("corpus", "sentence"))
    cautions_shown = list(cautions.values())
    own_sections = [own_section(audit, run) for audit in run.own_audits]
    sections = [*_shipped_sections(unshown), *own_sections]
    groups = case_groups(shipped)
    first_cards, more_cards = cards(run)
    on_cards = "\n".join(card.remedy for card in (*first_cards, *more_cards))
    # The page allows only the script with this hash to run.
    script = file_text("report.js")

    return draw(
        "audit",
        shipped,
        script=Markup(script),
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
        models=_names(shipped, "model", "models"),
        corpora=_names(shipped, "corpus", "corpora"),
        date=str(run.environment.get("date") or run.environment.get("finished") or ""),
        glance=glance(run),
        cards=first_cards,
        more_cards=more_cards,
        learned=learned(shipped),
        tested=_tested(shipped),
        untested=untested(shipped),
        cautions=cautions_shown,
        # A command on a card is not shown twice.
        commands=[command for command in commands(cautions_shown) if command not in on_cards],
        left_out=_left_out(run),
        sections=sections,
        blocks=blocks(UnshownFindings(shipped)),
        others=unclaimed_table(unshown),
        groups=groups,
        outcomes=outcomes(run),
        choices={
            "check": unique(group.check for group in groups),
            "model": unique(group.model for group in groups),
            "corpus": unique(group.corpus for group in groups),
        },
        with_texts=any(case.text is not None for case in run.shown),
        environment=list(_facts(run.environment)),
        replies=_replies(run),
        plan=json.dumps(
            dict(run.plan),
            indent=1,
            ensure_ascii=False,
            default=str,
        ),
        run=run,
    )


def _shipped_sections(unshown: UnshownFindings) -> list[Section]:
    """The sections that the shipped audits declare; the checks come first."""
    sections: list[Section] = []
    for draw_section in _declared():
        sections += draw_section(unshown)

    # The sort is stable: all others keep their order.
    sections.sort(key=lambda section: section.anchor != "checks")
    return sections


def _declared() -> Iterator[Draw]:
    """What draws the sections of each shipped audit; audits from outside have left theirs in the run."""
    shipped = [name for name in AUDITS.names() if AUDITS.is_ours(name)]
    shipped.sort(key=lambda name: [*SECTION_ORDER, name].index(name))
    for name in shipped:
        section = getattr(AUDITS.get(name), "section", None)
        if section is not None:
            yield section


def _replies(run: Run) -> list[dict[str, Any]]:
    """What was asked of models that reply in words, model by model."""
    replies = []
    for model, tally in run.environment.get("texts", {}).items():
        # Other models leave a number here, and have nothing to tell.
        if not isinstance(tally, Mapping):
            continue
        if tally.get("requests") or tally.get("unreadable"):
            replies.append({"model": model, **tally})
    return replies


def _planned(run: Run, key: str) -> dict[str, Mapping[str, Any]]:
    """The models or corpora of the plan by their names."""
    planned = {}
    for entry in run.plan.get(key, ()):
        # Some plans hold bare names.
        facts = entry if isinstance(entry, Mapping) else {"name": entry}
        planned[str(facts.get("name", ""))] = facts
    return planned


def _names(run: Run, key: str, planned: str) -> list[str]:
    """The names in the findings, or those of the plan if there are no findings."""
    # A finding with "by" is a mean over several models or corpora.
    single = [finding for finding in run.findings if "by" not in finding.where]
    named = [finding.where.get(key, "") for finding in single]
    names = unique(name for name in named if name)
    return names or list(_planned(run, planned))


def _tested(run: Run) -> str:
    """What was tested, in one sentence."""
    # The checks come first, and stand alone ("0 checks") where nothing else was tested.
    checks = checks_of(run)
    subjects = ["gender pairs"] if judged_pairs(run) else []
    if columns := compared_columns(run):
        subjects.append(f"groups by {columns}")
    if run.findings.where(audit="histories"):
        subjects.append("edits of histories")
    subjects += [audit.title for audit in run.own_audits]
    if checks or not subjects:
        subjects.insert(0, _checks_tested(checks))

    corpora = listed(_corpora_with_sizes(run)) or "no corpus"
    models = listed(_names(run, "model", "models")) or "no model"
    sentence = f"{listed(subjects)} on {corpora} with {models}."
    return " ".join([sentence, *sampled(run), *unanswered(run)])


def _checks_tested(checks: Sequence[Finding]) -> str:
    """How many checks of which suites were tested: "19 checks of deck"."""
    # A check on three corpora is one check.
    suite_and_check = by("suite", "check")
    tested = {suite_and_check(check) for check in checks if check.tested}
    named_suites = [check.where.get("suite", "") for check in checks]
    suites = unique(suite for suite in named_suites if suite)
    number = counted(len(tested), "check")
    return f"{number} of {listed(suites)}" if suites else number


def _corpora_with_sizes(run: Run) -> list[str]:
    """The corpora, each with the number of its texts or authors if the plan knows it."""
    planned = _planned(run, "corpora")
    names = []
    for name in _names(run, "corpus", "corpora"):
        entry = planned.get(name, {})
        if "texts" in entry:
            unit = "author" if "histories" in entry else "text"
            names.append(f"{name} ({counted(entry['texts'], unit)})")
        else:
            names.append(name)
    return names


def _left_out(run: Run) -> list[str]:
    """The rows of each corpus that were left out, and why."""
    lines = []
    for name, entry in _planned(run, "corpora").items():
        reasons = entry.get("left_out") or {}
        rows = []
        for reason, number in reasons.items():
            words = reason.replace("_", " ")
            rows.append(f"{words} {count(number)}")
        if rows:
            lines.append(f"{name}: {', '.join(rows)}")
    return lines


def _facts(facts: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Nested facts as flat lines of a name and a value; facts without a value are left out."""
    for key, value in facts.items():
        name = f"{before}{str(key).replace('_', ' ')}"
        if isinstance(value, Mapping):
            yield from _facts(value, f"{name}, ")
        elif value is not None:
            yield name, _fact(value)


def _fact(value: object) -> str:
    """One fact as text: lists with commas, numbers with separators."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(str, value))
    if isinstance(value, float):
        return f"{value:.4g}"
    # True is an int to Python.
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)


def render_index(runs: Mapping[str, Run]) -> str:
    """One page over several runs; they come with the paths of their reports, relative to it."""
    rows = [_index_row(link, run) for link, run in runs.items()]
    return draw(
        "index",
        Run({}, {}, Findings()),
        rows=rows,
    )


def _index_row(link: str, run: Run) -> dict[str, Any]:
    verb = run.plan.get("verb", "audit")
    gates_that_hold = sum(gate.holds for gate in run.gates)
    return {
        "link": quote(link),
        "name": link.rpartition("/")[0],
        "date": run.environment.get("date", ""),
        "models": list(run.environment.get("models", ())),
        "corpora": list(run.environment.get("corpora", ())),
        "verdict": headlines(run)[0] if verb == "audit" else verb,
        "gates": f"{gates_that_hold} of {len(run.gates)} hold" if run.gates else "–",
    }
