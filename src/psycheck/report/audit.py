"""A run as one HTML file that works offline: no fonts or scripts from elsewhere."""

import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from psycheck.errors import counted
from psycheck.finding import Findings
from psycheck.report.behaviour import blocks
from psycheck.report.cases import case_groups, outcomes
from psycheck.report.comparison import commands
from psycheck.report.fairness_sentences import fairness_tested
from psycheck.report.headlines import checks_of
from psycheck.report.numbers import count
from psycheck.report.own import others, own_section, without_own
from psycheck.report.page import draw
from psycheck.report.shelf import Section, Shelf, by, unique
from psycheck.report.verdict import headlines, learned, sampled, unanswered, untested
from psycheck.report.words import file_text, listed
from psycheck.run import Run


def render(run: Run, declared: Iterable[Callable[[Shelf], list[Section]]]) -> str:
    """Draw the report of a run as one HTML page; it selects, sorts and formats findings and computes none.

    `declared` are the sections of the shipped audits; those of audits from outside come with the run.
    """
    whole, run = run, without_own(run)
    shelf = Shelf(run)
    cautions = [*shelf.take(lambda f: f.measure == "caution", by("corpus", "sentence")).values()]
    sections = [section for draw_section in declared for section in draw_section(shelf)]
    sections.sort(key=lambda section: section.anchor != "checks")  # the checks come first
    sections += [own_section(audit, whole) for audit in whole.own_audits]
    groups = case_groups(run)
    script = file_text("report.js")
    page = {
        "script": Markup(script),
        "script_hash": b64encode(sha256(script.encode()).digest()).decode(),
        "models": _names(run, "model", "models"),
        "corpora": _names(run, "corpus", "corpora"),
        "date": str(run.environment.get("date") or run.environment.get("finished") or ""),
        "headlines": headlines(run),
        "learned": learned(run),
        "tested": _tested(run),
        "untested": untested(run),
        "cautions": cautions,
        "commands": commands(cautions),
        "left_out": _left_out(run),
        "sections": sections,
        "blocks": blocks(Shelf(run)),
        "others": others(shelf),
        "groups": groups,
        "outcomes": outcomes(run),
        "choices": {key: unique(getattr(one, key) for one in groups) for key in ("check", "model", "corpus")},
        "with_texts": any(case.text is not None for case in run.shown),
        "environment": list(_facts(run.environment)),
        "replies": [
            {"model": name, **tally}
            for name, tally in run.environment.get("texts", {}).items()
            if isinstance(tally, Mapping) and (tally.get("requests") or tally.get("unreadable"))
        ],
        "plan": json.dumps(dict(run.plan), indent=1, ensure_ascii=False, default=str),
        "run": whole,
    }
    return draw("audit", run, **page)


def _planned(run: Run, key: str) -> dict[str, Mapping[str, Any]]:
    """The models or corpora of the plan by their names."""
    entries = [one if isinstance(one, Mapping) else {"name": one} for one in run.plan.get(key, ())]
    return {str(entry.get("name", "")): entry for entry in entries}


def _names(run: Run, key: str, planned: str) -> list[str]:
    """The names in the findings, or those of the plan if there are no findings."""
    found = unique(f.where[key] for f in run.findings if f.where.get(key) and "by" not in f.where)
    return found or list(_planned(run, planned))


def _tested(run: Run) -> str:
    """What was tested, in one sentence."""
    checks = checks_of(run)
    suites = unique(f.where["suite"] for f in checks if f.where.get("suite"))
    number = len({(f.where.get("suite"), f.where["check"]) for f in checks if f.tested})
    fair = fairness_tested(run)
    sizes = {name: entry["texts"] for name, entry in _planned(run, "corpora").items() if "texts" in entry}
    histories = [name for name, entry in _planned(run, "corpora").items() if "histories" in entry]
    corpora = [
        f"{name} ({counted(sizes[name], 'author' if name in histories else 'text')})"
        if name in sizes
        else name
        for name in _names(run, "corpus", "corpora")
    ]
    named = counted(number, "check") + (f" of {listed(suites)}" if suites else "")
    own = [audit.title for audit in run.own_audits]
    edited = ["edits of histories"] if any(f.where.get("audit") == "histories" for f in run.findings) else []
    others = [*fair, *edited, *own]
    tested = listed([*([named] if checks or not others else []), *others])
    models = listed(_names(run, "model", "models"))
    whole = f"{tested} on {listed(corpora) or 'no corpus'} with {models or 'no model'}."
    return " ".join([whole, *sampled(run), *unanswered(run)])


def _left_out(run: Run) -> list[str]:
    """The rows of each corpus that were left out, and why."""
    return [
        f"{name}: " + ", ".join(f"{why.replace('_', ' ')} {count(rows)}" for why, rows in left_out.items())
        for name, entry in _planned(run, "corpora").items()
        if (left_out := entry.get("left_out"))
    ]


def _facts(facts: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Nested facts as flat lines."""
    for key, value in facts.items():
        name = f"{before}{str(key).replace('_', ' ')}"
        if isinstance(value, Mapping):
            yield from _facts(value, f"{name}, ")
        elif value is None:
            continue
        elif isinstance(value, Sequence) and not isinstance(value, str):
            yield name, ", ".join(map(str, value))
        elif isinstance(value, float):
            yield name, f"{value:.4g}"
        else:
            yield name, f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def render_index(runs: Mapping[str, Run]) -> str:
    """One page over several runs; they come with the paths of their reports, relative to it."""
    rows = []
    for link, run in runs.items():
        held, kind = sum(gate.holds for gate in run.gates), run.plan.get("verb", "audit")
        row = {"link": quote(link), "name": link.rpartition("/")[0], "date": run.environment.get("date", "")}
        row |= {key: list(run.environment.get(key, ())) for key in ("models", "corpora")}
        row["verdict"] = headlines(run)[0] if kind == "audit" else kind
        row["gates"] = f"{held} of {len(run.gates)} hold" if run.gates else "–"
        rows.append(row)
    return draw("index", Run({}, {}, Findings()), rows=rows)
