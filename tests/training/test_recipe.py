import os
import subprocess
import sys
from pathlib import Path

import pytest

from psycheck.core.errors import BadInput
from psycheck.training.recipe import Recipe, preset, presets, recipe_of, space, space_of, study_recipe
from refusals import refused


def test_presets_hold_the_published_figures() -> None:
    bert, roberta, albert = (preset(f"deck-{name}") for name in ("bert", "roberta", "albert"))
    assert (bert.epochs, bert.batch, bert.learning_rate) == (3, 8, 4.141091839433421e-06)
    assert (roberta.epochs, roberta.batch, roberta.learning_rate) == (3, 3, 4.141091839433421e-06)
    assert (albert.epochs, albert.batch, albert.learning_rate) == (3, 4, 1.0428224972683394e-05)
    angst = preset("angst-bert-base")
    assert (angst.epochs, angst.patience, angst.criterion) == (30, 10, "dev_f1")
    assert angst.weight_decay == 0.01
    assert space("angst").batch == (4, 8, 16, 32)
    assert space_of("angst-xlnet-base") == space_of("angst") == space("angst")
    assert space_of(None) == space_of("fast") == space_of("deck-bert") == space("deck")


def test_every_preset_is_a_valid_recipe() -> None:
    assert all(preset(name).start for name in presets())


def test_a_preset_takes_changes_and_refuses_unknown_names() -> None:
    assert preset("fast", seed=4).seed == 4
    with refused("recipe.unknown-recipe", allowed="did you mean 'deck-bert'"):
        preset("deck-brt")
    with pytest.raises(BadInput, match="did you mean 'learning_rate'"):
        recipe_of({"learning_rat": 1e-5})


@pytest.mark.parametrize(
    "wrong",
    [
        {"batch": 0},
        {"epochs": 0},
        {"warmup": 1.0},
        {"criterion": "test_f1"},
        {"dev_share": 0.9},
        {"seed": -1},
    ],
)
def test_a_value_out_of_bounds_is_named(wrong: dict[str, object]) -> None:
    with pytest.raises(BadInput, match=next(iter(wrong))):
        recipe_of(wrong)


def test_a_recipe_survives_plain_values() -> None:
    recipe = Recipe(labels=("low", "worry"), patience=2)
    assert recipe_of(recipe.as_dict()) == recipe


def test_recipes_do_not_load_torch() -> None:
    code = "import sys, psycheck.training.recipe, psycheck.training.fit; print('torch' in sys.modules)"
    world = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=world)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("study", "start", "length", "rate"),
    [
        ("deck", "bert-base-uncased", 512, 4.141091839433421e-06),
        ("deck", "albert-base-v1", 512, 1.0428224972683394e-05),
        ("deck", "someone/roberta-large-of-theirs", 512, 4.141091839433421e-06),
        ("angst", "AIMH/mental-longformer-base-4096", 4096, 2e-5),
        ("angst", "minilm", 256, 2e-5),
        ("deck", "minilm", 128, 1e-4),
    ],
)
def test_a_start_of_a_study_has_the_settings_of_its_architecture(
    study: str, start: str, length: int, rate: float
) -> None:
    recipe = study_recipe(study, start)
    assert (recipe.start, recipe.max_length, recipe.learning_rate) == (start, length, rate)


def test_a_folder_of_a_study_is_known_by_its_configuration(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "longformer"}')
    assert study_recipe("angst", str(tmp_path)).max_length == 4096
    # A baseline is fitted as it is.
    assert study_recipe("angst", "tfidf+lr") == Recipe(start="tfidf+lr")
