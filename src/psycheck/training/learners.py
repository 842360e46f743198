"""The learners of the gender study and their grid search, over folds that the caller makes."""

import tomllib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import compress, product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psycheck.core.arrays import FloatArray
from psycheck.core.errors import BadInput, nearest
from psycheck.statistics.classification import BoolArray

FOLDS = 3
# Equal means may differ by rounding.
_ROUNDING = 1e-12
Features = FloatArray | Sequence[str]
Folds = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Grid:
    """A learner: the estimator as "module:class", its `fixed` parameters and the values of the `tuned` ones.

    A `seeded` learner has a random_state.
    """

    name: str
    title: str
    estimator: str
    fixed: Mapping[str, Any]
    tuned: Mapping[str, Sequence[Any]]
    seeded: bool = False

    def points(self) -> list[dict[str, Any]]:
        """Every combination of the tuned values, the last name fastest."""
        combinations = product(*self.tuned.values())
        return [dict(zip(self.tuned, values, strict=True)) for values in combinations]

    def made(self, point: Mapping[str, Any], seed: int) -> Any:
        """An estimator that is not fitted yet."""
        module, name = self.estimator.split(":")
        # Only some of the learners draw anything at random.
        random_state = {"random_state": seed} if self.seeded else {}
        estimator = getattr(import_module(module), name)
        return estimator(**self.fixed, **point, **random_state)


@dataclass(frozen=True, slots=True)
class Searched:
    """The learner fitted on all rows with the best parameters; `score` is their mean macro-F1 over the folds.

    `converged` is false if the last fit reached the maximum number of iterations.
    """

    model: Any
    chosen: Mapping[str, Any]
    score: float
    converged: bool

    def decide(self, features: Features) -> BoolArray:
        """Yes or no for each row, (n,)."""
        out: BoolArray = np.asarray(self.model.predict(features), bool)
        return out


def learners() -> tuple[str, ...]:
    """The names of the learners that have a grid."""
    return tuple(_shipped())


def grid(name: str) -> Grid:
    """A learner by its name."""
    shipped = _shipped()
    if name not in shipped:
        raise BadInput(
            f"unknown learner '{name}'",
            code="training.unknown-learner",
            allowed=nearest(name, shipped),
        )
    return shipped[name]


def search(
    grid: Grid,
    features: Features,
    marks: BoolArray,
    folds: Folds,
    *,
    seed: int = 0,
    weights: FloatArray | None = None,
) -> Searched:
    """Try every point of a grid on every fold and fit the one with the best mean macro-F1 (first on ties).

    `features` are vectors (n, d), or texts, which become TF–IDF of words fitted within each fold; `marks`,
    `folds` and the `weights` of the rows, if any, are (n,). The caller keeps copies of a text in one fold.
    """
    points = grid.points()
    scores = []
    for fold in np.unique(folds):
        in_fold = folds == fold
        scores.append(
            _fold_scores(
                grid,
                features,
                marks,
                in_fold,
                seed,
                weights,
            )
        )
    means = np.array(scores).mean(axis=0)
    # Equal up to rounding.
    is_best = means >= means.max() - _ROUNDING
    best = int(np.flatnonzero(is_best)[0])

    model = made_for(grid, points[best], features, seed)
    converged = fit_estimator(model, features, marks, weights)
    return Searched(
        model=model,
        chosen=points[best],
        score=float(means[best]),
        converged=converged,
    )


def made_for(
    grid: Grid,
    point: Mapping[str, Any],
    features: Features,
    seed: int,
) -> Any:
    """An estimator for these features: texts need their words counted first, by a vocabulary of its own."""
    model = grid.made(point, seed)
    if isinstance(features, np.ndarray):
        return model
    from sklearn.pipeline import make_pipeline

    return make_pipeline(_words(), model)


def rows_of(features: Features, is_chosen: BoolArray) -> Features:
    """Some rows of vectors, or some of the texts."""
    if isinstance(features, np.ndarray):
        return features[is_chosen]
    return list(compress(features, is_chosen))


def cut_folds(
    strata: Folds,
    owners: Sequence[str],
    *,
    folds: int = FOLDS,
    seed: int = 0,
) -> Folds:
    """The fold of each row, (n,): stratified, with the rows of one owner in the same fold."""
    from sklearn.model_selection import StratifiedGroupKFold

    # A writer in train and test would be recognised by the manner of writing.
    fold_of_row = np.zeros(len(strata), np.int64)
    cutter = StratifiedGroupKFold(folds, shuffle=True, random_state=seed)
    groups = np.asarray(owners, dtype=np.str_)
    for number, (_, rows) in enumerate(cutter.split(strata, strata, groups)):
        fold_of_row[rows] = number
    return fold_of_row


def _fold_scores(
    grid: Grid,
    features: Features,
    marks: BoolArray,
    in_fold: BoolArray,
    seed: int,
    weights: FloatArray | None,
) -> list[float]:
    """The macro-F1 of each point on one fold."""
    from sklearn.metrics import f1_score

    train: Any = rows_of(features, ~in_fold)
    test: Any = rows_of(features, in_fold)
    if not isinstance(features, np.ndarray):
        # Fitted without the fold: its words must not be known beforehand.
        words = _words()
        train = words.fit_transform(train)
        test = words.transform(test)
    train_weights = None if weights is None else weights[~in_fold]

    points = grid.points()
    scores: list[float] = []
    for point in points:
        model = grid.made(point, seed)
        fit_estimator(model, train, marks[~in_fold], train_weights)
        decided = model.predict(test)
        macro_f1 = f1_score(marks[in_fold], decided, average="macro", zero_division=0)
        scores.append(float(macro_f1))

        grown = max((tree.get_depth() for tree in getattr(model, "estimators_", ())), default=0)
        if set(grid.tuned) == {"max_depth"} and grown < point["max_depth"]:
            # No tree reaches this depth, so greater depths give the same forest.
            missing = len(points) - len(scores)
            return scores + [scores[-1]] * missing
    return scores


def fit_estimator(
    model: Any,
    features: Any,
    marks: BoolArray,
    weights: FloatArray | None = None,
) -> bool:
    """Fit, and return whether it converged."""
    from sklearn.exceptions import ConvergenceWarning

    settings = {}
    if weights is not None:
        # In a pipeline the weights are for its last step.
        prefix = f"{model.steps[-1][0]}__" if hasattr(model, "steps") else ""
        settings[f"{prefix}sample_weight"] = weights

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        model.fit(features, marks, **settings)
    return not any(issubclass(warning.category, ConvergenceWarning) for warning in caught)


def _words() -> Any:
    """TF–IDF of words, including those of one letter."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(sublinear_tf=True, token_pattern=r"(?u)\b\w+\b")


@cache
def _shipped() -> dict[str, Grid]:
    file = Path(__file__).with_name("learners.toml")
    raw = tomllib.loads(file.read_text("utf-8"))
    return {name: Grid(name=name, **values) for name, values in raw.items()}
