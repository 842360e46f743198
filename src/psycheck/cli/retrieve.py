"""`psycheck retrieve`: candidates for annotation."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from psycheck.cli import options as opt
from psycheck.cli.output import ProgressLine, print_notes

if TYPE_CHECKING:
    from psycheck.corpora.columns import Columns


@opt.verb("retrieve", ("text", "id_", "author", "time", "split_column"))
def retrieve_cli(
    ctx: typer.Context,
    columns: "Columns",
    corpora: list[str],
    out: Path = Path("candidates.csv"),
    encoder: str = "minilm",
    graph: Path | None = None,
    split: str | None = None,
    format_: str | None = None,
    force: bool = False,
) -> None:
    """Find sentences to annotate: for each disease those most similar to descriptions of its symptoms."""
    from psycheck.corpora.open import corpus_plans
    from psycheck.errors import counted
    from psycheck.settings.reader import read_settings
    from psycheck.verbs.retrieve import Retrieving, retrieve

    opt.refuse_existing(out, "--out", force=force)
    how = read_settings(Retrieving, opt.values_for(ctx, Retrieving))
    plans = corpus_plans(corpora, columns, split, format_)
    with ProgressLine() as line:
        found = retrieve(plans, out=out, encoder=encoder, graph=graph, how=how, progress=line)
    left_out = (f"{counted(count, 'sentence')} left out ({why})" for why, count in found.left_out.items())
    print_notes((*found.notes, *left_out))
    counts = found.table.group_by("disease", maintain_order=True).agg(n="id", symptoms="symptom")
    for disease, ids, symptoms in counts.iter_rows():
        several = counted(len(set(symptoms)), "symptom")
        typer.echo(f"{disease:<20} {counted(len(ids), 'candidate')} for {several}")
    read = f"{counted(found.sentences, 'sentence')} of {counted(found.posts, 'post')}"
    typer.echo(f"{counted(len(found.table), 'candidate')} from {read}: {out}")
