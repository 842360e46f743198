"""`psycheck regender`: a corpus in the other gender, in none, or in both."""

import json
from collections.abc import Sequence
from typing import Annotated, Literal

import typer

from psycheck.cli import options as opt
from psycheck.cli.rewriting import CorpusArgument, Json, Out, saved, take

_SHOWN = 20


def regender_cli(
    corpus: CorpusArgument,
    out: Out = None,
    to: Annotated[
        Literal["swapped", "neutral", "removed", "augmented"],
        typer.Option(help="she ↔ he; they; without gendered words; or all texts and their swapped ones."),
    ] = "swapped",
    swap: opt.Swap = None,
    swap_person: opt.SwapPerson = None,
    text: opt.Text = None,
    id_: opt.Id = None,
    label: opt.Labels = None,
    positive: opt.Positive = None,
    author: opt.Author = None,
    time: opt.Time = None,
    split_column: opt.SplitColumn = None,
    split: opt.Split = None,
    group: opt.Groups = None,
    as_json: Json = False,
) -> None:
    """Swap the gender in the texts of a corpus, make it neutral, or add the swapped texts to it."""
    from psycheck.corpora.regender import regendered
    from psycheck.errors import counted
    from psycheck.text.gender.edits import scope_of

    columns = opt.columns_of(text, id_, label, positive, author, time, split_column, group)
    scope = scope_of(swap or (), swap_person or "all", where="--swap")
    taken = take(corpus, columns, split, out)
    done = regendered(taken.corpus, to, scope)
    said = saved(done.corpus, out)
    if as_json:
        listed = {"undecided_ids": list(done.undecided), "emptied_ids": list(done.emptied)}
        typer.echo(json.dumps({**done.counts, **listed, **taken.told()}))
        return
    taken.tell()
    counts = done.counts
    texts = counted(counts["before"], "text")
    typer.echo(f"{counts['changed']:,} of {texts} {to} ({', '.join(scope.words)})")
    typer.echo(f"{counts['unchanged']:,} name no gender in these words")
    if counts["named_besides"]:
        besides = f"{counts['named_besides']:,} name a gender by a noun or title, too, which stays"
        typer.echo(f"{besides}: --swap nouns,titles")
    for ids, what in (
        (done.undecided, "undecided, left as they are"),
        (done.emptied, "dropped, with nothing but gendered words"),
    ):
        if ids:
            typer.echo(f"{len(ids):,} {what}: {_some(ids)}")
    typer.echo(said)


def _some(ids: Sequence[str]) -> str:
    from psycheck.errors import counted

    beyond = len(ids) - _SHOWN
    more = f" and {counted(beyond, 'other')} (--json names all)" if beyond > 0 else ""
    return ", ".join(ids[:_SHOWN]) + more
