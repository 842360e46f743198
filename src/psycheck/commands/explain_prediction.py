"""Why a model decides for an author: the posts that carry the score, the evidence in them (PsySym 5.4, 5.5).

A post carries a score by as much as the score falls without it. A model of histories scores the history
without the post; for a model of texts the score of an author is the mean over the posts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from psycheck.audits.figures import measured
from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus, History
from psycheck.core.finding import Finding
from psycheck.core.model import Model, capabilities_of
from psycheck.core.progress import Progress, silent
from psycheck.corpora.posting_histories import by_author
from psycheck.models.opening import ModelLike, open_model
from psycheck.scoring.answers import answers
from psycheck.statistics.group_rates import Rate
from psycheck.symptoms.explanation import Explaining, Posts
from psycheck.symptoms.graph import Graph

CARRIERS: Final = 5  # posts that are taken away together
# DSM-5 asks for five of nine criteria, one of them low mood or loss of interest: items 1 and 2 of PHQ-9.
_DEPRESSION, _PHQ9, _CORE_ITEMS, _LEAST_ITEMS = "depression", "phq9", (1, 2), 5
SUPPORTED: Final = "supported by the posts that carry it"
ELSEWHERE: Final = "evidence only in other posts"
UNSUPPORTED: Final = "a prediction without evidence"
UNPREDICTED: Final = "evidence without a prediction"
NEITHER: Final = "no prediction and no evidence"


@dataclass(frozen=True, slots=True)
class Predictions:
    """What explains the scores of a model for a run; all of it is empty where no model was named.

    The table `predictions` has one row per author and label, `prediction_posts` one per author, label and
    post.
    """

    models: tuple[Model, ...] = ()
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    @property
    def model(self) -> str | None:
        """The name of the model."""
        return self.models[0].name if self.models else None


@dataclass(frozen=True, slots=True)
class _Scored:
    """The scores of one author, (k,), without each post, (n, k), and without those that carry each, (k,)."""

    whole: FloatArray
    without: FloatArray
    without_carriers: FloatArray

    @property
    def effects(self) -> FloatArray:
        """By how much each post raises each score, (n, k); of a single post its whole score."""
        return self.whole - np.nan_to_num(self.without, nan=0.0)


def explain_predictions(
    named_model: ModelLike | None,
    corpus: Corpus,
    posts: Posts,
    graph: Graph,
    how: Explaining,
    *,
    store: Path | None = None,
    progress: Progress = silent,
) -> Predictions:
    """Why a model of histories or of texts scores each author of a corpus as it does; nothing without one."""
    if named_model is None:
        return Predictions()
    model = open_model(named_model)
    most = capabilities_of(model).most_posts
    people = by_author(corpus, most)
    histories = people.items
    if capabilities_of(model).takes == "histories":
        scored = _scored_histories(model, histories, store, progress)
    else:
        scored = _scored_texts(model, histories, store, progress)
    thresholds = _thresholds(model)

    named_in = _symptoms_by_post(posts, how.threshold)
    author_rows: list[dict[str, Any]] = []
    post_rows: list[dict[str, Any]] = []
    names = people.table["author"].to_list()
    for author, history, scores in zip(names, histories, scored, strict=True):
        for column, label in enumerate(model.labels):
            typical = _typical(graph, label, posts.symptoms)
            of_posts = [
                {"author": author, "label": label, **row}
                for row in _post_rows(history, scores.effects[:, column], named_in, typical)
            ]
            post_rows += of_posts
            summary = _author_row(of_posts, typical, graph, label)
            decided = bool(scores.whole[column] >= thresholds[column])
            author_rows.append(
                {
                    "author": author,
                    "label": label,
                    "score": float(scores.whole[column]),
                    "threshold": float(thresholds[column]),
                    "decided": decided,
                    "without_carriers": float(scores.without_carriers[column]),
                    **summary,
                    "agreement": _agreement(of_posts, decided=decided, found=summary["found"]),
                }
            )

    authors = pl.DataFrame(author_rows, schema_overrides={"criteria": pl.Int64, "items": pl.Int64})
    post_table = pl.DataFrame(post_rows, schema_overrides={"symptoms": pl.List(pl.String)})
    return Predictions(
        models=(model,),
        tables={"predictions": authors, "prediction_posts": post_table},
        findings=tuple(_findings(authors, model.name, corpus.name)),
    )


def _thresholds(model: Model) -> FloatArray:
    """The decision threshold of each label, (k,): the model's own, else 0.5."""
    declared = capabilities_of(model).thresholds
    thresholds = np.array(declared) if declared else np.full(len(model.labels), np.nan)
    return np.where(np.isnan(thresholds), 0.5, thresholds)


