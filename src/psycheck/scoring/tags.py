"""What a symptom model says of sentences, in batches of similar length."""

import time
from collections.abc import Sequence
from functools import partial

import numpy as np

from psycheck.model import sizes_of
from psycheck.models.symptoms import SymptomModel, Tags
from psycheck.scoring.engine import Progress, silent
from psycheck.scoring.patience import patiently


def tag_sentences(model: SymptomModel, sentences: Sequence[str], progress: Progress = silent) -> Tags:
    """The tags of sentences, in their order; each distinct sentence is tagged once."""
    distinct = list(dict.fromkeys(sentences))
    order = np.argsort(-sizes_of(distinct), kind="stable")
    relevance = np.empty((len(distinct), len(model.labels)))
    uncertain, own, started = np.empty(len(distinct)), np.empty(len(distinct), np.bool_), time.monotonic()
    for start in range(0, len(order), model.batch):
        rows = order[start : start + model.batch]
        tags = patiently(partial(model.tag, [distinct[i] for i in rows]), model.name)
        relevance[rows], uncertain[rows], own[rows] = tags.relevance, tags.uncertain, tags.own
        progress(model.name, start + len(rows), len(order), time.monotonic() - started)
    place = {sentence: number for number, sentence in enumerate(distinct)}
    back = np.array([place[sentence] for sentence in sentences], np.int64)
    return Tags(relevance[back], uncertain[back], own[back])
