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
_SEED = 0  # fixed, so that everybody who reads the release gets the same corpus
# "Wed Mar 01 08:00:00 +0000 2017"
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
    # Only this corpus is cleaned as it is read: the others need not load the word lists behind cleaning.
    from psycheck.corpora.cleaning import cleaned, steps_of

    left_out: Counter[str] = Counter()
    items: list[Item] = []
    for side, label in (("positive", 1.0), ("negative", 0.0)):
        items += _side(
            release=release,
            data=_folder(release, side),
            label=label,
            left_out=left_out,
        )

    raw_corpus = gather("shen-twitter", Loaded(items, left_out))
    corpus, _ = cleaned(raw_corpus, steps_of(preset="deck-tweets"))
    clean_texts = dict(zip(corpus.ids, corpus.texts, strict=True))
    left_items = [item for item in items if item.id in clean_texts]
    clean_items = [replace(item, text=clean_texts[item.id]) for item in left_items]

    # After cleaning, which may drop more texts of one class than of the other.
    balanced = _balanced(clean_items)
    counts = Counter(corpus.left_out)
    counts["drawn away to make the classes equally large"] = len(clean_items) - len(balanced)
    return Loaded(balanced, counts)


def anchors(text: str) -> bool:
    """Whether a tweet says, by the strict pattern, that its writer was diagnosed."""
    return _ANCHOR.search(text) is not None


def _folder(release: Release, side: str) -> Path:
    """The folder of a class, wherever in the archive the user points."""
    for start in ("", "labeled", "Dataset/labeled"):
        data = release.path / start / side / "data"
        if (data / "timeline").is_dir():
            return data
    raise release.missing(f"labeled/{side}/data/timeline/")


def _side(
    release: Release,
    data: Path,
    label: float,
    left_out: Counter[str],
) -> Iterator[Item]:
    """The tweets of the month before the anchor, of all users of one class; what is left out is counted."""
    anchor_tweets = _anchor_tweets(release, data / "tweet")
    for author, paths in _timelines(data / "timeline").items():
        timeline = _timeline(release, paths)
        end = _end_of_month(label, anchor_tweets[author.casefold()], timeline)
        if end is None:
            reason = "user without an anchor tweet" if timeline else "user without tweets"
            left_out[reason] += 1
            continue

        for tweet in timeline:
            # The end is excluded: the anchor names the label, so it must not be a text.
            if end - _MONTH <= tweet.time < end:
                yield Item(
                    id=tweet.id,
                    text=tweet.text,
                    labels={"depression": label},
                    author=author,
                    time=tweet.time.isoformat(),
                )
            else:
                left_out["tweet not of the month before the anchor"] += 1


def _anchor_tweets(release: Release, folder: Path) -> dict[str, list[_Tweet]]:
    """The tweets of `data/tweet` by their user's name, in small letters; no tweets for other names."""
    tweets: dict[str, list[_Tweet]] = defaultdict(list)
    for path in sorted(folder.glob("*.json")):
        for where, raw in release.json_lines(path):
            user = raw.get("user") if isinstance(raw, dict) else None
            name = user.get("screen_name") if isinstance(user, dict) else None
            if not isinstance(name, str):
                raise release.wrong(
                    "the tweet has no user.screen_name",
                    where,
                    code="release.missing-field",
                )
            tweets[name.casefold()].append(_tweet(release, raw, where))
    return tweets


def _timelines(folder: Path) -> dict[str, list[Path]]:
    """The files of each user's timeline, by the user's name."""
    paths_of_users: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(folder.glob("*.json")):
        named = _TIMELINE.fullmatch(path.name)
        user = named[1] if named else path.stem
        paths_of_users[user].append(path)
    return paths_of_users


def _timeline(release: Release, paths: list[Path]) -> list[_Tweet]:
    """The tweets of a user, of each id the last."""
    tweets: dict[str, _Tweet] = {}
    for path in paths:
        for where, raw in release.json_lines(path):
            tweet = _tweet(release, raw, where)
            tweets[tweet.id] = tweet
    return list(tweets.values())


def _end_of_month(label: float, anchor_tweets: list[_Tweet], timeline: list[_Tweet]) -> datetime | None:
    """The first anchor of a positive user, the last known tweet of another; None where there is none."""
    if label:
        tweets = [*anchor_tweets, *timeline]
        anchor_times = [tweet.time for tweet in tweets if anchors(tweet.text)]
        return min(anchor_times, default=None)
    last_tweets = anchor_tweets or timeline
    return max((tweet.time for tweet in last_tweets), default=None)


def _tweet(release: Release, raw: Any, where: str) -> _Tweet:
    """A tweet as Twitter's API gave it."""
    if not isinstance(raw, dict):
        raise release.wrong("the line is not a JSON object", where, code="release.not-an-object")
    # Twitter's API gives long tweets as `full_text`, and ids as numbers that other programs may round.
    id_ = raw.get("id_str") or raw.get("id")
    text = raw.get("full_text") or raw.get("text")
    if not isinstance(id_, str | int) or not isinstance(text, str):
        raise release.wrong("the tweet has no id or no text", where, code="release.missing-field")

    try:
        time = datetime.strptime(str(raw.get("created_at")), _CREATED)
    except ValueError:
        raise release.wrong(
            "created_at is not a time in Twitter's format",
            f"{where}, 'created_at'",
            code="release.not-a-time",
        ) from None
    return _Tweet(str(id_), text, time)


def _balanced(items: list[Item]) -> list[Item]:
    """As many items of each class, in their order."""
    places_of_classes: dict[float | None, list[int]] = defaultdict(list)
    for place, item in enumerate(items):
        places_of_classes[item.labels["depression"]].append(place)
    if len(places_of_classes) < 2:
        return items

    smallest = min(map(len, places_of_classes.values()))
    random = Random(_SEED)
    drawn_places: set[int] = set()
    for places in places_of_classes.values():
        drawn_places.update(random.sample(places, smallest))
    return [item for place, item in enumerate(items) if place in drawn_places]