def _scored_histories(
    model: Model, histories: Sequence[History], store: Path | None, progress: Progress
) -> list[_Scored]:
    """Every history as it is, without each of its posts, and without those that carry each label."""
    first_round: list[History] = []
    for history in histories:
        first_round += [history, *(_without(history, {place}) for place in range(len(history.posts)))]
    scores = _scores(model, first_round, store, progress)

    parts = []
    second_round: list[History] = []
    start = 0
    for history in histories:
        end = start + 1 + len(history.posts)
        whole, without = scores[start], scores[start + 1 : end]
        effects = whole - np.nan_to_num(without, nan=0.0)
        parts.append((whole, without))
        second_round += [_without(history, set(carriers(effects[:, k]))) for k in range(len(model.labels))]
        start = end

    together = _scores(model, second_round, store, progress).reshape(len(histories), -1, len(model.labels))
    return [
        _Scored(whole, without, np.diagonal(of_author).copy())
        for (whole, without), of_author in zip(parts, together, strict=True)
    ]


def _scored_texts(
    model: Model, histories: Sequence[History], store: Path | None, progress: Progress
) -> list[_Scored]:
    """The same for a model of texts: the score of an author is the mean of the posts'."""
    distinct = list(dict.fromkeys(post for history in histories for post in history.posts))
    score_of = dict(zip(distinct, _scores(model, distinct, store, progress), strict=True))

    scored = []
    for history in histories:
        of_posts = np.array([score_of[post] for post in history.posts]).reshape(-1, len(model.labels))
        n = len(of_posts)
        if not n:
            nothing = np.full(len(model.labels), np.nan)
            scored.append(_Scored(nothing, of_posts, nothing))
            continue
        whole = of_posts.mean(axis=0)
        others = np.full_like(of_posts, np.nan)
        if n > 1:
            others = (of_posts.sum(axis=0) - of_posts) / (n - 1)

        without_carriers = np.full(len(model.labels), np.nan)
        effects = whole - np.nan_to_num(others, nan=0.0)
        for column in range(len(model.labels)):
            kept = np.setdiff1d(np.arange(n), carriers(effects[:, column]))
            if len(kept):
                without_carriers[column] = of_posts[kept, column].mean()
        scored.append(_Scored(whole, others, without_carriers))
    return scored


def _scores(model: Model, items: Sequence[Any], store: Path | None, progress: Progress) -> FloatArray:
    """The scores of items, (n, k), through the store."""
    with answers([model], [(1.0, items)], store=store, progress=progress) as answered:
        (view,) = answered.views
        return view.of(items)


def _without(history: History, places: set[int]) -> History:
    """A history without the posts at some places."""
    kept = [place for place in range(len(history.posts)) if place not in places]
    return History(
        posts=tuple(history.posts[place] for place in kept),
        times=tuple(history.times[place] for place in kept) if history.times else (),
        ids=tuple(history.ids[place] for place in kept) if history.ids else (),
    )


def carriers(effects: FloatArray) -> list[int]:
    """The places of the posts that raise a score most, effects (n,): at most `CARRIERS`."""
    by_effect = np.argsort(-effects, kind="stable")
    return [int(place) for place in by_effect[:CARRIERS] if effects[place] > 0]


