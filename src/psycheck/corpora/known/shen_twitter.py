"""Shen et al. (2017), DECK's TWSELFDIAG: tweets of the month before a user says to have been diagnosed.

The archive holds `labeled/positive` and `labeled/negative`, each with `data/tweet/ID.json` (the anchor tweet
of a user) and `data/timeline/NAMEcreated_atNUMBER.json` (tweets, one JSON object per line, several files a
user). Its authors do not document it: the layout was checked against public programs that read it, not
against the archive itself.

As DECK 4.2 has it: a positive user has an anchor tweet with the strict pattern "(I'm/I was/I am/I've been)
diagnosed depression"; the tweets of the 30 days before it are kept, cleaned by the preset `deck-tweets`, and
both classes are made equally large, with a fixed seed. For a user of the negative class the month ends with
the tweet in `data/tweet`, or else with the last tweet of the timeline. The anchor itself is never a text.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from psycheck.corpora.known.release import Item, Loaded, Release, gather

_MONTH = timedelta(days=30)
_SEED = 0
_CREATED = "%a %b %d %H:%M:%S %z %Y"
_TIMELINE = re.compile(r"(.+?)created_at-?\d+\.json")
# "diagnosed depression" in the paper; between the words stand "just", "with", "severe" and the like.
_ANCHOR = re.compile(
    r"\b(?:i['’]?m|i am|i was|i['’]?ve been|i have been)\s+(?:\w+\s+)?diagnosed\s+"
    r"(?:(?:with|as|having|of)\s+){0,2}(?:[\w-]+\s+){0,3}depression\b",
    re.I,
)


class _Tweet(NamedTuple):
    id: str
    text: str
    time: datetime


def load(release: Release) -> Loaded:
    """The cleaned tweets of the month before the anchor, as many of each class."""
    from psycheck.corpora.clean import cleaned, steps_of

    left_out: Counter[str] = Counter()
    items = [
        item
        for side, label in (("positive", 1.0), ("negative", 0.0))
        for item in _side(release, _folder(release, side), label, left_out)
    ]
    corpus, _ = cleaned(gather("shen-twitter", Loaded(items, left_out)), steps_of(preset="deck-tweets"))
    texts = dict(zip(corpus.ids, corpus.texts, strict=True))
    kept = [replace(item, text=texts[item.id]) for item in items if item.id in texts]
    counts = Counter(corpus.left_out)
    balanced = _balanced(kept)
    counts["drawn away to make the classes equally large"] = len(kept) - len(balanced)
    return Loaded(balanced, counts)


def anchors(text: str) -> bool:
    """Whether a tweet says, by the strict pattern, that its writer was diagnosed."""
    return _ANCHOR.search(text) is not None


def _folder(release: Release, side: str) -> Path:
    """The folder of a class, wherever in the archive the user points."""
    for start in ("", "labeled", "Dataset/labeled"):
        if (folder := release.path / start / side / "data" / "timeline").is_dir():
            return folder.parent
    raise release.missing(f"labeled/{side}/data/timeline/")


def _side(release: Release, data: Path, label: float, left_out: Counter[str]) -> Iterator[Item]:
    seeds: dict[str, list[_Tweet]] = defaultdict(list)
    for path in sorted((data / "tweet").glob("*.json")):
        for where, raw in release.json_lines(path):
            user = raw.get("user") if isinstance(raw, dict) else None
            name = user.get("screen_name") if isinstance(user, dict) else None
            if not isinstance(name, str):
                raise release.wrong("the tweet has no user.screen_name", where)
            seeds[name.casefold()].append(_tweet(release, raw, where))
    timelines: dict[str, list[Path]] = defaultdict(list)
    for path in sorted((data / "timeline").glob("*.json")):
        named = _TIMELINE.fullmatch(path.name)
        timelines[named[1] if named else path.stem].append(path)
    for author, paths in timelines.items():
        read = (pair for path in paths for pair in release.json_lines(path))
        tweets = {tweet.id: tweet for tweet in (_tweet(release, raw, where) for where, raw in read)}
        mine = seeds[author.casefold()]
        # The month ends at the first anchor of a positive user, at the last known tweet of another.
        if label:
            anchored = (tweet.time for tweet in (*mine, *tweets.values()) if anchors(tweet.text))
            end = min(anchored, default=None)
        else:
            end = max((tweet.time for tweet in mine or tweets.values()), default=None)
        if end is None:
            left_out["user without tweets" if not tweets else "user without an anchor tweet"] += 1
            continue
        for tweet in tweets.values():
            if end - _MONTH <= tweet.time < end:
                time = tweet.time.isoformat()
                yield Item(tweet.id, tweet.text, {"depression": label}, author=author, time=time)
            else:
                left_out["tweet not of the month before the anchor"] += 1


def _tweet(release: Release, raw: Any, where: str) -> _Tweet:
    if not isinstance(raw, dict):
        raise release.wrong("the line is not a JSON object", where)
    number = raw.get("id_str") or raw.get("id")
    text = raw.get("full_text") or raw.get("text")
    if not isinstance(number, str | int) or not isinstance(text, str):
        raise release.wrong("the tweet has no id or no text", where)
    try:
        return _Tweet(str(number), text, datetime.strptime(str(raw.get("created_at")), _CREATED))
    except ValueError:
        what = "created_at is not a time in Twitter's format"
        raise release.wrong(what, f"{where}, 'created_at'") from None


def _balanced(items: list[Item]) -> list[Item]:
    """As many items of each class, in their order."""
    rows: dict[float | None, list[int]] = defaultdict(list)
    for row, item in enumerate(items):
        rows[item.labels["depression"]].append(row)
    if len(rows) < 2:
        return items
    fewest = min(map(len, rows.values()))
    random = Random(_SEED)
    keep = {row for mine in rows.values() for row in random.sample(mine, fewest)}
    return [item for row, item in enumerate(items) if row in keep]
