"""What the posts of each author show of the symptom graph: symptoms, coverage, a timeline (PsySym 5.5)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from psycheck.errors import BadInput, nearest
from psycheck.knowledge.graph import Graph
from psycheck.settings.reader import AT_LEAST_1, Limit

WEIGHT: Final = "weight:"
MOST_IDS: Final = 20  # posts named per author and symptom, the heaviest first
COLUMNS: Final = 48  # columns of a timeline: more cannot be told apart on a phone
_EARLIEST: Final = 631_152_000  # 1990: a smaller number is a counter, not a time


@dataclass(frozen=True, slots=True)
class Explaining:
    """From which weight a post counts as one about a symptom, and from how many posts an author does."""

    threshold: Annotated[float, Limit("above 0, at most 1", lambda one: 0 < one <= 1)] = 0.5
    min_posts: Annotated[int, AT_LEAST_1] = 1


@dataclass(frozen=True, slots=True, eq=False)
class Posts:
    """The posts of authors, and how much each says about each symptom.

    `table` has `id`, `author`, `when` (seconds since 1970, null: unknown) and `sentences`, in the order of
    the corpus; `weights`, (n, k), holds the largest weight over the sentences of a post (formula 1).
    """

    table: pl.DataFrame
    weights: NDArray[np.float32]
    symptoms: tuple[str, ...]

    @property
    def authors(self) -> list[str]:
        """The authors in the order of their first post."""
        return self.table["author"].unique(maintain_order=True).to_list()

    def by_author(self, values: NDArray[np.float32]) -> NDArray[np.float64]:
        """The sum over the posts of each author, (authors, k), of values (n, k)."""
        place = {author: number for number, author in enumerate(self.authors)}
        rows = np.fromiter(map(place.__getitem__, self.table["author"]), np.int64, len(self.table))
        sums = np.zeros((len(place), values.shape[1]))
        np.add.at(sums, rows, values)
        return sums


@dataclass(frozen=True, slots=True, eq=False)
class Explained:
    """The tables of an explanation.

    `people` has one row per author; `mentions` one per author and symptom; `coverage` one per author and
    condition, ranked; `marks` the cells of the timelines (author, symptom, column, posts, largest weight).
    """

    people: pl.DataFrame
    mentions: pl.DataFrame
    coverage: pl.DataFrame
    marks: pl.DataFrame


def symptoms_of(columns: Sequence[str], graph: Graph, where: str) -> tuple[str, ...]:
    """The symptoms that a tag table has weights of, by the names of its columns; all must be in the graph."""
    found = tuple(name.removeprefix(WEIGHT) for name in columns if name.startswith(WEIGHT))
    known = [one.name for one in graph.symptom]
    if not found or "id" not in columns:
        allowed = f"the columns `id` and {WEIGHT}SYMPTOM, as psycheck symptoms tag writes them"
        raise BadInput("this is not a tag table", where=where, allowed=allowed)
    if strange := [name for name in found if name not in known]:
        raise BadInput(
            f"the graph lacks {len(strange)} of {len(found)} tagged symptoms: {', '.join(strange[:5])}",
            where=where,
            allowed=nearest(strange[0], known),
            do="name the graph that the texts were tagged with (`graph`)",
        )
    return found


def post_weights(tags: pl.LazyFrame, symptoms: Sequence[str]) -> pl.DataFrame:
    """One row per post of a tag table: the largest weight of each symptom, and the number of sentences."""
    columns = [WEIGHT + name for name in symptoms]
    largest = [pl.col(column).cast(pl.Float32).max() for column in columns]
    grouped = tags.select("id", *columns).group_by("id").agg(*largest, pl.len().alias("sentences"))
    return grouped.collect(engine="streaming")


def likely_time(seconds: int | None) -> int | None:
    """A time in seconds since 1970, or None if it is too small to be the time of a post."""
    return None if seconds is None or seconds < _EARLIEST else seconds


def explain_posts(posts: Posts, graph: Graph, how: Explaining) -> Explained:
    """Explain all authors: each symptom that reaches the threshold, its posts, times and coverage."""
    table = _placed(posts.table)
    rows, columns = np.nonzero(posts.weights >= how.threshold)
    said = table[rows].with_columns(
        pl.Series("symptom", np.array(posts.symptoms, dtype=object)[columns], pl.String),
        pl.Series("weight", posts.weights[rows, columns].astype(np.float64)),
    )
    pair = ["author", "symptom"]
    mentions = (
        said.sort("weight", descending=True, maintain_order=True)
        .group_by(pair, maintain_order=True)
        .agg(
            pl.len().alias("posts"),
            (pl.len() / pl.col("of").first()).alias("share"),
            pl.col("weight").max(),
            pl.col("when").min().alias("first"),
            pl.col("when").max().alias("last"),
            pl.col("id").head(MOST_IDS).alias("ids"),
        )
        .filter(pl.col("posts") >= how.min_posts)
        .sort("author", "posts", "weight", "symptom", descending=[False, True, True, False])
    )
    marks = said.join(mentions.select(pair), on=pair).drop_nulls("column")
    marks = marks.group_by([*pair, "column"]).agg(pl.len().alias("posts"), pl.col("weight").max())
    coverage = _coverage(posts, graph, mentions)
    found = mentions.group_by("author").agg(pl.len().alias("symptoms"))
    people = _people(posts.table).join(found, on="author", how="left", maintain_order="left")
    people = people.with_columns(pl.col("symptoms").fill_null(0))
    return Explained(people, mentions, coverage, marks.sort([*pair, "column"]))


def _people(table: pl.DataFrame) -> pl.DataFrame:
    """One row per author; `unordered`: the corpus does not list the posts in the order of their times."""
    times = pl.col("when").drop_nulls()
    return table.group_by("author", maintain_order=True).agg(
        pl.len().alias("posts"),
        pl.col("sentences").sum(),
        pl.col("when").min().alias("first"),
        pl.col("when").max().alias("last"),
        pl.col("when").null_count().alias("untimed"),
        (times.diff().min() < 0).fill_null(value=False).alias("unordered"),
    )


def _placed(table: pl.DataFrame) -> pl.DataFrame:
    """The posts with the number of their author's posts (`of`) and their column of the timeline.

    Columns are spans of equal time between the author's first and last post; where no two times are known,
    equal numbers of posts. A post without a time has no column on an axis of time.
    """
    first, last = (end.over("author") for end in (pl.col("when").min(), pl.col("when").max()))
    span = (last - first).fill_null(0)
    by_time = (pl.col("when") - first) / span
    by_order = pl.int_range(pl.len()).over("author") / pl.len().over("author")
    share = pl.when(span > 0).then(by_time).otherwise(by_order)
    column = (share * COLUMNS).floor().clip(0, COLUMNS - 1).cast(pl.Int64)
    return table.with_columns(pl.len().over("author").alias("of"), column.alias("column"))


def _coverage(posts: Posts, graph: Graph, mentions: pl.DataFrame) -> pl.DataFrame:
    """How many of each condition's tagged symptoms an author writes about, the best covered first.

    `weight` is the mean over these symptoms of the author's largest weight, 0 for a symptom not found.
    """
    authors = posts.authors
    rows = {author: number for number, author in enumerate(authors)}
    places = {name: number for number, name in enumerate(posts.symptoms)}
    largest = np.zeros((len(authors), len(places)))
    for author, symptom, weight in mentions.select("author", "symptom", "weight").iter_rows():
        largest[rows[author], places[symptom]] = weight
    parts = []
    for disease in graph.disease:
        own = largest[:, [places[one.name] for one in graph.of(disease) if one.name in places]]
        if own.shape[1]:
            figures = {"found": (own > 0).sum(1), "typical": own.shape[1], "weight": own.mean(1)}
            parts.append(pl.DataFrame({"author": authors, "condition": disease, **figures}))
    order = ["author", "share", "weight", "condition"]
    whole = pl.concat(parts).with_columns((pl.col("found") / pl.col("typical")).alias("share"))
    whole = whole.sort(order, descending=[False, True, True, False])
    return whole.with_columns(pl.int_range(1, pl.len() + 1).over("author").alias("rank"))
