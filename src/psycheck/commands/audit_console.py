"""What `psycheck audit` prints: the forecast of a dry run, the verdict, and the gates."""

import json
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from psycheck.commands.colours import say
from psycheck.commands.console import print_json, print_notes, span
from psycheck.core.errors import counted
from psycheck.core.finding import SCHEMA_VERSION

if TYPE_CHECKING:
    from psycheck.core.run import GateResult, Run

CAUTION = "caution"
_MOST_FIGURES = 10  # of a gate on the console; all are in junit.xml
_METRICS = ("accuracy", "accuracy_over_trivial", "f1", "auc", "brier", "ece", "pass_rate", "flip_rate")
# Notes with these words matter even to those who do not open the report.
_URGENT = ("could not be scored", "incomplete", "decision threshold of")


def print_forecast(tallies: Mapping[str, Mapping[str, Any]], *, as_json: bool) -> None:
    """Print how many texts each model would score, and the time or the requests that this takes."""
    if as_json:
        print_json(dry_run=True, texts=tallies)
        return

    for name, tally in tallies.items():
        effort = _requests(tally) or f"about {span(tally['seconds'])}"
        typer.echo(f"{_counts(name, tally)} to score, {effort}")


def print_checked_scores(run: "Run") -> None:
    """Print, for each model, whether stored scores that were checked are still what the model answers."""
    for name, tally in run.environment["texts"].items():
        # Stored scores are checked only of models that ask for it (`recheck`).
        if not tally["checked"]:
            continue

        state = f"{tally['dropped']:,} dropped" if tally["dropped"] else "unchanged"
        checked = f"{tally['checked']} stored scores checked"
        typer.echo(f"cache: '{name}': {checked}: {state}", err=True)


def print_audit(run: "Run", folder: Path, *, as_json: bool, quiet: bool) -> None:
    """Print the verdict, the gates and where the report is; only gates that fail if `quiet`."""
    # On standard error, so that --json and --quiet print them too and standard output stays JSON.
    urgent_notes = [note for note in run.notes if _is_urgent(note)]
    print_notes(urgent_notes, even_if_quiet=True)
    if as_json:
        typer.echo(json.dumps(_summary(run, folder), indent=1))
        return

    if not quiet:
        for line in _verdict_lines(run):
            say(line)
    for gate in run.gates:
        if not (quiet and gate.holds):
            _print_gate(gate, folder)
    if not quiet:
        say(f"report: {folder / 'report.html'}")


def _is_urgent(note: str) -> bool:
    return any(words in note for words in _URGENT)


def _summary(run: "Run", folder: Path) -> dict[str, Any]:
    """The run for programs."""
    from psycheck.report.tested import unanswered
    from psycheck.report.verdict import headlines

    metrics = []
    for finding in run.findings:
        if finding.measure in _METRICS:
            metric = finding.as_record()
            # Ids of cases are for the report; they would drown the figures here.
            metric.pop("examples", None)
            metrics.append(metric)

    gates = [
        {
            "gate": gate.gate,
            "holds": gate.holds,
            "reason": gate.reason,
            "figures": gate.lines,
        }
        for gate in run.gates
    ]
    return {
        "schema_version": SCHEMA_VERSION,
        "report": str(folder / "report.html"),
        "findings": str(folder / "findings.jsonl"),
        "texts": run.environment["texts"],
        "verdict": headlines(run),
        "metrics": metrics,
        "unanswered": unanswered(run),
        "gates": gates,
        "incomplete": run.incomplete,
        "exit_code": run.exit_code,
    }


def _verdict_lines(run: "Run") -> Iterator[str]:
    from psycheck.report.tested import sampled, unanswered

    for name, tally in run.environment["texts"].items():
        line = f"{_counts(name, tally)} scored"
        requests = _requests(tally)
        yield f"{line}, {requests}" if requests else line

    # What limits the verdict comes before it: a sample of the texts, labels without an answer.
    yield from sampled(run)
    yield from unanswered(run)
    yield from _headline_lines(run)


def _headline_lines(run: "Run") -> Iterator[str]:
    """The sentences of the verdict; those that claim a fault with their severity, and what helps."""
    from psycheck.report.verdict import headlines_of

    claims = headlines_of(run)
    for claim, following in zip_longest(claims, claims[1:]):
        if not claim.alarm:
            yield claim.sentence
            continue

        kind = claim.rule.partition(".")[0]
        yield f"{kind if kind == CAUTION else claim.severity}: {claim.sentence}"
        # One command may help against several faults, and is printed below the last.
        helps_next = following is not None and following.remedy == claim.remedy
        if claim.remedy and not helps_next:
            yield f"  do: {claim.remedy}"


def _print_gate(gate: "GateResult", folder: Path) -> None:
    state = "holds" if gate.holds else "FAILS"
    say(f"gate {state}: {gate.gate} ({gate.reason})")
    for line in gate.lines[:_MOST_FIGURES]:
        typer.echo(f"  {line}")
    further_figures = len(gate.lines) - _MOST_FIGURES
    if further_figures > 0:
        typer.echo(f"  and {further_figures:,} more: {folder / 'junit.xml'}")


def _counts(name: str, tally: Mapping[str, Any]) -> str:
    requested = counted(tally["asked"], "text")
    cached = f"{tally['remembered']:,} cached, {tally['scored']:,}"
    return f"{name}: {requested} requested, {tally['distinct']:,} distinct, {cached}"


def _requests(tally: Mapping[str, Any]) -> str:
    """Requests, tokens and cost of a model that replies in words; empty for others."""
    if not tally.get("requests"):
        return ""

    # A cost of None means that the prices are not known, which is not a cost of 0.
    tokens = f"{tally['prompt_tokens']:,} tokens in, {tally['completion_tokens']:,} out"
    cost = "" if tally["cost"] is None else f", cost {tally['cost']:,.2f}"
    unreadable = f", {tally['unreadable']:,} unreadable" if tally["unreadable"] else ""
    return f"{counted(tally['requests'], 'request')}, {tokens}{cost}{unreadable}"
