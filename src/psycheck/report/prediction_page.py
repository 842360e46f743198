"""The page on the predictions for authors: the score, the posts that carry it, and the evidence in them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from psycheck.core.corpus import showable_id
from psycheck.core.errors import counted
from psycheck.core.run import Run
from psycheck.report.display_names import listed
from psycheck.report.explained_people import Links, links_of
from psycheck.report.numbers import count, decimal
from psycheck.report.page import draw
from psycheck.report.tables import Table, table_of

AUTHORS: Final = 100  # on the page; predictions.jsonl has all
# Pixels of a timeline: its width, the height of its upper and lower half, and of the marks below.
_WIDTH, _HALF, _MARKS = 720, 40, 16
_NARROWEST, _WIDEST = 2.0, 28.0
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Bar:
    """A post on a timeline: its bar, whether it carries the score, and whether it has evidence."""

    x: float
    y: float
    width: float
    height: float
    carries: bool
    evidence: bool
    title: str


@dataclass(frozen=True, slots=True)
class Explained:
    """What the page shows of one author and label."""

    title: str
    sentence: str
    evidence: str
    bars: tuple[Bar, ...]
    carriers: Table


def prediction_pages(run: Run) -> dict[str, str]:
    """predictions.html and predictions.jsonl; nothing where no model was explained."""
    if "predictions" not in run.tables:
        return {}
    authors = run.tables["predictions"]
    posts = run.tables["prediction_posts"].partition_by(
        "author",
        "label",
        as_dict=True,
    )
    links = links_of(run)

    # Those that a model decides for come first, the highest score first.
    in_order = authors.sort(
        "decided",
        "score",
        descending=True,
        nulls_last=True,
        maintain_order=True,
    )
    rows = in_order.to_dicts()
    shown = [
        _explained(
            row,
            posts[row["author"], row["label"]].to_dicts(),
            links,
        )
        for row in rows[:AUTHORS]
    ]
    page = draw(
        "prediction",
        run,
        model=run.plan["model"],
        verdict=_verdict(authors),
        agreements=_agreements(authors),
        shown=shown,
        left_out=max(0, len(rows) - AUTHORS),
        width=_WIDTH,
        half=_HALF,
        height=2 * _HALF + _MARKS,
    )
    lines = []
    for row in rows:
        prediction = {**row, "author": showable_id(row["author"])}
        lines.append(json.dumps(prediction, ensure_ascii=False) + "\n")
    return {"predictions.html": page, "predictions.jsonl": "".join(lines)}


def _verdict(authors: pl.DataFrame) -> str:
    decided = authors.filter(pl.col("decided"))
    unsupported = int((decided["agreement"] == "a prediction without evidence").sum())
    return (
        f"The model decides {count(len(decided))} times for a condition; in {count(unsupported)} of these "
        "the posts name no symptom of it."
    )


def _agreements(authors: pl.DataFrame) -> list[str]:
    """How often evidence and prediction agree, in words."""
    counts = authors.group_by("agreement", maintain_order=True).len().sort("len", descending=True)
    return [f"{agreement}: {count(number)}" for agreement, number in counts.iter_rows()]


def _explained(
    row: Row,
    posts: Sequence[Row],
    links: Links,
) -> Explained:
    """One author and label, with the posts in their order."""
    carrying = sorted((post for post in posts if post["carries"]), key=lambda post: post["rank"])
    decides = "for" if row["decided"] else "against"
    without = ""
    # Without these posts nothing may be left to score.
    if carrying and row["without_carriers"] is not None:
        without = (
            f", {decimal(row['without_carriers'], 2)} without the {counted(len(carrying), 'post')} below"
        )
    sentence = (
        f"Score {decimal(row['score'], 2)}{without}; the model decides {decides} {row['label']} "
        f"(threshold {decimal(row['threshold'], 2)}): {row['agreement']}."
    )
    return Explained(
        title=f"{showable_id(row['author'])}, {row['label']}",
        sentence=sentence,
        evidence=_evidence(row, links),
        bars=tuple(_bars(posts, links)),
        carriers=_carriers(carrying, links),
    )


def _carriers(carrying: Sequence[Row], links: Links) -> Table:
    """The posts that carry the score, with the model's attention where it has one."""
    has_attention = any(post["attention"] is not None for post in carrying)
    rows = []
    for post in carrying:
        symptoms = listed([links.symptoms[name] for name in post["symptoms"]]) or "none"
        cells = [post["post"], post["time"], f"{post['effect']:+.3f}"]
        if has_attention:
            cells.append(decimal(post["attention"], 2))
        rows.append((*cells, symptoms))
    return table_of("attended_posts" if has_attention else "carrying_posts", rows)


def _evidence(row: Row, links: Links) -> str:
    """The symptoms of the condition that are named and those that are not, and the criteria."""
    found = [links.symptoms[name] for name in row["found_symptoms"]]
    missing = [links.symptoms[name] for name in row["missing_symptoms"]]
    words = f"Named in any post: {listed(found) or 'none'} ({row['found']} of {row['typical']} symptoms)."
    words += f" Not named: {listed(missing) or 'none'}."
    if row["criteria"] is not None:
        met = "would be met" if row["criteria_met"] else "would not be met"
        words += (
            f" These are {row['criteria']} of {row['items']} criteria that PHQ-9 asks for; DSM-5's five, "
            f"with low mood or loss of interest, {met} if each held for two weeks, which no post can show."
        )
    return words


def _bars(posts: Sequence[Row], links: Links) -> list[Bar]:
    """The posts from left to right: upwards what raises the score, downwards what lowers it."""
    # One scale per author: a bar is long beside the author's other posts.
    highest = max((abs(post["effect"]) for post in posts), default=0.0) or 1.0
    step = _WIDTH / max(len(posts), 1)
    width = min(max(step - 2, _NARROWEST), _WIDEST)
    bars = []
    for post in posts:
        height = abs(post["effect"]) / highest * _HALF
        named = listed([links.symptoms[name] for name in post["symptoms"]])
        title = f"post {post['post']}: {post['effect']:+.3f}"
        if named:
            title += f", {named}"
        left = post["place"] * step + step / 2 - width / 2
        bars.append(
            Bar(
                x=round(left, 1),
                # In SVG y grows downwards: what raises the score begins above the middle.
                y=round(_HALF - height if post["effect"] > 0 else _HALF, 1),
                width=round(width, 1),
                height=round(max(height, 0.5), 1),
                carries=post["carries"],
                evidence=bool(post["symptoms"]),
                title=title,
            )
        )
    return bars
