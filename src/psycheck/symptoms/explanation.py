"""What the posts of each author show of the symptom graph: symptoms, coverage, a timeline (PsySym 5.5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from psycheck.core.errors import BadInput, nearest
from psycheck.io.settings import AT_LEAST_1, Limit
from psycheck.symptoms.graph import Graph

RELEVANCE: Final = "relevance:"
WEIGHT: Final = "weight:"
STATUS: Final = "status:"
PRESENT: Final = "present"
UNCLEAR: Final = "unclear"  # mentioned in words of the present, but the reader takes it for something else
MOST_IDS: Final = 20  # posts named per author and symptom, the heaviest first
COLUMNS: Final = 48  # columns of a timeline: more cannot be told apart on a phone
_PAIR: Final = ["author", "symptom"]
_EARLIEST: Final = 631_152_000  # 1990: a smaller number is a counter, not a time


@dataclass(frozen=True, slots=True)
class Explaining:
    """From which weight a post counts as one about a symptom, and from how many posts an author does."""

    threshold: Annotated[float, Limit("above 0, at most 1", lambda weight: 0 < weight <= 1)] = 0.5
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
        row_of = {author: row for row, author in enumerate(self.authors)}
        rows = np.array([row_of[author] for author in self.table["author"]], np.int64)
        sums = np.zeros((len(row_of), values.shape[1]))
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
    tagged = tuple(column.removeprefix(WEIGHT) for column in columns if column.startswith(WEIGHT))
    if not tagged or "id" not in columns:
        raise BadInput(
            "this is not a tag table",
            code="tags.not-a-tag-table",
            where=where,
            allowed=f"the columns `id` and {WEIGHT}SYMPTOM, as psycheck symptoms tag writes them",
        )

    names = [symptom.name for symptom in graph.symptom]
    unknown = [name for name in tagged if name not in names]
    if unknown:
        raise BadInput(
            f"the graph lacks {len(unknown)} of {len(tagged)} tagged symptoms: {', '.join(unknown[:5])}",
            code="tags.unknown-symptoms",
            where=where,
            allowed=nearest(unknown[0], names),
            do="name the graph that the texts were tagged with (`graph`)",
        )
    return tagged


def post_weights(tags: pl.LazyFrame, symptoms: Sequence[str]) -> pl.DataFrame:
    """One row per post of a tag table: the largest weight of each symptom, and the number of sentences."""
    columns = [WEIGHT + name for name in symptoms]
    largest = [pl.col(column).cast(pl.Float32).max() for column in columns]
    sentences = pl.len().alias("sentences")
    by_post = tags.select("id", *columns).group_by("id")
    # Streaming: a tag table has a row per sentence and may not fit into memory, its posts do.
    return by_post.agg(*largest, sentences).collect(engine="streaming")


def other_statements(tags: pl.LazyFrame, symptoms: Sequence[str], threshold: float) -> pl.DataFrame:
    """The posts that mention a symptom without being evidence of it: `id`, `symptom`, `status`.

    Empty for a tag table without the status of each symptom.
    """
    names = tags.collect_schema().names()
    frames = []
    for symptom in symptoms:
        if not {RELEVANCE + symptom, STATUS + symptom}.issubset(names):
            continue
        is_mentioned = pl.col(RELEVANCE + symptom) >= threshold
        is_evidence = pl.col(WEIGHT + symptom) >= threshold
        status = pl.col(STATUS + symptom).cast(pl.String).replace(PRESENT, UNCLEAR)
        statements = tags.filter(is_mentioned & ~is_evidence)
        frames.append(statements.select("id", symptom=pl.lit(symptom), status=status))
    if not frames:
        return pl.DataFrame(schema={"id": pl.String, "symptom": pl.String, "status": pl.String})
    return pl.concat(frames).unique(maintain_order=True).collect()


def likely_time(seconds: int | None) -> int | None:
    """A time in seconds since 1970, or None if it is too small to be the time of a post."""
    return None if seconds is None or seconds < _EARLIEST else seconds


def explain_posts(posts: Posts, graph: Graph, how: Explaining) -> Explained:
    """Explain all authors: each symptom that reaches the threshold, its posts, times and coverage."""
    about_symptoms = _posts_about_symptoms(posts, how.threshold)
    mentions = _mentions(about_symptoms, how.min_posts)
    return Explained(
        people=_people(posts.table, mentions),
        mentions=mentions,
        coverage=_coverage(posts, graph, mentions),
        marks=_marks(about_symptoms, mentions),
    )


def statements_by_author(statements: pl.DataFrame, table: pl.DataFrame) -> pl.DataFrame:
    """One row per author, symptom and status of `other_statements`: the number of posts, when, and which."""
    places = table.select("id", "author", "when")
    # In the order of the corpus; a post that is not in it was not explained.
    with_authors = places.join(statements, on="id", maintain_order="left")
    grouped = with_authors.group_by(*_PAIR, "status", maintain_order=True).agg(
        pl.len().alias("posts"),
        pl.col("when").min().alias("first"),
        pl.col("when").max().alias("last"),
        pl.col("id").head(MOST_IDS).alias("ids"),
    )
    return grouped.sort("author", "posts", "symptom", "status", descending=[False, True, False, False])


def _posts_about_symptoms(posts: Posts, threshold: float) -> pl.DataFrame:
    """One row per post and symptom whose weight reaches the threshold."""
    rows, columns = np.nonzero(posts.weights >= threshold)
    names = np.array(posts.symptoms, dtype=object)[columns]
    weights = posts.weights[rows, columns].astype(np.float64)
    # Placed before the choice: shares and timelines count all posts of an author.
    chosen = _placed(posts.table)[rows]
    return chosen.with_columns(
        pl.Series("symptom", names, pl.String),
        pl.Series("weight", weights),
    )


def _mentions(about_symptoms: pl.DataFrame, min_posts: int) -> pl.DataFrame:
    """One row per author and symptom with at least so many posts, the most mentioned first."""
    # The order decides which ids are named: those of the heaviest posts.
    heaviest_first = about_symptoms.sort("weight", descending=True, maintain_order=True)
    share = pl.len() / pl.col("posts_of_author").first()
    grouped = heaviest_first.group_by(_PAIR, maintain_order=True).agg(
        pl.len().alias("posts"),
        share.alias("share"),
        pl.col("weight").max(),
        pl.col("when").min().alias("first"),
        pl.col("when").max().alias("last"),
        pl.col("id").head(MOST_IDS).alias("ids"),
    )

    frequent = grouped.filter(pl.col("posts") >= min_posts)
    return frequent.sort(
        "author",
        "posts",
        "weight",
        "symptom",  # so that ties have one order
        descending=[False, True, True, False],
    )


def _marks(about_symptoms: pl.DataFrame, mentions: pl.DataFrame) -> pl.DataFrame:
    """The cells of the timelines: per author, symptom and column, the posts and the largest weight."""
    cell = [*_PAIR, "column"]
    mentioned = about_symptoms.join(mentions.select(_PAIR), on=_PAIR)
    # A post without a time has no place on an axis of time.
    drawn = mentioned.drop_nulls("column")
    marks = drawn.group_by(cell).agg(
        pl.len().alias("posts"),
        pl.col("weight").max(),
    )
    return marks.sort(cell)


def _people(table: pl.DataFrame, mentions: pl.DataFrame) -> pl.DataFrame:
    """One row per author; `unordered`: the corpus does not list the posts in the order of their times."""
    times = pl.col("when").drop_nulls()
    goes_back = times.diff().min() < 0
    people = table.group_by("author", maintain_order=True).agg(
        pl.len().alias("posts"),
        pl.col("sentences").sum(),
        pl.col("when").min().alias("first"),
        pl.col("when").max().alias("last"),
        pl.col("when").null_count().alias("untimed"),
        goes_back.fill_null(value=False).alias("unordered"),  # null: fewer than two times
    )
    symptoms = mentions.group_by("author").agg(pl.len().alias("symptoms"))
    joined = people.join(symptoms, on="author", how="left", maintain_order="left")
    return joined.with_columns(pl.col("symptoms").fill_null(0))


def _placed(table: pl.DataFrame) -> pl.DataFrame:
    """The posts with the number of their author's posts and their column of the timeline.

    Columns are spans of equal time between the author's first and last post; where no two times are known,
    equal numbers of posts. A post without a time has no column on an axis of time.
    """
    posts_of_author = pl.len().over("author")
    first = pl.col("when").min().over("author")
    last = pl.col("when").max().over("author")
    span = (last - first).fill_null(0)

    by_time = (pl.col("when") - first) / span
    by_order = pl.int_range(pl.len()).over("author") / posts_of_author
    share = pl.when(span > 0).then(by_time).otherwise(by_order)
    # The last post has a share of 1, which would be a column of its own.
    column = (share * COLUMNS).floor().clip(0, COLUMNS - 1).cast(pl.Int64)
    return table.with_columns(posts_of_author.alias("posts_of_author"), column.alias("column"))


def _coverage(posts: Posts, graph: Graph, mentions: pl.DataFrame) -> pl.DataFrame:
    """How many of each condition's tagged symptoms an author writes about, the best covered first.

    `weight` is the mean over these symptoms of the author's largest weight, 0 for a symptom not found.
    """
    authors = posts.authors
    columns = {name: column for column, name in enumerate(posts.symptoms)}
    largest = _largest_weights(authors, columns, mentions)
    parts = []
    for condition in graph.disease:
        names = [symptom.name for symptom in graph.of(condition)]
        # A symptom that was not tagged cannot be found, so it is not missing either.
        tagged_columns = [columns[name] for name in names if name in columns]
        if not tagged_columns:
            continue
        weights = largest[:, tagged_columns]
        figures = {
            "author": authors,
            "condition": condition,
            "found": (weights > 0).sum(1),
            "typical": len(tagged_columns),
            "weight": weights.mean(1),
        }
        parts.append(pl.DataFrame(figures))

    share = pl.col("found") / pl.col("typical")
    coverage = pl.concat(parts).with_columns(share.alias("share"))
    ranked = coverage.sort(
        "author",
        "share",
        "weight",
        "condition",
        descending=[False, True, True, False],
    )
    rank = pl.int_range(1, pl.len() + 1).over("author")
    return ranked.with_columns(rank.alias("rank"))


def _largest_weights(
    authors: Sequence[str], columns: Mapping[str, int], mentions: pl.DataFrame
) -> NDArray[np.float64]:
    """The largest weight of each symptom that an author mentions, (authors, symptoms); else 0."""
    rows = {author: row for row, author in enumerate(authors)}
    largest = np.zeros((len(rows), len(columns)))
    for author, symptom, weight in mentions.select("author", "symptom", "weight").iter_rows():
        largest[rows[author], columns[symptom]] = weight
    return largest
