"""The steps that narrow the stored posts down to the corpus, each with how many posts and authors it left."""

from array import array
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import pairwise

import numpy as np

from psycheck.core.errors import BadInput
from psycheck.core.finding import Finding
from psycheck.corpora.curate.dumps import SHOWN
from psycheck.corpora.curate.lexicons import Score, joined
from psycheck.corpora.curate.posts_on_disk import CONTROL, DISCLOSING, Posts, Resolved
from psycheck.corpora.curate.settings import Curating
from psycheck.corpora.near_duplicates import near_places
from psycheck.text.clean import only_english

BOTH = "both"
"""The side of a step that is about all authors."""

_SPARE = 1.25  # so many times the posts that are wanted are searched for near-duplicates at first


@dataclass(frozen=True, slots=True)
class Step:
    """The posts and authors that one step left, and ids or places of what it removed."""

    name: str
    side: str
    posts: int
    authors: int
    before: int
    counts: Mapping[str, int] = field(default_factory=dict)
    examples: tuple[str, ...] = ()

    def finding(self) -> Finding:
        """The step as a finding: `value` is the number of posts left, `n` the number before it."""
        counts = {
            "posts": self.posts,
            "authors": self.authors,
            "removed": self.before - self.posts,
        }
        return Finding(
            measure="funnel",
            value=float(self.posts),
            n=self.before,
            where={"step": self.name, "side": self.side},
            counts={**counts, **self.counts},
            examples=self.examples,
        )


def knows_languages() -> bool:
    """Whether the library that tells languages apart is installed; without it any language is taken."""
    return find_spec("py3langid") is not None


