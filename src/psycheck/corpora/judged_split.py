"""Which texts of a corpus are judged: those of its test split, where it has one, unless the user chose."""

from dataclasses import replace

import numpy as np

from psycheck.core.corpus import Corpus
from psycheck.core.errors import counted
from psycheck.corpora.columns import split_name

ALL = "all"
TEST = "test"
DEV = "dev"


def judged_part(corpus: Corpus, split: str | None = None, *, with_dev: bool = False) -> Corpus:
    """The split of a corpus that is judged, which keeps the whole corpus for cautions.

    `split` is a name, "all", or None: then the test split if there is one with labels, else everything. With
    `with_dev` the texts of dev stay beside it, for a threshold that is chosen on them.
    """
    notes: list[str] = []
    name = split
    if split is None:
        name, notes = _default_split(corpus)
    if name is None or name == ALL:
        return replace(corpus, notes=(*corpus.notes, *notes))

    name = split_name(name)
    corpus.part(name)  # an unknown split is an error
    kept_splits = (name, DEV) if with_dev else (name,)
    part = corpus.only([text_split in kept_splits for text_split in corpus.strings("split")])

    # Recorded, so that whoever opens the corpus of a run again gets the same texts.
    source = corpus.source
    if source is not None:
        source = replace(source, split=name)
    return replace(
        part,
        notes=(*corpus.notes, *notes),
        source=source,
        whole=corpus,
    )


def _default_split(corpus: Corpus) -> tuple[str | None, list[str]]:
    """The split that is judged where the user names none, and a note on the choice."""
    is_test = np.array([text_split == TEST for text_split in corpus.strings("split")], dtype=np.bool_)
    if not is_test.any() or is_test.all():
        return None, []

    # Shared tasks publish test texts without their labels: nothing could be judged on them.
    annotated = ~np.isnan(corpus.targets())
    if annotated.any() and not annotated[is_test].any():
        return None, ["the test split has no labels, so every text is judged"]

    total = counted(len(corpus), "text")
    note = f"judging the test split: {is_test.sum():,} of {total}; `split=all` judges everything"
    return TEST, [note]
