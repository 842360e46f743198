"""The tables, findings, texts and notes of a run that explains people."""

import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import compress
from typing import Final

import numpy as np
import polars as pl

from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus
from psycheck.core.errors import counted
from psycheck.core.finding import Finding
from psycheck.core.run import Shown
from psycheck.statistics.intervals import wilson
from psycheck.symptoms.explanation import MOST_IDS, WEIGHT, Explained
from psycheck.symptoms.graph import Graph
from psycheck.text.clean import split_sentences

PAGES: Final = 300  # pages of people in a folder; the other authors are in the tables
SENTENCES: Final = 3  # shown per symptom
SUSPECT: Final = 0.5  # from this score on, a label fits the other side at least as well
_MOST_CHARACTERS: Final = 400  # of a sentence or post shown
_PLAIN_NAME: Final = re.compile(r"[a-z0-9_-]{1,60}")


def with_pages(people: pl.DataFrame) -> pl.DataFrame:
    """The authors with the file of their page: those with the most symptoms have one, the others null."""
    by_symptoms = people.sort("symptoms", "posts", descending=True, maintain_order=True)
    authors_with_page = by_symptoms["author"].head(PAGES)
    page_by_author = {author: f"people/{_file_name(author)}.html" for author in authors_with_page}

    pages = [page_by_author.get(author) for author in people["author"]]
    return people.with_columns(pl.Series("page", pages, pl.String))


