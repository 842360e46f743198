"""`psycheck annotate order` and `next`: what models say which texts come first."""

from dataclasses import replace
from pathlib import Path
from typing import Final

import typer

from psycheck.commands import options as opt
from psycheck.commands.annotate_database import open_database_at
from psycheck.commands.console import ProgressLine, print_notes
from psycheck.core.errors import counted

_NEXT_DEV: Final = 0.2  # of the answered texts, to choose how strongly the model of `next` is held back


@opt.verb("annotate order")
def order_cli(
    place: str,
    models: list[str],
    project: str | None = None,
    store: Path | None = None,
    allow_remote: bool = False,
    key_file: Path | None = None,
) -> None:
    """Put first what models are least sure of, or disagree about, as the project file asks."""
    from psycheck.annotate.export import items_of
    from psycheck.annotate.membership import project_named
    from psycheck.annotate.order import order_items
    from psycheck.commands.score import score_corpus
    from psycheck.models.opening import open_model
    from psycheck.scoring.limits import Limits

    db = open_database_at(place, key_file)
    opened_project = project_named(db, project)
    items = items_of(db, None, opened_project)
    scores = {}
    with ProgressLine() as progress:
        for spec in models:
            model = open_model(spec)
            limits = Limits(allow_remote=allow_remote)
            table, _, notes = score_corpus(model, items, store=store, progress=progress, limits=limits)
            print_notes(notes, model.name)
            # A text without an answer has no uncertainty either: NaN, which the order puts last.
            values = table.select(model.labels).fill_null(float("nan")).to_numpy()
            scores[model.name] = model.labels, values

    moved = order_items(db, None, opened_project, items.ids, scores)
    typer.echo(f"{counted(moved, 'item')} moved")


@opt.verb("annotate next")
def next_cli(
    place: str,
    start: str = "tfidf+lr",
    project: str | None = None,
    seed: int = 0,
    key_file: Path | None = None,
) -> None:
    """Train a model on the answers so far, and put first what it is least sure of."""
    from tempfile import TemporaryDirectory

    from psycheck.annotate.export import items_of, merged
    from psycheck.annotate.membership import project_named
    from psycheck.annotate.order import order_items
    from psycheck.core.errors import BadInput
    from psycheck.models.opening import open_model
    from psycheck.scoring.answers import scores_of
    from psycheck.training.fit import train
    from psycheck.training.recipe import Recipe
    from psycheck.training.symptom_models import learnable

    db = open_database_at(place, key_file)
    project_id = project_named(db, project)
    gold = merged(db, None, project_id, "majority")
    # This model only orders the queue, so that it may learn from texts that are a test for others.
    gold = replace(gold, table=gold.table.drop("split", strict=False))
    if not len(gold):
        raise BadInput("nobody has answered yet", code="next.no-answers", do="annotate some texts first")
    recipe = Recipe(start=start, dev_share=_NEXT_DEV, criterion="dev_loss", seed=seed)
    labels = [label for label in learnable(gold, recipe) if label != "uncertain"]
    if not labels:
        raise BadInput(
            f"{counted(len(gold), 'text')} with answers are too few to learn from",
            code="next.too-few",
            allowed="answers of both kinds to at least one label",
            do="annotate more texts first",
        )

    items = items_of(db, None, project_id)
    with TemporaryDirectory(prefix="psycheck-") as folder, ProgressLine() as progress:
        trained = train(gold, recipe.with_(labels=labels), Path(folder) / "model", progress=progress.training)
        model = open_model(trained.spec)
        scores = scores_of(model, items.texts)

    by_model = {f"next:{start}": (model.labels, scores)}
    moved = order_items(db, None, project_id, items.ids, by_model, how="unsure")
    learned = f"learned {', '.join(labels)} from {counted(len(gold), 'text')}"
    typer.echo(f"{learned}; {counted(moved, 'item')} moved")
