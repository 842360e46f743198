"""`psycheck clean` and `psycheck redact`: remove unwanted content and personal data from a corpus."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from psycheck.cli import options as opt
from psycheck.cli.rewriting import Out, Source, open_source, saved

if TYPE_CHECKING:
    from psycheck.corpora.clean import Redactions
    from psycheck.corpora.columns import Columns


@opt.with_columns()
def clean_cli(
    columns: "Columns",
    corpus: opt.CorpusArgument,
    out: Out = None,
    preset: Annotated[str | None, Option(help="A named set of steps: plain, deck-tweets.")] = None,
    step: Annotated[
        list[str] | None, Option("--step", metavar="STEP", help="A step, in order; repeatable.")
    ] = None,
    sentences: Annotated[bool, Option("--sentences", help="Write one row per sentence.")] = False,
    without_word: Annotated[
        list[str] | None, Option(metavar="WORD", help="Remove words that start with WORD; repeatable.")
    ] = None,
    annotated: Annotated[
        str | None, Option(metavar="LABEL", help="Keep only texts annotated for this label.")
    ] = None,
    balance_length: Annotated[
        str | None, Option(metavar="LABEL", help="Drop texts until length does not predict the label.")
    ] = None,
    drop_near_duplicates: Annotated[
        bool, Option("--drop-near-duplicates", help="Keep one of several nearly identical texts.")
    ] = False,
    resplit: Annotated[
        str | None, Option(metavar="6:2:2", help="Make new train, dev and test splits, by author.")
    ] = None,
    seed: Annotated[int, Option(min=0, help="Random seed.")] = 0,
    split: opt.Split = None,
    as_json: opt.Json = False,
) -> None:
    """Clean the texts of a corpus in named steps, and count what each step changes and drops."""
    from psycheck.corpora.clean import cleaned, into_sentences, steps_of
    from psycheck.corpora.mend import mended
    from psycheck.errors import BadInput

    mends: dict[str, Any] = {
        "without-word": without_word,
        "annotated": annotated,
        "balance-length": balance_length,
        "drop-near-duplicates": drop_near_duplicates,
        "resplit": resplit,
    }
    # Sentences or a mend are enough without a step; nothing at all is a mistake.
    steps = steps_of(step or (), preset) if step or preset or not (sentences or any(mends.values())) else ()
    source = open_source(corpus, columns, split, out)
    done, counts = cleaned(source.corpus, steps) if steps else (source.corpus, ())
    done, mend_counts = mended(done, mends, seed=seed)
    counts = (*counts, *mend_counts)
    if not len(done):
        raise BadInput("no texts left after cleaning", do="leave out the step that drops them all")
    texts = len(done)
    done = into_sentences(done) if sentences else done
    written = saved(done, out)
    if as_json:
        steps_done = [asdict(count) for count in counts]
        summary = {"steps": steps_done, "texts": texts, "rows": len(done), **source.as_json(done.notes)}
        typer.echo(json.dumps(summary))
        return
    source.print(done.notes)
    typer.echo(f"{'step':<20} {'before':>9} {'after':>9} {'changed':>9}")
    for one in counts:
        typer.echo(f"{one.name:<20} {one.texts_before:>9,} {one.texts_after:>9,} {one.changed:>9,}")
    if sentences:
        typer.echo(f"{'sentences':<20} {texts:>9,} {len(done):>9,}")
    typer.echo(written)


@opt.with_columns()
def redact_cli(
    columns: "Columns",
    corpus: opt.CorpusArgument,
    out: Out = None,
    check: Annotated[
        bool, Option("--check", help="Write nothing; exit 1 if a text contains personal data.")
    ] = False,
    split: opt.Split = None,
    as_json: opt.Json = False,
) -> None:
    """Replace personal data in the texts of a corpus with placeholders, or check that there is none."""
    from psycheck.corpora.clean import personal_in, redacted
    from psycheck.errors import BadInput

    if check == (out is not None):
        raise BadInput("name either a file to write or --check", do="psycheck redact CORPUS --out FILE")
    source = open_source(corpus, columns, split, out)
    if check:
        found = personal_in(source.corpus)
        _show(found, source, as_json, ids=True)
        if found.kinds:
            raise typer.Exit(1)
        return
    done, found = redacted(source.corpus)
    written = saved(done, out)
    _show(found, source, as_json, ids=False)
    if not as_json:
        typer.echo(written)


def _show(found: "Redactions", source: Source, as_json: bool, *, ids: bool) -> None:
    """Print kinds, counts and ids, but never the personal data itself."""
    from psycheck.errors import counted

    texts = len(source.corpus)
    if as_json:
        listed = {"ids": {name: list(kinds) for name, kinds in found.kinds.items()}} if ids else {}
        counts = {"texts": texts, "with": len(found.kinds), "counts": dict(found.counts)}
        typer.echo(json.dumps({**counts, **listed, **source.as_json()}))
        return
    source.print()
    if ids:
        for name, kinds in found.kinds.items():
            typer.echo(f"{name}\t{', '.join(kinds)}")
    for kind, count in found.counts.items():
        typer.echo(f"{kind:<8} {count:>9,}")
    verb = "contains" if len(found.kinds) == 1 else "contain"
    typer.echo(
        f"{len(found.kinds):,} of {counted(texts, 'text')} {verb} personal data that the patterns find"
    )
