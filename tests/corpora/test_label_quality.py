from random import Random

import pytest

from made_words import THINGS, clean, corpus, flipped, names, sentence, without_split
from psycheck.core.corpus import Corpus
from psycheck.corpora.cautions import cheap_cautions, warnings_of
from psycheck.statistics.intervals import wilson


def test_turned_labels_are_doubted() -> None:
    made, random = clean(), Random(4)
    signs = ("zebra", "lion", "tiger")
    turned = set(range(0, 300, 7))
    for i, mark in enumerate(made["label"]):
        own = signs if (bool(mark) != (i in turned)) else ("oak", "elm", "ash")
        made["text"][i] = f"{made['text'][i]} {random.choice(own)} {random.choice(own)}"
    doubted = next(c for c in warnings_of(corpus(made)) if c.name == "label_noise")
    assert 0.06 < doubted.figure < len(turned) / 300 + 0.02
    suspects = {int(id_) - 1 for id_ in doubted.ids}
    assert len(suspects & turned) / len(suspects) > 0.9


def test_imbalance_and_one_class() -> None:
    made = clean()
    made["label"] = [int(i % 20 == 0) for i in range(300)]
    got = cheap_cautions(corpus(made))
    assert [(c.name, c.figure) for c in got] == [("imbalance", 0.95)]
    made["label"] = [1] * 300
    assert [c.figure for c in cheap_cautions(corpus(made))] == [1.0]


def test_labels_that_are_missing_in_one_split() -> None:
    made = clean()
    made["label"] = [None if i >= 200 else i % 2 for i in range(300)]
    got = warnings_of(corpus(made))
    assert names(got) == ["missing_labels"]
    assert "follows split (Cramér's V" in got[0].sentence
    assert got[0].command == "psycheck clean made --annotated low --out mended.csv"
    random = Random(5)
    made["label"] = [None if random.random() < 0.3 else i % 2 for i in range(300)]
    assert warnings_of(corpus(made)) == ()


def test_labels_that_are_blank_together_are_one_fact() -> None:
    random = Random(8)
    texts = [sentence(random) for _ in range(400)]
    blank = [random.random() < 0.4 for _ in texts]
    labels: dict[str, list[float | None]] = {
        name: [None if gone else float(random.random() < 0.5) for gone in blank]
        for name in ("low", "fear", "anger")
    }
    assert warnings_of(Corpus.of("made", texts, labels=labels)) == ()
    # A fourth label is known for all texts, and the three are missing mostly where it is 1.
    labels["ill"] = [float(gone != (random.random() < 0.1)) for gone in blank]
    (caution,) = warnings_of(Corpus.of("made", texts, labels=labels))
    assert (caution.name, caution.label) == ("missing_labels", "low")
    assert "follows the value of ill, as for 2 other labels missing in the same texts" in caution.sentence


def test_a_classifier_that_knows_the_writers_is_a_caution() -> None:
    # Each author has a word of his own, and one label but for a tenth of the texts.
    made = clean(600)
    made["author"] = [f"a{i // 10}" for i in range(600)]
    made["text"] = [f"{text} {THINGS[i // 10]}{THINGS[i // 10 + 1]}" for i, text in enumerate(made["text"])]
    made["label"] = flipped([i // 10 % 2 for i in range(600)])
    got = {c.name: c for c in warnings_of(without_split(made))}
    assert set(got) == {"label_of_author", "author_folds"}
    leak = got["author_folds"]
    assert leak.figure > 0.2
    assert leak.interval is not None
    assert leak.interval[0] > 0
    assert "on authors that it has not seen" in leak.sentence
    assert warnings_of(corpus(clean(600))) == ()


def test_shares_of_texts_are_clustered_by_author() -> None:
    """Two of 20 authors, with ten texts each, have all the texts annotated 0: 0.9 of 20 authors.

    Each author moves the share by 0.1 × 10 / 200 or 0.9 × 10 / 200, by 1 / 0.95 of it when left out: the
    variance is (18 × 0.005² + 2 × 0.045²) / 0.95² = 0.004986, that of 0.09 / 0.004986 = 18.05 texts.
    """
    made = clean(200)
    made["author"] = [f"a{i // 10}" for i in range(200)]
    made["label"] = [float(i >= 20) for i in range(200)]
    (found,) = [one for one in cheap_cautions(without_split(made)) if one.name == "imbalance"]
    assert found.figure == 0.9
    assert found.interval is not None
    # 2 (Σp²)² / Σp⁴ = 4.9 authors decide the variance. Only two show a 0, so that they weigh 1 / 5 against
    # the 20 authors: 8.9^0.2 × 20^0.8 = 17.0, and t(16.0) is 2.12.
    assert found.interval == pytest.approx(wilson(0.9 * 18.05, 18.05, 2.12), abs=0.001)
    made["author"] = [f"a{i // 20}" for i in range(200)]
    (few,) = [one for one in cheap_cautions(without_split(made)) if one.name == "imbalance"]
    assert few.interval is None  # 10 authors


def test_a_copy_with_a_label_of_one_half_contradicts_nothing() -> None:
    made = clean()
    for i in range(0, 30, 2):
        made["text"][i + 101] = f"{made['text'][i]}!"
        made["label"][i + 101] = 0.5  # the originals are annotated 0
    assert "conflicting_labels" not in names(warnings_of(without_split(made), called="posts.csv"))
