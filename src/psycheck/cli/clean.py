"""`psycheck clean` and `psycheck redact`: a corpus without what does not belong in it."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from psycheck.cli import options as opt
from psycheck.cli.rewriting import CorpusArgument, Json, Out, Taken, saved, take

if TYPE_CHECKING:
    from psycheck.corpora.clean import Redactions


def clean_cli(
    corpus: CorpusArgument,
    out: Out = None,
    preset: Annotated[str | None, typer.Option(help="Steps under one name: plain, deck-tweets.")] = None,
    step: Annotated[
        list[str] | None, typer.Option("--step", metavar="STEP", help="A step, in order; repeatable.")
    ] = None,
    sentences: Annotated[bool, typer.Option("--sentences", help="One row for each sentence.")] = False,
    without_word: Annotated[
        list[str] | None,
        typer.Option(metavar="WORD", help="Take out words that begin so; repeatable."),
    ] = None,
    annotated: Annotated[
        str | None, typer.Option(metavar="LABEL", help="Keep the texts that are annotated for a label.")
    ] = None,
    balance_length: Annotated[
        str | None, typer.Option(metavar="LABEL", help="Drop texts until length does not tell the label.")
    ] = None,
    drop_near_duplicates: Annotated[
        bool, typer.Option("--drop-near-duplicates", help="Keep one of texts that are nearly the same.")
    ] = False,
    resplit: Annotated[
        str | None, typer.Option(metavar="6:2:2", help="Split anew into train, dev, test, by author.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of what is drawn.")] = 0,
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
    """Clean the texts of a corpus by named steps, and count what each step changes and drops."""
    from psycheck.corpora.clean import cleaned, into_sentences, steps_of
    from psycheck.corpora.mend import mended
    from psycheck.errors import BadInput

    mends = {
        "without-word": without_word,
        "annotated": annotated,
        "balance-length": balance_length,
        "drop-near-duplicates": drop_near_duplicates,
        "resplit": resplit,
    }
    # Sentences or a mend may be all that is wanted; nothing at all is a mistake.
    steps = steps_of(step or (), preset) if step or preset or not (sentences or any(mends.values())) else ()
    columns = opt.columns_of(text, id_, label, positive, author, time, split_column, group)
    taken = take(corpus, columns, split, out)
    opened = taken.corpus
    done, counts = cleaned(opened, steps) if steps else (opened, ())
    done, mend_counts = mended(done, mends, seed=seed)
    counts = (*counts, *mend_counts)
    if not len(done):
        raise BadInput("no text is left after cleaning", do="leave out the step that drops them all")
    texts = len(done)
    done = into_sentences(done) if sentences else done
    said = saved(done, out)
    if as_json:
        rows: list[dict[str, object]] = [asdict(count) for count in counts]
        typer.echo(json.dumps({"steps": rows, "texts": texts, "rows": len(done), **taken.told(done.notes)}))
        return
    taken.tell(done.notes)
    typer.echo(f"{'step':<20} {'before':>9} {'after':>9} {'changed':>9}")
    for one in counts:
        typer.echo(f"{one.name:<20} {one.texts_before:>9,} {one.texts_after:>9,} {one.changed:>9,}")
    if sentences:
        typer.echo(f"{'sentences':<20} {texts:>9,} {len(done):>9,}")
    typer.echo(said)


def redact_cli(
    corpus: CorpusArgument,
    out: Out = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 if a text holds personal data.")
    ] = False,
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
    """Replace personal data in the texts of a corpus by placeholders, or check that it holds none."""
    from psycheck.corpora.clean import personal_in, redacted
    from psycheck.errors import BadInput

    if check == (out is not None):
        raise BadInput("name either a file to write or --check", do="psycheck redact CORPUS --out FILE")
    columns = opt.columns_of(text, id_, label, positive, author, time, split_column, group)
    taken = take(corpus, columns, split, out)
    opened = taken.corpus
    if check:
        found = personal_in(opened)
        _show(found, taken, as_json, ids=True)
        if found.kinds:
            raise typer.Exit(1)
        return
    done, found = redacted(opened)
    said = saved(done, out)
    _show(found, taken, as_json, ids=False)
    if not as_json:
        typer.echo(said)


def _show(found: "Redactions", taken: Taken, as_json: bool, *, ids: bool) -> None:
    """Print kinds, counts and ids; what was found itself is never shown."""
    from psycheck.errors import counted

    texts = len(taken.corpus)
    if as_json:
        listed = {"ids": {name: list(kinds) for name, kinds in found.kinds.items()}} if ids else {}
        told = {"texts": texts, "with": len(found.kinds), "counts": dict(found.counts)}
        typer.echo(json.dumps({**told, **listed, **taken.told()}))
        return
    taken.tell()
    if ids:
        for name, kinds in found.kinds.items():
            typer.echo(f"{name}\t{', '.join(kinds)}")
    for kind, count in found.counts.items():
        typer.echo(f"{kind:<8} {count:>9,}")
    hold = "holds" if len(found.kinds) == 1 else "hold"
    typer.echo(f"{len(found.kinds):,} of {counted(texts, 'text')} {hold} personal data that patterns find")
