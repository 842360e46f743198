"""The page of a cohort whose posts were explained, and its files for other programs."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import polars as pl
from markupsafe import Markup

from psycheck.corpus import showable_id
from psycheck.errors import counted
from psycheck.finding import spreadsheet_safe
from psycheck.report.headlines import sentence
from psycheck.report.numbers import count, decimal, percent
from psycheck.report.page import draw
from psycheck.report.tables import Table, table_of
from psycheck.run import Run

IDS: Final = 5  # posts named in a table
ROWS: Final = 100  # authors and suspect labels listed on the page of the cohort
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Links:
    """The titles of conditions and symptoms, and the symptoms of each condition."""

    conditions: Mapping[str, str]
    symptoms: Mapping[str, str]
    typical: Mapping[str, tuple[str, ...]]


def links_of(run: Run) -> Links:
    """The part of the graph that the run knows."""
    conditions: dict[str, str] = {}
    symptoms: dict[str, str] = {}
    typical: dict[str, tuple[str, ...]] = {}
    for condition, title, symptom, symptom_title in run.tables["links"].iter_rows():
        conditions[condition], symptoms[symptom] = title, symptom_title
        typical[condition] = (*typical.get(condition, ()), symptom)
    return Links(conditions, symptoms, typical)


def people_of(run: Run, people: pl.DataFrame | None = None) -> Iterator[tuple[Row, list[Row], list[Row]]]:
    """Each author, or each of some, with the rows on symptoms and on conditions."""
    people = run.tables["people"] if people is None else people
    symptoms, conditions = (by_author(run.tables[name], people) for name in ("mentions", "coverage"))
    for person in people.iter_rows(named=True):
        yield person, symptoms.get(person["author"], []), conditions[person["author"]]


def by_author(table: pl.DataFrame, people: pl.DataFrame) -> dict[str, list[Row]]:
    """The rows of a table on some authors, in order, by author."""
    parts: dict[str, list[Row]] = {}
    for row in table.filter(pl.col("author").is_in(people["author"].implode())).iter_rows(named=True):
        parts.setdefault(row["author"], []).append(row)
    return parts


def day(seconds: int | None) -> str:
    """The day of a time, or "–"."""
    return "–" if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d}"


def posts_named(ids: list[str] | None, number: int) -> str:
    """The first posts by their ids, and how many more there are."""
    named = (ids or [])[:IDS]
    more = f" and {number - len(named):,} more" if number > len(named) else ""
    return ", ".join(named) + more


def render_explaining(run: Run) -> str:
    """The page of the cohort."""
    links = links_of(run)
    return draw(
        "explanation",
        run,
        corpus=run.plan["corpora"][0]["name"],
        verdict=cohort_verdict(run),
        people=_cohort(run, links),
        titles=list(links.conditions.values()),
        left=max(len(run.tables["people"]) - ROWS, 0),
        shares=_shares(run, links),
        suspects=_suspects(run, links),
        rough=rough(run),
    )


def rough(run: Run) -> bool:
    """True if the symptoms were found by similarity to descriptions, without training."""
    return str(run.plan["symptoms"]).startswith("symptoms:descriptions")


def cohort_verdict(run: Run) -> str:
    """How many authors write about symptoms, and how many labels are suspect."""
    people, suspects = run.tables["people"], run.tables["suspects"]
    writing = int((people["symptoms"] > 0).sum())
    words = {"writing": count(writing), "authors": counted(len(people), "author")}
    judged = run.findings.where(measure="suspect_labels")
    if not judged:
        return sentence("explain.cohort", **words)
    without, unlabelled = (int(suspects["annotated"].eq(side).sum()) for side in (1, 0))
    labels = count(sum(f.n for f in judged))
    return sentence(
        "explain.suspects", **words, without=count(without), unlabelled=count(unlabelled), labels=labels
    )


def _cohort(run: Run, links: Links) -> list[dict[str, Any]]:
    """Authors × coverage, those who write about the most symptoms first."""
    rows = []
    people = run.tables["people"].sort("symptoms", "posts", descending=True, maintain_order=True).head(ROWS)
    for person, _, conditions in people_of(run, people):
        own = {row["condition"]: row for row in conditions}
        cells = [
            {
                "text": f"{own[name]['found']} of {own[name]['typical']}",
                "shade": min(int(own[name]["share"] * 5), 4),
                "annotated": (own[name]["annotated"] or 0) > 0.5,
            }
            for name in links.conditions
        ]
        name = showable_id(person["author"])
        rows.append({"author": name, "page": person["page"], "posts": count(person["posts"]), "cells": cells})
    return rows


def _shares(run: Run, links: Links) -> Table | None:
    """The share of authors who write about each symptom, by what they are annotated with."""
    found = run.findings.where(measure="symptom_share")
    labels = [name for name in links.conditions if found.where(label=name, annotated="1")]
    everyone = {f.where["symptom"]: f for f in found.where(label="all")}
    order = sorted(everyone, key=lambda symptom: -everyone[symptom].value)
    columns = [("all", None), *((name, "1") for name in labels)]
    by_column = [
        {f.where["symptom"]: f for f in found.where(label=name, **({"annotated": side} if side else {}))}
        for name, side in columns
    ]
    if not order:
        return None
    heads = [
        f"{links.conditions[name]} (n {next(iter(by_column[k + 1].values())).n:,})"
        for k, name in enumerate(labels)
    ]
    rows = [
        (links.symptoms[symptom], *(percent(column[symptom].value) for column in by_column))
        for symptom in order
    ]
    return table_of("symptom_shares", rows, heads, authors=count(next(iter(everyone.values())).n))


def _suspects(run: Run, links: Links) -> Table | None:
    table = run.tables["suspects"]
    pages = dict(run.tables["people"].select("author", "page").iter_rows())
    rows = []
    for row in table.head(ROWS).iter_rows(named=True):
        name, page = showable_id(row["author"]), pages[row["author"]]
        linked = Markup('<a href="{}">{}</a>').format(page, name) if page else name
        figures = (
            decimal(row["score"], 2),
            f"{row['found']} of {row['typical']}",
            decimal(row["evidence"], 3),
        )
        posts = posts_named(row["ids"], len(row["ids"] or ()))
        side = "annotated 1, little evidence" if row["annotated"] else "annotated 0, much evidence"
        rows.append((linked, links.conditions[row["label"]], side, posts or "–", *figures))
    return table_of("suspect_labels", rows, shown=count(len(rows)), all=count(len(table))) if rows else None


def explanations_jsonl(run: Run) -> str:
    """One line per author: symptoms with their posts, and conditions, the best covered first."""
    links, lines = links_of(run), []
    for person, symptoms, conditions in people_of(run):
        found = {row["symptom"] for row in symptoms}
        line = {key: person[key] for key in ("author", "posts", "sentences", "untimed")}
        line |= {key: _iso(person[key]) for key in ("first", "last")}
        line["symptoms"] = [
            {key: _iso(row[key]) if key in ("first", "last") else row[key] for key in row if key != "author"}
            for row in symptoms
        ]
        line["conditions"] = [
            {
                **{key: row[key] for key in ("condition", "found", "typical", "weight", "annotated")},
                "symptoms": [name for name in links.typical[row["condition"]] if name in found],
            }
            for row in conditions
        ]
        lines.append(json.dumps(line, ensure_ascii=False) + "\n")
    return "".join(lines)


def _iso(seconds: int | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()


def suspects_csv(run: Run) -> str:
    """The suspect labels for re-annotation, the most suspect first; with the posts if texts are shown."""
    texts = {(case.id, case.check): case.text for case in run.shown if case.suite == "suspects"}
    head = (
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
    file = io.StringIO()
    out = csv.writer(file)
    out.writerow((*head, *(["text"] if texts else [])))
    for row in run.tables["suspects"].iter_rows(named=True):
        author, label = row["author"], row["label"]
        figures = (f"{row['score']:.4f}", f"{row['evidence']:.5f}", row["found"], row["typical"], row["rank"])
        words = (f"{author}:{label}", author, label, row["annotated"], row["kind"], *figures)
        text = [texts[author, label]] if texts else []
        out.writerow(map(spreadsheet_safe, (*words, " ".join(row["ids"] or ()), *text)))
    return file.getvalue()
