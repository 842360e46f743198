"""`psycheck study`: a paper's whole design on your corpora, its tables next to the published ones."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from psycheck.cli import options as opt
from psycheck.cli.options import refuse

if TYPE_CHECKING:
    from psycheck.train.recipe import Recipe

app = typer.Typer(
    help="Run a paper's design on your corpora, and print its tables next to the published ones.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
TO_STDERR = partial(typer.echo, err=True)
OUT = Path("runs/study")

Out = Annotated[Path, typer.Option("--out", "-o", help="Output folder: tables, report, findings, models.")]
Starts = Annotated[
    list[str] | None,
    typer.Option("--start", help="What to train: minilm, a folder, tfidf+lr …; repeatable."),
]
Preset = Annotated[str, typer.Option(help="Recipe of the trainings (psycheck ls recipes).")]
Seeds = Annotated[int, typer.Option(metavar="N", help="Train each model with N seeds.")]
Epochs = Annotated[float | None, typer.Option(help="Epochs, instead of the recipe's.")]
MaxLength = Annotated[int | None, typer.Option(help="Window in tokens, instead of the recipe's.")]
Encoder = Annotated[
    str, typer.Option(help="Vectors: minilm, hf:FOLDER, vectors:FILE, or tfidf (of the texts themselves).")
]


@app.command("deck")
def deck_cli(
    corpora: Annotated[
        list[str], typer.Argument(metavar="CORPUS…", help="Two or more, each with train, dev and test.")
    ],
    out: Out = OUT,
    starts: Starts = None,
    preset: Preset = "fast",
    seeds: Seeds = 1,
    epochs: Epochs = None,
    max_length: MaxLength = None,
    texts: Annotated[int, typer.Option(help="Number of texts to try checks on.")] = 40,
    retrain: Annotated[
        bool, typer.Option("--retrain/--no-retrain", help="Also retrain on failed checks (Table 6).")
    ] = True,
    text: opt.Text = None,
    id_: opt.Id = None,
    labels: opt.Labels = None,
    positive: opt.Positive = None,
    author: opt.Author = None,
    split_column: opt.SplitColumn = None,
    store: opt.Store = None,
) -> None:
    """DECK: train on each corpus, test on all of them, try the checks, retrain on those that fail."""
    from psycheck.cli.progress import ProgressLine
    from psycheck.corpora.open import corpus_plans
    from psycheck.experiments.deck_study import study_deck
    from psycheck.report.studies.deck import deck_tables

    columns = opt.columns_of(
        text=text, id_=id_, labels=labels, positive=positive, author=author, split_column=split_column
    )
    recipe = _recipe(preset, epochs, max_length)
    with ProgressLine() as line:
        run = study_deck(
            corpus_plans(corpora, columns),
            [recipe.with_(start=start) for start in starts or [recipe.start]],
            out=out,
            seeds=seeds,
            texts=texts,
            retrain=retrain,
            store=store,
            progress=line,
            say=TO_STDERR,
        )
    typer.echo(deck_tables(run.findings))
    typer.echo(f"report: {out / 'report.html'}")


@app.command("gender")
def gender_cli(
    ctx: typer.Context,
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="Texts in the third person.")],
    out: Out = OUT,
    encoder: Encoder = "minilm",
    learners: Annotated[
        list[str] | None,
        typer.Option("--learner", help="svm, forest, mlp, logistic; repeatable (default: all)."),
    ] = None,
    starts: Starts = None,
    preset: Preset = "fast",
    seeds: Seeds = 1,
    epochs: Epochs = None,
    max_length: MaxLength = None,
    balance: Annotated[
        Literal["both", "class", "none"],
        typer.Option(help="Balance the training texts by class and gender, by class, or not at all."),
    ] = "both",
    each: Annotated[
        int | None,
        typer.Option(metavar="N", help="Training texts of each class and gender (the paper: 90)."),
    ] = None,
    pairs: Annotated[int | None, typer.Option(metavar="N", help="At most N test pairs.")] = None,
    neutral: Annotated[
        Literal["they", "remove"], typer.Option(help="Neutral texts say they, or drop the gendered words.")
    ] = "they",
    swap: opt.Swap = None,
    swap_person: opt.SwapPerson = None,
    direct_bias: Annotated[
        bool, typer.Option("--direct-bias/--no-direct-bias", help="Also measure Direct Bias of the vectors.")
    ] = True,
    text: opt.Text = None,
    id_: opt.Id = None,
    labels: opt.Labels = None,
    positive: opt.Positive = None,
    author: opt.Author = None,
    split_column: opt.SplitColumn = None,
) -> None:
    """Gender bias: train on original, swapped, neutralised and augmented texts, and compare decisions."""
    from psycheck.cli.progress import ProgressLine
    from psycheck.corpora.open import corpus_plan
    from psycheck.experiments.gender_study import study_gender
    from psycheck.report.studies.gender import gender_tables
    from psycheck.text.gender.edits import scope_of

    if not starts:
        refuse(ctx, ("preset", "epochs", "max_length"), "study gender without --start", "with --start")
    if encoder == "tfidf" and direct_bias:
        refuse(ctx, ("direct_bias",), "study gender --encoder tfidf", "with an encoder that has word vectors")
    columns = opt.columns_of(
        text=text, id_=id_, labels=labels, positive=positive, author=author, split_column=split_column
    )
    recipe = _recipe(preset, epochs, max_length)
    with ProgressLine() as line:
        run = study_gender(
            corpus_plan(corpus, columns),
            out=out,
            encoder=encoder,
            names=learners,
            recipes=[recipe.with_(start=start) for start in starts or []],
            scope=scope_of(swap or (), swap_person or "all"),
            how=neutral,
            balance=balance,
            each=each,
            pairs=pairs,
            seeds=seeds,
            direct_bias=direct_bias,
            progress=line,
            say=TO_STDERR,
        )
    typer.echo(gender_tables(run))
    typer.echo(f"report: {out / 'report.html'}")


@app.command("corpora")
def corpora_cli(
    corpora: Annotated[
        list[str], typer.Argument(metavar="CORPUS…", help="One or more; one compares only its classes.")
    ],
    out: Out = OUT,
    encoder: Encoder = "minilm",
    parts: Annotated[
        list[str] | None,
        typer.Option("--part", help="words, vectors, adversarial, map; repeatable (default: all)."),
    ] = None,
    sample: Annotated[int, typer.Option(help="Number of texts to encode per corpus or class.")] = 500,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    text: opt.Text = None,
    id_: opt.Id = None,
    labels: opt.Labels = None,
    positive: opt.Positive = None,
    author: opt.Author = None,
    split_column: opt.SplitColumn = None,
) -> None:
    """DECK Table 3, ANGST Tables 2 and 8: how far corpora and their classes are apart."""
    from psycheck.cli.progress import ProgressLine
    from psycheck.corpora.distances import PARTS, Comparing
    from psycheck.corpora.open import corpus_plans
    from psycheck.experiments.corpora_study import study_corpora
    from psycheck.report.studies.corpora import corpora_tables

    columns = opt.columns_of(
        text=text, id_=id_, labels=labels, positive=positive, author=author, split_column=split_column
    )
    how = Comparing(parts=tuple(parts or PARTS), sample=sample, seed=seed)
    with ProgressLine() as line:
        run = study_corpora(corpus_plans(corpora, columns), out=out, encoder=encoder, how=how, progress=line)
    typer.echo(corpora_tables(run))
    typer.echo(f"tables: {out / 'study.md'}")
    typer.echo(f"report: {out / 'report.html'}")


def _recipe(preset: str, epochs: float | None, max_length: int | None) -> "Recipe":
    from psycheck.train.recipe import preset as recipe_named

    changes = {"epochs": epochs, "max_length": max_length}
    overrides = {name: value for name, value in changes.items() if value is not None}
    return recipe_named(preset, labels=("depression",), **overrides)
