"""The cases that a page shows: the failing ones first, a bounded number for each check."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import polars as pl

from psycheck.audits.suite import Suite
from psycheck.corpus import Corpus
from psycheck.run import PAIRS, Shown
from psycheck.text.edits import Edited
from psycheck.text.gender.edits import Scope, swap

_MOST = {"failed": 40, "unanswered": 10, "unseen": 10, "passed": 10}
_IN_ALL = 5_000
_Edit = Callable[[Shown, str, str], Edited]


def shown_cases(
    cases: pl.DataFrame | None, corpora: Sequence[Corpus], suites: Sequence[Suite], texts: bool
) -> Iterator[Shown]:
    """Choose cases of checks, those that moved the score most first; with `texts` with the edited text."""
    checks = {(suite.name, check.id): check for suite in suites for check in suite.checks}

    def edit(case: Shown, text: str, fitted: str) -> Edited:
        check = checks[case.suite, case.check]
        return check.edits[case.variant - 1](fitted if check.sentences else text)

    return iter(()) if cases is None else _shown(cases, list(_MOST), corpora, edit if texts else None)


def shown_pairs(
    pairs: pl.DataFrame | None, corpora: Sequence[Corpus], scopes: Sequence[Scope], texts: bool
) -> Iterator[Shown]:
    """Choose pairs whose decision changed, the largest change first; with `texts` with the swapped text."""
    if pairs is None or not scopes:
        return iter(())
    swapped = swap(scopes[0])
    edit: _Edit | None = (lambda case, text, fitted: swapped(text)) if texts else None
    cases = pairs.with_columns(suite=pl.lit(PAIRS), check="label", variant=pl.lit(1))
    return _shown(cases, ["failed"], corpora, edit)


def _shown(
    cases: pl.DataFrame, outcomes: list[str], corpora: Sequence[Corpus], edit: _Edit | None
) -> Iterator[Shown]:
    """The cases with the largest change of score, by rank, then in the order of `outcomes`."""
    names = ("model", "corpus", "suite", "check", "outcome")
    change = (pl.col("after") - pl.col("before")).abs().fill_nan(0.0)
    order = {outcome: k for k, outcome in enumerate(outcomes)}
    picked = (
        cases.with_columns(pl.col(names).cast(pl.String))
        .filter(pl.col("outcome").is_in(outcomes))
        .with_columns(
            rank=change.rank("ordinal", descending=True).over(names),
            most=pl.col("outcome").replace_strict(_MOST, return_dtype=pl.Int64),
            order=pl.col("outcome").replace_strict(order, return_dtype=pl.Int8),
        )
        .filter(pl.col("rank") <= pl.col("most"))
        .sort("rank", "order", maintain_order=True)
        .head(_IN_ALL)
    )
    originals = _originals(picked, corpora) if edit else {}
    for row in picked.iter_rows(named=True):
        case = Shown(**{key: row[key] for key in (*names, "id", "variant", "before", "after")})
        if edit:
            edited = edit(case, *originals[case.corpus, case.id])
            case = replace(case, text=edited.text, spans=edited.spans)
        yield case


def _originals(picked: pl.DataFrame, corpora: Sequence[Corpus]) -> dict[tuple[str, str], tuple[str, str]]:
    """The text of each case and its fitted form, by corpus and id."""
    out: dict[tuple[str, str], tuple[str, str]] = {}
    for corpus in corpora:
        wanted = picked.filter(pl.col("corpus") == corpus.name)["id"]
        some = replace(corpus, table=corpus.table.filter(pl.col("id").is_in(wanted.implode())))
        rows = zip(some.ids, some.texts, some.fitted, strict=True)
        out.update({(corpus.name, i): (text, fitted) for i, text, fitted in rows})
    return out
