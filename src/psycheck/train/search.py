"""Many trainings of one recipe: a search for its parameters, and the spread over seeds."""

import math
import shutil
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import Any

from psycheck.corpus import Corpus
from psycheck.errors import BadInput, MissingExtra
from psycheck.files.write import sole_writer
from psycheck.train.card import RECORD
from psycheck.train.fit import Trained, fit, train
from psycheck.train.parts import Data, Progress, parts_of
from psycheck.train.recipe import Recipe, Space, kind_of

STUDY_FILE = "search.sqlite"
DRAWN = ("learning_rate", "batch", "epochs")
STARTUP = 4  # trials before any is stopped early


def search(
    corpus: Data,
    recipe: Recipe,
    folder: Path,
    *,
    trials: int = 10,
    space: Space | None = None,
    test: Corpus | None = None,
    progress: Progress | None = None,
) -> Trained:
    """Try learning rates, batch sizes and epochs; keep the training with the best criterion on dev.

    The defaults are those of DECK, App-table 1 (10 trials, dev loss, Optuna's bounds). A trial is stopped
    early if its dev figures fall below the median of the others at the same epoch. The trials are recorded in
    FOLDER/search.sqlite and the best model is FOLDER/best, so the same call resumes after a crash with the
    trials of an uninterrupted search. Only the best model is measured on test.
    `progress(done, trials)` is called before the first trial and after each.
    """
    if kind_of(recipe) != "hf":
        raise BadInput(
            f"'{recipe.start}' has nothing to search: its regularisation is always chosen on dev",
            allowed="a start that is fine-tuned",
        )
    if trials < 1:
        raise BadInput(f"search: trials = {trials}", allowed="1 or more")
    try:
        import optuna
    except ImportError as error:
        raise MissingExtra("a search", "train") from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    space, states = space or Space(), optuna.trial.TrialState
    with sole_writer(folder):
        storage = optuna.storages.RDBStorage(f"sqlite:///{folder / STUDY_FILE}")
        name = _study_name(corpus, recipe, space)
        if {study.study_name for study in storage.get_all_studies()} - {name}:
            raise BadInput(
                f"'{folder}' holds another search (other recipe, texts or bounds)",
                do="choose another folder, or remove this one",
            )
        study = optuna.create_study(
            storage=storage,
            study_name=name,
            direction="maximize" if recipe.criterion == "dev_f1" else "minimize",
            pruner=optuna.pruners.MedianPruner(n_startup_trials=STARTUP),
            load_if_exists=True,
        )
        for stale in study.get_trials(deepcopy=False, states=[states.RUNNING]):
            study.tell(stale.number, state=states.FAIL)
        while True:
            done = len(study.get_trials(deepcopy=False, states=[states.COMPLETE, states.PRUNED]))
            if progress is not None:
                progress(done, trials)
            if done >= trials:
                break
            # Each trial has its own seed: a resumed search draws the same trials as an uninterrupted one.
            study.sampler = optuna.samplers.TPESampler(seed=recipe.seed * 10_007 + done)
            trial = study.ask()
            trial.suggest_float("learning_rate", *space.learning_rate, log=True)
            trial.suggest_categorical("batch", list(space.batch))
            trial.suggest_int("epochs", *space.epochs)
            _try(study, trial, corpus, recipe.with_(**trial.params), folder / "trials")
            _keep_best(study, folder)
        best = recipe.with_(**study.best_trial.params)
        return train(corpus, best, _keep_best(study, folder), test=test)


def train_seeds(
    corpus: Data,
    recipe: Recipe,
    folder: Path,
    *,
    seeds: int | Sequence[int] = 3,
    test: Corpus | None = None,
    progress: Progress | None = None,
) -> list[Trained]:
    """Train the same recipe with several seeds (the recipe's own and those after it), each in FOLDER/seed-N.

    `progress(done, total)` is called after each step, with the steps of all seeds as the total.
    """
    numbers = range(recipe.seed, recipe.seed + seeds) if isinstance(seeds, int) else seeds
    if not len(numbers):
        raise BadInput("no seeds to train with", allowed="1 or more")
    out: list[Trained] = []

    def after_step(done: int, total: int) -> None:
        if progress is not None:
            progress(len(out) * total + done, len(numbers) * total)

    for seed in numbers:
        place = folder / f"seed-{seed}"
        out.append(train(corpus, replace(recipe, seed=seed), place, test=test, progress=after_step))
    return out


def spread(trained: Sequence[Trained], *, on: str = "test") -> dict[str, tuple[float, float]]:
    """Mean and standard deviation (n - 1) of each figure over trainings, as in DECK, App-table 3.

    `on` is "test" or "dev". The deviation of a single training is NaN; both are NaN if a figure is undefined
    in one of the trainings.
    """
    if on not in ("test", "dev"):
        raise BadInput(f"no figures on '{on}'", allowed="test, dev")
    each: list[Mapping[str, float]] = [one.test if on == "test" else one.dev for one in trained]
    out: dict[str, tuple[float, float]] = {}
    for name in each[0] if each else ():
        if all(name in one for one in each):
            values = [one[name] for one in each]
            defined = len(values) > 1 and not any(map(math.isnan, values))
            out[name] = statistics.fmean(values), statistics.stdev(values) if defined else math.nan
    return out


def _study_name(corpus: Data, recipe: Recipe, space: Space) -> str:
    """One study per recipe, data and space."""
    parts = parts_of(corpus, recipe)
    fixed = {name: value for name, value in recipe.as_dict().items() if name not in DRAWN}
    content = f"{fixed} {space} {parts.train.fingerprint()} {parts.dev.fingerprint()}"
    return blake2b(content.encode(), digest_size=16).hexdigest()


def _try(study: Any, trial: Any, corpus: Data, recipe: Recipe, trials: Path) -> None:
    """Train one draw; a draw that is repeated finds its checkpoints, as its folder is named after it."""
    from optuna import TrialPruned
    from optuna.trial import TrialState

    drawn = f"{recipe.learning_rate!r} {recipe.batch} {recipe.epochs}"
    place = trials / blake2b(drawn.encode(), digest_size=8).hexdigest()
    measure = recipe.criterion.removeprefix("dev_")
    epochs = count(1)

    def after_epoch(_: float, dev: Mapping[str, float]) -> None:
        trial.report(float(dev[measure]), next(epochs))
        if trial.should_prune():
            raise TrialPruned

    trial.set_user_attr("folder", place.name)
    try:
        trained = fit(corpus, recipe, place, after_epoch=after_epoch)
    except TrialPruned:
        shutil.rmtree(place.with_name(f"{place.name}.training"), ignore_errors=True)
        study.tell(trial, state=TrialState.PRUNED)
    else:
        study.tell(trial, float(trained.dev[measure]))


def _keep_best(study: Any, folder: Path) -> Path:
    """Move the best training so far to FOLDER/best and delete the weights of the others."""
    best, trials = folder / "best", folder / "trials"
    complete = [trial for trial in study.get_trials(deepcopy=False) if trial.state.name == "COMPLETE"]
    if complete and ((winner := trials / study.best_trial.user_attrs["folder"]) / RECORD).is_file():
        shutil.rmtree(best, ignore_errors=True)
        winner.replace(best)
    for trial in complete:
        shutil.rmtree(trials / trial.user_attrs["folder"], ignore_errors=True)
    return best
