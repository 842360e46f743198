"""The cases that a page shows: the failing ones first, a bounded number for each check."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from psycheck.audits.fairness import Fairness
from psycheck.audits.jobs import PlannedRun
from psycheck.audits.suite import Check, Suite
from psycheck.core.corpus import Corpus
from psycheck.core.run import PAIRS, Shown
from psycheck.text.edits import Edited
from psycheck.text.gender.edits import Scope, swap

_MOST = {
    "failed": 40,
    "unanswered": 10,
    "unseen": 10,
    "passed": 10,
}
_IN_ALL = 5_000
_PLACE = ("model", "corpus", "suite", "check", "outcome")
_Edit = Callable[[Shown, str, str], Edited]
"""Makes the text of a case again, from the case, its text and the text fitted to the model."""
_Key = tuple[str, str]
"""The corpus and the id of a text."""


class _Original(NamedTuple):
    """A text as it is in the corpus, and shortened where an added sentence needs room."""

    text: str
    fitted: str


def cases_to_show(planned: PlannedRun, tables: Mapping[str, pl.DataFrame]) -> Iterator[Shown]:
    """The cases that the page of a run shows: edited texts, then gender pairs."""
    with_texts = planned.settings.show_texts
    # By identity: jobs share corpora, and two corpora may be equal.
    corpus_by_id = {id(corpus): corpus for _, corpus in planned.jobs}
    job_corpora = list(corpus_by_id.values())
    scopes = [audit.scope for audit in planned.audits if isinstance(audit, Fairness)]

    yield from shown_cases(
        tables.get("cases"),
        job_corpora,
        planned.suites,
        with_texts,
    )
    yield from shown_pairs(
        tables.get("pairs"),
        planned.corpora,
        scopes,
        with_texts,
    )


def shown_cases(
    cases: pl.DataFrame | None,
    corpora: Sequence[Corpus],
    suites: Sequence[Suite],
    texts: bool,
) -> Iterator[Shown]:
    """Choose cases of checks, those that moved the score most first; with `texts` with the edited text."""
    if cases is None:
        return iter(())
    checks: dict[tuple[str, str], Check] = {}
    for suite in suites:
        for check in suite.checks:
            checks[suite.name, check.id] = check

    def edit(case: Shown, text: str, fitted: str) -> Edited:
        check = checks[case.suite, case.check]
        edit_of_variant = check.edits[case.variant - 1]
        # An added sentence needs room, so the text was shortened before.
        return edit_of_variant(fitted if check.sentences else text)

    outcomes = list(_MOST)
    return _shown(cases, outcomes, corpora, edit if texts else None)


def shown_pairs(
    pairs: pl.DataFrame | None,
    corpora: Sequence[Corpus],
    scopes: Sequence[Scope],
    texts: bool,
) -> Iterator[Shown]:
    """Choose pairs whose decision changed, the largest change first; with `texts` with the swapped text."""
    if pairs is None or not scopes:
        return iter(())
    swap_gender = swap(scopes[0])

    def edit(case: Shown, text: str, fitted: str) -> Edited:
        return swap_gender(text)

    # A pair is shown as a case of its label.
    cases = pairs.with_columns(
        suite=pl.lit(PAIRS),
        check="label",
        variant=pl.lit(1),
    )
    return _shown(cases, ["failed"], corpora, edit if texts else None)


def _shown(
    cases: pl.DataFrame,
    outcomes: list[str],
    corpora: Sequence[Corpus],
    edit: _Edit | None,
) -> Iterator[Shown]:
    """The cases with the largest change of score, by rank, then in the order of `outcomes`."""
    chosen = _largest_changes(cases, outcomes)
    shown_columns = chosen.select(*_PLACE, "id", "variant", "before", "after")
    originals: dict[_Key, _Original] = {}
    if edit:
        originals = _originals(chosen, corpora)

    for row in shown_columns.iter_rows(named=True):
        case = Shown(**row)
        if edit:
            original = originals[case.corpus, case.id]
            edited = edit(case, original.text, original.fitted)
            case = replace(
                case,
                text=edited.text,
                spans=edited.spans,
            )
        yield case


def _largest_changes(cases: pl.DataFrame, outcomes: list[str]) -> pl.DataFrame:
    """As many cases of each check and outcome as a page shows, those that moved the score most."""
    score_change = pl.col("after") - pl.col("before")
    change = score_change.abs().fill_nan(0.0)  # NaN would rank above every change
    # Of millions of cases nothing but their ranks is made; the columns of the few that are shown come after.
    rank = cases.select(change.rank("ordinal", descending=True).over(_PLACE)).to_series()
    is_shown = pl.repeat(False, len(cases), eager=True)
    for name in outcomes:
        is_shown |= (cases["outcome"] == name) & (rank <= _MOST[name])

    chosen = cases.filter(is_shown).with_columns(pl.col(_PLACE).cast(pl.String))
    order = {name: number for number, name in enumerate(outcomes)}
    in_order = chosen.with_columns(
        rank=rank.filter(is_shown),
        order=pl.col("outcome").replace_strict(order, return_dtype=pl.Int8),
    ).sort("rank", "order", maintain_order=True)
    # By rank first: where the page is full, every check has shown its largest changes.
    return in_order.head(_IN_ALL)


def _originals(chosen: pl.DataFrame, corpora: Sequence[Corpus]) -> dict[_Key, _Original]:
    """The text of each case and its fitted form, by corpus and id."""
    originals: dict[_Key, _Original] = {}
    for corpus in corpora:
        of_corpus = chosen.filter(pl.col("corpus") == corpus.name)
        has_case = pl.col("id").is_in(of_corpus["id"].implode())
        # Only these texts: a corpus may be larger than what Python lists should hold.
        part = replace(corpus, table=corpus.table.filter(has_case))
        rows = zip(part.ids, part.texts, part.fitted, strict=True)
        for text_id, text, fitted in rows:
            originals[corpus.name, text_id] = _Original(text, fitted)
    return originals
