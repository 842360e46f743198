"""Explain the posts of authors against the symptom graph, and rank the labels that do not fit, as a run."""

import re
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np
import polars as pl

from psycheck.corpora.open import CorpusLike, open_corpus
from psycheck.corpus import Corpus, showable_id
from psycheck.errors import BadInput, counted
from psycheck.finding import Finding, Findings
from psycheck.knowledge.explain import (
    COLUMNS,
    MOST_IDS,
    WEIGHT,
    Explained,
    Explaining,
    explain_posts,
    symptoms_of,
)
from psycheck.knowledge.graph import Graph, read_graph
from psycheck.knowledge.suspects import evidence_of, rank_suspects
from psycheck.measures.intervals import wilson
from psycheck.model import FloatArray
from psycheck.run import Run, Shown
from psycheck.runs.environment import described, environment_of
from psycheck.runs.folder import writes_run
from psycheck.runs.pages import save
from psycheck.scoring.engine import Progress, silent
from psycheck.text.clean import split_sentences
from psycheck.verbs.tag import remove_parts
from psycheck.verbs.tagged_posts import (
    TagTable,
    annotations_of,
    posts_of,
    tags_of,
    weighted_posts,
    with_tagged_symptoms,
)

DESCRIPTIONS: Final = "symptoms:descriptions"
PAGES: Final = 300  # pages of people in a folder; the other authors are in the tables
TEXTS: Final = 3  # sentences shown per symptom
TAGGING: Final = "tagging"  # the folder of tags while a run is not finished
SUSPECT: Final = 0.5  # from this score on, a label fits the other side at least as well
_LETTERS: Final = 400  # of a sentence or post shown
_PLAIN: Final = re.compile(r"[a-z0-9_-]{1,60}")


@writes_run("corpus", "tags", "symptoms", "graph")
def explain_people(
    corpus: CorpusLike,
    *,
    authors: Sequence[str] = (),
    symptoms: str = DESCRIPTIONS,
    tags: TagTable | None = None,
    graph: str | Path | None = None,
    show_texts: bool = False,
    out: str | Path | None = None,
    how: Explaining | None = None,
    progress: Progress = silent,
) -> Run:
    """Explain the authors of a corpus, or some of them, from a tag table or by a symptom model.

    `tags` is a file that `psycheck symptoms tag` wrote from this corpus, or such a table; without it,
    `symptoms` is the model that tags the posts; after a kill, the same call goes on from the posts that were
    tagged. With `show_texts`, pages show the sentences behind each symptom.
    """
    how, known = how or Explaining(), read_graph(graph)
    opened = posts_of(open_corpus(corpus), authors)
    if graph is not None and symptoms == DESCRIPTIONS:
        symptoms = f"{DESCRIPTIONS}?graph={graph}"
    labels, unfit = annotations_of(opened, known)
    with TemporaryDirectory() if out is None else nullcontext(Path(out) / TAGGING) as work:
        frame, where, models = tags_of(opened, tags, symptoms, Path(work), progress)
        columns = frame.collect_schema().names()
        names = symptoms_of(columns, known, where)
        if show_texts and "sentence" not in columns:
            what = "the tag table does not number its sentences, so that none can be shown"
            raise BadInput(what, where=where, allowed="a column `sentence`")
        posts, notes = weighted_posts(opened, frame, names, where)
        found = explain_posts(posts, known, how)
        people = _with_pages(found.people)
        labels, unchecked = with_tagged_symptoms(labels, known, names)
        sentences = list(_sentences(opened, frame, found, people)) if show_texts else []
    suspects = rank_suspects(posts.authors, evidence_of(posts, known, labels), labels)
    listed = _listed(suspects, found, known)
    posts_to_read = _posts_to_read(opened, listed) if show_texts else ()
    left_out = (f"{counted(n, 'row')} left out ({why})" for why, n in opened.left_out.items())
    run = Run(
        plan={
            "verb": "explain",
            "corpora": described([opened])["corpora"],
            "authors": [showable_id(author) for author in authors],
            "symptoms": None if tags is not None else symptoms,
            "tags": Path(tags).name if isinstance(tags, str | Path) else None,
            "graph": None if graph is None else Path(graph).name,
            "show_texts": show_texts,
            "columns": COLUMNS,
            **asdict(how),
        },
        environment=environment_of(models, [opened]),
        findings=Findings(_findings(opened.name, found, labels, posts.authors, suspects)),
        tables={
            "people": people,
            "mentions": found.mentions,
            "coverage": _with_annotations(found.coverage, posts.authors, labels),
            "marks": found.marks,
            "suspects": listed,
            "links": _links(known, names),
        },
        shown=(*sentences, *posts_to_read),
        notes=(*opened.notes, *left_out, *notes, *unfit, *unchecked, *_said(people, known, names)),
        folder=Path(out) if out is not None else None,
    )
    if run.folder is None:
        return run
    saved = save(run, run.folder)
    remove_parts(run.folder / TAGGING)
    return saved


