"""`psycheck explain`: what the posts of authors show of the symptom graph, and which labels do not fit."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from psycheck.cli import options as opt
from psycheck.cli.output import ProgressLine, print_run

if TYPE_CHECKING:
    from psycheck.corpora.columns import Columns


@opt.verb("explain")
def explain_cli(
    ctx: typer.Context,
    columns: "Columns",
    corpus: str,
    authors: list[str] | None = None,
    symptoms: str = "symptoms:descriptions",
    tags: Path | None = None,
    graph: Path | None = None,
    show_texts: bool = False,
    out: Path = Path("runs/explain"),
    split: str | None = None,
    format_: str | None = None,
    json_: bool = False,
) -> None:
    """Explain the posts of each author: symptoms, conditions they belong to, times; and suspect labels."""
    from psycheck.corpora.open import corpus_plan
    from psycheck.knowledge.explain import Explaining
    from psycheck.report.explanation import cohort_verdict
    from psycheck.settings.reader import read_settings
    from psycheck.verbs.explain import explain_people

    if tags is not None:
        opt.refuse(ctx, ("symptoms",), "explain with --tags", "without --tags: the tags replace the model")
    how = read_settings(Explaining, opt.values_for(ctx, Explaining))
    with ProgressLine() as line:
        run = explain_people(
            corpus_plan(corpus, columns, split, format_),
            authors=authors or (),
            symptoms=symptoms,
            tags=tags,
            graph=graph,
            show_texts=show_texts,
            out=out,
            how=how,
            progress=line,
        )
    files = {name: str(out / name) for name in ("explanations.jsonl", "suspects.csv")}
    lines = [cohort_verdict(run), *(f"{Path(name).stem}: {path}" for name, path in files.items())]
    print_run(run, out, lines, as_json=json_, verdict=cohort_verdict(run))
