"""The cases behind the figures, grouped by check; texts only with --show-texts."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from psycheck.report.numbers import count, decimal
from psycheck.report.words import natural
from psycheck.run import PAIRS, Run, Shown

OUTCOMES = ("failed", "unanswered", "undecided", "unseen", "unchanged", "passed")
AROUND, PRINTED = 140, 60


@dataclass(frozen=True, slots=True)
class Case:
    """One row: id, outcome, scores and, if the run shows texts, the text with the edit marked."""

    id: str
    outcome: str
    scores: str
    text: Markup | None


@dataclass(frozen=True, slots=True)
class CaseGroup:
    """The shown cases of one check on one corpus with one model."""

    model: str
    corpus: str
    suite: str
    check: str
    tally: str
    cases: tuple[Case, ...]
    failing: str


def case_groups(run: Run) -> tuple[CaseGroup, ...]:
    """The shown cases by check, model and corpus; failing ones first, the largest change of score first."""
    groups: dict[tuple[str, str, str, str], list[Shown]] = {}
    for case in _of_checks(run):
        groups.setdefault((case.suite, case.check, case.model, case.corpus), []).append(case)
    ordered = sorted(groups.items(), key=lambda group: (group[0][0], natural(group[0][1]), group[0][2:]))
    return tuple(_group(*head, cases) for head, cases in ordered)


def outcomes(run: Run) -> list[str]:
    """The outcomes among the shown cases, failures first."""
    met = {case.outcome for case in _of_checks(run)}
    return [name for name in OUTCOMES if name in met] + sorted(met - set(OUTCOMES))


def pair_cases(run: Run) -> dict[tuple[str, str, str], tuple[Case, ...]]:
    """The shown gender pairs whose decision changes, by label, model and corpus, the largest change first."""
    out: dict[tuple[str, str, str], list[Shown]] = {}
    for case in run.shown:
        if case.suite == PAIRS:
            out.setdefault((case.check, case.model, case.corpus), []).append(case)
    return {
        head: tuple(_case(case) for case in sorted(cases, key=lambda c: (-_change(c), natural(c.id))))
        for head, cases in out.items()
    }


def _of_checks(run: Run) -> list[Shown]:
    return [case for case in run.shown if case.suite != PAIRS]


def marked(text: str, spans: Sequence[tuple[int, int]]) -> Markup:
    """A text with the edited spans marked; parts far from every edit are left out."""
    parts: list[Markup] = []
    end = 0
    for start, stop in sorted((max(0, a), min(len(text), b)) for a, b in spans if a < b):
        if start < end:
            continue
        parts += [
            _between(text[end:start], first=end == 0),
            Markup("<mark>{}</mark>").format(text[start:stop]),
        ]
        end = stop
    rest = text[end:]
    cut = 2 * AROUND if end == 0 else AROUND
    parts.append(escape(rest) if len(rest) <= cut else escape(rest[:cut]) + " …")
    return Markup().join(parts)


def _between(text: str, *, first: bool) -> Markup:
    """The text between two edits, shortened if long."""
    if len(text) <= 2 * AROUND:
        return escape(text)
    start = text[:AROUND] if not first else ""
    return escape(start) + (" … " if start else "… ") + escape(text[-AROUND:])


def _group(suite: str, check: str, model: str, corpus: str, cases: list[Shown]) -> CaseGroup:
    rank = {name: position for position, name in enumerate(OUTCOMES)}
    ordered = sorted(
        cases, key=lambda c: (rank.get(c.outcome, len(rank)), -_change(c), natural(c.id), c.variant)
    )
    met = dict.fromkeys(case.outcome for case in ordered)
    tally = ", ".join(f"{count(sum(c.outcome == name for c in cases))} {name}" for name in met)
    failing = list(dict.fromkeys(case.id for case in ordered if case.outcome == "failed"))
    more = f" and {count(len(failing) - PRINTED)} more in findings.jsonl" if len(failing) > PRINTED else ""
    return CaseGroup(
        model, corpus, suite, check, tally, tuple(map(_case, ordered)), ", ".join(failing[:PRINTED]) + more
    )


def _case(case: Shown) -> Case:
    before, after = (
        ("no answer" if value != value else decimal(value, 2)) for value in (case.before, case.after)
    )
    text = None if case.text is None else marked(case.text, case.spans)
    return Case(case.id, case.outcome, f"{before} → {after}", text)


def _change(case: Shown) -> float:
    change = abs(case.after - case.before)
    return change if change == change else 0.0
