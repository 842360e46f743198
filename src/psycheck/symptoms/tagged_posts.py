"""The posts of authors with the weights of their symptoms and their labels: what explanations start from."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import LABEL, Corpus, showable_id
from psycheck.core.errors import BadInput, counted, explained, nearest
from psycheck.corpora.curate.dumps import seconds_of
from psycheck.symptoms.explanation import WEIGHT, Posts, likely_time, post_weights
from psycheck.symptoms.graph import Graph

_IDS = "strings or whole numbers"
_ALLOWED_TYPES = {"id": _IDS, "author": _IDS, "sentence": "whole numbers"}


def posts_of(corpus: Corpus, authors: Sequence[str]) -> Corpus:
    """The posts whose author is known, or only those of some authors; without any author, each post alone."""
    if corpus.unit != "author":
        # Without authors the page of a person becomes the page of a text.
        ids_as_authors = corpus.table.with_columns(author=pl.col("id"))
        note = "no author column: each text is explained alone"
        corpus = replace(corpus, table=ids_as_authors, notes=(*corpus.notes, note))

    author_of_post = corpus.table["author"]
    _refuse_unknown_authors(authors, set(author_of_post.drop_nulls()), corpus.name)
    if authors:
        is_requested = author_of_post.is_in(list(authors)).fill_null(value=False)
        return corpus.only(is_requested.to_numpy())
    return corpus.only(author_of_post.is_not_null().to_numpy(), "no author")


def _refuse_unknown_authors(authors: Sequence[str], known_authors: set[str], corpus_name: str) -> None:
    for author in authors:
        if author not in known_authors:
            # A message must not show the name of a person.
            showable = [name for name in known_authors if showable_id(name) == name]
            raise BadInput(
                f"no posts of author '{showable_id(author)}' in corpus '{corpus_name}'",
                code="corpus.unknown-author",
                allowed=nearest(author, showable),
                key="authors",
            )


def typed_tags(tags: pl.LazyFrame, where: str) -> pl.LazyFrame:
    """A tag table with ids and authors as strings, whoever made it; columns of the wrong type are refused."""
    schema = tags.collect_schema()
    for name in _ALLOWED_TYPES.keys() & schema.keys():
        is_string_id = schema[name] == pl.String and name != "sentence"
        if not (schema[name].is_integer() or is_string_id):
            raise BadInput(
                f"column '{name}' of the tag table holds other values",
                code="tags.column-type",
                where=where,
                allowed=_ALLOWED_TYPES[name],
            )
    # CSV and other tools write ids as numbers, a corpus holds them as strings: they must join.
    string_columns = {"id", "author"} & schema.keys()
    return tags.with_columns(pl.col(name).cast(pl.String) for name in string_columns)


def weighted_posts(
    corpus: Corpus, tags: pl.LazyFrame, symptoms: Sequence[str], where: str
) -> tuple[Posts, list[str]]:
    """The posts of a corpus with their weights; a tag table of other posts is refused."""
    with explained(
        "the weights cannot be read",
        pl.exceptions.PolarsError,
        code="tags.unreadable-weights",
        where=where,
        allowed="numbers",
    ):
        weights = post_weights(tags, symptoms)
    columns = [WEIGHT + name for name in symptoms]
    _refuse_weights_outside_0_1(weights, columns, where)

    times = [likely_time(seconds_of(time)) for time in corpus.strings("time")]
    posts = corpus.table.select("id", "author").with_columns(pl.Series("when", times, pl.Int64))
    _refuse_tags_of_other_posts(posts, weights, tags, where)

    # Every post stays, in the order of the corpus: one without a sentence has no row of tags.
    joined = posts.join(weights, on="id", how="left", maintain_order="left")
    untagged = int(joined["sentences"].null_count())
    joined = joined.with_columns(
        pl.col(columns).fill_null(0.0).fill_nan(0.0),
        pl.col("sentences").fill_null(0),
    )
    notes = [f"{counted(untagged, 'post')} without tags: no sentence in them"] if untagged else []
    weighted = Posts(
        joined.select("id", "author", "when", "sentences"),
        joined.select(columns).to_numpy(),
        tuple(symptoms),
    )
    return weighted, notes


def _refuse_weights_outside_0_1(weights: pl.DataFrame, columns: Sequence[str], where: str) -> None:
    in_range = pl.all_horizontal(pl.col(columns).fill_nan(None).is_between(0, 1))
    if not weights.select(in_range).to_series().all():
        raise BadInput(
            "a weight of the tag table is out of range",
            code="tags.weight-out-of-range",
            where=where,
            allowed="0 to 1",
        )


def _refuse_tags_of_other_posts(
    posts: pl.DataFrame, weights: pl.DataFrame, tags: pl.LazyFrame, where: str
) -> None:
    """Refuse tags without half of the posts, or with other authors of the same ids."""
    untagged = len(posts.join(weights, on="id", how="anti"))
    problem = ""
    if untagged > len(posts) / 2:
        problem = f"{untagged:,} of {len(posts):,} posts are not in the tag table"
    elif "author" in tags.collect_schema().names():
        # Ids such as 1, 2, 3 fit many corpora; their authors do not.
        tagged_authors = tags.select("id", tagged="author").unique()
        pairs = tagged_authors.join(posts.lazy(), on="id")
        is_other = pl.col("tagged").cast(pl.String) != pl.col("author")
        differing = pairs.filter(is_other).select(pl.len())
        other_authors = int(differing.collect(engine="streaming").item())
        if other_authors:
            problem = f"{counted(other_authors, 'post')} of the tag table have other authors in the corpus"

    if problem:
        raise BadInput(
            problem,
            code="tags.other-posts",
            where=where,
            allowed="the tags of the same posts",
            do="tag this corpus: psycheck symptoms tag MODEL CORPUS --out FILE.parquet",
        )


def annotations_of(corpus: Corpus, graph: Graph) -> tuple[dict[str, FloatArray], list[str]]:
    """What each author is annotated with, (authors,), by condition of the graph; NaN: not annotated.

    An author is annotated with a condition if one of the posts is.
    """
    conditions: dict[str, str] = {}
    for label in corpus.labels:
        condition_name = graph.named(label)
        if condition_name:
            conditions[label] = condition_name
    columns = [LABEL + label for label in conditions]
    by_author = corpus.table.group_by("author", maintain_order=True)
    highest = by_author.agg(pl.col(columns).max())
    lowest = by_author.agg(pl.col(columns).min())

    annotated: dict[str, FloatArray] = {}
    notes = []
    for label, condition in conditions.items():
        column = LABEL + label
        annotated[condition] = highest[column].cast(pl.Float64).fill_null(np.nan).to_numpy()
        is_mixed = (highest[column] > 0.5) & (lowest[column] < 0.5)
        mixed = int(is_mixed.sum())
        if mixed:
            authors = counted(mixed, "author")
            notes.append(f"{label}: {authors} annotated 1 in some posts and 0 in others count as 1")
    if corpus.labels and not conditions:
        notes.append("no label of the corpus is a condition of the graph: labels are not checked")
    return annotated, notes


def with_tagged_symptoms(
    annotated: dict[str, FloatArray], graph: Graph, symptoms: Sequence[str]
) -> tuple[dict[str, FloatArray], list[str]]:
    """The labels of conditions that have a tagged symptom, and notes on the others, which are not checked."""
    checked = {}
    notes = []
    for condition, labels in annotated.items():
        symptoms_of_condition = {symptom.name for symptom in graph.of(condition)}
        if symptoms_of_condition & set(symptoms):
            checked[condition] = labels
        else:
            notes.append(f"{condition}: none of its symptoms is tagged, so its labels are not checked")
    return checked, notes
