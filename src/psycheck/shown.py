"""The cases that a page shows: the failing ones first, a bounded number for each check."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from psycheck.audits.suite import Suite
from psycheck.corpus import Corpus
from psycheck.run import Shown

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
    originals: dict[tuple[str, str], tuple[str, str]] = {}
    if texts:
        for corpus in corpora:
            wanted = chosen.filter(pl.col("corpus") == corpus.name)["id"]
            some = replace(corpus, table=corpus.table.filter(pl.col("id").is_in(wanted.implode())))
            rows = zip(some.ids, some.texts, some.fitted, strict=True)
            originals.update({(corpus.name, i): (text, fitted) for i, text, fitted in rows})
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