def _symptoms_by_post(posts: Posts, threshold: float) -> dict[str, tuple[str, ...]]:
    """The symptoms that each post is about, by its id."""
    named = posts.weights >= threshold
    return {
        post_id: tuple(symptom for symptom, is_named in zip(posts.symptoms, row, strict=True) if is_named)
        for post_id, row in zip(posts.table["id"], named, strict=True)
    }


def _typical(graph: Graph, label: str, tagged: Sequence[str]) -> tuple[str, ...]:
    """The tagged symptoms of the condition that a label names; all tagged ones where it names none."""
    condition = graph.named(label)
    if condition is None:
        return tuple(tagged)
    return tuple(symptom.name for symptom in graph.of(condition) if symptom.name in tagged)


def _post_rows(
    history: History,
    effects: FloatArray,
    named_in: Mapping[str, tuple[str, ...]],
    typical: Sequence[str],
) -> Iterator[dict[str, Any]]:
    """Each post of an author in order: its effect, its rank by effect, whether it carries, its symptoms."""
    ranks = np.empty(len(effects), np.int64)
    ranks[np.argsort(-effects, kind="stable")] = np.arange(1, len(effects) + 1)
    carrying = set(carriers(effects))
    for place, effect in enumerate(effects):
        post_id = history.ids[place]
        symptoms = [symptom for symptom in named_in.get(post_id, ()) if symptom in typical]
        yield {
            "post": post_id,
            "time": history.times[place] if history.times else "",
            "place": place,
            "effect": float(effect),
            "rank": int(ranks[place]),
            "carries": place in carrying,
            "symptoms": symptoms,
        }


def _author_row(
    of_posts: Sequence[Mapping[str, Any]], typical: Sequence[str], graph: Graph, label: str
) -> dict[str, Any]:
    """The typical symptoms that an author writes about, in the carrying posts and anywhere, and criteria."""
    found = {symptom for row in of_posts for symptom in row["symptoms"]}
    in_carriers = {symptom for row in of_posts if row["carries"] for symptom in row["symptoms"]}
    criteria, items, met = _criteria(graph, label, found)
    return {
        "posts": len(of_posts),
        "found": len(found),
        "typical": len(typical),
        "found_symptoms": sorted(found),
        "carried_symptoms": sorted(in_carriers),
        "criteria": criteria,
        "items": items,
        "criteria_met": met,
    }


def _criteria(graph: Graph, label: str, found: set[str]) -> tuple[int | None, int | None, bool | None]:
    """How many items of PHQ-9 somebody writes about, of how many, and whether these are DSM-5's five."""
    if graph.named(label) != _DEPRESSION:
        return None, None, None
    asked = graph.asking(_PHQ9)
    items = {item for item, symptoms in asked.items() if found & set(symptoms)}
    has_core = bool(items & set(_CORE_ITEMS))
    return len(items), len(asked), len(items) >= _LEAST_ITEMS and has_core


def _agreement(of_posts: Sequence[Mapping[str, Any]], *, decided: bool, found: int) -> str:
    """Whether the evidence in the posts and the prediction agree."""
    if not decided:
        return UNPREDICTED if found else NEITHER
    if not found:
        return UNSUPPORTED
    in_carriers = any(row["symptoms"] for row in of_posts if row["carries"])
    return SUPPORTED if in_carriers else ELSEWHERE


def _findings(authors: pl.DataFrame, model: str, corpus: str) -> Iterator[Finding]:
    """The share of positive predictions without evidence, by label."""
    for label in authors["label"].unique(maintain_order=True):
        positive = authors.filter((pl.col("label") == label) & pl.col("decided"))
        unsupported = int((positive["agreement"] == UNSUPPORTED).sum())
        n = len(positive)
        rate = Rate(unsupported, n)
        yield measured(
            "predictions_without_evidence",
            rate.value,
            n,
            interval=rate.interval if n else None,
            where={"model": model, "corpus": corpus, "label": str(label)},
            counts={"authors": authors.filter(pl.col("label") == label).height},
        )
