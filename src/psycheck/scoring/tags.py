"""Tags of sentences by a symptom model."""

from collections.abc import Sequence

import numpy as np

from psycheck.models.output import checked_scores
from psycheck.scoring.retries import patiently
from psycheck.symptoms.reader import SymptomModel
from psycheck.symptoms.statements import Tags


def tags_of(model: SymptomModel, sentences: Sequence[str]) -> Tags:
    """Relevance, status and subject of sentences, in one pass over the distinct ones."""
    # Sorted: what shares a batch decides on the last digits, and the order of the file must not.
    distinct = sorted(set(sentences))
    tags = patiently(lambda: model.tag(distinct), model.name)
    # Only to refuse what is not a score: the tags are used as they are.
    checked_scores(
        tags.relevance,
        len(distinct),
        model.labels,
        model=model.name,
    )

    # Back from the distinct sentences to all of them.
    row_of_sentence = {sentence: row for row, sentence in enumerate(distinct)}
    rows = [row_of_sentence[sentence] for sentence in sentences]
    return tags.at(np.array(rows, np.int64))
