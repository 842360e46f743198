"""The posts of authors with the weights of their symptoms and their labels: what explanations start from."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from psycheck.corpora.curate.dumps import seconds_of
from psycheck.corpus import LABEL, Corpus, showable_id
from psycheck.errors import BadInput, counted, explained, nearest
from psycheck.files.write import sole_writer, writing
from psycheck.knowledge.explain import WEIGHT, Posts, likely_time, post_weights
from psycheck.knowledge.graph import Graph
from psycheck.model import FloatArray
from psycheck.models.open import open_model
from psycheck.models.symptoms import SymptomModel
from psycheck.scoring.engine import Progress
from psycheck.verbs.tag import tag_parts

TagTable = str | Path | pl.DataFrame | pl.LazyFrame


def posts_of(corpus: Corpus, authors: Sequence[str]) -> Corpus:
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
            raise BadInput(what, allowed=nearest(author, names), key="authors")
    if authors:
        return corpus.only(written.is_in(list(authors)).fill_null(value=False).to_numpy())
    return corpus.only(written.is_not_null().to_numpy(), "no author")


def tags_of(
    corpus: Corpus, tags: TagTable | None, symptoms: str, work: Path, progress: Progress
) -> tuple[pl.LazyFrame, str, list[Any]]:
    """The tag table of a corpus (made in `work`, if not given), its name in messages, and the models used.

    The files in `work` are of use until the table is no longer read; a call after a kill continues with them.
    """
    if tags is None:
        model = open_model(symptoms)
        if not isinstance(model, SymptomModel):
            allowed = "symptoms:descriptions, or symptoms:FOLDER that psycheck symptoms train wrote"
            raise BadInput(f"'{symptoms}' is not a symptom model", allowed=allowed, key="symptoms")
        with sole_writer(work), writing(work):
            parts, _ = tag_parts(model, corpus.slices(), work, texts=len(corpus), progress=progress)
        return pl.scan_parquet(parts), symptoms, [model]
    if isinstance(tags, pl.DataFrame | pl.LazyFrame):
        return _typed(tags.lazy(), "tags"), "tags", []
    with explained("the tag table cannot be read", OSError, pl.exceptions.PolarsError, where=str(tags)):
        frame = pl.scan_parquet(tags)
        frame.collect_schema()
    return _typed(frame, str(tags)), str(tags), []


def _typed(tags: pl.LazyFrame, where: str) -> pl.LazyFrame:
    """A tag table with ids and authors as strings, whoever made it; columns of the wrong type are refused."""
    kinds = tags.collect_schema()
    allowed = {
        "id": "strings or whole numbers",
        "author": "strings or whole numbers",
        "sentence": "whole numbers",
    }
    for name in allowed.keys() & kinds.keys():
        if not (kinds[name].is_integer() or (kinds[name] == pl.String and name != "sentence")):
            what = f"column '{name}' of the tag table holds other values"
            raise BadInput(what, where=where, allowed=allowed[name])
    return tags.with_columns(pl.col(name).cast(pl.String) for name in {"id", "author"} & kinds.keys())


def weighted_posts(
    corpus: Corpus, tags: pl.LazyFrame, symptoms: Sequence[str], where: str
) -> tuple[Posts, list[str]]:
    """The posts of a corpus with their weights; a tag table of other posts is refused."""
    with explained("the weights cannot be read", pl.exceptions.PolarsError, where=where, allowed="numbers"):
        weights = post_weights(tags, symptoms)
    columns = [WEIGHT + name for name in symptoms]
    if (
        not weights.select(pl.all_horizontal(pl.col(columns).fill_nan(None).is_between(0, 1)))
        .to_series()
        .all()
    ):
        raise BadInput("a weight of the tag table is out of range", where=where, allowed="0 to 1")
    table = corpus.table.select("id", "author").with_columns(
        pl.Series("when", [likely_time(seconds_of(time)) for time in corpus.strings("time")], pl.Int64)
    )
    joined = table.join(weights, on="id", how="left", maintain_order="left")
    missing = int(joined["sentences"].null_count())
    what = (
        "" if missing <= len(table) / 2 else f"{missing:,} of {len(table):,} posts are not in the tag table"
    )
    if "author" in tags.collect_schema().names():
        other = tags.select("id", tagged="author").unique().join(table.lazy(), on="id")
        other = other.filter(pl.col("tagged").cast(pl.String) != pl.col("author")).select(pl.len())
        if differ := int(other.collect(engine="streaming").item()):
            what = what or f"{counted(differ, 'post')} of the tag table have other authors in the corpus"
    if what:
        do = "tag this corpus: psycheck symptoms tag MODEL CORPUS --out FILE.parquet"
        raise BadInput(what, where=where, allowed="the tags of the same posts", do=do)
    joined = joined.with_columns(
        pl.col(columns).fill_null(0.0).fill_nan(0.0), pl.col("sentences").fill_null(0)
    )
    posts = Posts(
        joined.select("id", "author", "when", "sentences"), joined.select(columns).to_numpy(), tuple(symptoms)
    )
    return posts, [f"{counted(missing, 'post')} without tags: no sentence in them"] if missing else []


def annotations_of(corpus: Corpus, graph: Graph) -> tuple[dict[str, FloatArray], list[str]]:
    """What each author is annotated with, (authors,), by condition of the graph; NaN: not annotated.

    An author is annotated with a condition if one of the posts is.
    """
    fitting = {label: disease for label in corpus.labels if (disease := graph.named(label))}
    columns = [LABEL + label for label in fitting]
    grouped = corpus.table.group_by("author", maintain_order=True)
    highest, lowest = grouped.agg(pl.col(columns).max()), grouped.agg(pl.col(columns).min())
    annotated, notes = {}, []
    for label, condition in fitting.items():
        annotated[condition] = highest[LABEL + label].cast(pl.Float64).fill_null(np.nan).to_numpy()
        mixed = int(((highest[LABEL + label] > 0.5) & (lowest[LABEL + label] < 0.5)).sum())
        if mixed:
            notes.append(
                f"{label}: {counted(mixed, 'author')} annotated 1 in some posts and 0 in others count as 1"
            )
    if corpus.labels and not fitting:
        notes.append("no label of the corpus is a condition of the graph: labels are not checked")
    return annotated, notes


def with_tagged_symptoms(
    annotated: dict[str, FloatArray], graph: Graph, symptoms: Sequence[str]
) -> tuple[dict[str, FloatArray], list[str]]:
    """The labels of conditions that have a tagged symptom, and notes on the others, which are not checked."""
    bare = [name for name in annotated if not {one.name for one in graph.of(name)} & set(symptoms)]
    notes = [f"{name}: none of its symptoms is tagged, so its labels are not checked" for name in bare]
    return {name: labels for name, labels in annotated.items() if name not in bare}, notes
