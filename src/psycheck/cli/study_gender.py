"""`psycheck study gender CORPUS`: how gender bias reaches a classifier."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from psycheck.corpora.columns import Columns
    from psycheck.train.recipe import Recipe

Encoder = Annotated[
    str,
    typer.Option(
        help="Vectors: minilm, hf:FOLDER, vectors:FILE, or tfidf (none but the training texts').",
    ),
]
Learners = Annotated[
    list[str] | None,
    typer.Option("--learner", help="svm, forest, mlp, logistic; repeatable."),
]
Balance = Annotated[
    Literal["both", "class", "none"],
    typer.Option(help="Training texts alike by class and gender, by class, or as they come."),
]
Each = Annotated[
    int | None,
    typer.Option(metavar="N", help="Training texts of each class and gender (the paper: 90)."),
]
Pairs = Annotated[int | None, typer.Option(metavar="N", help="At most N test pairs.")]
Neutral = Annotated[
    Literal["they", "remove"], typer.Option(help="Neutral texts say they, or drop the gendered words.")
]
DirectBias = Annotated[
    bool, typer.Option("--direct-bias/--no-direct-bias", help="Measure Direct Bias of the vectors, too.")
]


def carry_out(
    corpora: Sequence[str],
    columns: "Columns",
    recipes: "Sequence[Recipe]",
    *,
    out: Path,
    seeds: int,
    encoder: str,
    learners: list[str] | None,
    balance: Literal["both", "class", "none"],
    each: int | None,
    pairs: int | None,
    neutral: Literal["they", "remove"],
    swap: list[str] | None,
    swap_person: Literal["all", "main"] | None,
    direct_bias: bool,
) -> None:
    """Carry the study out and print its tables."""
    from psycheck.cli.progress import ProgressLine
    from psycheck.corpora.open import corpus_plan
    from psycheck.errors import BadInput
    from psycheck.experiments.gender_study import study_gender
    from psycheck.report.studies.gender import gender_tables
    from psycheck.text.gender.edits import scope_of

    if len(corpora) != 1:
        raise BadInput(f"the study has {len(corpora)} corpora", allowed="one", do="name one corpus at a time")
    with ProgressLine() as line:
        run = study_gender(
            corpus_plan(corpora[0], columns),
            out=out,
            encoder=encoder,
            names=learners,
            recipes=recipes,
            scope=scope_of(swap or (), swap_person or "all"),
            how=neutral,
            balance=balance,
            each=each,
            pairs=pairs,
            seeds=seeds,
            direct_bias=direct_bias,
            progress=line,
            say=lambda words: typer.echo(words, err=True),
        )
    typer.echo(gender_tables(run))
    typer.echo(f"report: {out / 'report.html'}")
