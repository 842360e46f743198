"""The page of a cohort whose posts were explained, and its files for other programs."""

import csv
import io
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from markupsafe import Markup

from psycheck.core.corpus import showable_id
from psycheck.core.errors import counted
from psycheck.core.finding import Findings, spreadsheet_safe
from psycheck.core.headline import Headline
from psycheck.core.run import Page, Run
from psycheck.report.explained_people import Links, Row, links_of, people_of, posts_named, reader_rule
from psycheck.report.headlines import headline
from psycheck.report.numbers import count, decimal, percent
from psycheck.report.page import draw
from psycheck.report.person_page import people_pages
from psycheck.report.prediction_page import prediction_pages
from psycheck.report.tables import Table, table_of

ROWS: Final = 100  # authors and suspect labels listed on the page of the cohort
SHADES: Final = 5  # of a cell, by the share of typical symptoms that were found
SUSPECT_COLUMNS: Final = (
    "id",
    "author",
    "condition",
    "annotated",
    "kind",
    "score",
    "evidence",
    "found",
    "typical",
    "rank",
    "posts",
)
TIMES: Final = ("first", "last")


def pages(run: Run) -> dict[str, str]:
    """The files of an explained cohort: its page, one page per author, and tables for other programs."""
    return {
        "report.html": render_explaining(run),
        "explanations.jsonl": explanations_jsonl(run),
        "suspects.csv": suspects_csv(run),
        **people_pages(run),
        **prediction_pages(run),
    }


def verdict(run: Run) -> list[Headline]:
    """How many authors write about symptoms, and how many labels are suspect."""
    people = run.tables["people"]
    # "Write about", and not "have": that is all that posts can show.
    writing = int((people["symptoms"] > 0).sum())
    values = {"writing": count(writing), "authors": counted(len(people), "author")}

    rule, reader_values = reader_rule(run)
    reader = headline(rule, **reader_values)
    judged = run.findings.where(measure="suspect_labels")
    if not judged:
        return [headline("explain.cohort", **values), reader]

    annotated = run.tables["suspects"]["annotated"]
    with_condition = int(annotated.eq(1).sum())
    with_absence = int(annotated.eq(0).sum())
    labels = sum(finding.n for finding in judged)
    return [
        headline(
            "explain.suspects",
            judged,
            **values,
            without=count(with_condition),
            unlabelled=count(with_absence),
            labels=count(labels),
        ),
        reader,
    ]


PAGE = Page(draw=pages, verdict=verdict)


def render_explaining(run: Run) -> str:
    """The page of the cohort."""
    links = links_of(run)
    return draw(
        "explanation",
        run,
        corpus=run.plan["corpora"][0]["name"],
        verdict=run.verdict,
        people=_cohort(run, links),
        titles=list(links.conditions.values()),
        left=max(len(run.tables["people"]) - ROWS, 0),
        shares=_symptom_shares(run.findings, links),
        suspects=_suspects(run, links),
    )


def _cohort(run: Run, links: Links) -> list[dict[str, Any]]:
    """Authors × coverage, those who write about the most symptoms first."""
    most_symptoms_first = run.tables["people"].sort(
        "symptoms",
        "posts",
        descending=True,
        maintain_order=True,
    )
    rows = []
    for person, _, conditions in people_of(run, most_symptoms_first.head(ROWS)):
        coverage = {row["condition"]: row for row in conditions}
        rows.append(
            {
                "author": showable_id(person["author"]),
                "page": person["page"],
                "posts": count(person["posts"]),
                "cells": [_coverage_cell(coverage[name]) for name in links.conditions],
            }
        )
    return rows


def _coverage_cell(coverage: Row) -> dict[str, Any]:
    """How many of the typical symptoms of a condition an author writes about."""
    return {
        "text": f"{coverage['found']} of {coverage['typical']}",
        # A share of 1 belongs to the last shade, not beyond it.
        "shade": min(int(coverage["share"] * SHADES), SHADES - 1),
        "annotated": (coverage["annotated"] or 0) > 0.5,
    }