@dataclass(frozen=True, slots=True)
class Funnel:
    """The posts in the store and the steps so far; what is left at the end gets into the corpus."""

    store: Posts
    how: Curating
    steps: list[Step]

    def take_disclosing(self, scores: Sequence[Score]) -> None:
        """Leave the posts of disclosing authors that get into the corpus."""
        self._record(DISCLOSING, "min_words")
        self._limit_authors(DISCLOSING)

        ranked = self._ranked(scores)
        self._narrow(
            DISCLOSING,
            "top_k",
            first_posts=lambda size: ranked[:size],
            most=self.how.top_k or len(ranked),
        )
        if self.how.sample:
            sample = self.store.by_pick(DISCLOSING, self.how.sample)
            self.store.remove(DISCLOSING, "others", sample)
            self._record(DISCLOSING, "sample")

    def take_controls(self, resolved: Resolved) -> None:
        """Leave the posts of control authors that get into the corpus."""
        self._record_resolved_controls(resolved)
        self._record(CONTROL, "control_authors")
        # A control that writes about a condition may have it.
        self.store.remove(CONTROL, "terms", 1)
        self._record(CONTROL, "no_terms")
        self._limit_authors(CONTROL)
        self._refuse_no_control_left(resolved)

        disclosing_ids = [id_ for id_, _ in self.store.texts(DISCLOSING)]
        other_language: set[str] = set()

        def is_english(id_: str, text: str) -> bool:
            # The same posts come by again where more of them are searched for near-duplicates.
            if only_english(text) is None:
                other_language.add(id_)
            return id_ not in other_language

        fits = is_english if knows_languages() else None
        self._narrow(
            CONTROL,
            "sample",
            first_posts=lambda size: self.store.by_pick(CONTROL, size, fits),
            # As many as posts of disclosing authors, unless a number is set.
            most=self.how.control_posts or len(disclosing_ids),
            originals=disclosing_ids,
            other_language=other_language,
        )
        self._refuse_no_control_left(resolved)

    def _record_resolved_controls(self, resolved: Resolved) -> None:
        """Write down the steps that were decided before a text was looked at."""
        for before, name in pairwise(("read", "never_listed", "no_mentions", "control_long")):
            self.steps.append(
                Step(
                    name=name,
                    side=CONTROL,
                    posts=resolved.posts[name],
                    authors=resolved.authors[name],
                    before=resolved.posts[before],
                )
            )

    def _refuse_no_control_left(self, resolved: Resolved) -> None:
        posts_left, _ = self.store.count(CONTROL)
        if not posts_left:
            raise BadInput(
                what="no control post is left",
                code="curate.no-control-posts",
                where=f"{resolved.authors['never_listed']:,} authors never post in the listed subreddits",
                do="lower `min_posts` or `min_words`, or name dumps of other subreddits, in English, as well",
            )

    def _record(self, side: str, name: str, *, examples: Sequence[str] = (), **counts: int) -> None:
        """Write down how many posts and authors a step has left in the store."""
        posts, authors = self.store.count(side)
        before = next(step.posts for step in reversed(self.steps) if step.side == side)
        self.steps.append(
            Step(
                name=name,
                side=side,
                posts=posts,
                authors=authors,
                before=before,
                counts=counts,
                examples=tuple(examples[:SHOWN]),
            )
        )

    def _limit_authors(self, side: str) -> None:
        """Take away authors with few posts, and what others wrote after their first posts."""
        self.store.remove(side, "few", self.how.min_posts)
        self._record(side, "min_posts")
        self.store.remove(side, "late", self.how.most_posts)
        self._record(side, "most_posts")

    def _ranked(self, scores: Sequence[Score]) -> list[str]:
        """The ids of disclosing authors' posts, the highest score first, ties by id."""
        ids = []
        values = array("d")  # 8 bytes per score: there may be millions of posts
        for id_, text in self.store.texts(DISCLOSING):
            ids.append(id_)
            values.extend(score(text) for score in scores)

        table = np.frombuffer(values, dtype=np.float64).reshape(len(ids), len(scores))
        order = np.argsort(-joined(list(table.T)), kind="stable")
        return [ids[place] for place in order]

    def _narrow(
        self,
        side: str,
        name: str,
        *,
        first_posts: Callable[[int], list[str]],
        most: int,
        originals: Sequence[str] = (),
        other_language: Collection[str] = (),
    ) -> None:
        """Take away near-duplicates and leave the first posts in order, at most `most`.

        `first_posts` gives the ids of so many first posts, and adds to `other_language` those that it passes
        over. More than `most` are searched, and more again where so many are taken away that too few are
        left: what was not searched never gets into the corpus.
        """
        # Searching all posts for near-duplicates would take long where few of them are wanted.
        size = int(most * _SPARE) + 100
        while True:
            pool = first_posts(size)
            copies = self._copies(pool, originals)
            all_searched = len(pool) < size
            enough_left = len(pool) - len(copies) >= most
            if all_searched or enough_left:
                break
            size *= 2

        if side == CONTROL and knows_languages():
            looked_through = len(pool) + len(other_language)
            self._remove_ids(
                side,
                "english",
                sorted(other_language),
                looked_through,
            )
        self._remove_ids(
            side,
            "near_duplicates",
            copies,
            len(pool),
        )

        dropped = set(copies)
        distinct = [id_ for id_ in pool if id_ not in dropped]
        self.store.remove(side, "others", distinct[:most])
        self._record(side, name)

    def _remove_ids(
        self,
        side: str,
        name: str,
        ids: list[str],
        looked_through: int,
    ) -> None:
        """Take away posts that a search found, and write down how many it looked through."""
        self.store.remove(side, "ids", ids)
        self._record(
            side,
            name,
            examples=ids,
            looked_through=looked_through,
        )

    def _copies(self, pool: Sequence[str], originals: Sequence[str]) -> list[str]:
        """The ids of the pool that nearly repeat an older post of it, or one of `originals`, which stay."""
        safe = set(originals)
        by_time = self.store.oldest_first([*originals, *pool])
        # The originals first (False sorts before True), each part by time: of a pair the later one goes.
        ids = sorted(by_time, key=lambda id_: id_ not in safe)

        def text_at(place: int) -> str:
            # The texts stay on the disk: they may be tens of thousands, and each is looked at once or twice.
            return self.store.text(ids[place])

        dropped: set[int] = set()
        pairs = near_places(
            text_at=text_at,
            count=len(ids),
            threshold=self.how.near,
            seed=self.how.seed,
        )
        for first, second in pairs:
            if first not in dropped and ids[second] not in safe:
                dropped.add(second)
        return [ids[place] for place in sorted(dropped)]
