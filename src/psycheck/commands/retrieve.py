"""`psycheck retrieve`: for each disease, the sentences most similar to a description of one of its symptoms.

What encodes is imported in the functions that use it: `psycheck retrieve --help` needs none of it.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import polars as pl
import typer

from psycheck.commands import options as opt
from psycheck.commands.console import ProgressLine, print_json, print_notes
from psycheck.commands.similar_sentences import Register, SimilaritiesOf, similarities_by
from psycheck.commands.table_files import check_table_file, write_table
from psycheck.core.errors import BadInput, counted, library, nearest
from psycheck.core.model import Encoder
from psycheck.core.progress import Progress, silent
from psycheck.corpora.opening import CorpusPlan, corpus_path, corpus_plans
from psycheck.corpora.queues import Candidate, Queue, candidates_of
from psycheck.corpora.stream import is_dump, stream_posts
from psycheck.io.settings import AT_LEAST_1, Limit, read_settings
from psycheck.io.tables import stem
from psycheck.symptoms.graph import Graph, Symptom, read_graph
from psycheck.text.clean import split_sentences

if TYPE_CHECKING:
    from psycheck.corpora.columns import Columns

LONGEST = 1_000
"""The longest sentence that is offered for annotation, in characters."""

COLUMNS = ("id", "text", "disease", "symptom", "similarity", "author", "time")
CHUNK = 2_048  # sentences that are encoded at a time
_MOST_NAMED = 5  # queues in a note
_Cosine = Annotated[float, Limit("-1 to 1", lambda value: -1 <= value <= 1)]


@opt.verb("retrieve", ("text", "id_", "author", "time", "split_column"))
def retrieve_cli(
    ctx: typer.Context,
    columns: "Columns",
    corpora: list[str],
    out: Path = Path("candidates.csv"),
    encoder: str = "minilm",
    graph: Path | None = None,
    split: str | None = None,
    format_: str | None = None,
    engine: str = "local",
    force: bool = False,
    json_: bool = False,
) -> None:
    """Find sentences to annotate: for each disease those most similar to descriptions of its symptoms."""
    opt.refuse_existing(out, "--out", force=force)
    how = read_settings(Retrieving, opt.values_for(ctx, Retrieving))
    plans = corpus_plans(corpora, columns, split, format_)
    with ProgressLine() as line:
        retrieved = retrieve(
            plans,
            out=out,
            encoder=encoder,
            graph=graph,
            how=how,
            progress=line,
            engine=engine,
        )

    print_notes(retrieved.notes)
    print_notes(f"{counted(count, 'sentence')} left out ({why})" for why, count in retrieved.left_out.items())

    by_disease = retrieved.table.group_by("disease", maintain_order=True)
    if json_:
        counts = dict(by_disease.len().iter_rows())
        print_json(out=str(out), posts=retrieved.posts, sentences=retrieved.sentences, candidates=counts)
        return
    for disease, ids, symptoms in by_disease.agg("id", "symptom").iter_rows():
        candidates = counted(len(ids), "candidate")
        distinct_symptoms = counted(len(set(symptoms)), "symptom")
        typer.echo(f"{disease:<20} {candidates} for {distinct_symptoms}")

    all_candidates = counted(len(retrieved.table), "candidate")
    sentences = counted(retrieved.sentences, "sentence")
    posts = counted(retrieved.posts, "post")
    typer.echo(f"{all_candidates} from {sentences} of {posts}: {out}")


@dataclass(frozen=True, slots=True)
class Retrieving:
    """What to retrieve: the size of each queue, the descriptions to compare with, the least similarity.

    `diseases` is empty for all of the graph; `near` is the overlap that makes a near-duplicate.
    """

    queue: Annotated[int, AT_LEAST_1] = 300
    register: Register = "both"
    diseases: tuple[str, ...] = ()
    threshold: _Cosine = -1.0
    near: Annotated[float, Limit("above 0, at most 1", lambda value: 0 < value <= 1)] = 0.8


@dataclass(frozen=True, slots=True)
class Retrieved:
    """A table of candidates, the posts and sentences that were read, what was left out, and notes."""

    table: pl.DataFrame
    posts: int
    sentences: int
    left_out: Mapping[str, int]
    notes: tuple[str, ...]


@dataclass(slots=True)
class _Reading:
    """What was read so far."""

    posts: int = 0
    sentences: int = 0
    too_long: int = 0
    notes: list[str] = field(default_factory=list)


def retrieve(
    corpora: Sequence[CorpusPlan],
    *,
    out: str | Path | None = None,
    encoder: str | Path | Encoder = "minilm",
    graph: str | Path | Graph | None = None,
    how: Retrieving | None = None,
    progress: Progress = silent,
    engine: str = "local",
) -> Retrieved:
    """Find candidates for annotation in one pass over corpora of any size, and write them if `out` is named.

    The table has one row per candidate and disease: `id` (of the post, and the number of the sentence),
    `text`, `disease`, `symptom` (the most similar one of the disease), `similarity`, `author`, `time`.
    `engine` names what encodes the sentences: this process, or the actors of a cluster.
    """
    how = how or Retrieving()
    opened_graph = graph if isinstance(graph, Graph) else read_graph(graph)
    diseases = how.diseases or tuple(opened_graph.disease)
    _refuse_unknown_diseases(diseases, opened_graph)
    if out is not None:
        check_table_file(Path(out), _input_files(corpora, graph))
    # Needed last, but asked for before hours of encoding.
    library("rensa", "the search for near-duplicates", "compare")

    symptoms = [symptom for symptom in opened_graph.symptom if set(symptom.diseases) & set(diseases)]
    queues = [Queue(k, how.queue, how.threshold) for k in range(len(symptoms))]
    reading = _Reading()
    _fill_queues(
        queues,
        _sentences(corpora, reading),
        similarities_by(engine, encoder, symptoms, how.register),
        name=getattr(encoder, "name", str(encoder)),
        reading=reading,
        progress=progress,
    )
    if not reading.sentences:
        raise BadInput(
            "no sentence was found in the corpora",
            code="retrieve.no-sentence",
            allowed="posts with at least one sentence",
        )

    # A symptom of several diseases has one queue, which is filled once and read for each disease.
    queues_by_disease = {disease: _queues_of(disease, queues, symptoms) for disease in diseases}
    candidates = {}
    for disease, queues_of_disease in queues_by_disease.items():
        candidates[disease] = candidates_of(queues_of_disease, how.near)

    table = _table(candidates, queues_by_disease, symptoms, corpora)
    if out is not None:
        write_table(table, Path(out))

    left_out = {}
    if reading.too_long:
        left_out[f"longer than {LONGEST:,} characters"] = reading.too_long
    return Retrieved(
        table=table,
        posts=reading.posts,
        sentences=reading.sentences,
        left_out=left_out,
        notes=(*reading.notes, *_queue_notes(queues, symptoms)),
    )


def _input_files(corpora: Sequence[CorpusPlan], graph: str | Path | Graph | None) -> list[Path]:
    files = [corpus_path(corpus) for corpus in corpora]
    if isinstance(graph, str | Path):
        files.append(Path(graph))
    return [file for file in files if file is not None]


def _queues_of(disease: str, queues: Sequence[Queue], symptoms: Sequence[Symptom]) -> list[Queue]:
    """The queues of the symptoms of a disease."""
    pairs = zip(queues, symptoms, strict=True)
    return [queue for queue, symptom in pairs if disease in symptom.diseases]


def _refuse_unknown_diseases(diseases: Sequence[str], graph: Graph) -> None:
    for disease in diseases:
        if disease not in graph.disease:
            raise BadInput(
                f"the graph has no disease '{disease}'",
                code="retrieve.unknown-disease",
                key="diseases",
                allowed=nearest(disease, graph.disease),
            )


def _fill_queues(
    queues: Sequence[Queue],
    sentences: Iterator[Candidate],
    similarities_of: SimilaritiesOf,
    *,
    name: str,
    reading: _Reading,
    progress: Progress,
) -> None:
    """Encode all sentences, chunk by chunk, and offer each to the queues of the symptoms it is similar to."""
    started = time.monotonic()
    chunks = iter(lambda: list(islice(sentences, CHUNK)), [])
    for chunk, similarities in similarities_of(chunks):
        for queue in queues:
            for i in queue.places(similarities):
                # A copy: a row alone would keep the similarities of its whole chunk in memory.
                queue.offer(replace(chunk[i], similarity=similarities[i].copy()))

        # The total is 0, unknown: corpora are read as a stream.
        reading.sentences += len(chunk)
        progress(name, reading.sentences, 0, time.monotonic() - started)


def _sentences(corpora: Sequence[CorpusPlan], reading: _Reading) -> Iterator[Candidate]:
    """The sentences of all posts in order; their similarity is still unknown."""
    order = 0
    not_known = np.empty(0)
    for source, plan in enumerate(corpora):
        for post in stream_posts(plan, reading.notes.append):
            reading.posts += 1
            for number, text in enumerate(split_sentences(post.text), start=1):
                if len(text) > LONGEST:
                    reading.too_long += 1
                    continue
                yield Candidate(
                    order=order,
                    text=text,
                    post=post.id,
                    sentence=number,
                    author=post.author,
                    time=post.time,
                    source=source,
                    similarity=not_known,
                )
                order += 1


def _queue_notes(queues: Sequence[Queue], symptoms: Sequence[Symptom]) -> Iterator[str]:
    short = [symptom.name for queue, symptom in zip(queues, symptoms, strict=True) if not queue.full]
    if short:
        more = " …" if len(short) > _MOST_NAMED else ""
        names = ", ".join(short[:_MOST_NAMED])
        yield f"{counted(len(short), 'queue')} of {len(queues)} not full: {names}{more}"


def _table(
    candidates_by_disease: Mapping[str, Sequence[Candidate]],
    queues_by_disease: Mapping[str, Sequence[Queue]],
    symptoms: Sequence[Symptom],
    corpora: Sequence[CorpusPlan],
) -> pl.DataFrame:
    """The candidates of all diseases; ids and, of dumps, authors' names are made showable."""
    ids = _ids(candidates_by_disease, corpora)
    dumps = {source for source, plan in enumerate(corpora) if is_dump(plan)}
    pseudonyms: dict[tuple[int, str], str] = {}
    rows = []
    for disease, candidates in candidates_by_disease.items():
        columns = [queue.column for queue in queues_by_disease[disease]]
        # A sentence may be a candidate for several diseases, and ids must be distinct.
        suffix = f"/{disease}" if len(candidates_by_disease) > 1 else ""
        for candidate in candidates:
            author = candidate.author
            # Dumps of forums hold the names of accounts. Two dumps may use one name for two people.
            if author is not None and candidate.source in dumps:
                pseudonym = f"author-{len(pseudonyms) + 1}"
                author = pseudonyms.setdefault((candidate.source, author), pseudonym)

            best = candidate.best(columns)
            rows.append(
                (
                    ids[candidate.order] + suffix,
                    candidate.text,
                    disease,
                    symptoms[best].name,
                    float(candidate.similarity[best]),
                    author,
                    candidate.time,
                )
            )

    schema: dict[str, type[pl.DataType]] = dict.fromkeys(COLUMNS, pl.String)
    schema["similarity"] = pl.Float64
    return pl.DataFrame(rows, schema=schema, orient="row")


def _ids(
    candidates_by_disease: Mapping[str, Sequence[Candidate]], corpora: Sequence[CorpusPlan]
) -> dict[int, str]:
    """POST#SENTENCE by the order of the sentence, after the name of its corpus where there are several.

    A post that has the id of an earlier one is numbered: POST+2#SENTENCE. (POST.10 would read as a number.)
    """
    distinct: dict[int, Candidate] = {}
    for candidates in candidates_by_disease.values():
        distinct |= {candidate.order: candidate for candidate in candidates}

    # In the order in which sentences were read, so that the first post of an id keeps it.
    uses: dict[str, int] = {}
    ids: dict[int, str] = {}
    for order, candidate in sorted(distinct.items()):
        post = candidate.post
        if len(corpora) > 1:
            post = f"{_corpus_name(corpora[candidate.source])}/{post}"
        id_ = f"{post}#{candidate.sentence}"
        uses[id_] = uses.get(id_, 0) + 1
        ids[order] = id_ if uses[id_] == 1 else f"{post}+{uses[id_]}#{candidate.sentence}"
    return ids


def _corpus_name(plan: CorpusPlan) -> str:
    if plan.name:
        return plan.name
    path = corpus_path(plan)
    return stem(path) if path else plan.path