def _with_pages(people: pl.DataFrame) -> pl.DataFrame:
    """The authors with the file of their page: those with the most symptoms have one, the others null."""
    first = people.sort("symptoms", "posts", descending=True, maintain_order=True)["author"].head(PAGES)
    pages = {author: f"people/{_file_name(author)}.html" for author in first}
    return people.with_columns(pl.Series("page", [pages.get(one) for one in people["author"]], pl.String))


def _file_name(author: str) -> str:
    """A name that every file system takes and that no two authors share."""
    if _PLAIN.fullmatch(author):
        return author
    return blake2b(author.encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()


def _with_annotations(
    coverage: pl.DataFrame, authors: list[str], labels: dict[str, FloatArray]
) -> pl.DataFrame:
    """The coverage with what each author is annotated with, null where nobody annotated."""
    parts = [
        pl.DataFrame({"author": authors, "condition": name, "annotated": values})
        for name, values in labels.items()
    ]
    if not parts:
        return coverage.with_columns(pl.lit(None, pl.Float64).alias("annotated"))
    marks = pl.concat(parts).with_columns(pl.col("annotated").fill_nan(None))
    return coverage.join(marks, on=["author", "condition"], how="left", maintain_order="left")


def _listed(suspects: pl.DataFrame, found: Explained, graph: Graph) -> pl.DataFrame:
    """The suspect annotations, with coverage and the posts about the condition's symptoms."""
    kept = suspects.filter(pl.col("score") >= SUSPECT)
    covered = found.coverage.select("author", "found", "typical", label="condition")
    kept = kept.join(covered, on=["author", "label"], how="left", maintain_order="left")
    links = pl.DataFrame(graph.links, ["symptom", "label"], orient="row")
    posts = found.mentions.join(links, on="symptom").explode("ids").group_by("author", "label")
    of = posts.agg(pl.col("ids").unique(maintain_order=True).head(MOST_IDS))
    return kept.join(of, on=["author", "label"], how="left", maintain_order="left")


def _links(graph: Graph, symptoms: Sequence[str]) -> pl.DataFrame:
    """The part of the graph that was tagged, with titles: what pages need to know of it."""
    titles = {one.name: one.title for one in graph.symptom}
    rows = [(d, graph.disease[d], s, titles[s]) for s, d in graph.links if s in symptoms]
    return pl.DataFrame(rows, ["condition", "condition_title", "symptom", "symptom_title"], orient="row")


def _findings(
    corpus: str, found: Explained, labels: dict[str, FloatArray], authors: list[str], suspects: pl.DataFrame
) -> Iterator[Finding]:
    """How many authors write about each symptom, in all and by label, and how many labels are suspect."""
    having = {
        symptom: set(own["author"])
        for (symptom,), own in found.mentions.sort("symptom").group_by("symptom", maintain_order=True)
    }
    sides: dict[tuple[str, str], set[str]] = {("all", ""): set(authors)}
    for condition, values in labels.items():
        for side, here in (("1", values > 0.5), ("0", values < 0.5)):
            sides[condition, side] = {authors[k] for k in np.flatnonzero(here)}
    for (label, annotated), own in sides.items():
        for symptom, those in having.items() if own else ():
            n, there = len(own), len(own & those)
            where = {"corpus": corpus, "symptom": symptom, "label": label, "annotated": annotated}
            where = {key: value for key, value in where.items() if value}
            yield Finding("symptom_share", there / n, n, wilson(there, n), where)
    for (label, kind), some in suspects.sort("label", "kind").group_by("label", "kind", maintain_order=True):
        number = int((some["score"] >= SUSPECT).sum())
        where = {"corpus": corpus, "label": str(label), "kind": str(kind)}
        yield Finding("suspect_labels", float(number), len(some), where=where)


def _sentences(corpus: Corpus, tags: pl.LazyFrame, found: Explained, people: pl.DataFrame) -> Iterator[Shown]:
    """The heaviest sentences of each symptom on a page."""
    paged = people.drop_nulls("page").select("author")
    mentions = found.mentions.join(paged, on="author")
    wanted = mentions.select("symptom", id=pl.col("ids").list.head(TEXTS)).explode("id")
    here = pl.col("id").is_in(wanted["id"].unique().implode())
    weights = tags.filter(here).select(
        "id", "sentence", *(WEIGHT + name for name in wanted["symptom"].unique())
    )
    weights = weights.unpivot(index=["id", "sentence"], variable_name="symptom", value_name="weight")
    weights = weights.with_columns(pl.col("symptom").str.strip_prefix(WEIGHT)).sort("weight", descending=True)
    heaviest = weights.unique(["id", "symptom"], keep="first", maintain_order=True).collect()
    texts = corpus.table.filter(here).select("id", "text")
    sentences = {id_: split_sentences(text) for id_, text in texts.iter_rows()}
    rows = wanted.join(heaviest, on=["id", "symptom"], maintain_order="left")
    for id_, symptom, number, weight in rows.select("id", "symptom", "sentence", "weight").iter_rows():
        own = sentences[id_]
        text = _cut(own[number] if 0 <= number < len(own) else "")
        yield Shown("", corpus.name, "explain", symptom, id_, "", np.nan, float(weight), int(number), text)


def _posts_to_read(corpus: Corpus, suspects: pl.DataFrame) -> Iterator[Shown]:
    """The posts that a suspect label is to be read by: those about the condition, or else the first ones."""
    wanted = corpus.table.join(suspects.select("author").unique(), on="author", how="semi")
    posts = {author: own for (author,), own in wanted.select("author", "id", "text").group_by("author")}
    rows = suspects.select("author", "label", "score", "rank", "ids")
    for author, label, score, rank, ids in rows.iter_rows():
        texts = dict(posts[author].select("id", "text").iter_rows())
        text = "\n\n".join(_cut(texts[id_]) for id_ in (ids or list(texts))[:MOST_IDS])
        yield Shown("", corpus.name, "suspects", label, author, "", np.nan, score, rank, text)


def _cut(text: str) -> str:
    return text if len(text) <= _LETTERS else f"{text[:_LETTERS]} …"


def _said(people: pl.DataFrame, graph: Graph, symptoms: Sequence[str]) -> Iterator[str]:
    """Notes on what the tables do not show."""
    if lacking := [one.name for one in graph.symptom if one.name not in symptoms]:
        names = ", ".join(lacking)
        yield f"{counted(len(lacking), 'symptom')} of the graph without tags, left out of coverage: {names}"
    untimed, posts = int(people["untimed"].sum()), int(people["posts"].sum())
    if untimed:
        yield f"{untimed:,} of {counted(posts, 'post')} without a time that can be read"
    if unordered := int(people["unordered"].sum()):
        yield f"{counted(unordered, 'author')} with posts not in the order of their times; they were sorted"
    if (rest := int(people["page"].null_count())) > 0:
        yield f"{counted(rest, 'author')} without a page: those with the fewest symptoms"
