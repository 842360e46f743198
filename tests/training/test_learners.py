"""The paper's grids, and a search that agrees with scikit-learn's own."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, PredefinedSplit

from psycheck.core.errors import BadInput
from psycheck.training.learners import cut_folds, grid, learners, search


def test_the_grids_are_those_of_the_paper() -> None:
    assert learners() == ("svm", "forest", "mlp", "lr")
    assert dict(grid("svm").tuned) == {
        "kernel": ["rbf", "sigmoid", "linear"],
        "C": [0.01, 0.1, 1.0, 10.0, 100.0],
    }
    assert dict(grid("forest").tuned) == {"max_depth": list(range(1, 51))}
    assert dict(grid("mlp").tuned) == {"alpha": [0.1, 1.0, 10.0]}
    made = grid("mlp").made({"alpha": 1.0}, seed=3)
    assert (made.hidden_layer_sizes, made.activation, made.random_state) == ([100], "relu", 3)
    assert len(grid("svm").points()) == 15


def test_an_unknown_learner_is_told_the_known_ones() -> None:
    with pytest.raises(BadInput) as caught:
        grid("forrest")
    assert "did you mean 'forest'" in str(caught.value)


@pytest.mark.parametrize("name", ["svm", "lr"])
def test_the_search_chooses_what_scikit_learn_chooses(name: str) -> None:
    features, marks = make_classification(90, 6, random_state=1, flip_y=0.3)
    folds = np.arange(90) % 3
    ours = search(grid(name), features, marks.astype(bool), folds.astype(np.int64))
    theirs = GridSearchCV(
        grid(name).made({}, 0),
        {key: list(values) for key, values in grid(name).tuned.items()},
        scoring="f1_macro",
        cv=PredefinedSplit(folds),
    ).fit(features, marks)
    assert ours.score == pytest.approx(theirs.best_score_)
    means = theirs.cv_results_["mean_test_score"]
    best = [
        p for p, mean in zip(theirs.cv_results_["params"], means, strict=True) if mean > means.max() - 1e-12
    ]
    assert ours.chosen in best
    if len(best) == 1:
        assert np.array_equal(ours.decide(features), theirs.predict(features).astype(bool))


def test_a_forest_is_not_grown_deeper_than_its_trees_reach() -> None:
    features, marks = make_classification(48, 4, random_state=2, flip_y=0.2)
    folds = (np.arange(48) % 3).astype(np.int64)
    few = replace(grid("forest"), fixed={"n_estimators": 5})
    ours = search(few, features, marks.astype(bool), folds)
    # Every depth from 1 to 12 and the last one, fitted for real: the rest of the 50 are the same forests.
    depths = [*range(1, 13), 50]
    theirs = GridSearchCV(
        few.made({}, 0),
        {"max_depth": depths},
        scoring="f1_macro",
        cv=PredefinedSplit(folds),
    ).fit(features, marks)
    assert ours.score == pytest.approx(theirs.best_score_)
    assert ours.chosen == theirs.best_params_


def test_texts_become_words_within_each_fold() -> None:
    texts = ["low and tired", "fine and rested"] * 12
    marks = np.arange(24) % 2 == 0
    found = search(grid("lr"), texts, marks, (np.arange(24) // 2 % 3).astype(np.int64))
    assert found.score == 1.0
    assert found.decide(["tired", "rested"]).tolist() == [True, False]


def test_a_fit_that_did_not_end_says_so() -> None:
    features, marks = make_classification(60, 5, random_state=0)
    cut = replace(grid("mlp"), fixed={"max_iter": 2}, tuned={"alpha": (0.1,)})
    folds = (np.arange(60) % 3).astype(np.int64)
    assert not search(cut, features, marks.astype(bool), folds).converged
    assert search(grid("lr"), features, marks.astype(bool), folds).converged


def test_folds_keep_owners_together_and_strata_in_proportion() -> None:
    strata = np.repeat(np.arange(4), 12)
    owners = [f"o{i // 2}" for i in range(48)]
    folds = cut_folds(strata, owners, seed=5)
    assert all(folds[i] == folds[i + 1] for i in range(0, 48, 2))
    for k in range(3):
        assert np.bincount(strata[folds == k], minlength=4).tolist() == [4, 4, 4, 4]
    assert np.array_equal(folds, cut_folds(strata, owners, seed=5))
    assert not np.array_equal(folds, cut_folds(strata, owners, seed=6))
