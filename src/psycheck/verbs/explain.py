"""Explain the posts of authors against the symptom graph, and rank the labels that do not fit, as a run."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from psycheck.corpora.curate.dumps import seconds_of
from psycheck.corpora.open import CorpusLike, open_corpus
from psycheck.corpus import LABEL, Corpus, showable_id
from psycheck.errors import BadInput, counted, explained, nearest
from psycheck.finding import Finding, Findings
from psycheck.knowledge.explain import (
    WEIGHT,
    Explained,
    Explaining,
    Posts,
    explain_posts,
    likely_time,
    post_weights,
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

PAGES: Final = 300  # pages of people in a folder; the other authors are in the tables
TEXTS: Final = 3  # sentences shown per symptom
SUSPECT: Final = 0.5  # from this score on, a label fits the other side at least as well
_LETTERS: Final = 400  # of a sentence shown
_PLAIN: Final = re.compile(r"[a-z0-9_-]{1,60}")


@writes_run("corpus", "tags", "symptoms", "graph")
def explain_people(
    corpus: CorpusLike,
    *,
    authors: Sequence[str] = (),
    symptoms: str = "symptoms:descriptions",
    tags: str | Path | None = None,
    graph: str | Path | None = None,
    show_texts: bool = False,
    out: str | Path | None = None,
    how: Explaining | None = None,
    progress: Progress = silent,
) -> Run:
    """Explain the authors of a corpus, or some of them, from a tag table or by a symptom model.

    `tags` is a file that `psycheck symptoms tag` wrote from this corpus; without it, `symptoms` is the model
    that tags the posts. With `show_texts`, pages show the sentences behind each symptom.
    """
    how, known = how or Explaining(), read_graph(graph)
    opened = _of_authors(open_corpus(corpus), authors)
    frame, where, models = _tags(opened, tags, symptoms, progress)
    names = symptoms_of(frame.collect_schema().names(), known, where)
    posts, notes = _posts(opened, frame, names, where)
    found = explain_posts(posts, known, how)
    labels, unfit = _annotated(opened, known)
    suspects = rank_suspects(posts.authors, evidence_of(posts, known, how), labels)
    people = _with_pages(found.people)
    run = Run(
        plan={
            "verb": "explain",
            "corpora": described([opened])["corpora"],
            "authors": [showable_id(author) for author in authors],
            "symptoms": None if tags is not None else symptoms,
            "tags": None if tags is None else Path(tags).name,
            "graph": None if graph is None else Path(graph).name,
            "show_texts": show_texts,
            **asdict(how),
        },
        environment=environment_of(models, [opened]),
        findings=Findings(_findings(opened.name, found, labels, posts.authors, suspects)),
        tables={
            "people": people,
            "mentions": found.mentions,
            "coverage": _with_annotations(found.coverage, posts.authors, labels),
            "marks": found.marks,
            "suspects": _listed(suspects, found, known),
            "links": _links(known, names),
        },
        shown=tuple(_shown(opened, frame, found, people)) if show_texts else (),
        notes=(*opened.notes, *notes, *unfit, *_said(people, known, names)),
        folder=Path(out) if out is not None else None,
    )
    return run if run.folder is None else save(run, run.folder)


def _of_authors(corpus: Corpus, authors: Sequence[str]) -> Corpus:
    """The posts whose author is known, or only those of some authors."""
    if corpus.unit != "author":
        raise BadInput(
            f"corpus '{corpus.name}' has no authors",
            allowed="a corpus with an author column",
            do="name the column that holds the authors (`columns.author`)",
        )
    written = corpus.table["author"]
    known = set(written.drop_nulls())
    for author in authors:
        if author not in known:
            names = [one for one in known if showable_id(one) == one]
            what = f"no posts of author '{showable_id(author)}' in corpus '{corpus.name}'"
            raise BadInput(what, allowed=nearest(author, names), key="author")
    if authors:
        return corpus.only(written.is_in(list(authors)).fill_null(value=False).to_numpy())
    return corpus.only(written.is_not_null().to_numpy(), "no author")


def _tags(
    corpus: Corpus, tags: str | Path | None, symptoms: str, progress: Progress
) -> tuple[pl.LazyFrame, str, list[Any]]:
    """The tag table of a corpus, what it is called in messages, and the models that made it now."""
    if tags is None:
        raise NotImplementedError
    with explained("the tag table cannot be read", OSError, pl.exceptions.PolarsError, where=str(tags)):
        frame = pl.scan_parquet(tags)
        frame.collect_schema()
    return frame, str(tags), []


def _posts(
    corpus: Corpus, tags: pl.LazyFrame, symptoms: Sequence[str], where: str
) -> tuple[Posts, list[str]]:
    """The posts of a corpus with their weights; a tag table of other posts is refused."""
    weights = post_weights(tags, symptoms)
    table = corpus.table.select("id", "author").with_columns(
        pl.Series("when", [likely_time(seconds_of(time)) for time in corpus.strings("time")], pl.Int64)
    )
    joined = table.join(weights, on="id", how="left", maintain_order="left")
    missing = int(joined["sentences"].null_count())
    what = "" if missing <= len(table) / 2 else f"{missing:,} of {len(table):,} posts are not in the tag table"
    if "author" in tags.collect_schema().names():
        other = tags.select("id", tagged="author").unique().join(table.lazy(), on="id")
        other = other.filter(pl.col("tagged").cast(pl.String) != pl.col("author")).select(pl.len())
        if differ := int(other.collect(engine="streaming").item()):
            what = what or f"{counted(differ, 'post')} of the tag table have other authors in the corpus"
    if what:
        do = "tag this corpus: psycheck symptoms tag CORPUS --out FILE.parquet"
        raise BadInput(what, where=where, allowed="the tags of the same posts", do=do)
    columns = [WEIGHT + name for name in symptoms]
    joined = joined.with_columns(pl.col(columns).fill_null(0.0).fill_nan(0.0), pl.col("sentences").fill_null(0))
    posts = Posts(
        joined.select("id", "author", "when", "sentences"), joined.select(columns).to_numpy(), tuple(symptoms)
    )
    return posts, [f"{counted(missing, 'post')} without tags: no sentence in them"] if missing else []


def _annotated(corpus: Corpus, graph: Graph) -> tuple[dict[str, FloatArray], list[str]]:
    """What each author is annotated with, (authors,), by condition of the graph; NaN: not annotated.

    An author is annotated with a condition if one of the posts is.
    """
    names = {**{title.lower(): name for name, title in graph.disease.items()}, **{d: d for d in graph.disease}}
    fitting = {label: names[label.lower()] for label in corpus.labels if label.lower() in names}
    columns = [LABEL + label for label in fitting]
    grouped = corpus.table.group_by("author", maintain_order=True)
    highest, lowest = grouped.agg(pl.col(columns).max()), grouped.agg(pl.col(columns).min())
    annotated, notes = {}, []
    for label, condition in fitting.items():
        annotated[condition] = highest[LABEL + label].cast(pl.Float64).fill_null(np.nan).to_numpy()
        mixed = int(((highest[LABEL + label] > 0.5) & (lowest[LABEL + label] < 0.5)).sum())
        if mixed:
            notes.append(f"{label}: {counted(mixed, 'author')} annotated 1 in some posts and 0 in others count as 1")
    if corpus.labels and not fitting:
        notes.append("no label of the corpus is a condition of the graph: labels are not checked")
    return annotated, notes


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
        pl.DataFrame({"author": authors, "condition": name, "annotated": values}, {"condition": pl.String})
        for name, values in labels.items()
    ]
    if not parts:
        return coverage.with_columns(pl.lit(None, pl.Float64).alias("annotated"))
    marks = pl.concat(parts).with_columns(pl.col("annotated").fill_nan(None))
    return coverage.join(marks, on=["author", "condition"], how="left", maintain_order="left")


def _listed(suspects: pl.DataFrame, found: Explained, graph: Graph) -> pl.DataFrame:
    """The suspect annotations, with coverage and the posts about the condition's symptoms."""
    pair = {"author": "author", "label": "condition"}
    kept = suspects.filter(pl.col("score") >= SUSPECT)
    covered = found.coverage.select("author", "condition", "found", "typical")
    kept = kept.join(covered, left_on=list(pair), right_on=list(pair.values()), how="left", maintain_order="left")
    links = pl.DataFrame(graph.links, ["symptom", "label"], orient="row")
    of = found.mentions.join(links, on="symptom").group_by("author", "label").agg(pl.col("ids").flatten())
    of = of.with_columns(pl.col("ids").list.unique(maintain_order=True).list.head(MOST_POSTS))
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
        symptom: set(own["author"]) for (symptom,), own in found.mentions.sort("symptom").group_by("symptom", maintain_order=True)
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


