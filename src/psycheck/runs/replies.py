"""The table of replies of a run: what LLMs said about each text, and how it was read."""

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from psycheck.core.corpus import Corpus
from psycheck.core.model import Reply, ReplyReader
from psycheck.scoring.remembered import RememberedScores

TABLE = "replies"
_SCHEMA = {
    "model": pl.String,
    "corpus": pl.String,
    "id": pl.String,
    "answer": pl.String,
    "how": pl.String,
    "finish": pl.String,
    "prompt_tokens": pl.Int64,
    "completion_tokens": pl.Int64,
    "seconds": pl.Float64,
    "question": pl.String,
    "reply": pl.String,
    "reason": pl.String,
}


def replies_table(
    models: Sequence[object],
    views: Sequence[RememberedScores],
    corpora: Sequence[Corpus],
    *,
    show_texts: bool,
) -> pl.DataFrame | None:
    """One row per model and text that has a reply; None if no model replies in words.

    `answer` is JSON, the score of each label; question, reply and reason are empty unless texts may be shown,
    because a reply may quote them.
    """
    rows: list[dict[str, Any]] = []
    has_reader = False
    for model, view in zip(models, views, strict=True):
        if not isinstance(model, ReplyReader):
            continue
        has_reader = True
        for corpus in corpora:
            rows += _rows(model, view, corpus, show_texts=show_texts)
    return pl.DataFrame(rows, _SCHEMA) if has_reader else None


def _rows(
    model: ReplyReader, view: RememberedScores, corpus: Corpus, *, show_texts: bool
) -> Iterator[dict[str, Any]]:
    replies = view.replies(corpus.items)
    for text_id, text, reply in zip(corpus.ids, corpus.items, replies, strict=True):
        if reply is None:
            continue
        row = _row(model, view.labels, reply, str(text)) | {
            "model": view.model,
            "corpus": corpus.name,
            "id": text_id,
        }
        if show_texts:
            row["question"] = "\n\n".join(message["content"] for message in model.messages(str(text)))
            row["reply"] = reply.text.encode("utf-8", "replace").decode()
            row["reason"] = model.reading(reply, str(text)).rationale
        yield row


def _row(model: ReplyReader, labels: Sequence[str], reply: Reply, text: str) -> dict[str, Any]:
    reading = model.reading(reply, text)
    scores = dict(zip(labels, reading.scores.tolist(), strict=True))
    without_nan = {label: None if math.isnan(score) else score for label, score in scores.items()}
    return {
        "answer": json.dumps(without_nan, ensure_ascii=False),
        "how": reading.how,
        "finish": reply.finish,
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "seconds": reply.seconds,
    }
