"""The page of one person: symptoms over time, conditions whose symptoms they are, posts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from psycheck.core.corpus import showable_id
from psycheck.core.errors import counted
from psycheck.core.run import Run, Shown
from psycheck.report.display_names import listed
from psycheck.report.explained_people import (
    Links,
    Row,
    by_author,
    day,
    links_of,
    people_of,
    posts_named,
    reader_sentence,
)
from psycheck.report.headlines import sentence
from psycheck.report.numbers import count, decimal, percent
from psycheck.report.page import draw
from psycheck.report.tables import Table, table_of

NAMED: Final = 3  # conditions in the sentence at the top
PLAN_SHOWN: Final = ("symptoms", "tags", "graph", "threshold", "min_posts")
ShownSentences = Mapping[tuple[str, str], Shown]  # by symptom and post


@dataclass(frozen=True, slots=True)
class SymptomTimeline:
    """One symptom on a timeline: bars at columns with their height (0..1) and a title, and figures."""

    title: str
    figures: str
    bars: tuple[tuple[int, float, str], ...]


def people_pages(run: Run) -> dict[str, str]:
    """The page of each author that has one, by its file."""
    links = links_of(run)
    sentences = {(case.check, case.id): case for case in run.shown if case.suite == "explain"}
    # A large cohort has pages for some people only.
    people = run.tables["people"].drop_nulls("page")
    marks = by_author(run.tables["marks"], people)
    others = by_author(run.tables["others"], people)
    pages = {}
    for person, symptoms, conditions in people_of(run, people):
        pages[person["page"]] = draw(
            "person",
            run,
            author=showable_id(person["author"]),
            verdict=person_verdict(person, conditions, links),
            facts=_facts(person),
            conditions=_conditions(conditions, symptoms, links),
            symptoms=_symptoms(symptoms, links),
            lanes=_timelines(symptoms, marks.get(person["author"], []), links),
            ticks=_ticks(person),
            columns=run.plan["columns"],
            sentences=_sentences(symptoms, sentences, links),
            # The notes and most of the plan are about the whole cohort.
            notes=(),
            reader=reader_sentence(run),
            others=_others(others.get(person["author"], []), links),
            plan={key: run.plan[key] for key in PLAN_SHOWN},
            environment={key: run.environment.get(key, {}) for key in ("corpora", "models")},
        )
    return pages


def person_verdict(person: Row, conditions: list[Row], links: Links) -> str:
    """Which conditions the symptoms of an author belong to, in one sentence."""
    posts = counted(person["posts"], "post")
    symptoms = counted(len(links.symptoms), "symptom")
    # Nothing found is a result, and not a table without rows.
    if not person["symptoms"]:
        return sentence("explain.nothing", posts=posts, symptoms=symptoms)

    # Of the first three some may have no symptom that occurs.
    best_covered = [row for row in conditions[:NAMED] if row["found"]]
    parts = []
    for row in best_covered:
        title = links.conditions[row["condition"]]
        parts.append(f"{row['found']} of the {row['typical']} typical of {title}")
    mentioned = f"{person['symptoms']} of {symptoms}"
    return sentence(
        "explain.person",
        found=mentioned,
        posts=posts,
        conditions=listed(parts),
    )


def _facts(person: Row) -> list[str]:
    """How many posts there are, from when to when, and what the timeline leaves out."""
    facts = [f"{counted(person['posts'], 'post')}, {counted(person['sentences'], 'sentence')}."]
    if person["first"] is None:
        facts.append(
            "No post has a time that can be read: the timeline shows the posts in the order of the corpus."
        )
    else:
        facts.append(f"From {day(person['first'])} to {day(person['last'])}.")
        if person["untimed"]:
            untimed = counted(person["untimed"], "post")
            facts.append(f"{untimed} without a time: counted, but not on the timeline.")
    if person["unordered"]:
        facts.append("The corpus does not list these posts in the order of their times; the timeline does.")
    return facts


def _conditions(conditions: Sequence[Row], symptoms: Sequence[Row], links: Links) -> Table:
    """Conditions with their typical symptoms ticked, as in Table 3 of PsySym."""
    mentioned = {row["symptom"] for row in symptoms}
    rows = []
    for row in conditions:
        condition = row["condition"]
        rows.append(
            (
                links.conditions[condition],
                f"{row['found']} of {row['typical']}",
                _ticked(links.typical[condition], mentioned, links),
                _annotation(row["annotated"]),
                decimal(row["weight"], 2),
            )
        )
    return table_of("conditions_covered", rows)


def _ticked(typical: Sequence[str], mentioned: set[str], links: Links) -> Markup:
    """The typical symptoms of a condition, those that the author mentions ticked and first."""
    ticks = []
    for name in sorted(typical, key=lambda name: name not in mentioned):
        mark = "<b>✓\N{NO-BREAK SPACE}{}</b>" if name in mentioned else "✗\N{NO-BREAK SPACE}{}"
        ticks.append(Markup(mark).format(links.symptoms[name]))
    return Markup('<div class="ticks">{}</div>').format(Markup(" · ").join(ticks))


def _annotation(annotated: float | None) -> str:
    if annotated is None:
        return "–"
    return "1" if annotated > 0.5 else "0"


def _symptoms(symptoms: Sequence[Row], links: Links) -> Table | None:
    """One row per symptom: the posts that mention it, their share, weight and times."""
    rows = []
    for row in symptoms:
        rows.append(
            (
                links.symptoms[row["symptom"]],
                posts_named(row["ids"], row["posts"]),
                count(row["posts"]),
                percent(row["share"]),
                decimal(row["weight"], 2),
                day(row["first"]),
                day(row["last"]),
            )
        )
    return table_of("symptoms_found", rows) if rows else None


def _others(statements: Sequence[Row], links: Links) -> Table | None:
    """One row per symptom and status of what is mentioned and does not count: "denied on 2026-05-03"."""
    rows = []
    for row in statements:
        rows.append(
            (
                links.symptoms[row["symptom"]],
                row["status"],
                posts_named(row["ids"], row["posts"]),
                count(row["posts"]),
                day(row["first"]),
                day(row["last"]),
            )
        )
    return table_of("symptoms_not_counted", rows) if rows else None


def _timelines(symptoms: Sequence[Row], marks: Sequence[Row], links: Links) -> list[SymptomTimeline]:
    """Bars grow with the square root of the posts, so that a single post is seen beside many."""
    # One scale for all symptoms of a person: their bars can be compared.
    most_posts = max((mark["posts"] for mark in marks), default=1)
    timelines = []
    for row in symptoms:
        bars = []
        for mark in marks:
            if mark["symptom"] == row["symptom"]:
                height = (mark["posts"] / most_posts) ** 0.5
                bars.append((mark["column"], height, counted(mark["posts"], "post")))

        figures = counted(row["posts"], "post")
        # One day where the first and the last post are of the same day.
        times = [row[end] for end in ("first", "last") if row[end] is not None]
        days = list(dict.fromkeys(day(time) for time in times))
        if days:
            figures += f", {' to '.join(days)}"
        title = links.symptoms[row["symptom"]]
        timelines.append(
            SymptomTimeline(
                title=title,
                figures=figures,
                bars=tuple(bars),
            )
        )
    return timelines


def _ticks(person: Row) -> list[tuple[int, str, str]]:
    """The ends and the middle of the axis: days, or numbers of posts where times are not known."""
    first = person["first"]
    last = person["last"]
    if first is None or first == last:
        return [(0, "", "first post"), (100, "end", "last post")]
    middle = (first + last) // 2
    return [(0, "", day(first)), (50, "mid quarter", day(middle)), (100, "end", day(last))]


def _sentences(
    symptoms: Sequence[Row], shown_sentences: ShownSentences, links: Links
) -> list[tuple[str, list[Shown]]]:
    """The sentences of each symptom; none if texts are not shown."""
    groups = []
    for row in symptoms:
        symptom = row["symptom"]
        sentences = [
            shown_sentences[symptom, post] for post in row["ids"] if (symptom, post) in shown_sentences
        ]
        if sentences:
            groups.append((links.symptoms[symptom], sentences))
    return groups
