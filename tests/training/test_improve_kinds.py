"""Every architecture goes from train to improve."""

from collections.abc import Callable
from pathlib import Path

import pytest

from psycheck.commands.improve import improve
from psycheck.core.corpus import Corpus
from psycheck.training.fit import train
from psycheck.training.recipe import Recipe
from suites_of_ours import seen_and_unseen


@pytest.mark.parametrize("kind", ["bert", "roberta", "albert", "xlnet", "longformer"])
def test_a_tiny_model_is_trained_improved_and_measured(
    kind: str, tiny: Callable[[str], str], corpus: Corpus, tmp_path: Path
) -> None:
    recipe = Recipe(start=tiny(kind), epochs=1, batch=8, learning_rate=1e-2, max_length=16)
    train(corpus, recipe, tmp_path / "plain")
    run = improve(
        tmp_path / "plain",
        corpus,
        out=tmp_path / "out",
        texts=4,
        which="all",
        share=1.0,
        control=False,
        **seen_and_unseen(tmp_path),
    )
    assert run.plan["augmented"]["augmented-0"]["augmented"] == 24  # all of train and dev
    arms = {f.where["arm"] for f in run.findings if f.measure == "macro_f1"}
    assert arms == {"plain", "balanced", "augmented"}
    tried = [f for f in run.findings if f.measure == "sentence_check_pass_rate"]
    assert all(f.counts["unseen"] == 0 and f.n == 4 for f in tried)
