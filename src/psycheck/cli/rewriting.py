"""Shared by the verbs that rewrite a corpus: open it, write the result, report what is left out."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from psycheck.cli.progress import print_notes

if TYPE_CHECKING:
    from psycheck.corpora.columns import Columns
    from psycheck.corpus import Corpus

Out = Annotated[
    Path | None,
    Option(
        "--out",
        "-o",
        metavar="FILE",
        help="File to write: CSV, JSONL or Parquet, by its ending; not the input.",
    ),
]


@dataclass(frozen=True, slots=True)
class Source:
    """An opened corpus, and the columns of its file that are not read."""

    corpus: "Corpus"
    unread: tuple[str, ...]

    def as_json(self, notes: Iterable[str] = ()) -> dict[str, object]:
        """Notes of the reader and further ones, rows left out, columns not read."""
        from psycheck.corpora.columns import showable_names

        return {
            "notes": list(dict.fromkeys((*self.corpus.notes, *notes))),
            "left_out": dict(self.corpus.left_out),
            "columns_left": showable_names(self.unread),
        }

    def print(self, notes: Iterable[str] = ()) -> None:
        """Print the same on standard error."""
        from psycheck.corpora.read import unread_note
        from psycheck.errors import counted

        lines = list(dict.fromkeys((*self.corpus.notes, *notes)))
        lines += [f"{counted(n, 'row')} left out ({why})" for why, n in self.corpus.left_out.items()]
        lines += [unread_note(self.unread)] if self.unread else []
        print_notes(lines, self.corpus.name)


def open_source(corpus: str, columns: "Columns", split: str | None, out: Path | None) -> Source:
    """Open a corpus that will be written to `out`; check first that `out` may be written."""
    from psycheck.corpora.known.open import known_name
    from psycheck.corpora.open import corpus_path, corpus_plan, open_corpus
    from psycheck.corpora.read import unread_columns
    from psycheck.corpora.write import refuse_kind
    from psycheck.verbs.plan import refuse_input

    plan = corpus_plan(corpus, columns, split)
    path = corpus_path(plan)
    if out is not None:
        refuse_kind(out)
        refuse_input(out, [path] if path is not None else [], "--out")
    known = path is None or known_name(plan.path) is not None
    return Source(open_corpus(plan), () if known else unread_columns(plan.path, columns))


def saved(corpus: "Corpus", out: Path | None) -> str:
    """Write a corpus if a file is named; return a line that says where, and how to read it back."""
    if out is None:
        return "nothing written: name a file with --out"
    from psycheck.corpora.columns import options_of
    from psycheck.corpora.write import guessed_alike, write_corpus
    from psycheck.errors import counted

    columns = write_corpus(corpus, out)
    line = f"{counted(len(corpus), 'text')}: {out}"
    return line if guessed_alike(corpus, columns) else f"{line}\nread it with: {options_of(columns)}"
