"""The cases behind the figures, grouped by check; texts only on request."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from psycheck.finding import Finding
from psycheck.report.headlines import checks_of, passing, unedited
from psycheck.report.numbers import count, decimal
from psycheck.report.shelf import by, grouped, unique
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

    suite: str
    check: str
    model: str
    corpus: str
    tally: str
    cases: tuple[Case, ...]
    failing: str
    rate: Finding | None
    about: str


def case_groups(run: Run) -> tuple[CaseGroup, ...]:
    """The shown cases by check, model and corpus; failing ones first, the largest change of score first."""
    ranks = {name: rank for rank, name in enumerate(OUTCOMES)}
    groups = grouped(_of_checks(run), lambda c: (c.suite, c.check, c.model, c.corpus))
    rates = {by("suite", "check", "model", "corpus")(f): f for f in checks_of(run)}
    out = []
    for head in sorted(groups, key=lambda head: (head[0], natural(head[1]), head[2:])):
        cases = sorted(
            groups[head],
            key=lambda c: (ranks.get(c.outcome, len(ranks)), -_change(c), natural(c.id), c.variant),
        )
        tally = ", ".join(f"{count(n)} {name}" for name, n in Counter(c.outcome for c in cases).items())
        ids = unique(case.id for case in cases if case.outcome == "failed")
        more = f" and {count(len(ids) - PRINTED)} more in findings.jsonl" if len(ids) > PRINTED else ""
        check, failing = rates.get(head), ", ".join(ids[:PRINTED]) + more
        about = f"{passing(check)}{unedited(check)}" if check and check.tested else ""
        out.append(CaseGroup(*head, tally, _cases(run, cases), failing, check, about))
    return tuple(out)


def outcomes(run: Run) -> list[str]:
    """The outcomes among the shown cases, failures first."""
    met = {case.outcome for case in _of_checks(run)}
    return [name for name in OUTCOMES if name in met] + sorted(met - set(OUTCOMES))


def pair_cases(run: Run) -> dict[tuple[str, str, str], tuple[Case, ...]]:
    """The shown gender pairs whose decision changes, by label, model and corpus, the largest change first."""
    pairs = sorted((c for c in run.shown if c.suite == PAIRS), key=lambda c: (-_change(c), natural(c.id)))
    heads = grouped(pairs, lambda c: (c.check, c.model, c.corpus))
    return {head: _cases(run, cases) for head, cases in heads.items()}


def _of_checks(run: Run) -> list[Shown]:
    return [case for case in run.shown if case.suite != PAIRS]


def marked(text: str, spans: Sequence[tuple[int, int]]) -> Markup:
    """A text with the edited spans marked; parts far from every edit are left out."""
    out = Markup()
    end = 0
    for start, stop in sorted((max(0, a), min(len(text), b)) for a, b in spans if a < b):
        if start < end:
            continue
        before = text[end:start]
        if len(before) > 2 * AROUND:
            before = f"{before[:AROUND]} … {before[-AROUND:]}" if end else f"… {before[-AROUND:]}"
        out += escape(before) + Markup("<mark>{}</mark>").format(text[start:stop])
        end = stop
    rest, most = text[end:], AROUND if end else 2 * AROUND
    return out + (rest if len(rest) <= most else f"{rest[:most]} …")


def _cases(run: Run, cases: Sequence[Shown]) -> tuple[Case, ...]:
    """Rows with as many digits, at least two, as keep both scores on their side of the threshold."""
    chosen, out = run.plan.get("thresholds") or {}, []
    for case in cases:
        both = (case.before, case.after)
        cuts = [*(chosen.get(case.model) or {"": run.plan.get("threshold", 0.5)}).values()]
        sides = [value >= cut for value in both for cut in cuts]
        fits = (d for d in range(2, 17) if [round(v, d) >= cut for v in both for cut in cuts] == sides)
        digits = next(fits, 17)
        before, after = ("no answer" if value != value else decimal(value, digits) for value in both)
        text = None if case.text is None else marked(case.text, case.spans)
        out.append(Case(case.id, case.outcome, f"{before} → {after}", text))
    return tuple(out)


def _change(case: Shown) -> float:
    change = abs(case.after - case.before)
    return change if change == change else 0.0
