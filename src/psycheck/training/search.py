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

from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput, library
from psycheck.io.writing import sole_writer
from psycheck.models.options import query_of
from psycheck.symptoms.history_settings import PLAIN_NETWORK
from psycheck.training.card import RECORD
from psycheck.training.fit import Trained, fit, train
from psycheck.training.parts import Data, Progress, parts_of
from psycheck.training.recipe import HISTORY, Recipe, Space, kind_of, used

STUDY_FILE = "search.sqlite"
DRAWN = ("learning_rate", "batch", "epochs")
# Trials before any is stopped early.
STARTUP = 4


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

    Of a network over histories widths, filters, pooling and a transformer are tried, too, unless its start
    names some of these.

    The defaults are those of DECK, App-table 1 (10 trials, dev loss, Optuna's bounds). A trial is stopped
    early if its dev figures fall below the median of the others at the same epoch. The trials are recorded in
    FOLDER/search.sqlite and the best model is FOLDER/best, so the same call resumes after a crash with the
    trials of an uninterrupted search. Only the best model is measured on test.
    `progress(done, trials)` is called before the first trial and after each.
    """
    is_convolved = kind_of(recipe) == HISTORY and "learning_rate" in used(recipe)
    if kind_of(recipe) != "hf" and not is_convolved:
        raise BadInput(
            f"'{recipe.start}' has nothing to search: its settings are always chosen by trying all of them",
            code="search.not-fine-tuned",
            allowed="a start that is fine-tuned, or a network over histories",
        )
    if trials < 1:
        raise BadInput(f"search: trials = {trials}", code="search.too-few-trials", allowed="1 or more")

    space = _possible(space or Space(), recipe)
    with sole_writer(folder):
        study = _open_study(corpus, recipe, folder, space)
        while True:
            done = _finished_trials(study)
            if progress is not None:
                progress(done, trials)
            if done >= trials:
                break
            trial = _next_trial(study, space, seed=recipe.seed * 10_007 + done)
            _try(study, trial, corpus, drawn_recipe(recipe, trial.params), folder / "trials")
            _keep_best(study, folder)

        best_recipe = drawn_recipe(recipe, study.best_trial.params)
        return train(corpus, best_recipe, _keep_best(study, folder), test=test)


def _open_study(
    corpus: Data,
    recipe: Recipe,
    folder: Path,
    space: Space,
) -> Any:
    """The Optuna study in a folder, new or with the trials of an interrupted search."""
    optuna = library("optuna", "a search", "train")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    storage = optuna.storages.RDBStorage(f"sqlite:///{folder / STUDY_FILE}")
    name = _study_name(corpus, recipe, space)
    other_names = {study.study_name for study in storage.get_all_studies()} - {name}
    if other_names:
        raise BadInput(
            f"'{folder}' holds another search (other recipe, texts or bounds)",
            code="search.other-search",
            do="choose another folder, or remove this one",
        )
    study = optuna.create_study(
        storage=storage,
        study_name=name,
        direction="maximize" if recipe.criterion == "dev_f1" else "minimize",
        pruner=optuna.pruners.MedianPruner(n_startup_trials=STARTUP),
        load_if_exists=True,
    )

    # Trials that were interrupted are drawn again.
    states = optuna.trial.TrialState
    for stale in study.get_trials(deepcopy=False, states=[states.RUNNING]):
        study.tell(stale.number, state=states.FAIL)
    return study


def _finished_trials(study: Any) -> int:
    from optuna.trial import TrialState

    finished = [TrialState.COMPLETE, TrialState.PRUNED]
    return len(study.get_trials(deepcopy=False, states=finished))


def _next_trial(study: Any, space: Space, *, seed: int) -> Any:
    """Draw the parameters of a trial.

    Each trial has its own seed: a resumed search draws the same trials as an uninterrupted one.
    """
    from optuna.samplers import TPESampler

    study.sampler = TPESampler(seed=seed)
    trial = study.ask()
    trial.suggest_float("learning_rate", *space.learning_rate, log=True)
    trial.suggest_categorical("batch", list(space.batch))
    if space.epochs:
        trial.suggest_int("epochs", *space.epochs)
    if space.networks:
        trial.suggest_categorical("network", list(space.networks))
    return trial


def _possible(space: Space, recipe: Recipe) -> Space:
    """The space without networks where a recipe has none, or names its own."""
    named = query_of(recipe.start.partition("?")[2], recipe.start)
    names_network = bool(named.keys() & PLAIN_NETWORK.keys())
    if kind_of(recipe) == HISTORY and not names_network:
        return space
    return replace(space, networks=())


def drawn_recipe(recipe: Recipe, drawn: Mapping[str, Any]) -> Recipe:
    """The recipe with what a trial drew; the drawn batch is that of an update.

    A recipe that accumulates batches, for want of memory, computes no larger ones than its own.
    """
    changes = dict(drawn)
    network = changes.pop("network", None)
    if network is not None:
        separator = "&" if "?" in recipe.start else "?"
        changes["start"] = f"{recipe.start}{separator}{network}"

    if recipe.accumulate > 1:
        texts = changes["batch"]
        # The largest size that divides the batch of an update without a rest.
        fitting = [size for size in range(1, recipe.batch + 1) if texts % size == 0]
        changes["batch"] = max(fitting)
        changes["accumulate"] = texts // changes["batch"]
    return recipe.with_(**changes)


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
    # A number of seeds begins with that of the recipe.
    numbers = range(recipe.seed, recipe.seed + seeds) if isinstance(seeds, int) else seeds
    if not len(numbers):
        raise BadInput("no seeds to train with", code="train.too-few-seeds", allowed="1 or more")
    trainings: list[Trained] = []

    def after_step(done: int, total: int) -> None:
        if progress is not None:
            progress(len(trainings) * total + done, len(numbers) * total)

    for seed in numbers:
        trained = train(
            corpus,
            replace(recipe, seed=seed),
            folder / f"seed-{seed}",
            test=test,
            progress=after_step,
        )
        trainings.append(trained)
    return trainings


def spread(trained: Sequence[Trained], *, on: str = "test") -> dict[str, tuple[float, float]]:
    """Mean and standard deviation (n - 1) of each figure over trainings, as in DECK, App-table 3.

    `on` is "test" or "dev". The deviation of a single training is NaN; both are NaN if a figure is undefined
    in one of the trainings.
    """
    if on not in ("test", "dev"):
        raise BadInput(f"no figures on '{on}'", code="train.unknown-split", allowed="test, dev")
    all_figures: list[Mapping[str, float]] = [
        training.test if on == "test" else training.dev for training in trained
    ]
    if not all_figures:
        return {}

    means: dict[str, tuple[float, float]] = {}
    for name in all_figures[0]:
        if not all(name in figures for figures in all_figures):
            continue
        values = [figures[name] for figures in all_figures]
        deviation = math.nan
        if len(values) > 1 and not any(map(math.isnan, values)):
            deviation = statistics.stdev(values)
        means[name] = (statistics.fmean(values), deviation)
    return means


def _study_name(corpus: Data, recipe: Recipe, space: Space) -> str:
    """One study per recipe, data and space."""
    parts = parts_of(corpus, recipe)
    # What is drawn differs from trial to trial of one study.
    fixed = {name: value for name, value in recipe.as_dict().items() if name not in DRAWN}
    networks = f" {space.networks}" if space.networks else ""
    content = f"{fixed} {space}{networks} {parts.train.fingerprint()} {parts.dev.fingerprint()}"
    return blake2b(content.encode(), digest_size=16).hexdigest()


def _try(
    study: Any,
    trial: Any,
    corpus: Data,
    recipe: Recipe,
    trials: Path,
) -> None:
    """Train one draw; a draw that is repeated finds its checkpoints, as its folder is named after it."""
    from optuna import TrialPruned
    from optuna.trial import TrialState

    drawn = f"{recipe.learning_rate!r} {recipe.batch} {recipe.epochs}"
    # Names of older searches stay as they were.
    if recipe.accumulate > 1:
        drawn += f" {recipe.accumulate}"
    if kind_of(recipe) == HISTORY:
        drawn += f" {recipe.start}"
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
    best = folder / "best"
    trials = folder / "trials"
    complete = [trial for trial in study.get_trials(deepcopy=False) if trial.state.name == "COMPLETE"]
    if complete:
        winner = trials / study.best_trial.user_attrs["folder"]
        # It is not there if it was moved before.
        if (winner / RECORD).is_file():
            shutil.rmtree(best, ignore_errors=True)
            winner.replace(best)
    # Weights of ten trials would fill a disk: what lost is not kept.
    for trial in complete:
        shutil.rmtree(trials / trial.user_attrs["folder"], ignore_errors=True)
    return best
