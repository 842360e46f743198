"""Evidence in the posts of histories: the strongest symptom of a condition, and posts of other authors."""

from collections.abc import Sequence

import numpy as np
import pytest

from psycheck.audits.history_evidence import EVIDENCE, OTHER_POST, open_evidence_of_posts
from psycheck.commands.audit import audit
from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput
from psycheck.corpora.posting_histories import by_author
from refusals import refused


def test_posts_are_weighed_for_the_conditions_among_the_labels() -> None:
    texts = ["I wash my hands again and again, I have to. I can't stop.", "We had pasta.", "It rained."]
    corpus = by_author(Corpus.of("people", texts, author=["ann", "ann", "bob"]))
    evidence = open_evidence_of_posts("symptoms:descriptions", ["ocd", "mood"], seed=0)
    assert evidence is not None
    weighed = evidence.weighed(corpus, evidence.weights.score)
    assert [column for column in weighed.table.columns if column.startswith(EVIDENCE)] == [EVIDENCE + "ocd"]
    (first, second), (third,) = weighed.table[EVIDENCE + "ocd"].to_list()
    assert first > 0.5 > max(second, third)
    assert weighed.table[OTHER_POST].to_list() == ["It rained.", "We had pasta."]
    assert open_evidence_of_posts("symptoms:descriptions", ["mood"], seed=0) is None


def test_the_audit_of_histories_is_not_for_texts() -> None:
    posts = Corpus.of("posts", ["a", "b"], labels={"depression": [0, 1]})
    with refused("audit.only-for-histories"):
        audit(lambda texts: [0.5 for _ in texts], posts, audits=["histories"])


def test_another_kind_of_model_cannot_weigh_posts() -> None:
    class Half:
        name, fingerprint, labels, takes = "half", "half", ("depression",), "histories"

        def score(self, histories: Sequence[object]) -> FloatArray:
            return np.full((len(histories), 1), 0.5)

    posts = Corpus.of("posts", ["a", "b"], author=["ann", "bob"], labels={"depression": [0, 1]})
    with pytest.raises(BadInput, match="is not a symptom model"):
        audit(Half(), posts, evidence="scores:nothing.csv")
