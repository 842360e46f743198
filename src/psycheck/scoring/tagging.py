"""Tags of sentences by a symptom model."""

from collections.abc import Sequence

import numpy as np

from psycheck.models.output import checked_scores
from psycheck.models.symptoms import SymptomModel, Tags
from psycheck.scoring.patience import patiently


def tags_of(model: SymptomModel, sentences: Sequence[str]) -> Tags:
    """Relevance, status and subject of sentences, in one pass over the distinct ones."""
    distinct = {sentence: place for place, sentence in enumerate(dict.fromkeys(sentences))}
    tags = patiently(lambda: model.tag(list(distinct)), model.name)
    checked_scores(tags.relevance, len(distinct), model.labels, model=model.name)
    rows = np.array([distinct[sentence] for sentence in sentences], np.int64)
    return Tags(tags.relevance[rows], tags.uncertain[rows], tags.own[rows])
