import pytest

from psycheck.core.corpus import Corpus
from psycheck.corpora.distances import Comparing, Comparison, compare
from psycheck.corpora.showable_words import showable_between

WORDS = Comparing(parts=("words", "adversarial"), words=20)


def sides(said: str, texts: int = 30) -> list[Corpus]:
    """Two corpora, the first of 60 texts of which so many hold what is said."""
    ours = [f"x{i} the rain came late {said if i < texts else ''}" for i in range(60)]
    return [Corpus.of("one", ours), Corpus.of("other", [f"y{i} the sun came early" for i in range(60)])]


def words_of(comparison: Comparison) -> set[str]:
    return {part for f in comparison.findings for part in f.where.get("word", "").split()}


@pytest.mark.parametrize(
    ("said", "bare"),
    [
        ("@dr_jonsmithers", "dr_jonsmithers"),
        ("@moonwalker", "moonwalker"),
        ("#moonwalker", "moonwalker"),
        ("Moonwalker", "moonwalker"),
        ("thandiwe", "thandiwe"),
        ("ngozi", "ngozi"),
    ],
)
def test_a_name_or_a_handle_is_not_among_the_words_between_corpora(said: str, bare: str) -> None:
    # A name that no list has is hidden as long as fewer than 20 texts hold it.
    made = sides(said, 12 if bare == "thandiwe" else 30)
    hidden = compare(made, None, WORDS)
    assert bare not in words_of(hidden)
    assert {"rain", "sun"} <= words_of(hidden)
    assert bare not in str(hidden)
    assert bare in words_of(compare(made, None, WORDS, show=True))


def test_what_is_hidden_is_counted() -> None:
    found = compare(sides("@moonwalker"), None, WORDS)
    counts = {f.measure: f.value for f in found.findings if f.measure.endswith("_hidden")}
    # The word, and with the classifier also "late moonwalker".
    assert counts == {"log_odds_z_hidden": 1, "adversarial_weight_hidden": 2}
    assert sum("best, 1 may not be shown: in fewer than 20 texts" in note for note in found.notes) == 1
    assert not any(f.measure.endswith("_hidden") for f in compare(sides(""), None, WORDS).findings)


def test_an_author_is_not_shown() -> None:
    may_show = showable_between(["so says fernleaf"] * 30, ["Fernleaf"])
    assert not may_show("fernleaf", list(range(30)))
    assert showable_between(["so says fernleaf"] * 30, [])("fernleaf", list(range(30)))


@pytest.mark.parametrize(
    ("text", "pair", "shown"),
    [
        ("i will go home", "will go", True),
        ("so Will Baker left", "will baker", False),
        ("i don't know", "don't know", True),
        ("i don’t know", "don’t know", True),
        ("that is ngozi's cup", "ngozi's cup", False),
    ],
)
def test_a_pair_is_shown_if_it_can_be_no_name(text: str, pair: str, shown: bool) -> None:
    assert showable_between([text] * 20, [])(pair, list(range(20))) is shown
    assert not showable_between([text] * 19, [])(pair, list(range(19)))
