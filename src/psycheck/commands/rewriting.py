"""`psycheck clean`, `redact` and `regender`: rewrite the texts of a corpus, and say what changed."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from psycheck.commands import options as opt
from psycheck.commands.console import print_json, print_notes
from psycheck.core.errors import BadInput, counted

if TYPE_CHECKING:
    from psycheck.core.corpus import Corpus
    from psycheck.corpora.cleaning import Redactions, StepCount
    from psycheck.corpora.columns import Columns

_MOST_IDS = 20  # on the console


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
    from psycheck.corpora.cleaning import cleaned, into_sentences, steps_of
    from psycheck.corpora.remedies import mended

    mends: dict[str, Any] = {
        "without-word": without_word,
        "annotated": annotated,
        "balance-length": balance_length,
        "drop-near-duplicates": drop_near_duplicates,
        "resplit": resplit,
    }
    # Sentences or a mend are enough without a step; nothing at all is a mistake, which `steps_of` refuses.
    has_other_work = sentences or any(mends.values())
    needs_steps = bool(step or preset) or not has_other_work
    steps = steps_of(step or (), preset) if needs_steps else ()

    source = open_source(corpus, columns, split, out, force=force)
    clean = source.corpus
    counts: list[StepCount] = []
    if steps:
        clean, step_counts = cleaned(clean, steps)
        counts += step_counts
    # After the steps: texts that differ only in what the steps remove are near-duplicates now.
    clean, mend_counts = mended(clean, mends, seed=seed)
    counts += mend_counts
    if not len(clean):
        raise BadInput(
            "no texts left after cleaning",
            code="clean.no-texts-left",
            do="leave out the step that drops them all",
        )

    texts = len(clean)
    if sentences:
        clean = into_sentences(clean)

    # Written before anything is printed: a line on standard output means that the file is there.
    where_written = saved(clean, out)
    if json_:
        summary = {"steps": [asdict(count) for count in counts], "texts": texts, "rows": len(clean)}
        print_json(**summary, **source.as_json(clean.notes))
        return

    source.print(clean.notes)
    _print_steps(counts)
    if sentences:
        typer.echo(f"{'sentences':<20} {texts:>9,} {len(clean):>9,}")
    typer.echo(where_written)


def _print_steps(counts: "Sequence[StepCount]") -> None:
    """Print what each step changed and dropped, as a table."""
    typer.echo(f"{'step':<20} {'before':>9} {'after':>9} {'changed':>9}")
    for count in counts:
        numbers = f"{count.texts_before:>9,} {count.texts_after:>9,} {count.changed:>9,}"
        typer.echo(f"{count.name:<20} {numbers}")


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
    from psycheck.corpora.cleaning import REDACTION_IS_AN_AID, personal_in, redacted
    from psycheck.text.redact.recogniser import load_recogniser

    if check == (out is not None):
        raise BadInput(
            "name either a file to write or --check",
            code="redact.file-or-check",
            do="psycheck redact CORPUS --out FILE",
        )

    # A recogniser that is not installed is refused before the corpus is read.
    recognise = load_recogniser(recogniser) if recogniser else None
    source = open_source(corpus, columns, split, out, force=force)
    where_written = ""
    if check:
        personal_data = personal_in(source.corpus, recognise)
    else:
        redacted_corpus, personal_data = redacted(source.corpus, recognise)
        where_written = saved(redacted_corpus, out)

    if json_:
        content = _redaction_as_json(personal_data, source, with_ids=check)
        print_json(**content, caution=REDACTION_IS_AN_AID, **source.as_json())
    else:
        source.print()
        finder = "the patterns or the recogniser find" if recogniser else "the patterns find"
        _print_redaction(personal_data, source, finder, with_ids=check)
        if where_written:
            typer.echo(where_written)
        typer.echo(REDACTION_IS_AN_AID)

    # For scripts that must not publish such a corpus.
    if check and personal_data.kinds:
        raise typer.Exit(1)


# Kinds, counts and ids are printed, but never the personal data itself.


def _redaction_as_json(personal_data: "Redactions", source: "Source", *, with_ids: bool) -> dict[str, Any]:
    content: dict[str, Any] = {
        "texts": len(source.corpus),
        "with": len(personal_data.kinds),
        "counts": dict(personal_data.counts),
    }
    if with_ids:
        content["ids"] = {id_: list(kinds) for id_, kinds in personal_data.kinds.items()}
    return content


def _print_redaction(personal_data: "Redactions", source: "Source", finder: str, *, with_ids: bool) -> None:
    if with_ids:
        for id_, kinds in personal_data.kinds.items():
            typer.echo(f"{id_}\t{', '.join(kinds)}")
    for kind, count in personal_data.counts.items():
        typer.echo(f"{kind:<8} {count:>9,}")
    affected = len(personal_data.kinds)
    verb = "contains" if affected == 1 else "contain"
    texts = counted(len(source.corpus), "text")
    typer.echo(f"{affected:,} of {texts} {verb} personal data that {finder}")


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
    result = regendered(source.corpus, to, scope)
    where_written = saved(result.corpus, out)
    if json_:
        ids = {"undecided_ids": list(result.undecided), "emptied_ids": list(result.emptied)}
        print_json(**result.counts, **ids, **source.as_json())
        return

    source.print()
    counts = result.counts
    texts = counted(counts["before"], "text")
    typer.echo(f"{counts['changed']:,} of {texts} {to} ({', '.join(scope.words)})")
    typer.echo(f"{counts['unchanged']:,} contain none of these words")
    if counts["named_besides"]:
        number = f"{counts['named_besides']:,}"
        typer.echo(f"{number} also contain a gendered noun or title, left unchanged: --swap nouns,titles")
    _print_ids(result.undecided, "undecided, left unchanged")
    _print_ids(result.emptied, "dropped, with nothing but gendered words")
    typer.echo(where_written)


def _print_ids(ids: Sequence[str], what: str) -> None:
    """Print the number of texts that something is true of, and the first of their ids."""
    if not ids:
        return
    further_ids = len(ids) - _MOST_IDS
    more = f" and {counted(further_ids, 'other')} (--json lists all)" if further_ids > 0 else ""
    typer.echo(f"{len(ids):,} {what}: {', '.join(ids[:_MOST_IDS])}{more}")


@dataclass(frozen=True, slots=True)
class Source:
    """An opened corpus, and the columns of its file that are not read."""

    corpus: "Corpus"
    unread: tuple[str, ...]

    def as_json(self, notes: Iterable[str] = ()) -> dict[str, object]:
        """Notes of the reader and further ones, rows left out, columns not read."""
        from psycheck.corpora.columns import showable_names

        # A rewritten corpus brings the notes of its source along: each is shown once.
        all_notes = (*self.corpus.notes, *notes)
        return {
            "notes": list(dict.fromkeys(opt.with_flags(note) for note in all_notes)),
            "left_out": dict(self.corpus.left_out),
            "columns_left": showable_names(self.unread),
        }

    def print(self, notes: Iterable[str] = ()) -> None:
        """Print the same on standard error."""
        from psycheck.corpora.reading import unread_note

        lines = list(dict.fromkeys((*self.corpus.notes, *notes)))
        for why, rows in self.corpus.left_out.items():
            lines.append(f"{counted(rows, 'row')} left out ({why})")
        if self.unread:
            lines.append(unread_note(self.unread))
        print_notes(lines, self.corpus.name)


def open_source(
    corpus: str, columns: "Columns", split: str | None, out: Path | None, *, force: bool
) -> Source:
    """Open a corpus that will be written to `out`; check first that `out` may be written."""
    from psycheck.corpora.known.opening import known_name
    from psycheck.corpora.opening import corpus_path, corpus_plan, open_corpus
    from psycheck.corpora.reading import unread_columns
    from psycheck.corpora.writing import refuse_kind
    from psycheck.io.writing import refuse_overwriting

    plan = corpus_plan(corpus, columns, split)
    path = corpus_path(plan)
    if out is not None:
        inputs = [] if path is None else [path]
        refuse_kind(out)
        refuse_overwriting([out], inputs)
        # The input is refused first: --force must not be offered for it.
        opt.refuse_existing(out, "--out", force=force)
    opened = open_corpus(plan)
    # Demo corpora and known corpora are read as a whole.
    is_plain_file = path is not None and known_name(plan.path) is None
    unread = unread_columns(plan.path, columns) if is_plain_file else ()
    return Source(corpus=opened, unread=unread)


def saved(corpus: "Corpus", out: Path | None) -> str:
    """Write a corpus if a file is named; return a line that says where, and how to read it back."""
    if out is None:
        return "nothing written: name a file with --out"
    from psycheck.corpora.columns import options_of
    from psycheck.corpora.writing import guessed_alike, write_corpus

    columns = write_corpus(corpus, out)
    line = f"{counted(len(corpus), 'text')}: {out}"
    if guessed_alike(corpus, columns):
        return line
    return f"{line}\nread it with: {options_of(columns)}"
