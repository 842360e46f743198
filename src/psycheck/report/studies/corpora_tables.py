"""The study of corpora: DECK Table 3 and ANGST Tables 2 and 8, ours next to the published ones."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from psycheck.core.finding import Finding
from psycheck.core.headline import Headline
from psycheck.core.run import Page, Run
from psycheck.report import comparison_page
from psycheck.report.display_names import words_of
from psycheck.report.numbers import plain
from psycheck.report.sections import by, grouped
from psycheck.report.studies.published_figures import contradicted, document, intro_of, marked, published
from psycheck.report.tables import Table

OURS = "ours"


def pages(run: Run) -> dict[str, str]:
    """The files of the study of corpora."""
    return {"report.html": render_corpora_study(run), "study.md": corpora_tables(run)}


def verdict(run: Run) -> list[Headline]:
    """The verdict of a comparison, on the corpora if several were compared, else on the classes."""
    between_corpora = run.findings.where(level="between corpora")
    return comparison_page.verdict(replace(run, findings=between_corpora or run.findings))


PAGE = Page(draw=pages, verdict=verdict)


def render_corpora_study(run: Run) -> str:
    """The page of the study: the papers' tables, then each comparison."""
    between_corpora = run.findings.where(level="between corpora")
    between_classes = run.findings.where(level="between classes")
    parts = [comparison_page.distances("Distances between the corpora", between_corpora)]
    # Sides of different corpora may share a name, so each corpus has its own matrices.
    for corpus, findings in grouped(between_classes, lambda finding: finding.where["corpus"]).items():
        parts.append(comparison_page.distances(f"Classes of {corpus}", findings))

    title = f"study corpora: {', '.join(run.plan['corpora'])}"
    return comparison_page.draw_comparison(
        run,
        title,
        parts,
        tables_of(run.findings),
    )


def corpora_tables(run: Run) -> str:
    """All tables in Markdown, and what must be known to read them."""
    intro = intro_of("corpora", encoder=run.plan["encoder"])
    return document(intro, tables_of(run.findings), run.notes)


def tables_of(findings: Sequence[Finding]) -> list[Table]:
    """The tables that hold a figure of ours, in the order of the papers."""
    entries = words_of("studies")["corpora"]["tables"]
    tables = [_table(name, entry, findings) for name, entry in entries.items()]
    # Published figures alone would be a copy of the paper.
    return [table for table in tables if any(row[0] == OURS for row in table.rows)]


def paper_notes() -> list[str]:
    """Where the papers contradict themselves, or leave open what is needed to repeat them."""
    words = words_of("studies")["corpora"]
    figures_by_reason: dict[str, list[str]] = {}
    for paper, table, row in contradicted(*words["tables"]):
        reason = f"{paper.upper()} {table}: {row['mark']}"
        figures_by_reason.setdefault(reason, []).append(row["value"])

    # One note per reason: it often concerns several figures of a table.
    contradictions = [f"{reason} ({', '.join(values)})" for reason, values in figures_by_reason.items()]
    return [*words["notes"], *contradictions]


def _table(name: str, entry: Mapping[str, Any], findings: Sequence[Finding]) -> Table:
    """The published rows, then ours: one row per pair, one column per measure."""
    keys = entry["place"]
    measures = entry["measures"]
    cells: dict[tuple[str, ...], dict[str, str]] = {}  # of each row, by measure
    for row in published(name):
        place = [row[key] for key in keys]
        cells_of_row = cells.setdefault(("published", *place), {})
        cells_of_row[row["measure"]] = marked(row)

    # One run holds both levels, corpora and classes; each table of the papers is about one.
    our_place = by(*keys)
    findings_of_level = [finding for finding in findings if finding.where.get("level") == entry["level"]]
    for finding in findings_of_level:
        if finding.measure in measures:
            cells_of_row = cells.setdefault((OURS, *our_place(finding)), {})
            cells_of_row[finding.measure] = plain(finding)

    rows = []
    for pair, by_measure in cells.items():
        figures = [by_measure.get(measure, "–") for measure in measures]
        rows.append((*pair, *figures))
    return Table(
        caption=entry["caption"],
        head=("whose", *keys, *measures.values()),
        rows=tuple(rows),
        words=1 + len(keys),
    )
