"""Does deciding from symptom evidence rank texts of other corpora better? Three corpora, six directions.

python benchmarks/grounding.py [--seeds 3] [--only ARM ...] [--full] [--out runs/grounding] [--tables]

The corpora, splits and set-up of benchmarks/improving.py, from $PSYCHECK_DATA (default ../shared/data). What
is finished is kept in the folder, figures only, never a text: run the same command again to resume. `--full`
trains the linear arms on whole corpora; `--tables` prints the tables of what is finished.
"""

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path
from time import monotonic

import numpy as np

import improving
from improving import LABEL, NAMES, RECIPE, Results, name_of
from psycheck.corpus import Corpus
from psycheck.experiments.arms import scored
from psycheck.models.open import open_model
from psycheck.train.figures import best_threshold
from psycheck.train.fit import train
from psycheck.train.recipe import Recipe, preset

WEIGHT = 0.5  # of the second task in the loss, fixed before any result was seen
LINEAR: dict[str, Recipe] = {
    "tfidf": preset("tfidf", labels=(LABEL,)),
    "vectors": preset("frozen", labels=(LABEL,)),
    "symptoms": preset("grounded", labels=(LABEL,)),
    "vectors+symptoms": preset("frozen-grounded", labels=(LABEL,)),
}
ARMS: dict[str, Recipe] = {
    "plain": RECIPE,
    "balanced": RECIPE.with_(class_weights=True),
    "task": RECIPE.with_(symptom_task=WEIGHT),
    "task-balanced": RECIPE.with_(symptom_task=WEIGHT, class_weights=True),
    **LINEAR,
}


def one_arm(arm: str, seed: int, corpus: Corpus, tests: list[Corpus], out: Path, results: Results) -> None:
    """Train one arm on one corpus, and keep its scores of all test splits."""
    key = {"seed": seed, "trained_on": corpus.name, "arm": arm}
    if results.has("arm", key):
        return
    began, dev = monotonic(), corpus.part("dev")
    recipe = replace(ARMS[arm], seed=seed)
    trained = train((corpus.part("train"), dev), recipe, out / "models" / name_of(key))
    seconds = monotonic() - began
    model = open_model(trained.spec)
    on_dev, *on_tests = scored(model, [dev, *(c.part("test") for c in tests)], LABEL, out / "scores.sqlite")
    row = key | {
        "threshold": best_threshold(dev.targets([LABEL])[:, 0], on_dev),
        "seconds": seconds,
        "scores": {c.name: np.round(s, 6).tolist() for c, s in zip(tests, on_tests, strict=True)},
    }
    results.add("arm", row)


def main() -> int:
    """Run what is missing."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--only", nargs="+", choices=ARMS, default=list(ARMS))
    options.add_argument("--out", type=Path, default=Path("runs/grounding"))
    given = options.parse_args()
    data = Path(os.environ.get("PSYCHECK_DATA", "../shared/data"))
    if not all((data / f"{name}.csv").is_file() for name in NAMES):
        print(f"skipped: {', '.join(NAMES)} are not in {data}; set PSYCHECK_DATA")
        return 0
    home = improving.corpora(data, demo=False)
    results = Results(given.out)
    for seed in range(given.seeds):
        for arm in [arm for arm in given.only if seed == 0 or arm not in LINEAR]:  # those have no seed
            for corpus in home:
                one_arm(arm, seed, corpus, home, given.out, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
