"""The cases behind the figures, grouped by check; texts only on request."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from psycheck.core.finding import Finding
from psycheck.core.run import PAIRS, Run, Shown
from psycheck.report.check_claims import checks_of, edit_effect
from psycheck.report.display_names import natural
from psycheck.report.numbers import count, decimal
from psycheck.report.sections import by, grouped, unique

OUTCOMES = ("failed", "unanswered", "undecided", "unseen", "unchanged", "passed")
AROUND = 140  # characters of a text before and after an edit
PRINTED = 60  # failing ids in print, where the cases are folded
DIGITS = range(2, 17)  # of a score
CaseKey = tuple[str, str, str, str]  # suite, check, model, corpus


@dataclass(frozen=True, slots=True)
class Case:
    """One row: id, outcome, scores and, if the run shows texts, the text with the edit marked."""

    id: str
    outcome: str
    scores: str
    text: Markup | None


@dataclass(frozen=True, slots=True)
class CaseGroup:
    """The shown cases of one check on one corpus with one model; figures link to the anchor."""

    anchor: str
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
    rates = {case_key(rate): rate for rate in checks_of(run)}
    # Figures elsewhere on the page link here, so that both use the same numbers.
    anchors = case_anchors(run)
    groups = []
    for head, cases_of_check in _cases_by_check(run).items():
        suite, check, model, corpus = head
        # What somebody looks for comes first: failures, and of these the largest change.
        cases = sorted(cases_of_check, key=case_order)
        tally = Counter(case.outcome for case in cases)
        outcomes_counted = [f"{count(number)} {outcome}" for outcome, number in tally.items()]
        rate = rates.get(head)
        groups.append(
            CaseGroup(
                anchor=anchors[head],
                suite=suite,
                check=check,
                model=model,
                corpus=corpus,
                tally=", ".join(outcomes_counted),
                cases=case_rows(run, cases),
                failing=_failing_ids(cases),
                rate=rate,
                about=edit_effect(rate) if rate and rate.tested else "",
            )
        )
    return tuple(groups)


def case_key(finding: Finding) -> CaseKey:
    """The check, model and corpus of a pass rate, as its cases have them."""
    suite, check, model, corpus = by("suite", "check", "model", "corpus")(finding)
    return suite, check, model, corpus


def case_anchors(run: Run) -> dict[CaseKey, str]:
    """Where on the page the cases of each check, model and corpus are."""
    return {head: f"cases-{number}" for number, head in enumerate(_cases_by_check(run), start=1)}


def _cases_by_check(run: Run) -> dict[CaseKey, list[Shown]]:
    """The shown cases of each check on each corpus with each model, in the order of the page."""
    cases_by_check = grouped(
        _cases_of_checks(run),
        lambda case: (
            case.suite,
            case.check,
            case.model,
            case.corpus,
        ),
    )

    def page_order(head: CaseKey) -> tuple[object, ...]:
        suite, check, *place = head
        return suite, natural(check), place

    in_order = sorted(cases_by_check, key=page_order)
    return {head: cases_by_check[head] for head in in_order}


def case_order(case: Shown) -> tuple[object, ...]:
    """A sort key: failures first, then the largest change of the score."""
    # An outcome that is not listed comes last.
    rank = [*OUTCOMES, case.outcome].index(case.outcome)
    largest_first = -_change(case)
    return rank, largest_first, natural(case.id), case.variant


def _failing_ids(cases: Sequence[Shown]) -> str:
    """The first failing ids, and how many more there are."""
    ids = unique(case.id for case in cases if case.outcome == "failed")
    text = ", ".join(ids[:PRINTED])
    if len(ids) > PRINTED:
        text += f" and {count(len(ids) - PRINTED)} more in findings.jsonl"
    return text


def outcomes(run: Run) -> list[str]:
    """The outcomes among the shown cases, failures first."""
    occurring = {case.outcome for case in _cases_of_checks(run)}
    usual = [outcome for outcome in OUTCOMES if outcome in occurring]
    return usual + sorted(occurring - set(OUTCOMES))


def pair_cases(run: Run) -> dict[tuple[str, str, str], tuple[Case, ...]]:
    """The shown gender pairs whose decision changes, by label, model and corpus, the largest change first."""
    pairs = [case for case in run.shown if case.suite == PAIRS]
    pairs.sort(key=lambda pair: (-_change(pair), natural(pair.id)))
    pairs_by_place = grouped(pairs, lambda pair: (pair.check, pair.model, pair.corpus))
    return {place: case_rows(run, pairs_there) for place, pairs_there in pairs_by_place.items()}


def _cases_of_checks(run: Run) -> list[Shown]:
    return [case for case in run.shown if case.suite != PAIRS]


def marked(text: str, spans: Sequence[tuple[int, int]], around: int = AROUND) -> Markup:
    """A text with the edited spans marked; parts far from every edit are left out."""
    # A text may have been shortened for the page after it was edited.
    inside = [(max(0, start), min(len(text), stop)) for start, stop in spans if start < stop]
    html = Markup()
    end = 0
    for start, stop in sorted(inside):
        if start < end:  # spans may overlap; the first is marked
            continue
        before = text[end:start]
        if len(before) > 2 * around:
            # Keep what follows the last edit and what precedes this one.
            after_last_edit = f"{_first_words(before, around)} " if end else ""
            before = f"{after_last_edit}… {_last_words(before, around)}"
        html += escape(before) + Markup("<mark>{}</mark>").format(text[start:stop])
        end = stop

    remainder = text[end:]
    room = around if end else 2 * around
    if len(remainder) > room:
        remainder = f"{_first_words(remainder, room)} …"
    return html + remainder


def _first_words(text: str, room: int) -> str:
    """The beginning of a text, without a word that is cut."""
    cut = text[:room]
    return cut.rpartition(" ")[0] or cut


def _last_words(text: str, room: int) -> str:
    """The end of a text, without a word that is cut."""
    cut = text[-room:]
    return cut.partition(" ")[2] or cut


def case_rows(run: Run, cases: Sequence[Shown]) -> tuple[Case, ...]:
    """Cases with as many digits, at least two, as keep both scores on their side of the threshold."""
    chosen_thresholds = run.plan.get("thresholds") or {}
    default = {"": run.plan.get("threshold", 0.5)}
    rows = []
    for case in cases:
        thresholds_of_model = chosen_thresholds.get(case.model) or default
        thresholds = list(thresholds_of_model.values())
        # "0.50 → 0.50" would hide that a decision changes.
        digits = _digits((case.before, case.after), thresholds)
        before = _score(case.before, digits)
        after = _score(case.after, digits)
        text = None if case.text is None else marked(case.text, case.spans)
        rows.append(
            Case(
                id=case.id,
                outcome=case.outcome,
                scores=f"{before} → {after}",
                text=text,
            )
        )
    return tuple(rows)


def _digits(scores: Sequence[float], thresholds: Sequence[float]) -> int:
    """The fewest digits with which no rounded score crosses a threshold."""

    def sides(values: Sequence[float]) -> list[bool]:
        return [value >= threshold for value in values for threshold in thresholds]

    for digits in DIGITS:
        rounded = [round(score, digits) for score in scores]
        if sides(rounded) == sides(scores):
            return digits
    return DIGITS.stop


def _score(score: float, digits: int) -> str:
    is_missing = score != score  # NaN
    return "no answer" if is_missing else decimal(score, digits)


def _change(case: Shown) -> float:
    """How far the score moves; 0 where a score is missing."""
    change = abs(case.after - case.before)
    is_missing = change != change  # NaN
    return 0.0 if is_missing else change
