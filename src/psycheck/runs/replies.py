"""The table of replies of a run: what LLMs said about each text, and how it was read."""

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from psycheck.core.corpus import Corpus
from psycheck.core.model import Grounded, Reply, ReplyReader
from psycheck.scoring.remembered import RememberedScores

TABLE = "replies"
_SCHEMA = {
    "model": pl.String,
    "corpus": pl.String,
    "id": pl.String,
    "answer": pl.String,
    "how": pl.String,
    "agreement": pl.Float64,
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

    `answer` is JSON, the score of each label; `agreement` is the share of several samples that decide alike.
    Question, reply and reason are empty unless texts may be shown, because a reply may quote them. The LLM of
    a cascade has rows for the texts that it was asked about.
    """
    rows: list[dict[str, Any]] = []
    has_reader = False
    for model, view in _readers(models, views):
        has_reader = True
        for corpus in corpora:
            rows += _rows(model, view, corpus, show_texts=show_texts)
    if has_reader:
        return pl.DataFrame(rows, _SCHEMA)
    return None


def _readers(
    models: Sequence[object], views: Sequence[RememberedScores]
) -> Iterator[tuple[ReplyReader, RememberedScores]]:
    """The models that reply in words, also those that another model of the run rests on, each once."""
    seen: set[str] = set()
    for model, view in zip(models, views, strict=True):
        if isinstance(model, ReplyReader):
            seen.add(view.model)
    for model, view in zip(models, views, strict=True):
        if isinstance(model, ReplyReader):
            yield model, view
            continue
        needed = model.needs if isinstance(model, Grounded) else ()
        for part in needed:
            if isinstance(part, ReplyReader) and part.name not in seen:
                seen.add(part.name)
                yield part, RememberedScores(view.store, part, part.labels)


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
            messages = [message["content"] for message in model.messages(str(text))]
            row["question"] = "\n\n".join(messages)
            # Half of a surrogate pair, which a server may send, cannot be written to a file.
            row["reply"] = reply.text.encode("utf-8", "replace").decode()
            row["reason"] = model.reading(reply, str(text)).rationale
        yield row


def _row(
    model: ReplyReader,
    labels: Sequence[str],
    reply: Reply,
    text: str,
) -> dict[str, Any]:
    reading = model.reading(reply, text)
    scores = dict(zip(labels, reading.scores.tolist(), strict=True))
    # Only models that ask several times know it.
    agreement = getattr(reading, "agreement", math.nan)
    # JSON has no NaN.
    without_nan: dict[str, float | None] = {}
    for label, score in scores.items():
        without_nan[label] = None if math.isnan(score) else score
    return {
        "answer": json.dumps(without_nan, ensure_ascii=False),
        "how": reading.how,
        "agreement": None if math.isnan(agreement) else agreement,
        "finish": reply.finish,
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "seconds": reply.seconds,
    }
