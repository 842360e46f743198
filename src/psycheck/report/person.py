"""The page of one person: symptoms over time, conditions whose symptoms they are, posts."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from psycheck.corpus import showable_id
from psycheck.errors import counted
from psycheck.report.explanation import Links, Row, by_author, day, links_of, people_of, posts_named, rough
from psycheck.report.headlines import sentence
from psycheck.report.numbers import count, decimal, percent
from psycheck.report.page import draw
from psycheck.report.tables import Table, table_of
from psycheck.report.words import listed
from psycheck.run import Run, Shown

NAMED: Final = 3  # conditions in the sentence at the top


@dataclass(frozen=True, slots=True)
class Lane:
    """One symptom on a timeline: bars at columns with their height (0..1) and a title, and figures."""

    title: str
    figures: str
    bars: tuple[tuple[int, float, str], ...]


def people_pages(run: Run) -> dict[str, str]:
    """The page of each author that has one, by its file."""
    links, shown = links_of(run), _shown(run.shown)
    kept = {key: run.plan[key] for key in ("symptoms", "tags", "graph", "threshold", "min_posts")}
    pages = {}
    people = run.tables["people"].drop_nulls("page")
    marks = by_author(run.tables["marks"], people)
    for person, symptoms, conditions in people_of(run, people):
        pages[person["page"]] = draw(
            "person",
            run,
            author=showable_id(person["author"]),
            verdict=person_verdict(person, conditions, links),
            facts=_facts(person),
            conditions=_conditions(conditions, symptoms, links),
            symptoms=_symptoms(symptoms, links),
            lanes=_lanes(symptoms, marks.get(person["author"], []), links),
            ticks=_ticks(person),
            columns=run.plan["columns"],
            sentences=_sentences(symptoms, shown, links),
            notes=(),
            rough=rough(run),
            plan=kept,
            environment={
                "corpora": run.environment.get("corpora", {}),
                "models": run.environment.get("models", {}),
            },
        )
    return pages


def person_verdict(person: Row, conditions: list[Row], links: Links) -> str:
    """Which conditions the symptoms of an author belong to, in one sentence."""
    posts, symptoms = counted(person["posts"], "post"), counted(len(links.symptoms), "symptom")
    if not person["symptoms"]:
        return sentence("explain.nothing", posts=posts, symptoms=symptoms)
    best = [row for row in conditions[:NAMED] if row["found"]]
    parts = [
        f"{row['found']} of the {row['typical']} typical of {links.conditions[row['condition']]}"
        for row in best
    ]
    words = {"found": f"{person['symptoms']} of {symptoms}", "posts": posts, "conditions": listed(parts)}
    return sentence("explain.person", **words)


def _facts(person: Row) -> list[str]:
    facts = [f"{counted(person['posts'], 'post')}, {counted(person['sentences'], 'sentence')}."]
    if person["first"] is None:
        facts.append(
            "No post has a time that can be read: the timeline shows the posts in the order of the corpus."
        )
    else:
        facts.append(f"From {day(person['first'])} to {day(person['last'])}.")
        if person["untimed"]:
            facts.append(
                f"{counted(person['untimed'], 'post')} without a time: counted, but not on the timeline."
            )
    if person["unordered"]:
        facts.append("The corpus does not list these posts in the order of their times; the timeline does.")
    return facts


def _conditions(conditions: list[Row], symptoms: list[Row], links: Links) -> Table:
    """Conditions with their typical symptoms ticked, as in Table 3 of PsySym."""
    found = {row["symptom"] for row in symptoms}
    rows = []
    for row in conditions:
        typical = sorted(links.typical[row["condition"]], key=lambda name: name not in found)
        ticks = Markup(" · ").join(
            Markup("<b>✓\N{NO-BREAK SPACE}{}</b>" if name in found else "✗\N{NO-BREAK SPACE}{}").format(
                links.symptoms[name]
            )
            for name in typical
        )
        annotated = {True: "1", False: "0", None: "–"}[
            None if row["annotated"] is None else row["annotated"] > 0.5
        ]
        title = links.conditions[row["condition"]]
        rows.append(
            (
                title,
                f"{row['found']} of {row['typical']}",
                Markup('<div class="ticks">{}</div>').format(ticks),
                annotated,
                decimal(row["weight"], 2),
            )
        )
    return table_of("conditions_covered", rows)


def _symptoms(symptoms: list[Row], links: Links) -> Table | None:
    rows = [
        (
            links.symptoms[row["symptom"]],
            posts_named(row["ids"], row["posts"]),
            *(count(row["posts"]), percent(row["share"]), decimal(row["weight"], 2)),
            *(day(row["first"]), day(row["last"])),
        )
        for row in symptoms
    ]
    return table_of("symptoms_found", rows) if rows else None


def _lanes(symptoms: list[Row], marks: list[Row], links: Links) -> list[Lane]:
    """Bars grow with the square root of the posts, so that a single post is seen beside many."""
    most = max((mark["posts"] for mark in marks), default=1)
    lanes = []
    for row in symptoms:
        own = [mark for mark in marks if mark["symptom"] == row["symptom"]]
        bars = tuple((m["column"], (m["posts"] / most) ** 0.5, counted(m["posts"], "post")) for m in own)
        days = dict.fromkeys(day(row[end]) for end in ("first", "last") if row[end] is not None)
        figures = ", ".join(filter(None, [counted(row["posts"], "post"), " to ".join(days)]))
        lanes.append(Lane(links.symptoms[row["symptom"]], figures, bars))
    return lanes


def _ticks(person: Row) -> list[tuple[int, str, str]]:
    """The ends and the middle of the axis: days, or numbers of posts where times are not known."""
    first, last = person["first"], person["last"]
    if first is None or first == last:
        return [(0, "", "first post"), (100, "end", "last post")]
    middle = (50, "mid quarter", day((first + last) // 2))
    return [(0, "", day(first)), middle, (100, "end", day(last))]


def _shown(shown: Iterable[Shown]) -> dict[tuple[str, str], Shown]:
    return {(case.check, case.id): case for case in shown if case.suite == "explain"}


def _sentences(
    symptoms: list[Row], shown: dict[tuple[str, str], Shown], links: Links
) -> list[tuple[str, list[Shown]]]:
    """The sentences of each symptom; none if texts are not shown."""
    groups = [
        (
            links.symptoms[row["symptom"]],
            [shown[key] for id_ in row["ids"] if (key := (row["symptom"], id_)) in shown],
        )
        for row in symptoms
    ]
    return [group for group in groups if group[1]]