def _symptom_shares(findings: Findings, links: Links) -> Table | None:
    """The share of authors who write about each symptom, by what they are annotated with."""
    shares = findings.where(measure="symptom_share")
    of_all = {finding.where["symptom"]: finding for finding in shares.where(label="all")}
    if not of_all:
        return None

    columns = [of_all]
    heads = []
    for name, title in links.conditions.items():
        of_label = {f.where["symptom"]: f for f in shares.where(label=name, annotated="1")}
        # Conditions that nobody is annotated with have no column.
        if of_label:
            columns.append(of_label)
            authors = next(iter(of_label.values())).n
            heads.append(f"{title} (n {authors:,})")

    most_common_first = sorted(of_all, key=lambda symptom: -of_all[symptom].value)
    rows = []
    for symptom in most_common_first:
        cells = [percent(column[symptom].value) for column in columns]
        rows.append((links.symptoms[symptom], *cells))
    authors = next(iter(of_all.values())).n
    return table_of(
        "symptom_shares",
        rows,
        heads,
        authors=count(authors),
    )


def _suspects(run: Run, links: Links) -> Table | None:
    """The most suspect labels, each with the page of its author."""
    suspects = run.tables["suspects"]
    page_of_author = dict(run.tables["people"].select("author", "page").iter_rows())
    rows = []
    for row in suspects.head(ROWS).iter_rows(named=True):
        author = showable_id(row["author"])
        page = page_of_author[row["author"]]
        # In large cohorts only some authors have a page.
        if page:
            author = Markup('<a href="{}">{}</a>').format(page, author)
        side = "annotated 1, little evidence" if row["annotated"] else "annotated 0, much evidence"
        posts = posts_named(row["ids"], len(row["ids"] or ()))
        rows.append(
            (
                author,
                links.conditions[row["label"]],
                side,
                posts or "–",
                decimal(row["score"], 2),
                f"{row['found']} of {row['typical']}",
                decimal(row["evidence"], 3),
            )
        )
    if not rows:
        return None
    return table_of(
        "suspect_labels",
        rows,
        shown=count(len(rows)),
        all=count(len(suspects)),
    )


def explanations_jsonl(run: Run) -> str:
    """One line per author: symptoms with their posts, and conditions, the best covered first."""
    links = links_of(run)
    lines = []
    for person, symptoms, conditions in people_of(run):
        explanation = _explanation(
            person,
            symptoms,
            conditions,
            links,
        )
        lines.append(json.dumps(explanation, ensure_ascii=False) + "\n")
    return "".join(lines)


def _explanation(person: Row, symptoms: Sequence[Row], conditions: Sequence[Row], links: Links) -> Row:
    mentioned = {row["symptom"] for row in symptoms}
    explanation = {key: person[key] for key in ("author", "posts", "sentences", "untimed")}
    explanation |= {key: _iso(person[key]) for key in TIMES}
    explanation["symptoms"] = [_mention(row) for row in symptoms]
    explanation["conditions"] = []
    for row in conditions:
        condition = {key: row[key] for key in ("condition", "found", "typical", "weight", "annotated")}
        typical = links.typical[row["condition"]]
        # In the order of the graph, for programs that compare authors.
        condition["symptoms"] = [name for name in typical if name in mentioned]
        explanation["conditions"].append(condition)
    return explanation


def _mention(symptom: Row) -> Row:
    """A symptom of an author, its times in ISO 8601."""
    mention = {key: value for key, value in symptom.items() if key != "author"}
    for key in TIMES:
        mention[key] = _iso(symptom[key])
    return mention


def _iso(seconds: int | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()


def suspects_csv(run: Run) -> str:
    """The suspect labels for re-annotation, the most suspect first; with the posts if texts are shown."""
    texts = {(case.id, case.check): case.text for case in run.shown if case.suite == "suspects"}
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow((*SUSPECT_COLUMNS, "text") if texts else SUSPECT_COLUMNS)
    for row in run.tables["suspects"].iter_rows(named=True):
        author = row["author"]
        label = row["label"]
        cells = [
            f"{author}:{label}",
            author,
            label,
            row["annotated"],
            row["kind"],
            f"{row['score']:.4f}",
            f"{row['evidence']:.5f}",
            row["found"],
            row["typical"],
            row["rank"],
            " ".join(row["ids"] or ()),
        ]
        if texts:
            cells.append(texts[author, label])
        # A cell that begins with "=" would be run as a formula.
        writer.writerow(map(spreadsheet_safe, cells))
    return file.getvalue()