def _shown(corpus: Corpus, tags: pl.LazyFrame, found: Explained, people: pl.DataFrame) -> Iterator[Shown]:
    """The heaviest sentences of each symptom on a page."""
    paged = people.filter(pl.col("page").is_not_null()).select("author")
    wanted = found.mentions.join(paged, on="author").select("symptom", pl.col("ids").list.head(TEXTS)).explode("ids")
    ids = wanted["ids"].unique()
    texts = corpus.table.filter(pl.col("id").is_in(ids.implode())).select("id", "text")
    sentences = {id_: split_sentences(text) for id_, text in texts.iter_rows()}
    columns = [WEIGHT + name for name in wanted["symptom"].unique()]
    rows = tags.filter(pl.col("id").is_in(ids.implode())).select("id", "sentence", *columns).collect()
    heaviest = {
        (str(id_[0]), symptom): own.sort(symptom, descending=True).select("sentence", symptom).row(0)
        for id_, own in rows.group_by("id")
        for symptom in columns
    }
    for symptom, id_ in wanted.iter_rows():
        number, weight = heaviest[id_, WEIGHT + symptom]
        own = sentences[id_]
        text = own[number] if number < len(own) else ""
        text = text if len(text) <= _LETTERS else f"{text[:_LETTERS]} …"
        yield Shown("", corpus.name, "explain", symptom, id_, "", np.nan, float(weight), int(number), text)


def _said(people: pl.DataFrame, graph: Graph, symptoms: Sequence[str]) -> Iterator[str]:
    """Notes on what the tables do not show."""
    if lacking := [one.name for one in graph.symptom if one.name not in symptoms]:
        yield f"{counted(len(lacking), 'symptom')} of the graph without tags, which coverage leaves out: {', '.join(lacking)}"
    untimed, posts = int(people["untimed"].sum()), int(people["posts"].sum())
    if untimed:
        yield f"{untimed:,} of {counted(posts, 'post')} without a time that can be read"
    if unordered := int(people["unordered"].sum()):
        yield f"{counted(unordered, 'author')} with posts that are not in the order of their times; they were sorted"
    if (rest := int(people["page"].null_count())) > 0:
        yield f"{counted(rest, 'author')} without a page: those with the fewest symptoms; name authors to have theirs"
