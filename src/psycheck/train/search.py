"""Many trainings of one recipe: a search for its parameters, and the spread over seeds."""

import math
import shutil
import statistics
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from psycheck.corpus import Corpus
from psycheck.errors import BadInput, MissingExtra
from psycheck.train.card import RECORD
from psycheck.train.fit import Trained, fit, train
from psycheck.train.parts import parts_of
from psycheck.train.recipe import Recipe, Space, kind_of, with_seed

STUDY_FILE = "search.sqlite"
STARTUP = 4  # trials before any is cut short


def search(
    corpus: Corpus | tuple[Corpus, Corpus],
    recipe: Recipe,
    folder: Path,
    *,
    trials: int = 10,
    space: Space | None = None,
    test: Corpus | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Trained:
    """Try learning rates, batch sizes and epochs; keep the training with the best criterion on dev.

    The defaults are those of DECK, App-table 1 (10 trials, dev loss, Optuna's bounds). A trial whose dev
    figures fall behind the median of the others at the same epoch is cut short. What was tried is kept in
    FOLDER/search.sqlite and the best model in FOLDER/best, so that after a kill the same call goes on where
    it stopped, with the same trials as an undisturbed one. Test figures are taken of the best alone.
    `progress(done, trials)` hears of each trial.
    """
    if kind_of(recipe) != "hf":
        raise BadInput(
            f"'{recipe.start}' has nothing to search: its strength is always chosen on dev",
            allowed="a start that is fine-tuned",
        )
    if trials < 1:
        raise BadInput(f"search: trials = {trials}", allowed="1 or more")
    optuna = _optuna()
    space = space or Space()
    folder.mkdir(parents=True, exist_ok=True)
    study = _study(optuna, folder, corpus, recipe, space)
    for stale in study.get_trials(deepcopy=False, states=[optuna.trial.TrialState.RUNNING]):
        study.tell(stale.number, state=optuna.trial.TrialState.FAIL)
    while (done := len(_ended(optuna, study))) < trials:
        # Each trial has its own draw, so that a resumed search draws what an undisturbed one would have.
        study.sampler = optuna.samplers.TPESampler(seed=recipe.seed * 10_007 + done)
        trial = study.ask()
        _try(optuna, study, trial, corpus, _drawn(trial, recipe, space), folder)
        _keep_best(optuna, study, folder)
        if progress is not None:
            progress(done + 1, trials)
    best = study.best_trial
    return train(corpus, _recipe_of_trial(best, recipe), _keep_best(optuna, study, folder), test=test)


def train_seeds(
    corpus: Corpus | tuple[Corpus, Corpus],
    recipe: Recipe,
    folder: Path,
    *,
    seeds: int | Sequence[int] = 3,
    test: Corpus | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Trained]:
    """Train the same recipe with several seeds (from the recipe's own on), each in FOLDER/seed-N.

    `progress(done, total)` hears of each finished training.
    """
    numbers = range(recipe.seed, recipe.seed + seeds) if isinstance(seeds, int) else seeds
    if not len(numbers):
        raise BadInput("no seeds to train with", allowed="1 or more")
    out: list[Trained] = []
    for seed in numbers:
        out.append(train(corpus, with_seed(recipe, seed), folder / f"seed-{seed}", test=test))
        if progress is not None:
            progress(len(out), len(numbers))
    return out


def spread(trained: Sequence[Trained], *, on: str = "test") -> dict[str, tuple[float, float]]:
    """Mean and standard deviation (n - 1) of each figure over trainings, as in DECK, App-table 3.

    `on` is "test" or "dev"; the deviation of a single training is NaN, and so are both where a figure is
    undefined in one of the trainings.
    """
    if on not in ("test", "dev"):
        raise BadInput(f"no figures on '{on}'", allowed="test, dev")
    each: list[Mapping[str, float]] = [one.test if on == "test" else one.dev for one in trained]
    shared = [name for name in (each[0] if each else {}) if all(name in one for one in each)]
    out: dict[str, tuple[float, float]] = {}
    for name in shared:
        values = [one[name] for one in each]
        out[name] = (
            statistics.fmean(values),
            statistics.stdev(values) if len(values) > 1 and not any(map(math.isnan, values)) else math.nan,
        )
    return out


def _try(optuna: Any, study: Any, trial: Any, corpus: Any, recipe: Recipe, folder: Path) -> None:
    place = folder / "trials" / _name(recipe)
    epoch = 0

    def after_epoch(_: float, dev: Mapping[str, float]) -> None:
        nonlocal epoch
        epoch += 1
        trial.report(_value(dev, recipe), epoch)
        if trial.should_prune():
            raise optuna.TrialPruned

    trial.set_user_attr("folder", place.name)
    try:
        trained = fit(corpus, recipe, place, after_epoch=after_epoch)
    except optuna.TrialPruned:
        shutil.rmtree(place.with_name(f"{place.name}.training"), ignore_errors=True)
        study.tell(trial, state=optuna.trial.TrialState.PRUNED)
        return
    study.tell(trial, _value(trained.dev, recipe))


def _keep_best(optuna: Any, study: Any, folder: Path) -> Path:
    """Move the best training so far to FOLDER/best and drop the weights of the others."""
    best, trials = folder / "best", folder / "trials"
    complete = study.get_trials(deepcopy=False, states=[optuna.trial.TrialState.COMPLETE])
    if not complete:
        return best
    winner = trials / study.best_trial.user_attrs["folder"]
    if (winner / RECORD).is_file():
        shutil.rmtree(best, ignore_errors=True)
        winner.replace(best)
    for trial in complete:
        shutil.rmtree(trials / trial.user_attrs["folder"], ignore_errors=True)
    return best


def _drawn(trial: Any, recipe: Recipe, space: Space) -> Recipe:
    trial.suggest_float("learning_rate", *space.learning_rate, log=True)
    trial.suggest_categorical("batch", list(space.batch))
    trial.suggest_int("epochs", *space.epochs)
    return _recipe_of_trial(trial, recipe)


def _recipe_of_trial(trial: Any, recipe: Recipe) -> Recipe:
    return recipe.with_(**trial.params)


def _value(dev: Mapping[str, float], recipe: Recipe) -> float:
    return float(dev[recipe.criterion.removeprefix("dev_")])


def _ended(optuna: Any, study: Any) -> list[Any]:
    ended = [optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.PRUNED]
    return list(study.get_trials(deepcopy=False, states=ended))


def _study(
    optuna: Any, folder: Path, corpus: Corpus | tuple[Corpus, Corpus], recipe: Recipe, space: Space
) -> Any:
    """One study a recipe, data and space; another one in the same folder is refused."""
    parts = parts_of(corpus, recipe)
    fixed = {
        name: value
        for name, value in recipe.as_dict().items()
        if name not in ("learning_rate", "batch", "epochs")
    }
    said = f"{fixed} {space} {parts.train.fingerprint()} {parts.dev.fingerprint()}"
    name = blake2b(said.encode(), digest_size=16).hexdigest()
    storage = optuna.storages.RDBStorage(f"sqlite:///{folder / STUDY_FILE}")
    if others := {study.study_name for study in storage.get_all_studies()} - {name}:
        raise BadInput(
            f"'{folder}' holds {len(others)} other search (other recipe, texts or bounds)",
            do="name another folder, or remove this one",
        )
    return optuna.create_study(
        storage=storage,
        study_name=name,
        direction="maximize" if recipe.criterion == "dev_f1" else "minimize",
        pruner=optuna.pruners.MedianPruner(n_startup_trials=STARTUP),
        load_if_exists=True,
    )


def _name(recipe: Recipe) -> str:
    """A folder for each draw, the same whenever it is drawn again: its checkpoints are found."""
    said = f"{recipe.learning_rate!r} {recipe.batch} {recipe.epochs}"
    return blake2b(said.encode(), digest_size=8).hexdigest()


def _optuna() -> Any:
    try:
        import optuna
    except ImportError as error:
        raise MissingExtra("a search", "train") from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna
