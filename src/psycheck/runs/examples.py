"""The cases that a page shows: the failing ones first, a bounded number for each check."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from psycheck.audits.suite import Suite
from psycheck.corpus import Corpus
from psycheck.run import PAIRS, Shown
from psycheck.text.gender.edits import Scope, swap

_MOST = {"failed": 40, "unanswered": 10, "unseen": 10, "passed": 10}
_IN_ALL = 5_000


def shown_cases(
    cases: pl.DataFrame | None, corpora: Sequence[Corpus], suites: Sequence[Suite], texts: bool
) -> Iterator[Shown]:
    """Choose cases of checks, those that moved the score most first; with `texts` with the edited text."""
    if cases is None or cases.is_empty():
        return
    picked = _largest_changes(cases, ["model", "corpus", "suite", "check"], list(_MOST))
    originals = _originals(picked, corpora) if texts else {}
    checks = {(suite.name, check.id): check for suite in suites for check in suite.checks}
    for row in picked.iter_rows(named=True):
        case = _shown(row, row["suite"], row["check"], row["variant"])
        if texts:
            check = checks[case.suite, case.check]
            text, fitted = originals[case.corpus, case.id]
            text, spans, _ = check.edits[case.variant - 1](fitted if check.sentences else text)
            case = replace(case, text=text, spans=spans)
        yield case


def shown_pairs(
    pairs: pl.DataFrame | None, corpora: Sequence[Corpus], scopes: Sequence[Scope], texts: bool
) -> Iterator[Shown]:
    """Choose pairs whose decision changed, the largest change first; with `texts` with the swapped text."""
    if pairs is None or pairs.is_empty() or not scopes:
        return
    picked = _largest_changes(pairs, ["model", "corpus", "label"], ["failed"])
    originals = _originals(picked, corpora) if texts else {}
    edit = swap(scopes[0])
    for row in picked.iter_rows(named=True):
        case = _shown(row, PAIRS, row["label"], 1)
        if texts:
            edited = edit(originals[case.corpus, case.id][0])
            case = replace(case, text=edited.text, spans=edited.spans)
        yield case


def _largest_changes(cases: pl.DataFrame, names: list[str], outcomes: list[str]) -> pl.DataFrame:
    """The cases with the largest change of score, by rank, then in the order of `outcomes`."""
    change = (pl.col("after") - pl.col("before")).abs().fill_nan(0.0)
    order = {outcome: k for k, outcome in enumerate(outcomes)}
    return (
        cases.with_columns(pl.col(*names, "outcome").cast(pl.String))
        .filter(pl.col("outcome").is_in(outcomes))
        .with_columns(
            rank=change.rank("ordinal", descending=True).over(*names, "outcome"),
            most=pl.col("outcome").replace_strict(_MOST, return_dtype=pl.Int64),
            order=pl.col("outcome").replace_strict(order, return_dtype=pl.Int8),
        )
        .filter(pl.col("rank") <= pl.col("most"))
        .sort("rank", "order", maintain_order=True)
        .head(_IN_ALL)
    )


def _shown(row: dict[str, Any], suite: str, check: str, variant: int) -> Shown:
    names = {key: row[key] for key in ("model", "corpus", "id", "outcome")}
    before, after = (round(row[key], 4) for key in ("before", "after"))
    return Shown(suite=suite, check=check, variant=variant, before=before, after=after, **names)


def _originals(picked: pl.DataFrame, corpora: Sequence[Corpus]) -> dict[tuple[str, str], tuple[str, str]]:
    """The text of each case and its fitted form, by corpus and id."""
    out: dict[tuple[str, str], tuple[str, str]] = {}
    for corpus in corpora:
        wanted = picked.filter(pl.col("corpus") == corpus.name)["id"]
        some = replace(corpus, table=corpus.table.filter(pl.col("id").is_in(wanted.implode())))
        rows = zip(some.ids, some.texts, some.fitted, strict=True)
        out.update({(corpus.name, i): (text, fitted) for i, text, fitted in rows})
    return out
