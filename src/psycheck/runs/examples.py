"""The cases that a page shows: the failing ones first, a bounded number for each check."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from psycheck.audits.fairness import Fairness
from psycheck.audits.suite import Suite
from psycheck.corpus import Corpus
from psycheck.run import PAIRS, Shown
from psycheck.text.gender.edits import swap

_MOST = {"failed": 40, "unanswered": 10, "unseen": 10, "passed": 10}
_IN_ALL = 5_000


def shown_cases(
    cases: pl.DataFrame | None, corpora: Sequence[Corpus], suites: Sequence[Suite], texts: bool
) -> tuple[Shown, ...]:
    """Choose cases, those that moved the score most first, with their edited text where asked for."""
    if cases is None or cases.is_empty():
        return ()
    names = ["model", "corpus", "suite", "check"]
    words = cases.with_columns(pl.col(*names, "outcome").cast(pl.String))
    moved = (pl.col("after") - pl.col("before")).abs().fill_nan(0.0)
    chosen = (
        words.filter(pl.col("outcome") != "unchanged")
        .with_columns(
            rank=moved.rank("ordinal", descending=True).over(*names, "outcome"),
            most=pl.col("outcome").replace_strict(_MOST, return_dtype=pl.Int64),
        )
        .filter(pl.col("rank") <= pl.col("most"))
        .sort(
            "rank",
            pl.col("outcome").replace_strict({name: k for k, name in enumerate(_MOST)}, return_dtype=pl.Int8),
            maintain_order=True,
        )
        .head(_IN_ALL)
    )
    originals = _originals(chosen, corpora) if texts else {}
    checks = {(suite.name, check.id): check for suite in suites for check in suite.checks}
    out = []
    for row in chosen.iter_rows(named=True):
        text, spans = None, ()
        if texts:
            check = checks[row["suite"], row["check"]]
            text, fitted = originals[row["corpus"], row["id"]]
            text, spans, _ = check.edits[row["variant"] - 1](fitted if check.sentences else text)
        out.append(
            Shown(
                model=row["model"],
                corpus=row["corpus"],
                suite=row["suite"],
                check=row["check"],
                id=row["id"],
                outcome=row["outcome"],
                before=round(row["before"], 4),
                after=round(row["after"], 4),
                variant=row["variant"],
                text=text,
                spans=spans,
            )
        )
    return tuple(out)


def shown_pairs(
    pairs: pl.DataFrame | None, corpora: Sequence[Corpus], audits: Sequence[Fairness], texts: bool
) -> tuple[Shown, ...]:
    """Choose pairs whose decision changed, the largest change first; the swapped text where asked for."""
    if pairs is None or pairs.is_empty() or not audits:
        return ()
    names = ["model", "corpus", "label"]
    moved = (pl.col("after") - pl.col("before")).abs()
    chosen = (
        pairs.with_columns(pl.col(*names, "outcome").cast(pl.String))
        .filter(pl.col("outcome") == "failed")
        .with_columns(rank=moved.rank("ordinal", descending=True).over(names))
        .filter(pl.col("rank") <= _MOST["failed"])
        .sort("rank", maintain_order=True)
        .head(_IN_ALL)
    )
    originals = _originals(chosen, corpora) if texts else {}
    edit = swap(audits[0].scope)
    out = []
    for row in chosen.iter_rows(named=True):
        edited = edit(originals[row["corpus"], row["id"]][0]) if texts else None
        out.append(
            Shown(
                model=row["model"],
                corpus=row["corpus"],
                suite=PAIRS,
                check=row["label"],
                id=row["id"],
                outcome=row["outcome"],
                before=round(row["before"], 4),
                after=round(row["after"], 4),
                variant=1,
                text=edited.text if edited else None,
                spans=edited.spans if edited else (),
            )
        )
    return tuple(out)


def _originals(chosen: pl.DataFrame, corpora: Sequence[Corpus]) -> dict[tuple[str, str], tuple[str, str]]:
    """The text of each chosen case and its fitted form, by corpus and id."""
    out: dict[tuple[str, str], tuple[str, str]] = {}
    for corpus in corpora:
        wanted = chosen.filter(pl.col("corpus") == corpus.name)["id"]
        some = replace(corpus, table=corpus.table.filter(pl.col("id").is_in(wanted.implode())))
        rows = zip(some.ids, some.texts, some.fitted, strict=True)
        out.update({(corpus.name, i): (text, fitted) for i, text, fitted in rows})
    return out
