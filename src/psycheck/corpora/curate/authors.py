"""Authors, resolved one file at a time: who discloses, who may be a control, and whose posts go on."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from psycheck.corpora.curate.dumps import Tally
from psycheck.corpora.curate.listed import holds_term, words_in
from psycheck.corpora.curate.settings import Curating
from psycheck.corpora.curate.spill import Kept, bits, drawn, mask, put_aside
from psycheck.corpora.curate.store import CONTROL_SIDE, DISCLOSING_SIDE, Posts

DUPLICATE = "duplicate id"


@dataclass(slots=True)
class _Author:
    """What is known of one author after all their posts: counts of posts, and what any of them shows."""

    posts: int = 0
    inside: int = 0
    long: int = 0
    reports: int = 0
    named: int = 0
    named_inside: int = 0
    listed: bool = False


@dataclass(slots=True)
class Resolved:
    """How many posts and authors there are at the steps that are decided before a text is looked at."""

    posts: Counter[str] = field(default_factory=Counter)
    authors: Counter[str] = field(default_factory=Counter)
    by_condition: Counter[str] = field(default_factory=Counter)
    drawn_controls: int = 0

    def count(self, step: str, posts: int) -> None:
        """Count one author with so many posts at a step."""
        self.posts[step] += posts
        self.authors[step] += 1


def resolve(files: Sequence[Path], how: Curating, store: Posts, tally: Tally) -> Resolved:
    """Put the posts of disclosing authors and of drawn control authors into the store, and count the rest.

    Files come in rising order of draws, so that the control authors with the lowest draws, a random sample,
    are complete when enough were met; after that no control's text is looked at.
    """
    done = Resolved()
    wanted = mask(how.conditions)
    holds = holds_term()
    for path in files:
        authors = _authors(path, how, tally)
        sides: dict[int, int] = {}
        for draw in sorted(authors):
            side = _side(authors[draw], how, wanted, done)
            if side is not None:
                sides[draw] = side
        if not sides:
            continue
        again = store.add(
            (
                post,
                sides[post.draw],
                authors[post.draw].named_inside & wanted,
                sides[post.draw] == CONTROL_SIDE and holds(words_in(post.text or "")),
                drawn(how.seed, post.id),
            )
            for post in _distinct(path)
            if post.raw and post.draw in sides and (post.inside or sides[post.draw] == CONTROL_SIDE)
        )
        for place in again:
            tally.fault(DUPLICATE, place)
    return done


def _side(author: _Author, how: Curating, wanted: int, done: Resolved) -> int | None:
    """On which side an author stands, None for neither; every step on the way is counted."""
    done.count("read", author.posts)
    if author.inside:
        done.count("subreddits", author.inside)
    if author.named_inside & wanted:
        done.count("disclosing", author.inside)
        done.posts["reports"] += author.reports
        for name in bits(author.named_inside & wanted):
            done.by_condition[name] += 1
        return DISCLOSING_SIDE
    if author.named:
        done.count("other_condition", author.posts)
        return None
    if not how.controls or author.listed:
        return None
    done.count("never_listed", author.posts)
    if author.long < how.min_posts:
        return None
    done.count("control_long", author.long)
    if done.drawn_controls >= how.control_authors:
        return None
    done.drawn_controls += 1
    return CONTROL_SIDE


def _authors(path: Path, how: Curating, tally: Tally) -> dict[int, _Author]:
    authors: dict[int, _Author] = {}
    for post in _distinct(path, tally):
        author = authors.get(post.draw)
        if author is None:
            author = authors[post.draw] = _Author()
        long = post.words >= how.min_words and not post.named
        author.posts += 1
        author.long += long
        author.named |= post.named
        author.listed |= post.listed
        if post.inside:
            author.inside += 1
            author.reports += post.named != 0
            author.named_inside |= post.named
    return authors


def _distinct(path: Path, tally: Tally | None = None) -> Iterator[Kept]:
    """The posts of a file, the first of each id; further ones are counted where there is a tally."""
    met: set[str] = set()
    for post in put_aside(path):
        if post.id in met:
            if tally is not None:
                tally.fault(DUPLICATE, post.place)
            continue
        met.add(post.id)
        yield post
