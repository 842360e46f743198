"""Settings of `curate`; the defaults follow ANGST 3.1 and PsySym 3.4–3.5."""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

from psycheck.core.errors import BadInput, nearest
from psycheck.corpora.curate.disclosure import known_conditions
from psycheck.corpora.curate.lexicons import WORDS, ScoreBy
from psycheck.io.settings import AT_LEAST_0, AT_LEAST_1, Limit, check_values

PARTS = ("train", "dev", "test")
FIVE_ONE_FOUR: Mapping[str, float] = {"train": 5.0, "dev": 1.0, "test": 4.0}
AtLeastOne = Annotated[int, AT_LEAST_1]
NotNegative = Annotated[int, AT_LEAST_0]


@dataclass(frozen=True, slots=True)
class Curating:
    """What to keep of a dump.

    `conditions` to look for (none: all nine); `subreddits` from which to take disclosures and posts of
    disclosing authors (none: all; "listed": the shipped list). `top_k` = 0 keeps all posts; `sample` = 0
    takes no sample of them; `control_posts` = 0 takes as many as there are posts of disclosing authors.
    `score_by` says whether a post's score by a lexicon is the share of its words or their total, as in
    ANGST's Table 7. `split_by` names what a split must not cut through: "author", "subreddit", "time".
    """

    conditions: tuple[str, ...] = ()
    subreddits: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    controls: bool = False
    min_words: AtLeastOne = 75
    min_posts: AtLeastOne = 10
    most_posts: AtLeastOne = 256
    rank: tuple[str, ...] = (WORDS,)
    score_by: ScoreBy = "share"
    nrc: Path | None = None
    top_k: NotNegative = 25_000
    sample: NotNegative = 0
    control_authors: AtLeastOne = 20_000
    control_posts: NotNegative = 0
    near: Annotated[float, Limit("above 0, at most 1 (identical texts)", lambda x: 0 < x <= 1)] = 0.8
    split: Mapping[str, float] = field(default_factory=lambda: FIVE_ONE_FOUR)
    split_by: tuple[Literal["author", "subreddit", "time"], ...] = ("author",)
    hash_ids: bool = False
    seed: NotNegative = 0

    def __post_init__(self) -> None:
        # The dataclass is frozen, and still under construction.
        object.__setattr__(self, "conditions", known_conditions(self.conditions))
        check_values(self)
        if self.begin >= self.end:
            raise BadInput(
                what=f"the first day ({self.since}) is after the last day ({self.until})",
                code="curate.days-reversed",
                key="since",
                allowed="a first day no later than the last",
            )

    @property
    def begin(self) -> float:
        """The first second to include."""
        if self.since is None:
            return -math.inf
        return _midnight(self.since)

    @property
    def end(self) -> float:
        """The first second to exclude: `until` is the last full day."""
        if self.until is None:
            return math.inf
        return _midnight(self.until) + timedelta(days=1).total_seconds()


def preset_settings(name: str) -> dict[str, Any]:
    """What a study kept, by its name."""
    file = Path(__file__).with_name("presets.toml")
    presets = tomllib.loads(file.read_text("utf-8"))
    if name not in presets:
        raise BadInput(
            f"there is no preset '{name}'",
            code="curate.unknown-preset",
            allowed=nearest(name, presets),
        )
    return dict(presets[name])


def split_of(ratio: str) -> dict[str, float]:
    """Parse "5:1:4" (train, dev, test) or "5:5" (train, test)."""
    try:
        shares = [float(share) for share in ratio.split(":")]
    except ValueError:
        shares = []
    are_usable = all(0 < share < math.inf for share in shares)
    if len(shares) not in (2, 3) or not are_usable:
        raise BadInput(
            what=f"cannot read the split '{ratio}'",
            code="split.unreadable-shares",
            key="split",
            allowed="TRAIN:DEV:TEST or TRAIN:TEST, such as 5:1:4",
        )

    # Of two shares none is for dev: training then takes its own from train.
    names = PARTS if len(shares) == 3 else ("train", "test")
    return dict(zip(names, shares, strict=True))


def _midnight(written: str) -> float:
    """The first second of a day, in UTC."""
    try:
        day = date.fromisoformat(written)
    except ValueError:
        raise BadInput(
            f"'{written}' is not a date",
            code="curate.not-a-date",
            allowed="YYYY-MM-DD, such as 2018-01-01",
        ) from None
    # Dumps have their times in UTC: a day of another zone would cut posts off at either end.
    midnight = datetime.combine(day, time.min, tzinfo=UTC)
    return midnight.timestamp()
