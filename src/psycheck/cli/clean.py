"""`psycheck clean` and `psycheck redact`: a corpus without what does not belong in it."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from psycheck.cli import options as opt

if TYPE_CHECKING:
    from psycheck.corpora.clean import Redactions
    from psycheck.corpora.columns import Columns
    from psycheck.corpus import Corpus

_Corpus = Annotated[str, typer.Argument(help="A file, or demo:NAME.", metavar="CORPUS")]
_Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="FILE", help="Corpus to write: CSV, JSONL or Parquet, by its name."),
]
_Json = Annotated[bool, typer.Option("--json", help="Print for a program.")]


def clean_cli(
    corpus: _Corpus,
    out: _Out = None,
    preset: Annotated[str | None, typer.Option(help="Steps under one name: plain, deck-tweets.")] = None,
    step: Annotated[
        list[str] | None, typer.Option("--step", metavar="STEP", help="A step, in order; repeatable.")
    ] = None,
    sentences: Annotated[bool, typer.Option("--sentences", help="One row for each sentence.")] = False,
    text: opt.Text = None,
    id_: opt.Id = None,
    label: opt.Labels = None,
    positive: opt.Positive = None,
    author: opt.Author = None,
    time: opt.Time = None,
    split_column: opt.SplitColumn = None,
    split: opt.Split = None,
    group: opt.Groups = None,
    as_json: _Json = False,
) -> None:
    """Clean the texts of a corpus by named steps, and count what each step changes and drops."""
    from psycheck.corpora.clean import cleaned, into_sentences, steps_of
    from psycheck.errors import BadInput
    from psycheck.line import corpus_plan, open_corpus

    # Sentences may be all that is wanted; nothing at all is a mistake.
    steps = steps_of(step or (), preset) if step or preset or not sentences else ()
    columns = opt.columns_of(text, id_, label, positive, author, time, split_column, group)
    opened = open_corpus(corpus_plan(corpus, columns, split))
    done, counts = cleaned(opened, steps) if steps else (opened, ())
    if not len(done):
        raise BadInput("no text is left after cleaning", do="leave out the step that drops them all")
    texts = len(done)
    done = into_sentences(done) if sentences else done
    said = _saved(done, out)
    if as_json:
        rows: list[dict[str, object]] = [asdict(count) for count in counts]
        typer.echo(json.dumps({"steps": rows, "texts": texts, "rows": len(done)}))
        return
    typer.echo(f"{'step':<16} {'before':>9} {'after':>9} {'changed':>9}")
    for one in counts:
        typer.echo(f"{one.name:<16} {one.texts_before:>9,} {one.texts_after:>9,} {one.changed:>9,}")
    if sentences:
        typer.echo(f"{'sentences':<16} {texts:>9,} {len(done):>9,}")
    typer.echo(said)


def redact_cli(
    corpus: _Corpus,
    out: _Out = None,
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
    as_json: _Json = False,
) -> None:
    """Replace personal data in the texts of a corpus by placeholders, or check that it holds none."""
    from psycheck.corpora.clean import personal_in, redacted
    from psycheck.errors import BadInput
    from psycheck.line import corpus_plan, open_corpus

    if check == (out is not None):
        raise BadInput("name either a file to write or --check", do="psycheck redact CORPUS --out FILE")
    columns = opt.columns_of(text, id_, label, positive, author, time, split_column, group)
    opened = open_corpus(corpus_plan(corpus, columns, split))
    if check:
        found = personal_in(opened)
        _show(found, len(opened), as_json, ids=True)
        if found.kinds:
            raise typer.Exit(1)
        return
    done, found = redacted(opened)
    said = _saved(done, out)
    _show(found, len(opened), as_json, ids=False)
    if not as_json:
        typer.echo(said)


def _saved(corpus: "Corpus", out: Path | None) -> str:
    if out is None:
        return "nothing is written: name a file with --out"
    from psycheck.corpora.write import guessed_alike, write_corpus

    columns = write_corpus(corpus, out)
    said = f"{len(corpus):,} texts: {out}"
    return said if guessed_alike(corpus, columns) else f"{said}\nread it with: {_options(columns)}"


def _options(columns: "Columns") -> str:
    plain = {"--text": columns.text, "--id": columns.id, "--author": columns.author, "--time": columns.time}
    plain["--split-column"] = columns.split
    said = [f"{option} {name}" for option, name in plain.items() if name]
    said += [f"--label '{label}'" for label in columns.labels]
    said += [f"--group '{group}'" for group in columns.groups]
    return " ".join(said)


def _show(found: "Redactions", texts: int, as_json: bool, *, ids: bool) -> None:
    """Print kinds, counts and ids; what was found itself is never shown."""
    if as_json:
        listed = {"ids": {name: list(kinds) for name, kinds in found.kinds.items()}} if ids else {}
        typer.echo(
            json.dumps({"texts": texts, "with": len(found.kinds), "counts": dict(found.counts), **listed})
        )
        return
    if ids:
        for name, kinds in found.kinds.items():
            typer.echo(f"{name}\t{', '.join(kinds)}")
    for kind, count in found.counts.items():
        typer.echo(f"{kind:<8} {count:>9,}")
    typer.echo(f"{len(found.kinds):,} of {texts:,} texts hold personal data that patterns find")
