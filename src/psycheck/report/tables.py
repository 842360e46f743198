"""A table that is drawn as HTML, Markdown or aligned text."""

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from psycheck.report.display_names import words_of
from psycheck.report.page import templates

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "−": "$-$",
    "κ": r"$\kappa$",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
_UNBOUNDED = 10_000  # columns of text, more than any table has


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a caption; the first `words` columns hold words, the rest numbers."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int = 1
    note: str = ""

    def to_html(self) -> Markup:
        """The table as HTML, its note in a paragraph below."""
        module: Any = templates().get_template("table.html.j2").module
        return Markup(module.table(self))

    def to_markdown(self, heading: str | None = None) -> str:
        """A heading ("## caption" by default), the table and its note, separated by empty lines."""
        rule = ("---",) * len(self.head)
        lines = [_markdown_row(row) for row in (self.head, rule, *self.rows)]
        parts = [heading or f"## {self.caption}", "\n".join(lines), self.note]
        return "\n\n".join(part for part in parts if part) + "\n"

    def to_latex(self) -> str:
        """The table for LaTeX, with the rules of booktabs."""
        columns = "l" * self.words + "r" * (len(self.head) - self.words)
        body = [f"{_latex_row(row)} \\\\" for row in self.rows]
        lines = [
            r"\begin{table}",
            rf"\caption{{{latex_escaped(self.caption)}}}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            f"{_latex_row(self.head)} \\\\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
        return "\n".join(lines) + "\n"

    def to_console(self) -> str:
        """The caption and the table as text with aligned columns, without colour, lines or wrapping."""
        from rich.console import Console
        from rich.table import Table as Grid
        from rich.text import Text

        grid = Grid(
            box=None,
            pad_edge=False,
            padding=(0, 2, 0, 0),
        )
        for number, name in enumerate(self.head):
            # Numbers are compared digit by digit, so they end in one line.
            grid.add_column(
                Text(name),
                justify="left" if number < self.words else "right",
                no_wrap=True,
            )
        for row in self.rows:
            grid.add_row(*map(Text, row))

        console = Console(
            file=io.StringIO(),
            width=_UNBOUNDED,
            color_system=None,
        )
        with console.capture() as drawn:
            console.print(grid)
        lines = [line.rstrip() for line in drawn.get().splitlines()]
        return "\n".join([self.caption, *lines])


def latex_escaped(text: str) -> str:
    """A text in which no character is a command of LaTeX."""
    return "".join(_LATEX.get(character, character) for character in text)


def _latex_row(cells: Iterable[str]) -> str:
    return " & ".join(map(latex_escaped, cells))


def _markdown_row(cells: Iterable[str]) -> str:
    # An upright would begin another cell.
    escaped = [cell.replace("|", "\\|") for cell in cells]
    return f"| {' | '.join(escaped)} |"


def table_of(name: str, rows: Iterable[Sequence[str]], more: Iterable[str] = (), /, **values: str) -> Table:
    """A table of tables.toml, with `more` columns; short rows are filled up with empty cells."""
    entry = words_of("tables")[name]
    head = [title.format_map(values) for title in entry["head"]]
    head += more
    filled = []
    for row in rows:
        # Rows of published figures lack the columns that only we have.
        missing = len(head) - len(row)
        filled.append((*row, *[""] * missing))
    return Table(
        caption=entry.get("caption", "").format_map(values),
        head=tuple(head),
        rows=tuple(filled),
        words=entry.get("words", 1),
        note=entry.get("note", "").format_map(values),
    )
