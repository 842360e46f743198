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
        rows = [self._rows.get(post, -1) for post in posts]
        missing = [place for place, row in enumerate(rows) if row < 0]
        originals = self._originals([posts[place] for place in missing])
        for place, row in zip(missing, originals, strict=True):
            rows[place] = row

        unknown = dict.fromkeys(self.names, NOT_KNOWN)
        return [unknown if row < 0 else self.values[row] for row in rows]

    def _originals(self, posts: Sequence[str]) -> list[int]:
        """The row of the nearest duplicate of each post, of equally near ones the first; −1 without one."""
        if not posts:
            return []
        shares = shared_shingles(hashed_shingles(posts), self._shingles)
        rows = []
        for number in range(len(posts)):
            near = shares[[number]].tocoo()
            if near.nnz:
                nearest = near.data.argmax()
                rows.append(int(near.coords[1][nearest]))
            else:
                rows.append(-1)
        return rows

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
    posts = corpus.texts
    columns = [corpus.group(name) for name in names]
    values = []
    for row in zip(*columns, strict=True):
        plain_values = map(_plain, row)
        values.append(dict(zip(names, plain_values, strict=True)))

    all_values = [value for row_values in values for value in row_values.values()]
    return PostColumns(
        names=tuple(names),
        posts=posts,
        values=values,
        fingerprint=hashed(*names, *posts, *all_values),
    )


def _plain(value: str | None) -> str:
    """A value as one line of limited length."""
    words = (value or NOT_KNOWN).split()
    return " ".join(words)[:_LONGEST_VALUE]
