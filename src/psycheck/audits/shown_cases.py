"""The cases that a page shows: the failing ones first, a bounded number for each check."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import polars as pl

from psycheck.audits.fairness import Fairness
from psycheck.audits.jobs import PlannedRun
from psycheck.audits.suite import Suite
from psycheck.core.corpus import Corpus
from psycheck.core.run import PAIRS, Shown
from psycheck.text.edits import Edited
from psycheck.text.gender.edits import Scope, swap

_MOST = {"failed": 40, "unanswered": 10, "unseen": 10, "passed": 10}
_IN_ALL = 5_000
_PLACE = ("model", "corpus", "suite", "check", "outcome")
_Edit = Callable[[Shown, str, str], Edited]


def cases_to_show(planned: PlannedRun, tables: Mapping[str, pl.DataFrame]) -> Iterator[Shown]:
    """The cases that the page of a run shows: edited texts, then gender pairs."""
    with_texts = planned.settings.show_texts
    job_corpora = list({id(corpus): corpus for _, corpus in planned.jobs}.values())
    scopes = [audit.scope for audit in planned.audits if isinstance(audit, Fairness)]
    yield from shown_cases(tables.get("cases"), job_corpora, planned.suites, with_texts)
    yield from shown_pairs(tables.get("pairs"), planned.corpora, scopes, with_texts)


def shown_cases(
    cases: pl.DataFrame | None, corpora: Sequence[Corpus], suites: Sequence[Suite], texts: bool
) -> Iterator[Shown]:
    """Choose cases of checks, those that moved the score most first; with `texts` with the edited text."""
    if cases is None:
        return iter(())
    checks = {(suite.name, check.id): check for suite in suites for check in suite.checks}

    def edit(case: Shown, text: str, fitted: str) -> Edited:
        check = checks[case.suite, case.check]
        return check.edits[case.variant - 1](fitted if check.sentences else text)

    return _shown(cases, list(_MOST), corpora, edit if texts else None)


def shown_pairs(
    pairs: pl.DataFrame | None, corpora: Sequence[Corpus], scopes: Sequence[Scope], texts: bool
) -> Iterator[Shown]:
    """Choose pairs whose decision changed, the largest change first; with `texts` with the swapped text."""
    if pairs is None or not scopes:
        return iter(())
    swap_gender = swap(scopes[0])

    def edit(case: Shown, text: str, fitted: str) -> Edited:
        return swap_gender(text)

    cases = pairs.with_columns(suite=pl.lit(PAIRS), check="label", variant=pl.lit(1))
    return _shown(cases, ["failed"], corpora, edit if texts else None)


def _shown(
    cases: pl.DataFrame, outcomes: list[str], corpora: Sequence[Corpus], edit: _Edit | None
) -> Iterator[Shown]:
    """The cases with the largest change of score, by rank, then in the order of `outcomes`."""
    chosen = _largest_changes(cases, outcomes)
    originals = _originals(chosen, corpora) if edit else {}
    for row in chosen.iter_rows(named=True):
        case = Shown(**{key: row[key] for key in (*_PLACE, "id", "variant", "before", "after")})
        if edit:
            text, fitted = originals[case.corpus, case.id]
            edited = edit(case, text, fitted)
            case = replace(case, text=edited.text, spans=edited.spans)
        yield case


def _largest_changes(cases: pl.DataFrame, outcomes: list[str]) -> pl.DataFrame:
    """As many cases of each check and outcome as a page shows, those that moved the score most."""
    change = (pl.col("after") - pl.col("before")).abs().fill_nan(0.0)
    order = {outcome: number for number, outcome in enumerate(outcomes)}
    ranked = (
        cases.with_columns(pl.col(_PLACE).cast(pl.String))
        .filter(pl.col("outcome").is_in(outcomes))
        .with_columns(
            rank=change.rank("ordinal", descending=True).over(_PLACE),
            most=pl.col("outcome").replace_strict(_MOST, return_dtype=pl.Int64),
            order=pl.col("outcome").replace_strict(order, return_dtype=pl.Int8),
        )
    )
    # By rank first: where the page is full, every check has shown its largest changes.
    within_limit = ranked.filter(pl.col("rank") <= pl.col("most"))
    return within_limit.sort("rank", "order", maintain_order=True).head(_IN_ALL)


def _originals(chosen: pl.DataFrame, corpora: Sequence[Corpus]) -> dict[tuple[str, str], tuple[str, str]]:
    """The text of each case and its fitted form, by corpus and id."""
    originals: dict[tuple[str, str], tuple[str, str]] = {}
    for corpus in corpora:
        chosen_ids = chosen.filter(pl.col("corpus") == corpus.name)["id"]
        has_case = pl.col("id").is_in(chosen_ids.implode())
        shown = replace(corpus, table=corpus.table.filter(has_case))
        for text_id, text, fitted in zip(shown.ids, shown.texts, shown.fitted, strict=True):
            originals[corpus.name, text_id] = (text, fitted)
    return originals
