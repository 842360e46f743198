"""Histories: the posts of each author in time order, as one item that a model scores."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import polars as pl

from psycheck.core.corpus import GROUP, HISTORY, LABEL, Corpus, showable_id
from psycheck.core.errors import BadInput, counted, nearest
from psycheck.core.model import Fingerprinted, capabilities_of
from psycheck.corpora.curate.dumps import seconds_of

MOST = 256  # posts, the earliest ones (PsySym, App. B)
TEXTS, HISTORIES = "texts", "histories"
_NO_AUTHOR = "posts without an author"
_BETWEEN_POSTS = "\n\n"


def by_author(corpus: Corpus, most: int = MOST) -> Corpus:
    """One row per author, with the earliest `most` posts; a corpus of histories is returned unchanged.

    The posts of an author are ordered by time if all of them have one that can be read (ISO 8601, or seconds
    since 1970), else as in the corpus. Empty posts are dropped: an author may have none left. An author has
    the highest label of the posts, and a group if all posts agree on it; a group column on which the posts of
    most authors differ describes posts, and is dropped.
    """
    if corpus.histories:
        return corpus
    if corpus.unit != "author":
        raise BadInput(
            what=f"corpus '{corpus.name}' has no authors, and a history is the posts of one author",
            code="histories.no-authors",
            key="author",
            do="name the column that holds the authors",
        )
    posts = corpus.only(corpus.table["author"].is_not_null().to_list(), _NO_AUTHOR)
    _refuse_mixed_splits(posts)

    authors = _joined_by_author(_in_time_order(posts), posts, most)
    split = ["split"] if "split" in posts.table else []
    labels = [LABEL + label for label in posts.labels]
    groups = _groups_of_authors(posts, authors)
    columns = ["id", "text", "author", *HISTORY, *split, *labels, *groups]
    return replace(
        posts,
        table=authors.select(columns),
        notes=(*posts.notes, *_notes(authors, most)),
    )


def _in_time_order(posts: Corpus) -> pl.DataFrame:
    """The posts of each author after each other, in time order; `timed` tells if all have a readable time."""
    times = posts.strings("time")
    time_or_blank = pl.Series(times, dtype=pl.String).fill_null("")
    seconds = pl.Series(map(seconds_of, times), dtype=pl.Int64)
    rows = posts.table.with_row_index("row").with_columns(time=time_or_blank, seconds=seconds)

    # One post without a time could lie anywhere: then the corpus decides on the order of all.
    all_timed = pl.col("seconds").is_not_null().all().over("author")
    rows = rows.with_columns(
        timed=all_timed,
        first_row=pl.col("row").min().over("author"),
        position=pl.when(all_timed).then("seconds").otherwise("row"),
    )
    # Authors in order of their first post in the corpus; posts of one second as in the corpus.
    return rows.sort("first_row", "position", "row")


def _joined_by_author(rows: pl.DataFrame, posts: Corpus, most: int) -> pl.DataFrame:
    """One row per author, with columns that tell how the posts differ.

    `written` counts the posts that are not empty, `mixed` tells if they differ in a label, and "differ NAME"
    if they differ in a group.
    """
    # Empty posts are dropped before the first ones are taken: they must not use up the limit.
    is_empty = pl.col("text").str.strip_chars() == ""
    texts = pl.col("text").filter(~is_empty)
    first_texts = texts.head(most)
    first_times = pl.col("time").filter(~is_empty).head(most)
    first_ids = pl.col("id").filter(~is_empty).head(most)
    columns = zip(HISTORY, (first_texts, first_times, first_ids), strict=True)
    history = [column.alias(name) for name, column in columns]

    # All posts of an author are in one split (`_refuse_mixed_splits`), so the first one tells it.
    split = [pl.col("split").first()] if "split" in rows else []
    labels = [pl.col(LABEL + label) for label in posts.labels]
    highest_labels = [label.max() for label in labels]
    labels_differ = [label.drop_nulls().n_unique() > 1 for label in labels]

    authors = rows.group_by("author", maintain_order=True).agg(
        *history,
        first_texts.str.join(_BETWEEN_POSTS).alias("text"),
        *split,
        *highest_labels,
        *_group_columns(posts),
        texts.len().alias("written"),
        pl.col("timed").first(),
        # False in the first place, because a corpus without labels would leave nothing to combine.
        mixed=pl.any_horizontal(pl.lit(False), *labels_differ),
    )
    # The id goes into reports, and the name of an author may read like prose.
    return authors.with_columns(id=pl.col("author").map_elements(showable_id, pl.String))


def _group_columns(posts: Corpus) -> Iterator[pl.Expr]:
    """For each group its value, null if the posts of an author differ in it, and whether they differ."""
    for name in posts.groups:
        members = pl.col(GROUP + name).drop_nulls()
        all_agree = members.n_unique() == 1
        yield pl.when(all_agree).then(members.first()).alias(GROUP + name)
        yield (members.n_unique() > 1).alias(_differ(GROUP + name))


def _differ(group_column: str) -> str:
    """The name of the column that tells if the posts of an author differ in a group."""
    return f"differ {group_column}"


def _groups_of_authors(posts: Corpus, authors: pl.DataFrame) -> list[str]:
    """The group columns that describe authors: the posts of most authors agree on them."""
    # An author with one post agrees with themselves on everything, and says nothing about the column.
    several_posts = authors.filter(pl.col("written") > 1)

    columns_of_authors = []
    for column in (GROUP + group for group in posts.groups):
        authors_who_differ = several_posts[_differ(column)].sum()
        if 2 * authors_who_differ <= len(several_posts):
            columns_of_authors.append(column)
    return columns_of_authors


def _notes(authors: pl.DataFrame, most: int) -> list[str]:
    """How many authors there are, and for how many of them something was decided."""
    untimed = ~pl.col("timed") & (pl.col("written") > 1)
    conditions = {
        f"wrote more than {most} posts; the earliest count": pl.col("written") > most,
        "wrote no post that has a text": pl.col("written") == 0,
        "without a readable time for every post; the order is that of the corpus": untimed,
        "whose posts differ in a label; the highest counts": pl.col("mixed"),
    }
    notes = [f"{counted(len(authors), 'author')}, each scored by the posts in time order"]
    for what, condition in conditions.items():
        count = len(authors.filter(condition))
        if count:
            notes.append(f"{counted(count, 'author')} {what}")
    return notes


def as_taken(corpora: Sequence[Corpus], models: Sequence[Fingerprinted]) -> list[Corpus]:
    """The corpora as the models take them: as texts, or by author where the models score histories."""
    model_by_input = {str(capabilities_of(model).takes): model for model in models}
    _refuse_unknown_input(model_by_input)
    if len(model_by_input) > 1:
        of_texts = model_by_input[TEXTS].name
        of_histories = model_by_input[HISTORIES].name
        raise BadInput(
            what=f"model '{of_texts}' scores texts and model '{of_histories}' histories",
            code="histories.mixed-models",
            allowed="models of one kind in one run",
            do="audit them in two runs",
        )

    # One corpus for all models: each takes the first posts that it can use.
    if HISTORIES in model_by_input:
        most = max(capabilities_of(model).most_posts for model in models)
        return [by_author(corpus, most) for corpus in corpora]

    for corpus in corpora:
        if corpus.histories:
            model = model_by_input[TEXTS]
            raise BadInput(
                f"corpus '{corpus.name}' holds histories, and model '{model.name}' scores texts",
                code="histories.model-of-texts",
                allowed="a model that takes histories, or the corpus of single posts",
            )
    return list(corpora)


def _refuse_unknown_input(model_by_input: dict[str, Fingerprinted]) -> None:
    for taken_input, model in model_by_input.items():
        if taken_input not in (TEXTS, HISTORIES):
            raise BadInput(
                what=f"model '{model.name}' says that it takes '{taken_input}'",
                code="histories.unknown-input",
                where="takes",
                allowed=nearest(taken_input, (TEXTS, HISTORIES)),
            )


def against_controls(corpus: Corpus) -> Corpus:
    """The corpus with each label null where it is 0 and another one is 1 (PsySym, section 5.4).

    Each condition is then told from authors without any, not from those with another one.
    """
    columns = [LABEL + label for label in corpus.labels]
    if len(columns) < 2:
        return corpus

    # A label that is not annotated counts as absent here.
    has_a_condition = pl.max_horizontal(pl.col(columns).fill_null(0.0)) > 0.5
    masked = []
    for column in columns:
        has_this_condition = pl.col(column) > 0.5
        is_control = ~has_a_condition
        # `when` without `otherwise` is null, so not annotated.
        label = pl.when(has_this_condition | is_control).then(pl.col(column))
        masked.append(label.alias(column))
    return replace(corpus, table=corpus.table.with_columns(masked))


def _refuse_mixed_splits(corpus: Corpus) -> None:
    if "split" not in corpus.table:
        return
    splits_by_author = corpus.table.group_by("author").agg(pl.col("split").n_unique())
    spread = splits_by_author.filter(pl.col("split") > 1)
    if len(spread):
        raise BadInput(
            what=f"corpus '{corpus.name}': {counted(len(spread), 'author')} with posts in several splits",
            code="histories.mixed-splits",
            allowed="all posts of an author in one split",
            do="psycheck clean CORPUS --resplit 6:2:2 --out FILE",
        )
