"""The people of a cohort whose posts were explained, and what is written about each."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import polars as pl

from psycheck.core.errors import counted
from psycheck.core.run import Run
from psycheck.report.headlines import sentence
from psycheck.report.numbers import count, percent

IDS: Final = 5  # posts named in a table
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
        conditions[condition] = title
        symptoms[symptom] = symptom_title
        typical[condition] = (*typical.get(condition, ()), symptom)
    return Links(
        conditions=conditions,
        symptoms=symptoms,
        typical=typical,
    )


def people_of(run: Run, people: pl.DataFrame | None = None) -> Iterator[tuple[Row, list[Row], list[Row]]]:
    """Each author of `people` (default: all) with the rows on symptoms and on conditions."""
    if people is None:
        people = run.tables["people"]
    symptoms = by_author(run.tables["mentions"], people)
    conditions = by_author(run.tables["coverage"], people)
    for person in people.iter_rows(named=True):
        author = person["author"]
        # Some mention no symptom; every author has a row for every condition.
        yield person, symptoms.get(author, []), conditions[author]


def by_author(table: pl.DataFrame, people: pl.DataFrame) -> dict[str, list[Row]]:
    """The rows of a table on the authors of `people`, in order, by author."""
    # Only a few hundred authors have a page: rows of all others are not made into dicts.
    of_these_authors = pl.col("author").is_in(people["author"].implode())
    table_of_authors = table.filter(of_these_authors)

    rows: dict[str, list[Row]] = {}
    for row in table_of_authors.iter_rows(named=True):
        rows.setdefault(row["author"], []).append(row)
    return rows


def day(seconds: int | None) -> str:
    """The day of a time, or "–"."""
    if seconds is None:
        return "–"
    # In UTC: the page must not depend on where it is drawn.
    moment = datetime.fromtimestamp(seconds, UTC)
    return f"{moment:%Y-%m-%d}"


def posts_named(ids: list[str] | None, number: int) -> str:
    """The first posts by their ids, and how many more there are."""
    named = (ids or [])[:IDS]
    text = ", ".join(named)

    unnamed = number - len(named)
    if unnamed > 0:
        text += f" and {unnamed:,} more"
    return text


def reader_sentence(run: Run) -> str:
    """How often the names that the symptom model gives are right, as far as that is known."""
    rule, values = reader_rule(run)
    return sentence(rule, **values)


def reader_rule(run: Run) -> tuple[str, dict[str, str]]:
    """The rule of that sentence in headlines.toml, and its values."""
    naming = run.plan.get("naming")
    if naming is None:
        return "explain.unmeasured", {}
    symptoms = run.tables["links"]["symptom"].n_unique()
    # Symptoms with a threshold are named; for the others the reader was not good enough.
    unnamed = symptoms - len(naming["thresholds"])
    return "explain.reader", {
        "precision": percent(naming["precision"]),
        "recall": percent(naming["recall"]),
        "sentences": count(naming["sentences"]),
        "source": naming["source"],
        "unnamed": counted(unnamed, "symptom"),
    }
