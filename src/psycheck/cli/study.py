"""`psycheck study`: a paper's tables, ours beside the published ones."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from psycheck.cli import options as opt
from psycheck.cli import study_gender as gender
from psycheck.cli.options import refuse

if TYPE_CHECKING:
    from psycheck.corpora.open import CorpusPlan

STUDIES = ("deck", "gender", "corpora")
TRAINING = ("preset", "epochs", "max_length")
# Which study takes an option; those that are not here belong to all of them.
TAKEN_BY = {
    ("texts", "retrain", "store"): ("deck",),
    ("starts", "seeds", *TRAINING): ("deck", "gender"),
    ("learners", "balance", "each", "pairs", "neutral", "swap", "swap_person", "direct_bias"): ("gender",),
    ("encoder",): ("gender", "corpora"),
    ("parts", "sample", "seed"): ("corpora",),
}


def study_cli(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="Which study: deck, gender or corpora.")],
    corpora: Annotated[
        list[str],
        typer.Argument(
            metavar="CORPUS…",
            help="deck: two or more with train, dev and test; gender: one; corpora: one or more.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the study and its models.")] = Path(
        "runs/study"
    ),
    starts: Annotated[
        list[str] | None,
        typer.Option("--start", help="What to train: minilm, a folder, tfidf+lr …; repeatable."),
    ] = None,
    preset: Annotated[str, typer.Option(help="The recipe for all of them (psycheck ls recipes).")] = "fast",
    seeds: Annotated[int, typer.Option(metavar="N", help="Train each with N seeds.")] = 1,
    epochs: Annotated[float | None, typer.Option(help="Instead of the recipe's.")] = None,
    max_length: Annotated[int | None, typer.Option(help="Window in tokens, instead of the recipe's.")] = None,
    texts: Annotated[int, typer.Option(help="Texts that checks are tried on.")] = 40,
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
    encoder: gender.Encoder = "minilm",
    learners: gender.Learners = None,
    balance: gender.Balance = "both",
    each: gender.Each = None,
    pairs: gender.Pairs = None,
    neutral: gender.Neutral = "they",
    swap: opt.Swap = None,
    swap_person: opt.SwapPerson = None,
    direct_bias: gender.DirectBias = True,
    parts: Annotated[
        list[str] | None,
        typer.Option("--part", help="corpora: words, vectors, adversarial, map; repeatable (default: all)."),
    ] = None,
    sample: Annotated[int | None, typer.Option(help="corpora: texts a side that are encoded (500).")] = None,
    seed: Annotated[int | None, typer.Option(help="corpora: seed of samples and permutations.")] = None,
) -> None:
    """Run a study's whole design on your corpora, and print each table beside the published one."""
    from psycheck.cli.progress import ProgressLine
    from psycheck.corpora.open import corpus_plans
    from psycheck.errors import BadInput, nearest
    from psycheck.experiments.deck_study import study_deck
    from psycheck.report.studies.deck import deck_tables
    from psycheck.train.recipe import preset as recipe_named

    if name not in STUDIES:
        raise BadInput(f"there is no study '{name}'", allowed=nearest(name, STUDIES))
    for options, studies in TAKEN_BY.items():
        if name not in studies:
            refuse(ctx, options, f"study {name}", f"with study {' or '.join(studies)}")
    if name == "gender" and not starts:
        refuse(ctx, TRAINING, "study gender without --start", "with --start, for what is trained besides")
    if name == "gender" and encoder == "tfidf" and direct_bias:
        refuse(ctx, ("direct_bias",), "study gender --encoder tfidf", "with vectors that know the words")
    columns = opt.columns_of(
        text=text, id_=id_, labels=labels, positive=positive, author=author, split_column=split_column
    )
    if name == "corpora":
        how = {"parts": tuple(parts) if parts else None, "sample": sample, "seed": seed}
        _corpora(corpus_plans(corpora, columns), out, encoder, how)
        return
    given: dict[str, Any] = {"epochs": epochs, "max_length": max_length}
    changed = {key: value for key, value in given.items() if value is not None}
    recipe = recipe_named(preset, labels=("depression",), **changed)
    if name == "gender":
        gender.carry_out(
            corpora,
            columns,
            [recipe.with_(start=start) for start in starts or []],
            out=out,
            seeds=seeds,
            encoder=encoder,
            learners=learners,
            balance=balance,
            each=each,
            pairs=pairs,
            neutral=neutral,
            swap=swap,
            swap_person=swap_person,
            direct_bias=direct_bias,
        )
        return
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
            say=lambda words: typer.echo(words, err=True),
        )
    typer.echo(deck_tables(run.findings))
    typer.echo(f"report: {out / 'report.html'}")


def _corpora(plans: "list[CorpusPlan]", out: Path, encoder: str, how: "dict[str, Any]") -> None:
    """Carry out the study of distances and print its tables."""
    from psycheck.cli.progress import ProgressLine
    from psycheck.corpora.distances import Comparing
    from psycheck.experiments.corpora_study import study_corpora
    from psycheck.report.studies.corpora import corpora_tables

    comparing = Comparing(**{key: value for key, value in how.items() if value is not None})
    with ProgressLine() as line:
        run = study_corpora(plans, out=out, encoder=encoder, how=comparing, progress=line)
    typer.echo(corpora_tables(run))
    typer.echo(f"tables: {out / 'study.md'}")
    typer.echo(f"report: {out / 'report.html'}")
