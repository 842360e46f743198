"""`psycheck clean`, `redact` and `regender`: rewrite the texts of a corpus, and say what changed."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from psycheck.cli import options as opt
from psycheck.cli.output import print_notes
from psycheck.errors import BadInput, counted

if TYPE_CHECKING:
    from psycheck.corpora.columns import Columns
    from psycheck.corpus import Corpus

_SHOWN = 20  # ids


@opt.verb("rewrite clean")
def clean_cli(
    columns: "Columns",
    corpus: str,
    out: Path | None = None,
    preset: str | None = None,
    step: list[str] | None = None,
    sentences: bool = False,
    without_word: list[str] | None = None,
    annotated: list[str] | None = None,
    balance_length: list[str] | None = None,
    drop_near_duplicates: bool = False,
    resplit: str | None = None,
    seed: int = 0,
    split: str | None = None,
    force: bool = False,
    json_: bool = False,
) -> None:
    """Clean the texts of a corpus in named steps, and count what each step changes and drops."""
    from psycheck.corpora.clean import cleaned, into_sentences, steps_of
    from psycheck.corpora.mend import mended

    mends: dict[str, Any] = {
        "without-word": without_word,
        "annotated": annotated,
        "balance-length": balance_length,
        "drop-near-duplicates": drop_near_duplicates,
        "resplit": resplit,
    }
    # Sentences or a mend are enough without a step; nothing at all is a mistake.
    steps = steps_of(step or (), preset) if step or preset or not (sentences or any(mends.values())) else ()
    source = open_source(corpus, columns, split, out, force=force)
    done, counts = cleaned(source.corpus, steps) if steps else (source.corpus, ())
    done, mend_counts = mended(done, mends, seed=seed)
    counts = (*counts, *mend_counts)
    if not len(done):
        raise BadInput("no texts left after cleaning", do="leave out the step that drops them all")
    texts = len(done)
    done = into_sentences(done) if sentences else done
    written = saved(done, out)
    if json_:
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


@opt.verb("rewrite redact")
def redact_cli(
    columns: "Columns",
    corpus: str,
    out: Path | None = None,
    check: bool = False,
    recogniser: str | None = None,
    split: str | None = None,
    force: bool = False,
    json_: bool = False,
) -> None:
    """Replace personal data in the texts of a corpus with placeholders, or check that there is none.

    This is an aid, not a guarantee: it misses names and places. A person must look at the texts before they
    are shared.
    """
    from psycheck.corpora.clean import REDACTION_IS_AN_AID, personal_in, redacted
    from psycheck.text.redact.recogniser import load_recogniser

    if check == (out is not None):
        raise BadInput("name either a file to write or --check", do="psycheck redact CORPUS --out FILE")
    recognise = load_recogniser(recogniser) if recogniser else None
    source = open_source(corpus, columns, split, out, force=force)
    texts, written = len(source.corpus), ""
    if check:
        found = personal_in(source.corpus, recognise)
    else:
        done, found = redacted(source.corpus, recognise)
        written = saved(done, out)
    # Kinds, counts and ids, but never the personal data itself.
    ids = found.kinds if check else {}
    if json_:
        listed = {"ids": {name: list(kinds) for name, kinds in ids.items()}} if check else {}
        counts = {"texts": texts, "with": len(found.kinds), "counts": dict(found.counts)}
        typer.echo(json.dumps({**counts, **listed, "caution": REDACTION_IS_AN_AID, **source.as_json()}))
    else:
        source.print()
        for name, kinds in ids.items():
            typer.echo(f"{name}\t{', '.join(kinds)}")
        for kind, count in found.counts.items():
            typer.echo(f"{kind:<8} {count:>9,}")
        finder = "the patterns or the recogniser find" if recogniser else "the patterns find"
        verb = "contains" if len(found.kinds) == 1 else "contain"
        typer.echo(f"{len(found.kinds):,} of {counted(texts, 'text')} {verb} personal data that {finder}")
        if written:
            typer.echo(written)
        typer.echo(REDACTION_IS_AN_AID)
    if check and found.kinds:
        raise typer.Exit(1)


@opt.verb("rewrite regender")
def regender_cli(
    columns: "Columns",
    corpus: str,
    out: Path | None = None,
    to: Literal["swapped", "neutral", "removed", "augmented"] = "swapped",
    swap: list[str] | None = None,
    swap_person: Literal["all", "main"] | None = None,
    split: str | None = None,
    force: bool = False,
    json_: bool = False,
) -> None:
    """Swap the gender in the texts of a corpus, make it neutral, or add the swapped texts."""
    from psycheck.corpora.regender import regendered
    from psycheck.text.gender.edits import scope_of

    scope = scope_of(swap or (), swap_person or "all", where="--swap")
    source = open_source(corpus, columns, split, out, force=force)
    done = regendered(source.corpus, to, scope)
    written = saved(done.corpus, out)
    if json_:
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
            others = len(ids) - _SHOWN
            more = f" and {counted(others, 'other')} (--json lists all)" if others > 0 else ""
            typer.echo(f"{len(ids):,} {what}: {', '.join(ids[:_SHOWN])}{more}")
    typer.echo(written)


@dataclass(frozen=True, slots=True)
class Source:
    """An opened corpus, and the columns of its file that are not read."""

    corpus: "Corpus"
    unread: tuple[str, ...]

    def as_json(self, notes: Iterable[str] = ()) -> dict[str, object]:
        """Notes of the reader and further ones, rows left out, columns not read."""
        from psycheck.corpora.columns import showable_names

        return {
            "notes": list(dict.fromkeys(map(opt.with_flags, (*self.corpus.notes, *notes)))),
            "left_out": dict(self.corpus.left_out),
            "columns_left": showable_names(self.unread),
        }

    def print(self, notes: Iterable[str] = ()) -> None:
        """Print the same on standard error."""
        from psycheck.corpora.read import unread_note

        lines = list(dict.fromkeys((*self.corpus.notes, *notes)))
        lines += [f"{counted(n, 'row')} left out ({why})" for why, n in self.corpus.left_out.items()]
        lines += [unread_note(self.unread)] if self.unread else []
        print_notes(lines, self.corpus.name)


def open_source(
    corpus: str, columns: "Columns", split: str | None, out: Path | None, *, force: bool
) -> Source:
    """Open a corpus that will be written to `out`; check first that `out` may be written."""
    from psycheck.corpora.known.open import known_name
    from psycheck.corpora.open import corpus_path, corpus_plan, open_corpus
    from psycheck.corpora.read import unread_columns
    from psycheck.corpora.write import refuse_kind
    from psycheck.files.write import refuse_overwriting

    plan = corpus_plan(corpus, columns, split)
    path = corpus_path(plan)
    if out is not None:
        refuse_kind(out)
        refuse_overwriting([out], [path] if path is not None else [])
        opt.refuse_existing(out, "--out", force=force)
    known = path is None or known_name(plan.path) is not None
    return Source(open_corpus(plan), () if known else unread_columns(plan.path, columns))


def saved(corpus: "Corpus", out: Path | None) -> str:
    """Write a corpus if a file is named; return a line that says where, and how to read it back."""
    if out is None:
        return "nothing written: name a file with --out"
    from psycheck.corpora.columns import options_of
    from psycheck.corpora.write import guessed_alike, write_corpus

    columns = write_corpus(corpus, out)
    line = f"{counted(len(corpus), 'text')}: {out}"
    return line if guessed_alike(corpus, columns) else f"{line}\nread it with: {options_of(columns)}"
