"""What a corpus is curated by; the defaults are those of ANGST 3.1 and PsySym 3.4–3.5."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from psycheck.corpora.curate.disclosure import known_conditions
from psycheck.corpora.curate.rank import WORDS
from psycheck.errors import BadInput

PARTS = ("train", "dev", "test")
FIVE_ONE_FOUR: Mapping[str, float] = {"train": 5.0, "dev": 1.0, "test": 4.0}


@dataclass(frozen=True, slots=True)
class Curating:
    """What is kept of a dump.

    `conditions` are looked for (none: all nine); `subreddits` bound where disclosures and posts of disclosing
    authors are taken from (none: everywhere; "listed": the shipped list). `top_k` of 0 keeps all posts;
    `sample` of 0 takes no sample of them; `control_posts` of 0 takes as many as there are posts of disclosing
    authors. `split_by` names what a split may not cut: "author", "subreddit", and "time" for splits in order.
    """

    conditions: tuple[str, ...] = ()
    subreddits: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    controls: bool = False
    min_words: int = 75
    min_posts: int = 10
    most_posts: int = 256
    rank: tuple[str, ...] = (WORDS,)
    nrc: Path | None = None
    top_k: int = 25_000
    sample: int = 0
    control_authors: int = 20_000
    control_posts: int = 0
    near: float = 0.8
    split: Mapping[str, float] = field(default_factory=lambda: FIVE_ONE_FOUR)
    split_by: tuple[str, ...] = ("author",)
    hash_ids: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "conditions", known_conditions(self.conditions))
        for name in ("min_words", "min_posts", "most_posts", "control_authors"):
            if getattr(self, name) < 1:
                raise BadInput(f"{_option(name)} is {getattr(self, name)}", allowed="1 or more")
        for name in ("top_k", "sample", "control_posts", "seed"):
            if getattr(self, name) < 0:
                raise BadInput(f"{_option(name)} is {getattr(self, name)}", allowed="0 or more")
        if not 0 < self.near <= 1:
            raise BadInput(f"{_option('near')} is {self.near:g}", allowed="above 0, at most 1 (only copies)")
        for name in self.split_by:
            if name not in ("author", "subreddit", "time"):
                raise BadInput(f"a split cannot go by '{name}'", allowed="author, subreddit, time")
        if self.begin >= self.end:
            raise BadInput("--since is not before --until", where=f"{self.since} and {self.until}")

    @property
    def begin(self) -> float:
        """The first second that is taken."""
        return -math.inf if self.since is None else _midnight(self.since)

    @property
    def end(self) -> float:
        """The first second that is not taken any more: `until` is the last whole day."""
        return math.inf if self.until is None else _midnight(self.until) + timedelta(days=1).total_seconds()


def split_of(said: str) -> dict[str, float]:
    """The shares of "5:1:4" (train, dev, test) or "5:5" (train, test)."""
    try:
        shares = [float(share) for share in said.split(":")]
    except ValueError:
        shares = []
    names = PARTS if len(shares) == 3 else (PARTS[0], PARTS[2])
    if len(shares) not in (2, 3) or not all(0 < share < math.inf for share in shares):
        raise BadInput(
            f"a split of '{said}' is not understood", allowed="TRAIN:DEV:TEST or TRAIN:TEST, such as 5:1:4"
        )
    return dict(zip(names, shares, strict=True))


def _midnight(said: str) -> float:
    try:
        day = date.fromisoformat(said)
    except ValueError:
        raise BadInput(f"'{said}' is no date", allowed="YYYY-MM-DD, such as 2018-01-01") from None
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")
