"""`psycheck regender`: swap, neutralise or remove gender in a corpus, or augment it."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer import Option

from psycheck.cli import options as opt
from psycheck.cli.rewriting import Out, open_source, saved

if TYPE_CHECKING:
    from psycheck.corpora.columns import Columns

_SHOWN = 20


@opt.with_columns()
def regender_cli(
    columns: "Columns",
    corpus: opt.CorpusArgument,
    out: Out = None,
    to: Annotated[
        Literal["swapped", "neutral", "removed", "augmented"],
        Option(help="she ↔ he; they; no gendered words; or all texts plus their swapped versions."),
    ] = "swapped",
    swap: opt.Swap = None,
    swap_person: opt.SwapPerson = None,
    split: opt.Split = None,
    as_json: opt.Json = False,
) -> None:
    """Swap the gender in the texts of a corpus, make it neutral, or add the swapped texts."""
    from psycheck.corpora.regender import regendered
    from psycheck.errors import counted
    from psycheck.text.gender.edits import scope_of

    scope = scope_of(swap or (), swap_person or "all", where="--swap")
    source = open_source(corpus, columns, split, out)
    done = regendered(source.corpus, to, scope)
    written = saved(done.corpus, out)
    if as_json:
        listed = {"undecided_ids": list(done.undecided), "emptied_ids": list(done.emptied)}
        typer.echo(json.dumps({**done.counts, **listed, **source.as_json()}))
        return
    source.print()
    counts = done.counts
    texts = counted(counts["before"], "text")
    typer.echo(f"{counts['changed']:,} of {texts} {to} ({', '.join(scope.words)})")
    typer.echo(f"{counts['unchanged']:,} contain none of these words")
    if besides := counts["named_besides"]:
        typer.echo(f"{besides:,} also contain a gendered noun or title, left unchanged: --swap nouns,titles")
    for ids, what in (
        (done.undecided, "undecided, left unchanged"),
        (done.emptied, "dropped, with nothing but gendered words"),
    ):
        if ids:
            typer.echo(f"{len(ids):,} {what}: {_some(ids)}")
    typer.echo(written)


def _some(ids: Sequence[str]) -> str:
    from psycheck.errors import counted

    others = len(ids) - _SHOWN
    more = f" and {counted(others, 'other')} (--json lists all)" if others > 0 else ""
    return ", ".join(ids[:_SHOWN]) + more
