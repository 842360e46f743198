"""Sentences to annotate: for each disease those most similar to a description of one of its symptoms."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import polars as pl

from psycheck.corpora.open import CorpusPlan, corpus_path
from psycheck.corpora.queues import Candidate, Queue, candidates_of
from psycheck.corpora.stream import Post, is_dump, stream_posts
from psycheck.corpora.tables import stem
from psycheck.errors import BadInput, counted, library, nearest
from psycheck.knowledge.graph import Graph, Symptom, read_graph
from psycheck.measures.association import highest_cosine
from psycheck.model import Encoder, FloatArray
from psycheck.models.open import open_encoder
from psycheck.scoring.answers import vectors_of
from psycheck.scoring.engine import Progress, silent
from psycheck.settings.reader import AT_LEAST_1, Limit
from psycheck.text.clean import split_sentences
from psycheck.verbs.score import check_output, write_scores

LONGEST = 1_000
"""The longest sentence that is offered for annotation, in characters."""

COLUMNS = ("id", "text", "disease", "symptom", "similarity", "author", "time")
CHUNK = 2_048  # sentences that are encoded at a time
_DIGITS = 6  # a similarity is rounded to so many: what follows depends on how sentences were batched
Register = Literal["clinician", "poster", "both"]
_Share = Annotated[float, Limit("-1 to 1", lambda value: -1 <= value <= 1)]


@dataclass(frozen=True, slots=True)
class Retrieving:
    """What to retrieve: the size of each queue, the descriptions to compare with, the least similarity.

    `diseases` is empty for all of the graph; `near` is the overlap that makes a near-duplicate.
    """

    queue: Annotated[int, AT_LEAST_1] = 300
    register: Register = "both"
    diseases: tuple[str, ...] = ()
    threshold: _Share = -1.0
    near: Annotated[float, Limit("above 0, at most 1", lambda value: 0 < value <= 1)] = 0.8


@dataclass(frozen=True, slots=True)
class Retrieved:
    """A table of candidates, the posts and sentences that were read, what was left out, and notes."""

    table: pl.DataFrame
    posts: int
    sentences: int
    left_out: Mapping[str, int]
    notes: tuple[str, ...]


def retrieve(
    corpora: Sequence[CorpusPlan],
    *,
    out: str | Path | None = None,
    encoder: str | Path | Encoder = "minilm",
    graph: str | Path | Graph | None = None,
    how: Retrieving | None = None,
    progress: Progress = silent,
) -> Retrieved:
    """Find candidates for annotation in one pass over corpora of any size, and write them if `out` is named.

    The table has one row per candidate and disease: `id` (of the post, and the number of the sentence),
    `text`, `disease`, `symptom` (the most similar one of the disease), `similarity`, `author`, `time`.
    """
    how = how or Retrieving()
    known = graph if isinstance(graph, Graph) else read_graph(graph)
    diseases = how.diseases or tuple(known.disease)
    for name in diseases:
        if name not in known.disease:
            raise BadInput(
                f"the graph has no disease '{name}'", key="diseases", allowed=nearest(name, known.disease)
            )
    if out is not None:
        inputs = [path for path in map(corpus_path, corpora) if path is not None]
        check_output(Path(out), [*inputs, *([Path(graph)] if isinstance(graph, str | Path) else [])])
    library("rensa", "the search for near-duplicates", "compare")  # needed last, so asked for first
    symptoms = [one for one in known.symptom if set(one.diseases) & set(diseases)]
    opened = open_encoder(encoder)
    nearest_in = nearest_of(opened, symptoms, how.register)
    queues = [Queue(k, how.queue, how.threshold) for k in range(len(symptoms))]
    notes: list[str] = []
    counts = {"posts": 0, "sentences": 0, "too long": 0}
    candidates, started = _sentences(corpora, counts, notes), time.monotonic()
    while chunk := list(islice(candidates, CHUNK)):
        near = nearest_in(vectors_of(opened, [one.text for one in chunk]))
        for queue in queues:
            for i in queue.places(near):
                # A copy: a row alone would keep the similarities of its whole chunk in memory.
                queue.offer(replace(chunk[i], similarity=near[i].copy()))
        counts["sentences"] += len(chunk)
        progress(opened.name, counts["sentences"], 0, time.monotonic() - started)
    if not counts["sentences"]:
        raise BadInput("no sentence was found in the corpora", allowed="posts with at least one sentence")
    own = {
        name: [q for q, one in zip(queues, symptoms, strict=True) if name in one.diseases]
        for name in diseases
    }
    held = {name: candidates_of(some, how.near) for name, some in own.items()}
    short = [one.name for queue, one in zip(queues, symptoms, strict=True) if not queue.full]
    if short:
        which = ", ".join(short[:5]) + (" …" if len(short) > 5 else "")
        notes.append(f"{counted(len(short), 'queue')} of {len(queues)} not full: {which}")
    table = _table(held, own, symptoms, corpora)
    if out is not None:
        write_scores(table, Path(out))
    left_out = {f"longer than {LONGEST:,} characters": counts["too long"]} if counts["too long"] else {}
    return Retrieved(table, counts["posts"], counts["sentences"], left_out, tuple(notes))


def nearest_of(
    encoder: Encoder, symptoms: Sequence[Symptom], register: Register = "both"
) -> Callable[[FloatArray], FloatArray]:
    """A function from n vectors to their highest cosine similarity to each symptom, (n, k)."""
    described = [descriptions_of(one, register) for one in symptoms]
    starts = np.cumsum([0, *map(len, described)])[:-1]
    known = vectors_of(encoder, [text for some in described for text in some])
    return lambda vectors: np.asarray(highest_cosine(vectors, known, starts).round(_DIGITS))


def descriptions_of(symptom: Symptom, register: Register) -> tuple[str, ...]:
    """The descriptions of a symptom in a register; an error where it has none."""
    texts = symptom.descriptions if register == "both" else getattr(symptom, register)
    if not texts:
        what = f"symptom '{symptom.name}' has no description in the {register}'s register"
        raise BadInput(what, key="register", allowed="both, or clinician")
    return tuple(texts)


def _sentences(
    corpora: Sequence[CorpusPlan], counts: dict[str, int], notes: list[str]
) -> Iterator[Candidate]:
    """The sentences of all posts in order; their similarity is still unknown."""
    order, nothing = 0, np.empty(0)
    for source, plan in enumerate(corpora):
        posts: Iterator[Post] = stream_posts(plan, notes.append)
        for post in posts:
            counts["posts"] += 1
            for number, text in enumerate(split_sentences(post.text), start=1):
                if len(text) > LONGEST:
                    counts["too long"] += 1
                    continue
                yield Candidate(order, text, post.id, number, post.author, post.time, source, nothing)
                order += 1


def _table(
    held: Mapping[str, Sequence[Candidate]],
    own: Mapping[str, Sequence[Queue]],
    symptoms: Sequence[Symptom],
    corpora: Sequence[CorpusPlan],
) -> pl.DataFrame:
    """The candidates of all diseases; ids and, of dumps, authors' names are made showable."""
    names, people = _ids(held, corpora), dict[tuple[int, str], str]()
    dumps = {source for source, plan in enumerate(corpora) if is_dump(plan)}
    rows = []
    for disease, candidates in held.items():
        columns = [queue.column for queue in own[disease]]
        for one in candidates:
            best, author = one.best(columns), one.author
            if author is not None and one.source in dumps:
                author = people.setdefault((one.source, author), f"author-{len(people) + 1}")
            name = names[one.order] + (f"/{disease}" if len(held) > 1 else "")
            near = float(one.similarity[best])
            rows.append((name, one.text, disease, symptoms[best].name, near, author, one.time))
    kinds: dict[str, type[pl.DataType]] = dict.fromkeys(COLUMNS, pl.String)
    kinds["similarity"] = pl.Float64
    return pl.DataFrame(rows, schema=kinds, orient="row")


def _ids(held: Mapping[str, Sequence[Candidate]], corpora: Sequence[CorpusPlan]) -> dict[int, str]:
    """POST#SENTENCE by the order of the sentence, after the name of its corpus where there are several.

    A post that has the id of an earlier one is numbered: POST+2#SENTENCE. (POST.10 would read as a number.)
    """
    distinct = {one.order: one for some in held.values() for one in some}
    taken: dict[str, int] = {}
    names: dict[int, str] = {}
    for order, one in sorted(distinct.items()):
        plan = corpora[one.source]
        corpus = plan.name or (stem(path) if (path := corpus_path(plan)) else plan.path)
        post = f"{corpus}/{one.post}" if len(corpora) > 1 else one.post
        name = f"{post}#{one.sentence}"
        taken[name] = taken.get(name, 0) + 1
        names[order] = name if taken[name] == 1 else f"{post}+{taken[name]}#{one.sentence}"
    return names
