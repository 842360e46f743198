"""Control sentences become rows of an annotated corpus: 0 for every symptom, split by author, never twice."""

from pathlib import Path

import numpy as np
import pytest

from psycheck.core.corpus import Corpus
from psycheck.training.control_sentences import with_controls
from psycheck.training.recipe import recipe_of
from psycheck.training.symptom_models import train_symptoms
from refusals import refused

LOW, TIRED, UNCERTAIN = "low", "tired", "uncertain"


def annotated(*, split: bool = True) -> Corpus:
    """Sentences annotated for low (queue a) or tired (queue b)."""
    texts = [f"I feel hopeless {n}." if n % 2 else f"I feel rested {n}." for n in range(24)]
    low = [float(n % 2) if n < 12 else None for n in range(24)]
    tired = [None if n < 12 else float(n % 2) for n in range(24)]
    splits = [("train", "dev", "test")[n // 2 % 3] for n in range(24)]
    return Corpus.of(
        "annotated",
        texts,
        labels={LOW: low, TIRED: tired, UNCERTAIN: [(n // 2) % 2 if n % 2 else None for n in range(24)]},
        groups={"disease": ["a" if n < 12 else "b" for n in range(24)]},
        split=splits if split else None,
    )


def everyday(n: int = 100) -> Corpus:
    """Four sentences of each author, one of them annotated elsewhere and one twice."""
    texts = [f"We had soup {number}." for number in range(n - 2)]
    texts += ["I feel rested 0.", "We had soup 3."]
    authors = [f"u{number // 4}" for number in range(n)]
    return Corpus.of("everyday", texts, author=authors, labels={"depression": [0.0] * n})


def test_controls_are_0_for_every_symptom_and_have_no_status() -> None:
    merged, note = with_controls(annotated(), everyday())
    added = merged.only([queue == "control" for queue in merged.group("disease")])
    assert len(added) == 98
    assert merged.labels == (LOW, TIRED, UNCERTAIN)
    assert (added.targets([LOW, TIRED]) == 0).all()
    assert np.isnan(added.targets([UNCERTAIN])).all()
    assert note == (
        "98 control sentences of 'everyday' added, 2 left out that occur twice or among the annotated ones"
    )
    # What was annotated stays as it was.
    kept = merged.only([queue != "control" for queue in merged.group("disease")])
    np.testing.assert_array_equal(kept.targets(), annotated().targets())


def test_controls_are_split_5_1_4_with_an_author_in_one_split() -> None:
    merged, _ = with_controls(annotated(), everyday(400))
    added = merged.only([queue == "control" for queue in merged.group("disease")])
    splits = added.strings("split")
    shares = [splits.count(name) / len(added) for name in ("train", "dev", "test")]
    assert shares == pytest.approx([0.5, 0.1, 0.4], abs=0.02)
    by_author: dict[str, set[str]] = {}
    for author, split in zip(added.strings("author"), splits, strict=True):
        by_author.setdefault(str(author), set()).add(str(split))
    assert {len(names) for names in by_author.values()} == {1}

    # Without splits of the annotated ones training cuts its own.
    without, _ = with_controls(annotated(split=False), everyday())
    assert set(without.strings("split")) == {None}


def test_as_many_as_wanted_are_drawn_by_seed() -> None:
    ids = [
        tuple(with_controls(annotated(), everyday(), most=10, seed=seed)[0].ids[-10:]) for seed in (0, 0, 1)
    ]
    assert ids[0] == ids[1] != ids[2]
    assert all(name.startswith("control-") for name in ids[0])


def test_a_corpus_without_a_new_sentence_is_refused() -> None:
    with refused("train.no-controls"):
        with_controls(annotated(), annotated())


def test_balanced_training_takes_them(tmp_path: Path) -> None:
    recipe = recipe_of({"start": "tfidf+lr", "balanced": True})
    with refused("train.no-controls"):
        train_symptoms(annotated(), recipe, tmp_path / "without")
    merged, _ = with_controls(annotated(), everyday())
    trained = train_symptoms(merged, recipe, tmp_path / "with")
    assert trained.labels[:2] == (LOW, TIRED)
