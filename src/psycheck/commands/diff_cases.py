"""The cases of a comparison of models: who is right about each text, its cues, and the texts to show."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

from psycheck.audits.differences import DIFF, Answered
from psycheck.audits.error_cues import Texts
from psycheck.core.corpus import Corpus
from psycheck.core.run import Shown
from psycheck.corpora.cues import Spans, cue_names, cues_of

MOST_SHOWN = 3_000
Cues = dict[str, dict[str, Spans]]  # id → cue → where it stands in the text

_SCHEMA: dict[str, Any] = {
    "corpus": pl.String,
    "label": pl.String,
    "id": pl.String,
    "gold": pl.Int8,
    "right": pl.List(pl.String),
    "wrong": pl.List(pl.String),
    "unanswered": pl.List(pl.String),
    "cues": pl.List(pl.String),
}


def cues_in(corpus: Corpus, answered: Answered) -> Cues:
    """The cues of each text that was annotated for a label."""
    # Without an annotation no model is right or wrong, and the cues of the text are never shown.
    is_annotated = ~np.isnan(answered.gold)
    annotated = {answered.ids[i] for i in np.flatnonzero(is_annotated)}
    rows = corpus.table.select("id", "text").iter_rows()
    return {id_: cues_of(text, answered.label) for id_, text in rows if id_ in annotated}


def text_properties(corpus: Corpus, cues: Cues, answered: Answered) -> Texts:
    """The characters of each text and whether it has each cue, all (n,)."""
    length_by_id = dict(zip(corpus.ids, map(len, corpus.texts), strict=True))
    lengths = np.array([length_by_id[id_] for id_ in answered.ids], np.float64)

    # Texts without an annotation have no entry in `cues`; they count as texts without the cue.
    cues_of_texts = [cues.get(id_, {}) for id_ in answered.ids]
    has_cue = {}
    for cue in cue_names():
        has_cue[cue] = np.array([cue in cues_of_text for cues_of_text in cues_of_texts])
    return lengths, has_cue


def outcomes_of(answered: Answered, cues: Cues | None) -> pl.DataFrame:
    """One row for each annotated text: which models are right, wrong or silent, and its cues; ids only.

    The cues are null where the texts could not be read (`cues` is None).
    """
    models = np.array(answered.models)
    annotated_rows = np.flatnonzero(~np.isnan(answered.gold))
    rows = []
    for i in annotated_rows:
        id_ = answered.ids[i]
        is_right = answered.right[i]  # (models,): 1, 0, or NaN without an answer
        rows.append(
            {
                "corpus": answered.corpus,
                "label": answered.label,
                "id": id_,
                "gold": int(answered.gold[i]),
                "right": models[is_right == 1].tolist(),
                "wrong": models[is_right == 0].tolist(),
                "unanswered": models[np.isnan(is_right)].tolist(),
                "cues": None if cues is None else list(cues[id_]),
            }
        )
    return pl.DataFrame(rows, schema=_SCHEMA)


def shown_texts(
    outcomes: pl.DataFrame, corpora: Mapping[str, Corpus], cues: Mapping[tuple[str, str], Cues]
) -> Iterator[Shown]:
    """The texts of the cases on the page, with their cues marked."""
    texts = {name: dict(corpus.table.select("id", "text").iter_rows()) for name, corpus in corpora.items()}

    # A text that all models get right says nothing about a difference; the page has no case for it.
    not_right = pl.col("wrong").list.len() + pl.col("unanswered").list.len()
    cases = outcomes.filter(not_right > 0).head(MOST_SHOWN)
    for row in cases.iter_rows(named=True):
        cues_of_corpus = cues[row["corpus"], row["label"]]
        cues_of_text = cues_of_corpus[row["id"]]
        # Two cues may mark the same words: a span is marked once.
        spans = {span for spans_of_cue in cues_of_text.values() for span in spans_of_cue}
        yield Shown(
            model="",
            corpus=row["corpus"],
            suite=DIFF,
            check=row["label"],
            id=row["id"],
            outcome="parted",
            before=np.nan,
            after=np.nan,
            variant=1,
            text=texts[row["corpus"]][row["id"]],
            spans=tuple(sorted(spans)),
        )
