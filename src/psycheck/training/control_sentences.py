"""Control sentences beside annotated ones: drawn, labelled 0 for every symptom, merged (PsySym, 3.4)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np
import polars as pl

from psycheck.core.corpus import GROUP, LABEL, Corpus
from psycheck.core.errors import BadInput, counted
from psycheck.corpora.split import split_corpus
from psycheck.statistics.classification import BoolArray
from psycheck.symptoms.reader import UNCERTAIN
from psycheck.training.parts import CONTROL
from psycheck.training.symptom_models import DISEASE

# The paper's: 5:1:4, with names that a corpus may write otherwise.
SHARES: Final[Mapping[str, float]] = {"train": 5, "dev": 1, "test": 4}
_KEPT: Final = ("id", "text", "author", "time", "split")


def with_controls(
    sentences: Corpus,
    controls: Corpus,
    *,
    most: int | None = None,
    seed: int = 0,
) -> tuple[Corpus, str]:
    """Annotated sentences and those of people without a condition as one corpus; and a note that counts.

    `controls` hold a sentence per row, by authors who never post about mental health (`curate --controls`,
    then `clean --sentences`); their own labels are not read. Sentences that occur among the annotated ones,
    or twice, are left out; of the others `most` are drawn. Each is 0 for every symptom, has no status, and is
    of the group "control". Where the annotated sentences have splits, controls without one are split 5:1:4,
    an author's together.
    """
    usable = controls.only(_is_new(sentences, controls))
    if not len(usable):
        raise BadInput(
            f"corpus '{controls.name}' has no sentence that '{sentences.name}' does not have",
            code="train.no-controls",
            allowed="sentences of people without a condition",
        )
    drawn = _drawn(usable, most, seed)

    with_splits = _split(drawn, sentences, seed)
    added = _labelled(with_splits, sentences)
    # A column that one side lacks, such as the author, is empty there.
    table = pl.concat([sentences.table, added], how="diagonal_relaxed")

    left_out = len(controls) - len(usable)
    note = (
        f"{counted(len(drawn), 'control sentence')} of '{controls.name}' added, "
        f"{left_out} left out that occur twice or among the annotated ones"
    )
    return replace(sentences, table=table), note


def _is_new(sentences: Corpus, controls: Corpus) -> BoolArray:
    """Which controls are neither among the annotated sentences nor a repetition, (n,)."""
    seen_texts = set(sentences.texts)
    is_new = np.zeros(len(controls), bool)
    for row, text in enumerate(controls.texts):
        is_new[row] = text not in seen_texts
        seen_texts.add(text)
    return is_new


def _drawn(controls: Corpus, most: int | None, seed: int) -> Corpus:
    """So many of the sentences, by seed, in their order."""
    if most is None or most >= len(controls):
        return controls
    rows = np.random.default_rng(seed).choice(len(controls), most, replace=False)
    is_drawn = np.zeros(len(controls), bool)
    is_drawn[rows] = True
    return controls.only(is_drawn)


def _split(controls: Corpus, sentences: Corpus, seed: int) -> Corpus:
    """Controls with splits where the annotated sentences have some; their own stay."""
    has_splits = any(split is not None for split in sentences.strings("split"))
    has_own = any(split is not None for split in controls.strings("split"))
    if not has_splits or has_own:
        return controls
    # The labels of the controls decide nothing here.
    return split_corpus(controls, SHARES, stratify=(), seed=seed)


def _labelled(controls: Corpus, sentences: Corpus) -> pl.DataFrame:
    """The rows of the controls with 0 for every symptom, and the group that says what they are."""
    columns = [name for name in _KEPT if name in controls.table.columns]
    if "split" in columns and "split" not in sentences.table.columns:
        columns.remove("split")
    rows = controls.table.select(columns).with_columns(id=pl.lit("control-") + pl.col("id"))

    for label in sentences.labels:
        # Whether a symptom is uncertain can be asked only where one is named.
        if label != UNCERTAIN:
            rows = rows.with_columns(pl.lit(0.0).alias(LABEL + label))
    if DISEASE in sentences.groups:
        rows = rows.with_columns(pl.lit(CONTROL).alias(GROUP + DISEASE))
    return rows
