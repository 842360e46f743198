"""Why a model decides for an author: the posts that carry the score, the evidence in them (PsySym 5.4, 5.5).

A post carries a score by as much as the score falls without it (`author_scores`). Beside it stands what the
model's attention gives the post, where it has one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from psycheck.audits.figures import measured
from psycheck.commands.author_scores import attention_of_posts, carriers, score_authors
from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus, History
from psycheck.core.finding import Finding
from psycheck.core.model import Model, capabilities_of
from psycheck.core.progress import Progress, silent
from psycheck.corpora.posting_histories import by_author
from psycheck.models.opening import ModelLike, open_model
from psycheck.statistics.group_rates import Rate
from psycheck.symptoms.explanation import Explaining, Posts
from psycheck.symptoms.graph import Graph

Row = dict[str, Any]
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
    histories = [item for item in people.items if isinstance(item, History)]
    scored = score_authors(model, histories, store, progress)
    attention = attention_of_posts(model, histories, store)
    thresholds = _thresholds(model)

    symptoms_of_post = _symptoms_by_post(posts, how.threshold)
    author_rows: list[Row] = []
    post_rows: list[Row] = []
    names = people.table["author"].to_list()
    for number, (author, history, scores) in enumerate(
        zip(
            names,
            histories,
            scored,
            strict=True,
        )
    ):
        for column, label in enumerate(model.labels):
            place = {"author": author, "label": label}
            typical = _typical(
                graph,
                label,
                posts.symptoms,
            )
            effects = scores.effects[:, column]
            attended = None if attention is None else attention[number][:, column]
            of_posts = list(
                _post_rows(
                    history,
                    effects,
                    attended,
                    symptoms_of_post,
                    typical,
                )
            )
            post_rows += [place | row for row in of_posts]

            score = float(scores.whole[column])
            threshold = float(thresholds[column])
            decided = score >= threshold
            evidence = _evidence(
                of_posts,
                typical,
                graph,
                label,
            )
            row = {
                **place,
                "score": score,
                "threshold": threshold,
                "decided": decided,
                "without_carriers": float(scores.without_carriers[column]),
                **evidence,
                "agreement": _agreement(of_posts, decided=decided),
            }
            author_rows.append(row)

    # Where the first rows have no value, the type of a column cannot be told.
    whole_numbers = {"criteria": pl.Int64, "items": pl.Int64}
    authors = pl.DataFrame(author_rows, schema_overrides=whole_numbers)
    post_table = pl.DataFrame(
        post_rows,
        schema_overrides={"symptoms": pl.List(pl.String), "attention": pl.Float64()},
    )
    return Predictions(
        models=(model,),
        tables={"predictions": authors, "prediction_posts": post_table},
        findings=tuple(
            _findings(
                authors,
                model.name,
                corpus.name,
            )
        ),
    )


def _thresholds(model: Model) -> FloatArray:
    """The decision threshold of each label, (k,): the model's own, else 0.5."""
    declared = capabilities_of(model).thresholds
    thresholds = np.array(declared) if declared else np.full(len(model.labels), np.nan)
    return np.where(
        np.isnan(thresholds),
        0.5,
        thresholds,
    )


def _symptoms_by_post(posts: Posts, threshold: float) -> dict[str, tuple[str, ...]]:
    """The symptoms that each post is about, by its id."""
    symptoms_of_post = {}
    for post_id, weights in zip(
        posts.table["id"],
        posts.weights,
        strict=True,
    ):
        symptoms_of_post[post_id] = tuple(compress(posts.symptoms, weights >= threshold))
    return symptoms_of_post


def _typical(
    graph: Graph,
    label: str,
    tagged: Sequence[str],
) -> tuple[str, ...]:
    """The tagged symptoms of the condition that a label names; all tagged ones where it names none."""
    condition = graph.named(label)
    if condition is None:
        return tuple(tagged)
    return tuple(symptom.name for symptom in graph.of(condition) if symptom.name in tagged)


def _post_rows(
    history: History,
    effects: FloatArray,
    attended: FloatArray | None,
    symptoms_of_post: Mapping[str, tuple[str, ...]],
    typical: Sequence[str],
) -> Iterator[Row]:
    """Each post of an author in order: effect, rank by effect, whether it carries, attention, symptoms."""
    ranks = np.empty(len(effects), np.int64)
    ranks[np.argsort(-effects, kind="stable")] = np.arange(1, len(effects) + 1)
    carrying = set(carriers(effects))
    for place, effect in enumerate(effects):
        post_id = history.ids[place]
        named = symptoms_of_post.get(post_id, ())
        symptoms = [symptom for symptom in named if symptom in typical]
        yield {
            "post": post_id,
            "time": history.times[place] if history.times else "",
            "place": place,
            "effect": float(effect),
            "rank": int(ranks[place]),
            "carries": place in carrying,
            "attention": None if attended is None else float(attended[place]),
            "symptoms": symptoms,
        }


def _evidence(
    of_posts: Sequence[Row],
    typical: Sequence[str],
    graph: Graph,
    label: str,
) -> Row:
    """The typical symptoms that an author writes about, in the carrying posts and anywhere, and criteria."""
    found: set[str] = set()
    in_carriers: set[str] = set()
    for row in of_posts:
        found |= set(row["symptoms"])
        if row["carries"]:
            in_carriers |= set(row["symptoms"])

    criteria, items, met = _criteria(
        graph,
        label,
        found,
    )
    return {
        "posts": len(of_posts),
        "found": len(found),
        "typical": len(typical),
        "found_symptoms": sorted(found),
        "missing_symptoms": [symptom for symptom in typical if symptom not in found],
        "carried_symptoms": sorted(in_carriers),
        "criteria": criteria,
        "items": items,
        "criteria_met": met,
    }


def _criteria(
    graph: Graph,
    label: str,
    found: set[str],
) -> tuple[int | None, int | None, bool | None]:
    """How many items of PHQ-9 somebody writes about, of how many, and whether these are DSM-5's five."""
    if graph.named(label) != _DEPRESSION:
        return None, None, None
    asked = graph.asking(_PHQ9)
    items = {item for item, symptoms in asked.items() if found & set(symptoms)}
    has_core = bool(items & set(_CORE_ITEMS))
    return len(items), len(asked), len(items) >= _LEAST_ITEMS and has_core


def _agreement(of_posts: Sequence[Row], *, decided: bool) -> str:
    """Whether the evidence in the posts and the prediction agree."""
    posts_with_evidence = [row for row in of_posts if row["symptoms"]]
    if not decided:
        return UNPREDICTED if posts_with_evidence else NEITHER
    if not posts_with_evidence:
        return UNSUPPORTED

    some_carry = any(row["carries"] for row in posts_with_evidence)
    return SUPPORTED if some_carry else ELSEWHERE


def _findings(
    authors: pl.DataFrame,
    model: str,
    corpus: str,
) -> Iterator[Finding]:
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
            where={
                "model": model,
                "corpus": corpus,
                "label": str(label),
            },
            counts={"authors": authors.filter(pl.col("label") == label).height},
        )
