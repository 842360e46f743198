import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import optuna
import pytest

from psycheck.core.corpus import Corpus
from psycheck.training import search as room
from psycheck.training.fit import fit
from psycheck.training.recipe import Recipe, Space
from psycheck.training.search import search, spread, train_seeds
from refusals import refused

Tiny = Callable[[str], str]
BOUNDS = Space(learning_rate=(1e-4, 1e-2), batch=(4, 8), epochs=(1, 2))


def tried(folder: Path) -> list[tuple[dict[str, float], float | None]]:
    storage = optuna.storages.RDBStorage(f"sqlite:///{folder / 'search.sqlite'}")
    study = optuna.load_study(study_name=None, storage=storage)
    ended = (optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.PRUNED)
    return [(trial.params, trial.value) for trial in study.get_trials(states=ended)]


def test_a_search_keeps_the_best_and_resumes(
    tiny: Tiny, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = Recipe(start=tiny("bert"), max_length=16)
    whole = search(corpus, recipe, tmp_path / "whole", trials=2, space=BOUNDS)
    trials = tried(tmp_path / "whole")
    assert len(trials) == 2
    best = min(trials, key=lambda trial: math.inf if trial[1] is None else trial[1])
    assert whole.folder == tmp_path / "whole" / "best"
    assert (whole.recipe.learning_rate, whole.recipe.batch) == (best[0]["learning_rate"], best[0]["batch"])
    assert whole.dev["loss"] == pytest.approx(best[1])
    assert "accuracy" in whole.test
    assert not list((tmp_path / "whole" / "trials").iterdir())

    calls = 0

    def interrupted(*args: object, **more: object) -> object:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise KeyboardInterrupt
        return fit(*args, **more)  # type: ignore[arg-type]  # passed on as they came

    with monkeypatch.context() as patched:
        patched.setattr(room, "fit", interrupted)
        with pytest.raises(KeyboardInterrupt):
            search(corpus, recipe, tmp_path / "cut", trials=2, space=BOUNDS)
    resumed = search(corpus, recipe, tmp_path / "cut", trials=2, space=BOUNDS)
    assert tried(tmp_path / "cut") == trials
    assert resumed.key == whole.key
    with refused("search.other-search"):
        search(corpus, recipe.with_(seed=1), tmp_path / "cut", trials=2, space=BOUNDS)


@pytest.mark.slow
def test_a_hopeless_trial_is_cut_short(tiny: Tiny, corpus: Corpus, tmp_path: Path) -> None:
    recipe = Recipe(start=tiny("bert"), max_length=16)
    bounds = Space(learning_rate=(1e-6, 2e-1), batch=(8,), epochs=(3, 3))
    search(corpus, recipe, tmp_path / "runs", trials=8, space=bounds)
    study = optuna.load_study(study_name=None, storage=f"sqlite:///{tmp_path / 'runs' / 'search.sqlite'}")
    pruned = study.get_trials(states=[optuna.trial.TrialState.PRUNED])
    assert pruned
    assert all(len(trial.intermediate_values) <= 3 for trial in pruned)
    record = json.loads((tmp_path / "runs" / "best" / "training.json").read_text())
    assert record["dev"]["loss"] == pytest.approx(study.best_value)


def test_baselines_have_nothing_to_search(corpus: Corpus, tmp_path: Path) -> None:
    with refused("search.not-fine-tuned"):
        search(corpus, Recipe(start="tfidf+lr"), tmp_path)


def test_seeds_have_a_mean_and_a_deviation(tiny: Tiny, corpus: Corpus, tmp_path: Path) -> None:
    recipe = Recipe(start=tiny("bert"), epochs=1, batch=8, learning_rate=5e-3, max_length=16)
    three = train_seeds(corpus, recipe, tmp_path, seeds=3)
    assert [one.recipe.seed for one in three] == [0, 1, 2]
    losses = [one.test["loss"] for one in three]
    mean = sum(losses) / 3
    deviation = math.sqrt(sum((loss - mean) ** 2 for loss in losses) / 2)
    assert deviation > 0
    assert spread(three)["loss"] == pytest.approx((mean, deviation))
    assert spread(three, on="dev")["n"] == (8.0, 0.0)
    assert all(one.reused for one in train_seeds(corpus, recipe, tmp_path, seeds=[1, 2]))


def test_a_figure_that_one_seed_lacks_has_no_mean(corpus: Corpus, tmp_path: Path) -> None:
    one = fit(corpus, Recipe(start="tfidf+lr"), tmp_path / "model")
    other = replace(one, dev={**one.dev, "precision": math.nan})
    found = spread([one, other], on="dev")
    assert all(map(math.isnan, found["precision"]))
    assert found["accuracy"] == (one.dev["accuracy"], 0.0)
