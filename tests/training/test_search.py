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
from psycheck.training.recipe import Recipe, Space, preset, space_of
from psycheck.training.search import drawn_recipe, search, spread, train_seeds
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


def test_a_drawn_batch_is_that_of_an_update() -> None:
    longformer = preset("angst-longformer-base")
    assert (longformer.batch, longformer.accumulate) == (4, 4)
    # ANGST, A.3: batches of 4, 8, 16 and 32 texts; no more than 4 of them at once.
    drawn = [drawn_recipe(longformer, {"batch": texts}) for texts in (4, 8, 16, 32)]
    assert [(recipe.batch, recipe.accumulate) for recipe in drawn] == [(4, 1), (4, 2), (4, 4), (4, 8)]
    bert = drawn_recipe(preset("angst-bert-base"), {"batch": 32})
    assert (bert.batch, bert.accumulate, bert.epochs) == (32, 1, 30)


@pytest.fixture
def authors(corpus: Corpus) -> Corpus:
    """The posts of the corpus as those of 16 authors, each with one annotation."""
    names = [f"{mark:.0f}-{split}-{row % 4}" for row, (mark, split) in enumerate(marks_and_splits(corpus))]
    labels = {"depression": [float(name[0]) for name in names]}
    splits = [name.split("-")[1] for name in names]
    return Corpus.of("authors", corpus.texts, author=names, labels=labels, split=splits)


def marks_and_splits(corpus: Corpus) -> list[tuple[float, str | None]]:
    return list(zip(corpus.targets()[:, 0].tolist(), corpus.strings("split"), strict=True))


def test_a_search_tries_networks_over_histories(authors: Corpus, tmp_path: Path) -> None:
    vectors = tmp_path / "words.txt"
    words = sorted({word for text in authors.texts for word in text.split()})
    vectors.write_text(f"{len(words)} 2\n" + "".join(f"{word} {len(word)} 1\n" for word in words))
    start = f"history:embeddings?encoder=vectors:{vectors}"
    recipe = preset("history-embeddings", start=start, epochs=1)
    networks = ("widths=1&filters=3&pool=mean", "network=transformer&filters=4&pool=attention")
    space = Space(learning_rate=(1e-3, 1e-2), batch=(8,), epochs=(), networks=networks)

    found = search(authors, recipe, tmp_path / "free", trials=4, space=space)
    assert {str(params["network"]) for params, _ in tried(tmp_path / "free")} == set(networks)
    assert found.recipe.start in {f"{start}&{network}" for network in networks}
    assert found.recipe.epochs == 1

    # A start that names its network keeps it.
    own = recipe.with_(start=f"{start}&filters=5")
    assert search(authors, own, tmp_path / "own", trials=1, space=space).recipe.start == own.start
    assert not tried(tmp_path / "own")[0][0].keys() & {"network", "epochs"}


def test_histories_are_searched_in_a_space_of_their_own() -> None:
    for name in ("history-symptoms", "psysym-history-both"):
        assert len(space_of(name).networks) == 8
    assert space_of("angst-bert-base").networks == ()


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
