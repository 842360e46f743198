import json
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from skops.io import dump

from psycheck.core.corpus import Corpus
from psycheck.models.opening import open_model
from psycheck.models.tfidf_file import TFIDF_FILE
from psycheck.training.card import RECORD
from psycheck.training.fit import opened, train, training_key
from psycheck.training.linear import fit_tfidf
from psycheck.training.parts import parts_of
from psycheck.training.recipe import Recipe, preset


def test_one_label_is_the_plain_pipeline(corpus: Corpus, tmp_path: Path) -> None:
    trained = train(corpus, preset("tfidf"), tmp_path / "model")
    model = open_model(trained.spec)
    assert model.labels == ("low",)
    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"(?u)\b\w+\b")
    part, test = corpus.part("train"), corpus.part("test")
    strength = min(trained.curve, key=lambda point: point["loss"])["C"]
    theirs = LogisticRegression(C=strength, max_iter=2_000).fit(
        words.fit_transform(part.texts), part.targets()[:, 0]
    )
    expected = theirs.predict_proba(words.transform(test.texts))[:, 1]
    np.testing.assert_allclose(model.score(test.texts)[:, 0], expected, rtol=1e-6)
    assert trained.test["accuracy"] == 1.0


@pytest.mark.parametrize("labels", [("low",), ("low", "worry")])
def test_the_same_training_gives_the_same_bytes_in_few_members(
    corpus: Corpus, tmp_path: Path, labels: tuple[str, ...]
) -> None:
    low = list(corpus.targets()[:, 0])
    marks = {"low": low, "worry": [1 - mark for mark in low]}
    split = corpus.table["split"].to_list()
    both = Corpus.of("both", corpus.texts, labels={name: marks[name] for name in labels}, split=split)
    once, twice = (train(both, preset("tfidf"), tmp_path / name) for name in ("once", "twice"))
    files = [tmp_path / name / TFIDF_FILE for name in ("once", "twice")]
    assert files[0].read_bytes() == files[1].read_bytes()
    assert open_model(once.spec).fingerprint == open_model(twice.spec).fingerprint
    with ZipFile(files[0]) as archive:
        # The same members for any number of words and labels.
        assert len(archive.namelist()) == 4


def test_a_file_with_a_member_for_each_word_still_opens(tmp_path: Path) -> None:
    # As skops itself writes a vocabulary of NumPy integers, and as older versions wrote theirs.
    texts = ["i feel low", "sleep well"]
    words = TfidfVectorizer()
    model = make_pipeline(words, LogisticRegression()).fit(texts, [1, 0])
    words.vocabulary_ = {word: np.int64(column) for word, column in words.vocabulary_.items()}
    dump(model, tmp_path / "old.skops")
    expected = model.predict_proba(texts)[:, 1]
    np.testing.assert_array_equal(open_model(tmp_path / "old.skops").score(texts)[:, 0], expected)


def test_a_label_is_fitted_on_the_texts_annotated_for_it(corpus: Corpus, tmp_path: Path) -> None:
    low = list(corpus.targets()[:, 0])
    worry = [None if i % 3 == 0 else 1 - mark for i, mark in enumerate(low)]
    split = corpus.table["split"].to_list()
    both = Corpus.of("both", corpus.texts, labels={"low": low, "worry": worry}, split=split)
    model = open_model(train(both, preset("tfidf"), tmp_path / "model").spec)
    assert model.labels == ("low", "worry")
    _, heads = fit_tfidf(parts_of(both, preset("tfidf")), preset("tfidf"))
    alone = Corpus.of("alone", corpus.texts, labels={"worry": worry}, split=split)
    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"(?u)\b\w+\b")
    train_part = both.part("train")
    known = ~np.isnan(train_part.targets(["worry"])[:, 0])
    features = words.fit_transform(train_part.texts)
    theirs = LogisticRegression(C=heads.strength, max_iter=2_000).fit(
        features[known], alone.part("train").targets()[known, 0]
    )
    test = both.part("test").texts
    np.testing.assert_allclose(
        model.score(test)[:, 1], theirs.predict_proba(words.transform(test))[:, 1], rtol=1e-6
    )


def test_soft_targets_count_in_part_for_both_classes() -> None:
    # One and the same text, annotated 0.75: the score tends to 0.75 as the penalty falls.
    soft = Corpus.of(
        "soft", ["i feel"] * 40, labels={"low": [0.5, 1.0] * 20}, split=["train"] * 30 + ["dev"] * 10
    )
    mixed = soft.table.with_columns(soft.table["label:low"].scatter(0, 0.4))
    parts = parts_of(Corpus("soft", mixed), Recipe(start="tfidf+lr"))
    pipeline, _ = fit_tfidf(parts, Recipe(start="tfidf+lr"))
    expected = parts.train.targets.mean()
    assert pipeline.predict_proba(["i feel"])[0, 1] == pytest.approx(expected, abs=0.01)


def test_class_weights_balance(tmp_path: Path) -> None:
    rare = Corpus.of(
        "rare",
        ["i feel"] * 40,
        labels={"low": [float(i % 5 == 0) for i in range(40)]},
        split=["train"] * 20 + ["dev"] * 20,
    )
    scores = []
    for weighted in (False, True):
        trained = train(rare, preset("tfidf", class_weights=weighted), tmp_path / str(weighted))
        scores.append(open_model(trained.spec).score(["i feel"])[0, 0])
    assert scores == pytest.approx([0.2, 0.5], abs=0.01)


def test_the_folder_names_only_what_the_baseline_used(corpus: Corpus, tmp_path: Path) -> None:
    recipe = preset("tfidf", class_weights=True)
    train(corpus, recipe, tmp_path / "model")
    record = json.loads((tmp_path / "model" / RECORD).read_text())
    assert set(record["recipe"]) == {"start", "labels", "class_weights", "criterion", "dev_share", "seed"}
    card = (tmp_path / "model" / "README.md").read_text()
    assert "| class_weights | True |" in card
    for unused in ("epochs", "batch", "learning_rate", "warmup", "max_length"):
        assert f"| {unused} |" not in card
    assert opened(tmp_path / "model").recipe == recipe


def test_values_that_a_baseline_does_not_use_make_no_other_training(corpus: Corpus, tmp_path: Path) -> None:
    train(corpus, preset("tfidf", epochs=50), tmp_path / "model")
    assert train(corpus, preset("tfidf"), tmp_path / "model").reused
    assert train(corpus, opened(tmp_path / "model").recipe, tmp_path / "model").reused


def test_a_folder_that_lists_unused_values_is_read_and_its_card_drops_them(
    corpus: Corpus, tmp_path: Path
) -> None:
    # As older versions wrote it: all values stand in the recipe, and they decided the key.
    recipe = preset("tfidf", epochs=50)
    train(corpus, recipe, tmp_path / "model")
    path = tmp_path / "model" / RECORD
    record = json.loads(path.read_text())
    parts = parts_of(corpus, recipe)
    record |= {"recipe": recipe.as_dict(), "key": training_key(parts, recipe, "tfidf+lr"), "test": None}
    path.write_text(json.dumps(record))
    again = train(corpus, opened(tmp_path / "model").recipe, tmp_path / "model")
    assert again.reused
    assert "| epochs |" not in (tmp_path / "model" / "README.md").read_text()
