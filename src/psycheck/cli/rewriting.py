"""What the verbs share that write a corpus anew: one corpus in, another file out, what stays behind."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from psycheck.corpora.columns import Columns
    from psycheck.corpus import Corpus

CorpusArgument = Annotated[str, typer.Argument(help="A file, demo:NAME or KNOWN:PATH.", metavar="CORPUS")]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="Corpus to write: CSV, JSONL or Parquet, by its name; not the file that is read.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print for a program.")]


@dataclass(frozen=True, slots=True)
class Taken:
    """A corpus as it was opened, and the columns of its file that it does not hold."""

    corpus: "Corpus"
    left_behind: tuple[str, ...]

    def told(self, notes: tuple[str, ...] = ()) -> dict[str, object]:
        """For a program: the notes of the reader and others, rows that were left out, columns not read."""
        from psycheck.corpora.columns import showable_names

        return {
            "notes": list(dict.fromkeys((*self.corpus.notes, *notes))),
            "left_out": dict(self.corpus.left_out),
            "columns_left": showable_names(self.left_behind),
        }

    def tell(self, notes: tuple[str, ...] = ()) -> None:
        """Say the same to a person, on standard error."""
        from psycheck.corpora.read import unread_note
        from psycheck.errors import counted

        said = list(dict.fromkeys((*self.corpus.notes, *notes)))
        said += [f"{counted(n, 'row')} left out ({why})" for why, n in self.corpus.left_out.items()]
        said += [unread_note(self.left_behind)] if self.left_behind else []
        for note in said:
            typer.echo(f"note: {self.corpus.name}: {note}", err=True)


def take(said: str, columns: "Columns", split: str | None, out: Path | None) -> Taken:
    """Open a corpus that is to be written to another file; a file that may not be is refused first."""
    from psycheck.corpora.known.open import known_name
    from psycheck.corpora.open import corpus_path, corpus_plan, open_corpus
    from psycheck.corpora.read import unread_columns
    from psycheck.corpora.write import refuse_kind
    from psycheck.verbs.plan import refuse_input

    plan = corpus_plan(said, columns, split)
    source = corpus_path(plan)
    if out is not None:
        refuse_kind(out)
        refuse_input(out, [source] if source is not None else [], "--out")
    corpus = open_corpus(plan)
    known = source is None or known_name(plan.path) is not None
    return Taken(corpus, () if known else unread_columns(plan.path, columns))


def saved(corpus: "Corpus", out: Path | None) -> str:
    """Write a corpus where a file is named, and say where it is and how it is read back."""
    if out is None:
        return "nothing is written: name a file with --out"
    from psycheck.corpora.typed import options_of
    from psycheck.corpora.write import guessed_alike, write_corpus
    from psycheck.errors import counted

    columns = write_corpus(corpus, out)
    said = f"{counted(len(corpus), 'text')}: {out}"
    return said if guessed_alike(corpus, columns) else f"{said}\nread it with: {options_of(columns)}"
