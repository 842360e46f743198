"""Other columns of a corpus, such as a topic or a forum, for the slots of a prompt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from psycheck.corpora.opening import open_corpus
from psycheck.llm.near_posts import hashed_shingles, shared_shingles
from psycheck.llm.prompts import NOT_KNOWN
from psycheck.models.fingerprint import hashed

_LONGEST_VALUE: Final = 500  # characters; a longer value would be a post of its own


@dataclass(frozen=True)
class PostColumns:
    """The values of some columns for the posts of a file; an edited post has those of its original."""

    names: tuple[str, ...]
    posts: Sequence[str] = field(repr=False)
    values: Sequence[Mapping[str, str]] = field(repr=False)
    fingerprint: str

    def of(self, posts: Sequence[str]) -> list[Mapping[str, str]]:
        """The values for each post: of its near-duplicate if it is not in the file, else "not known"."""
        rows = [self._rows.get(post) for post in posts]
        missing = [place for place, row in enumerate(rows) if row is None]
        if missing:
            shares = shared_shingles(hashed_shingles([posts[place] for place in missing]), self._shingles)
            for number, place in enumerate(missing):
                near = shares[[number]].tocoo()
                if near.nnz:
                    # Of equally near posts the first.
                    rows[place] = int(near.coords[1][near.data.argmax()])

        unknown = dict.fromkeys(self.names, NOT_KNOWN)
        return [unknown if row is None else self.values[row] for row in rows]

    @cached_property
    def _rows(self) -> Mapping[str, int]:
        """The row of each post, of repeated posts the first."""
        last_first = reversed(list(enumerate(self.posts)))
        return {post: row for row, post in last_first}

    @cached_property
    def _shingles(self) -> Any:
        return hashed_shingles(self.posts)


def open_post_columns(path: str, names: Sequence[str]) -> PostColumns:
    """Read some columns of a corpus; one that it does not have is an error that lists them."""
    corpus = open_corpus(path, groups=tuple(names))
    columns = [corpus.group(name) for name in names]
    values = [
        dict(zip(names, (_plain(value) for value in row), strict=True)) for row in zip(*columns, strict=True)
    ]
    return PostColumns(
        names=tuple(names),
        posts=corpus.texts,
        values=values,
        fingerprint=hashed(*names, *corpus.texts, *[value for row in values for value in row.values()]),
    )


def _plain(value: str | None) -> str:
    """A value as one line of limited length."""
    return " ".join((value or NOT_KNOWN).split())[:_LONGEST_VALUE]