def _file_name(author: str) -> str:
    """A name that every file system takes and that no two authors share."""
    # Upper case is not plain: "Ann" and "ann" are one file where the file system ignores case.
    if _PLAIN_NAME.fullmatch(author):
        return author
    return blake2b(author.encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()


def with_annotations(
    coverage: pl.DataFrame, authors: list[str], labels: Mapping[str, FloatArray]
) -> pl.DataFrame:
    """The coverage with what each author is annotated with, null where nobody annotated."""
    annotations = [
        pl.DataFrame({"author": authors, "condition": condition, "annotated": values})
        for condition, values in labels.items()
    ]
    if not annotations:
        return coverage.with_columns(pl.lit(None, pl.Float64).alias("annotated"))

    annotated = pl.concat(annotations).with_columns(pl.col("annotated").fill_nan(None))
    return coverage.join(annotated, on=["author", "condition"], how="left", maintain_order="left")


def texts_by_author(corpus: Corpus, authors: Sequence[str]) -> list[str]:
    """The posts of each author as one text, in the order of the authors."""
    posts = corpus.table.group_by("author", maintain_order=True).agg("text")
    text_by_author = {author: "\n".join(texts) for author, texts in posts.iter_rows()}
    return [text_by_author[author] for author in authors]


def suspects_with_posts(ranked: pl.DataFrame, explained: Explained, graph: Graph) -> pl.DataFrame:
    """The suspect annotations, with coverage and the posts about the condition's symptoms."""
    # One author may be suspect for several labels: every table is joined by the pair.
    pair = ["author", "label"]
    suspects = ranked.filter(pl.col("score") >= SUSPECT)
    coverage = explained.coverage.select("author", "found", "typical", label="condition")
    suspects = suspects.join(coverage, on=pair, how="left", maintain_order="left")

    # A post about two symptoms of the condition is listed once.
    links = pl.DataFrame(graph.links, ["symptom", "label"], orient="row")
    mentions_by_label = explained.mentions.join(links, on="symptom")
    posts_by_label = mentions_by_label.explode("ids").group_by(pair)
    first_posts = posts_by_label.agg(pl.col("ids").unique(maintain_order=True).head(MOST_IDS))
    return suspects.join(first_posts, on=pair, how="left", maintain_order="left")


def tagged_links(graph: Graph, symptoms: Sequence[str]) -> pl.DataFrame:
    """The part of the graph that was tagged, with titles: what pages need to know of it."""
    titles = {symptom.name: symptom.title for symptom in graph.symptom}
    rows = [
        (condition, graph.disease[condition], symptom, titles[symptom])
        for symptom, condition in graph.links
        if symptom in symptoms
    ]
    columns = ["condition", "condition_title", "symptom", "symptom_title"]
    return pl.DataFrame(rows, columns, orient="row")


def symptom_shares(
    corpus: str, explained: Explained, labels: Mapping[str, FloatArray], authors: Sequence[str]
) -> Iterator[Finding]:
    """How many authors write about each symptom: of all authors, and of those with a label of 1 or 0."""
    by_symptom = explained.mentions.sort("symptom").group_by("symptom", maintain_order=True)
    authors_by_symptom = {str(symptom): set(mentions["author"]) for (symptom,), mentions in by_symptom}

    groups = [({"label": "all"}, set(authors))]
    for condition, values in labels.items():
        # Authors without an annotation (NaN), or with an undecided one (0.5), are on neither side.
        sides = {"1": values > 0.5, "0": values < 0.5}
        for annotated, is_here in sides.items():
            members = set(compress(authors, is_here))
            groups.append(({"label": condition, "annotated": annotated}, members))

    for group, members in groups:
        # A share of nobody is not defined.
        if not members:
            continue

        n = len(members)
        for symptom, authors_with_symptom in authors_by_symptom.items():
            count = len(members & authors_with_symptom)
            where = {"corpus": corpus, "symptom": symptom, **group}
            yield Finding(
                measure="symptom_share",
                value=count / n,
                n=n,
                interval=wilson(count, n),
                where=where,
            )


def suspect_counts(corpus: str, ranked: pl.DataFrame) -> Iterator[Finding]:
    """How many annotations are suspect, for each label and kind of error."""
    groups = ranked.sort("label", "kind").group_by("label", "kind", maintain_order=True)
    for (label, kind), annotations in groups:
        suspects = int((annotations["score"] >= SUSPECT).sum())
        yield Finding(
            measure="suspect_labels",
            value=float(suspects),
            n=len(annotations),
            where={"corpus": corpus, "label": str(label), "kind": str(kind)},
        )


def shown_sentences(
    corpus: Corpus, tags: pl.LazyFrame, explained: Explained, people: pl.DataFrame
) -> Iterator[Shown]:
    """The heaviest sentences of each symptom on a page."""
    # Only posts on a page are looked up: the tag table lies on the disk, and may be larger than memory.
    with_page = people.drop_nulls("page").select("author")
    mentions = explained.mentions.join(with_page, on="author")
    posts = mentions.select("symptom", id=pl.col("ids").list.head(SENTENCES)).explode("id")
    is_shown = pl.col("id").is_in(posts["id"].unique().implode())

    heaviest = _heaviest_sentences(tags.filter(is_shown), posts["symptom"].unique().to_list())
    rows = posts.join(heaviest, on=["id", "symptom"], maintain_order="left")
    texts = corpus.table.filter(is_shown).select("id", "text")
    sentences = {id_: split_sentences(text) for id_, text in texts.iter_rows()}

    for id_, symptom, number, weight in rows.select("id", "symptom", "sentence", "weight").iter_rows():
        # A tag table of another psycheck may have split the post into more sentences.
        exists = 0 <= number < len(sentences[id_])
        text = _cut(sentences[id_][number]) if exists else ""
        yield Shown(
            model="",
            corpus=corpus.name,
            suite="explain",
            check=symptom,
            id=id_,
            outcome="",
            before=np.nan,
            after=float(weight),
            variant=int(number),
            text=text,
        )


def _heaviest_sentences(tags: pl.LazyFrame, symptoms: Sequence[str]) -> pl.DataFrame:
    """The number of the sentence with the largest weight, for each post and symptom."""
    columns = [WEIGHT + symptom for symptom in symptoms]
    tagged_sentences = tags.select("id", "sentence", *columns)
    weights = tagged_sentences.unpivot(
        index=["id", "sentence"],
        variable_name="symptom",
        value_name="weight",
    )
    weights = weights.with_columns(pl.col("symptom").str.strip_prefix(WEIGHT))
    by_weight = weights.sort("weight", descending=True)
    return by_weight.unique(["id", "symptom"], keep="first", maintain_order=True).collect()


def posts_to_read(corpus: Corpus, suspects: pl.DataFrame) -> Iterator[Shown]:
    """The posts that a suspect label is to be read by: those about the condition, or else the first ones."""
    suspect_authors = suspects.select("author").unique()
    posts = corpus.table.join(suspect_authors, on="author", how="semi").select("author", "id", "text")
    posts_by_author = {author: posts_of_author for (author,), posts_of_author in posts.group_by("author")}

    rows = suspects.select("author", "label", "score", "rank", "ids")
    for author, label, score, rank, ids in rows.iter_rows():
        texts = dict(posts_by_author[author].select("id", "text").iter_rows())
        # Nothing was found about the condition: then the reader needs other posts to judge by.
        ids_to_read = (ids or list(texts))[:MOST_IDS]
        yield Shown(
            model="",
            corpus=corpus.name,
            suite="suspects",
            check=label,
            id=author,
            outcome="",
            before=np.nan,
            after=score,
            variant=rank,
            text="\n\n".join(_cut(texts[id_]) for id_ in ids_to_read),
        )


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]} …"


def people_notes(people: pl.DataFrame, graph: Graph, symptoms: Sequence[str]) -> Iterator[str]:
    """Notes on what the tables do not show."""
    untagged = [symptom.name for symptom in graph.symptom if symptom.name not in symptoms]
    if untagged:
        number = counted(len(untagged), "symptom")
        yield f"{number} of the graph without tags, left out of coverage: {', '.join(untagged)}"

    untimed = int(people["untimed"].sum())
    if untimed:
        posts = int(people["posts"].sum())
        yield f"{untimed:,} of {counted(posts, 'post')} without a time that can be read"

    unordered = int(people["unordered"].sum())
    if unordered:
        yield f"{counted(unordered, 'author')} with posts not in the order of their times; they were sorted"

    without_page = int(people["page"].null_count())
    if without_page:
        yield f"{counted(without_page, 'author')} without a page: those with the fewest symptoms"
