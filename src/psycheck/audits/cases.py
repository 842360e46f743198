"""The cases of a check: what became of each text that it edits."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from psycheck.audits.suite import Check
from psycheck.corpus import Corpus
from psycheck.model import FloatArray, IntArray, Scores
from psycheck.text.edits import Span, append_to_all

OUTCOMES = ("passed", "failed", "unchanged", "unseen", "unanswered")
PASSED, FAILED, UNCHANGED, UNSEEN, UNANSWERED = range(5)
CASE_OF = ("model", "corpus", "suite", "check", "kind")

Outcomes = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Variant:
    """One variant of a check on n texts: the edited texts, whether they changed, where, and what was left."""

    texts: list[str]
    changed: NDArray[np.bool_]
    undecided: NDArray[np.bool_]
    spans: list[tuple[Span, ...]] | None  # None: the change is the end of the text

    def seen(self, scores: Scores) -> NDArray[np.bool_]:
        """Whether the model read at least one changed place whole, (n,)."""
        read = scores.read(self.texts)
        seen: NDArray[np.bool_] = read >= np.fromiter(map(len, self.texts), np.int64, len(self.texts))
        if self.spans is not None:
            for i in np.flatnonzero(~seen).tolist():
                seen[i] = any(end <= read[i] for _, end in self.spans[i])
        return seen


def edited_texts(check: Check, v: int, texts: list[str]) -> Variant:
    """The texts, edited by one variant of a check."""
    n = len(texts)
    if check.sentences:
        new = append_to_all(texts, check.sentences[v])
        return Variant(new, np.ones(n, np.bool_), np.zeros(n, np.bool_), None)
    edited = [check.edits[v](text) for text in texts]
    return Variant(
        [e.text for e in edited],
        np.fromiter((bool(e.spans) for e in edited), np.bool_, n),
        np.fromiter((e.undecided > 0 for e in edited), np.bool_, n),
        [e.spans for e in edited],
    )


@dataclass(frozen=True, slots=True)
class Cases:
    """The cases of one check: m texts, v variants.

    rows (m,) in the corpus; outcome (m,); variant (m,) that decided it; before, after (m,); states (m, v).
    """

    rows: IntArray
    outcome: Outcomes
    variant: IntArray
    before: FloatArray
    after: FloatArray
    states: Outcomes
    undecided: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        rows: IntArray,
        before: FloatArray,
        after: FloatArray,
        states: Outcomes,
        undecided: NDArray[np.bool_],
    ) -> "Cases":
        """A case fails if a variant does; else unanswered or unseen if one is; else passed or unchanged."""
        rank = np.array([1, 4, 0, 2, 3, -1], np.int8)[states]  # by state, the last for -1 (not drawn)
        worst = rank.argmax(axis=1) if len(rows) else np.zeros(0, np.int64)
        # Among failing variants the one that moved the score most is the one to show.
        moved = np.where(states == FAILED, np.abs(after - before[:, None]), -1.0)
        moved = np.nan_to_num(moved, nan=0.0)
        worst = np.where((states == FAILED).any(axis=1), moved.argmax(axis=1), worst)
        line = np.arange(len(rows))
        return cls(rows, states[line, worst], worst, before, after[line, worst], states, undecided)

    @classmethod
    def joined(cls, parts: Sequence["Cases"], variants: int) -> "Cases":
        """The cases of all slices of a corpus."""
        if not parts:
            none = np.zeros(0)
            states = np.zeros((0, variants), np.int8)
            return cls.of(none.astype(np.int64), none, states.astype(float), states, none.astype(np.bool_))
        return cls(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(cls)))

    def over_corpus(self, n: int) -> Outcomes:
        """The outcome of every text of the corpus, (n,); -1 where the check does not apply."""
        out = np.full(n, -1, np.int8)
        out[self.rows] = self.outcome
        return out


def fails(check: Check, before: FloatArray, after: FloatArray, threshold: float) -> NDArray[np.bool_]:
    """Table 2's fail criteria, (n,); comparisons with NaN are decided by the caller."""
    expect = check.expect
    slack = 1e-9  # a change of exactly the tolerance passes, whatever the floating point says
    failed: NDArray[np.bool_]
    match expect.kind:
        case "same_label":
            failed = (before >= threshold) != (after >= threshold)
        case "label":
            failed = (after >= threshold) != bool(expect.label)
        case "not_down":
            failed = before - after > expect.by + slack
        case "not_up":
            failed = after - before > expect.by + slack
        case "steady":
            failed = np.abs(after - before) > expect.by + slack
    return failed


def case_table(every: Sequence[Cases], corpus: Corpus, wheres: Sequence[dict[str, str]]) -> pl.DataFrame:
    """The cases of all checks, one below the other: ids, never texts."""
    check = np.repeat(np.arange(len(every)), [len(cases.rows) for cases in every])

    def joined(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(cases, name) for cases in every])

    def named(names: Sequence[str], which: IntArray) -> pl.Series:
        return pl.Series(names).cast(pl.Categorical).gather(which)

    return pl.DataFrame(
        {
            **{key: named([where[key] for where in wheres], check) for key in CASE_OF},
            "id": corpus.table["id"].gather(joined("rows")),
            "outcome": named(OUTCOMES, joined("outcome").astype(np.int64)),
            "variant": pl.Series(joined("variant") + 1, dtype=pl.Int16),
            "before": pl.Series(joined("before"), dtype=pl.Float32),
            "after": pl.Series(joined("after"), dtype=pl.Float32),
        }
    )
