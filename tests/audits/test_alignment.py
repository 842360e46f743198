"""Labels of models, corpora and suites under one name."""

import pytest

from planted import NEGATIVE, POSITIVE, Planted, oracle
from psycheck.audits.alignment import align
from psycheck.audits.suite import read_suite
from psycheck.core.corpus import Corpus
from psycheck.models.label_names import means_the_same


@pytest.mark.parametrize(
    ("label", "other", "same"),
    [
        ("depressed", "depression", True),
        ("Anxious", "anxiety", True),
        ("depresion", "depression", False),  # a misspelling
        ("anxiety", "depression", False),
    ],
)
def test_words_for_one_label_mean_the_same(label: str, other: str, same: bool) -> None:
    assert means_the_same(label, other) is same


@pytest.mark.parametrize("column", ["state", "depressed", "label"])
@pytest.mark.parametrize("class_name", ["positive", "depressed"])
def test_a_sole_label_is_that_of_the_suite_and_a_note_says_so(column: str, class_name: str) -> None:
    corpus = Corpus.of("posts", [*POSITIVE, *NEGATIVE], labels={column: [1.0] * 5 + [0.0] * 5})
    model = Planted("m", oracle, (class_name,))
    aligned = align([model], [corpus], [read_suite("deck")], strict=True)
    assert aligned.corpora[0].labels == ("depression",)
    assert aligned.labels == {"m": ("depression",)}
    assert f"posts: the label '{column}' is used for 'depression'" in aligned.notes


def test_another_condition_keeps_its_name() -> None:
    corpus = Corpus.of("posts", [*POSITIVE, *NEGATIVE], labels={"anxiety": [1.0] * 5 + [0.0] * 5})
    aligned = align([Planted("m", oracle, ("anxiety",))], [corpus], [read_suite("deck")], strict=True)
    assert aligned.corpora[0].labels == ("anxiety",)
