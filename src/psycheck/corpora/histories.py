"""Histories: the posts of each author in time order, as one item that a model scores."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from psycheck.corpora.curate.dumps import seconds_of
from psycheck.corpus import GROUP, HISTORY, LABEL, Corpus, showable_id
from psycheck.errors import BadInput, counted, nearest
from psycheck.model import Fingerprinted

MOST = 256  # posts, the earliest ones (PsySym, App. B)
TEXTS, HISTORIES = "texts", "histories"
_NO_AUTHOR = "posts without an author"
_BETWEEN = "\n\n"


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
            f"corpus '{corpus.name}' has no authors, and a history is the posts of one author",
            key="author",
            do="name the column that holds the authors",
        )
    known = corpus.only(corpus.table["author"].is_not_null().to_list(), _NO_AUTHOR)
    _refuse_mixed_splits(known)
    times = known.strings("time")
    rows = known.table.with_row_index("row").with_columns(
        time=pl.Series(times, dtype=pl.String).fill_null(""),
        seconds=pl.Series(map(seconds_of, times), dtype=pl.Int64),
    )
    timed = pl.col("seconds").is_not_null().all().over("author")
    first, when = pl.col("row").min().over("author"), pl.when(timed).then("seconds").otherwise("row")
    rows = rows.with_columns(timed=timed, first=first, when=when).sort("first", "when", "row")
    blank = pl.col("text").str.strip_chars() == ""
    posts = [pl.col(column).filter(~blank) for column in ("text", "time", "id")]
    labels = [LABEL + label for label in known.labels]
    groups = [GROUP + group for group in known.groups]
    agreed = [
        pl.when(pl.col(group).drop_nulls().n_unique() == 1)
        .then(pl.col(group).drop_nulls().first())
        .alias(group)
        for group in groups
    ]
    differ = [(pl.col(group).drop_nulls().n_unique() > 1).alias(f"differ {group}") for group in groups]
    mixed = [pl.col(label).drop_nulls().n_unique() > 1 for label in labels]
    split = [pl.col("split").first()] if "split" in rows else []
    table = rows.group_by("author", maintain_order=True).agg(
        *(posts[k].head(most).alias(column) for k, column in enumerate(HISTORY)),
        posts[0].head(most).str.join(_BETWEEN).alias("text"),
        *split,
        *(pl.col(label).max() for label in labels),
        *agreed,
        *differ,
        posts[0].len().alias("written"),
        pl.col("timed").first(),
        mixed=pl.any_horizontal(pl.lit(False), *mixed),
    )
    table = table.with_columns(id=pl.col("author").map_elements(showable_id, pl.String))
    notes = (
        f"{counted(len(table), 'author')}, each scored by the posts in time order",
        *_counted(table, pl.col("written") > most, f"wrote more than {most} posts; the earliest count"),
        *_counted(table, pl.col("written") == 0, "wrote no post that has a text"),
        *_counted(
            table,
            ~pl.col("timed") & (pl.col("written") > 1),
            "without a readable time for every post; the order is that of the corpus",
        ),
        *_counted(table, pl.col("mixed"), "whose posts differ in a label; the highest counts"),
    )
    several = table.filter(pl.col("written") > 1)
    kept = [one for one in groups if 2 * several[f"differ {one}"].sum() <= len(several)]
    order = ["id", "text", "author", *HISTORY, *(["split"] if split else []), *labels, *kept]
    return replace(known, table=table.select(order), notes=(*known.notes, *notes))


def as_taken(corpora: Sequence[Corpus], models: Sequence[Fingerprinted]) -> list[Corpus]:
    """The corpora as the models take them: as texts, or by author where the models score histories."""
    takes = {str(getattr(model, "takes", TEXTS)): model for model in models}
    for kind, model in takes.items():
        if kind not in (TEXTS, HISTORIES):
            what = f"model '{model.name}' says that it takes '{kind}'"
            raise BadInput(what, where="takes", allowed=nearest(kind, (TEXTS, HISTORIES)))
    if len(takes) > 1:
        raise BadInput(
            f"model '{takes[TEXTS].name}' scores texts and model '{takes[HISTORIES].name}' histories",
            allowed="models of one kind in one run",
            do="audit them in two runs",
        )
    if HISTORIES in takes:
        most = max(getattr(model, "most", MOST) for model in models)
        return [by_author(corpus, most) for corpus in corpora]
    for corpus in corpora:
        if corpus.histories:
            what = f"corpus '{corpus.name}' holds histories, and model '{takes[TEXTS].name}' scores texts"
            raise BadInput(what, allowed="a model that takes histories, or the corpus of single posts")
    return list(corpora)


def against_controls(corpus: Corpus) -> Corpus:
    """The corpus with each label null where it is 0 and another one is 1 (PsySym, section 5.4).

    Each condition is then told from authors without any, not from those with another one.
    """
    columns = [LABEL + label for label in corpus.labels]
    if len(columns) < 2:
        return corpus
    any_other = pl.max_horizontal(pl.col(columns).fill_null(0.0)) > 0.5
    masked = [pl.when((pl.col(one) > 0.5) | ~any_other).then(pl.col(one)).alias(one) for one in columns]
    return replace(corpus, table=corpus.table.with_columns(masked))


def _counted(table: pl.DataFrame, which: pl.Expr, what: str) -> tuple[str, ...]:
    """A note on how many authors something holds for; none if it holds for nobody."""
    n = len(table.filter(which))
    return (f"{counted(n, 'author')} {what}",) if n else ()


def _refuse_mixed_splits(corpus: Corpus) -> None:
    if "split" not in corpus.table:
        return
    spread = corpus.table.group_by("author").agg(pl.col("split").n_unique()).filter(pl.col("split") > 1)
    if len(spread):
        raise BadInput(
            f"corpus '{corpus.name}': {counted(len(spread), 'author')} with posts in several splits",
            allowed="all posts of an author in one split",
            do="psycheck clean CORPUS --resplit 6:2:2 --out FILE",
        )
