"""DECK Table 3 and ANGST Tables 2 and 8, ours next to the published ones."""

from collections.abc import Mapping, Sequence
from typing import Any

from psycheck.finding import Finding
from psycheck.report.numbers import plain
from psycheck.report.shelf import by, grouped
from psycheck.report.studies.papers import contradicted, document, intro_of, marked, published
from psycheck.report.tables import Table
from psycheck.report.words import words_of
from psycheck.run import Run

OURS = "ours"


def corpora_tables(run: Run) -> str:
    """All tables in Markdown, and what must be known to read them."""
    intro = intro_of("corpora", encoder=run.plan["encoder"])
    return document(intro, tables_of(run.findings), run.notes)


def tables_of(findings: Sequence[Finding]) -> list[Table]:
    """The tables that hold a figure of ours, in the order of the papers."""
    entries = words_of("studies")["corpora"]["tables"]
    tables = [_table(name, entry, findings) for name, entry in entries.items()]
    return [table for table in tables if any(row[0] == OURS for row in table.rows)]


def paper_notes() -> list[str]:
    """Where the papers contradict themselves, or leave open what is needed to repeat them."""
    words = words_of("studies")["corpora"]
    marks = grouped(
        contradicted(*words["tables"]), lambda one: f"{one[0].upper()} {one[1]}: {one[2]['mark']}"
    )
    found = [f"{why} ({', '.join(row['value'] for _, _, row in rows)})" for why, rows in marks.items()]
    return [*words["notes"], *found]


def _table(name: str, entry: Mapping[str, Any], findings: Sequence[Finding]) -> Table:
    """The published rows, then ours: one row per pair, one column per measure."""
    keys, measures = entry["place"], entry["measures"]
    ours = [f for f in findings if f.where.get("level") == entry["level"] and f.measure in measures]
    printed = published(name)
    cells = [(("published", *(row[key] for key in keys)), row["measure"], marked(row)) for row in printed]
    cells += [((OURS, *by(*keys)(f)), f.measure, plain(f)) for f in ours]
    rows = []
    for pair, mine in grouped(cells, lambda cell: cell[0]).items():
        held = {measure: cell for _, measure, cell in mine}
        rows.append((*pair, *(held.get(one, "–") for one in measures)))
    return Table(entry["caption"], ("whose", *keys, *measures.values()), tuple(rows), words=1 + len(keys))
