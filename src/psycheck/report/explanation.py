"""The pages of an explanation: one per person, and one for the cohort; and its files for other programs."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
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
from psycheck.run import Run, Shown

IDS: Final = 5  # posts named in a table
ROWS: Final = 100  # authors and suspect labels listed on the page of the cohort
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Links:
    """The titles of conditions and symptoms, and the symptoms of each condition."""

    conditions: Mapping[str, str]
    symptoms: Mapping[str, str]
    typical: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Lane:
    """One symptom on a timeline: bars at columns with their height (0..1) and a title, and figures."""

    title: str
    figures: str
    bars: tuple[tuple[int, float, str], ...]


def links_of(run: Run) -> Links:
    """The part of the graph that the run knows."""
    conditions: dict[str, str] = {}
    symptoms: dict[str, str] = {}
    typical: dict[str, tuple[str, ...]] = {}
    for condition, title, symptom, symptom_title in run.tables["links"].iter_rows():
        conditions[condition], symptoms[symptom] = title, symptom_title
        typical[condition] = (*typical.get(condition, ()), symptom)
    return Links(conditions, symptoms, typical)


def people_of(run: Run) -> Iterator[tuple[Row, list[Row], list[Row], list[Row]]]:
    """Each author with the rows on symptoms, conditions and the timeline."""
    parts = [_by_author(run.tables[name]) for name in ("mentions", "coverage", "marks")]
    for person in run.tables["people"].iter_rows(named=True):
        symptoms, conditions, marks = (part.get(person["author"], []) for part in parts)
        yield person, symptoms, conditions, marks


def _by_author(table: pl.DataFrame) -> dict[str, list[Row]]:
    parts: dict[str, list[Row]] = {}
    for row in table.iter_rows(named=True):
        parts.setdefault(row["author"], []).append(row)
    return parts


def day(seconds: int | None) -> str:
    """The day of a time, or "–"."""
    return "–" if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d}"


def people_pages(run: Run) -> dict[str, str]:
    """The page of each author that has one, by its file."""
    links, shown = links_of(run), _shown(run.shown)
    kept = {key: run.plan[key] for key in ("symptoms", "tags", "graph", "threshold", "min_posts")}
    pages = {}
    for person, symptoms, conditions, marks in people_of(run):
        if person["page"] is None:
            continue
        pages[person["page"]] = draw(
            "person",
            run,
            author=showable_id(person["author"]),
            verdict=_person_verdict(person, conditions, links),
            facts=_facts(person),
            conditions=_conditions(conditions, symptoms, links),
            symptoms=_symptoms(symptoms, links),
            lanes=_lanes(symptoms, marks, person, links),
            ticks=_ticks(person),
            sentences=_sentences(symptoms, shown, links),
            notes=(),
            plan=kept,
            environment={"corpora": run.environment.get("corpora", {}), "models": run.environment.get("models", {})},
        )
    return pages


def _person_verdict(person: Row, conditions: list[Row], links: Links) -> str:
    best = conditions[0]
    if not person["symptoms"]:
        return sentence("explain.nothing", posts=counted(person["posts"], "post"), of=count(len(links.symptoms)))
    return sentence(
        "explain.person",
        symptoms=f"{person['symptoms']} of {counted(len(links.symptoms), 'symptom')}",
        posts=counted(person["posts"], "post"),
        found=f"{best['found']} of {best['typical']}",
        condition=links.conditions[best["condition"]],
    )


def _facts(person: Row) -> list[str]:
    facts = [f"{counted(person['posts'], 'post')}, {counted(person['sentences'], 'sentence')}."]
    if person["first"] is None:
        facts.append("No post has a time that can be read: the timeline shows the posts in the order of the corpus.")
    else:
        facts.append(f"From {day(person['first'])} to {day(person['last'])}.")
        if person["untimed"]:
            facts.append(f"{counted(person['untimed'], 'post')} without a time: counted, but not on the timeline.")
    if person["unordered"]:
        facts.append("The corpus does not list these posts in the order of their times; the timeline does.")
    return facts


def _conditions(conditions: list[Row], symptoms: list[Row], links: Links) -> Table:
    """Conditions with their typical symptoms ticked, as in Table 3 of PsySym."""
    found = {row["symptom"] for row in symptoms}
    rows = []
    for row in conditions:
        typical = sorted(links.typical[row["condition"]], key=lambda name: name not in found)
        ticks = ", ".join(f"{links.symptoms[name]} {'✓' if name in found else '✗'}" for name in typical)
        annotated = {True: "1", False: "0", None: "–"}[None if row["annotated"] is None else row["annotated"] > 0.5]
        title = links.conditions[row["condition"]]
        rows.append((title, ticks, annotated, f"{row['found']} of {row['typical']}", decimal(row["weight"], 2)))
    return table_of("conditions_covered", rows)


def _symptoms(symptoms: list[Row], links: Links) -> Table | None:
    rows = [
        (
            links.symptoms[row["symptom"]],
            _posts_named(row["ids"], row["posts"]),
            *(count(row["posts"]), percent(row["share"]), decimal(row["weight"], 2)),
            *(day(row["first"]), day(row["last"])),
        )
        for row in symptoms
    ]
    return table_of("symptoms_found", rows) if rows else None


def _posts_named(ids: list[str] | None, number: int) -> str:
    named = (ids or [])[:IDS]
    more = f" and {number - len(named):,} more" if number > len(named) else ""
    return ", ".join(named) + more


def _lanes(symptoms: list[Row], marks: list[Row], person: Row, links: Links) -> list[Lane]:
    """Bars whose height grows with the square root of the posts, so that a single post is seen beside many."""
    most = max((mark["posts"] for mark in marks), default=1)
    lanes = []
    for row in symptoms:
        own = [mark for mark in marks if mark["symptom"] == row["symptom"]]
        bars = tuple((m["column"], (m["posts"] / most) ** 0.5, counted(m["posts"], "post")) for m in own)
        span = f", {day(row['first'])} to {day(row['last'])}" if row["first"] is not None else ""
        lanes.append(Lane(links.symptoms[row["symptom"]], f"{counted(row['posts'], 'post')}{span}", bars))
    return lanes


def _ticks(person: Row) -> list[tuple[int, str, str]]:
    """The ends and the middle of the axis: days, or numbers of posts where times are not known."""
    first, last = person["first"], person["last"]
    if first is None or first == last:
        return [(0, "", "first post"), (100, "end", "last post")]
    middle = (50, "mid quarter", day((first + last) // 2))
    return [(0, "", day(first)), middle, (100, "end", day(last))]


def _shown(shown: Iterable[Shown]) -> dict[tuple[str, str], Shown]:
    return {(case.check, case.id): case for case in shown}


def _sentences(
    symptoms: list[Row], shown: dict[tuple[str, str], Shown], links: Links
) -> list[tuple[str, list[Shown]]]:
    """The sentences of each symptom; none if texts are not shown."""
    groups = [
        (links.symptoms[row["symptom"]], [shown[key] for id_ in row["ids"] if (key := (row["symptom"], id_)) in shown])
        for row in symptoms
    ]
    return [group for group in groups if group[1]]


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
    )


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
    return sentence("explain.suspects", **words, without=count(without), unlabelled=count(unlabelled), labels=labels)


def _cohort(run: Run, links: Links) -> list[dict[str, Any]]:
    """Authors × coverage, those who write about the most symptoms first."""
    rows = []
    people = run.tables["people"].sort("symptoms", "posts", descending=True, maintain_order=True).head(ROWS)
    covered = _by_author(run.tables["coverage"].join(people.select("author"), on="author", how="semi"))
    for person in people.iter_rows(named=True):
        own = {row["condition"]: row for row in covered[person["author"]]}
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
    heads = [f"{links.conditions[name]} (n {next(iter(by_column[k + 1].values())).n:,})" for k, name in enumerate(labels)]
    rows = [
        (links.symptoms[symptom], *(percent(column[symptom].value) for column in by_column)) for symptom in order
    ]
    return table_of("symptom_shares", rows, heads, authors=count(next(iter(everyone.values())).n))


def _suspects(run: Run, links: Links) -> Table | None:
    table = run.tables["suspects"]
    pages = dict(run.tables["people"].select("author", "page").iter_rows())
    rows = []
    for row in table.head(ROWS).iter_rows(named=True):
        name, page = showable_id(row["author"]), pages[row["author"]]
        linked = Markup('<a href="{}">{}</a>').format(page, name) if page else name
        figures = (decimal(row["score"], 2), f"{row['found']} of {row['typical']}", decimal(row["evidence"], 3))
        posts = _posts_named(row["ids"], len(row["ids"] or ()))
        rows.append((linked, links.conditions[row["label"]], row["kind"], posts or "–", *figures))
    return table_of("suspect_labels", rows, shown=count(len(rows)), all=count(len(table))) if rows else None


def explanations_jsonl(run: Run) -> str:
    """One line per author: symptoms with their posts, and conditions, the best covered first."""
    links, lines = links_of(run), []
    for person, symptoms, conditions, _ in people_of(run):
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
    """The suspect labels for re-annotation, the most suspect first."""
    file = io.StringIO()
    out = csv.writer(file)
    out.writerow(("rank", "id", "label", "annotated", "kind", "score", "evidence", "found", "typical", "posts"))
    for row in run.tables["suspects"].iter_rows(named=True):
        figures = (f"{row['score']:.4f}", f"{row['evidence']:.5f}", row["found"], row["typical"])
        words = (row["rank"], row["author"], row["label"], row["annotated"], row["kind"], *figures)
        out.writerow(map(spreadsheet_safe, (*words, " ".join(row["ids"] or ()))))
    return file.getvalue()
