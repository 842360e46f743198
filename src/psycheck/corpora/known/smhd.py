"""SMHD and similar files: posts of users who report a diagnosis, and of control users.

`SMHD_train.jl.gz`, `SMHD_dev.jl.gz` and `SMHD_test.jl.gz` hold one JSON object per line: `id`, `label` (a
list of conditions, or "control") and `posts` (pairs of a time and a text), as public programs read version
1.1. `RC.jl.gz` beside them holds the relaxed controls, who belong to no split: it is opened only where it is
named itself. A user of another set may also have `posts` of strings or of objects with `text` and
`created_utc`.

A text is one post with the labels of its author. A control user is 0 for all nine conditions; a user who
reports a diagnosis is 1 for the conditions named and not annotated for the others.
"""

from collections.abc import Iterator
from typing import Any

from psycheck.corpora.known.release import Item, Loaded, Release

_ENDINGS = (".jl", ".jsonl", ".json", ".ndjson")
_SPLITS = {"train": "train", "dev": "dev", "valid": "dev", "test": "test"}
_CONTROL = "control"
_RELAXED = "RC"


def load(release: Release) -> Loaded:
    """One text for each post, with its author and time."""
    paths = release.files(*(f"*{ending}" for ending in _ENDINGS))
    if not paths:
        raise release.missing("SMHD_train.jl.gz")
    extra = [path for path in paths if path.name.partition(".")[0].upper() == _RELAXED and len(paths) > 1]
    paths = [path for path in paths if path not in extra]
    items: list[Item] = []
    for path in paths:
        split = next((split for part, split in _SPLITS.items() if part in path.name.lower()), None)
        for where, user in release.json_lines(path):
            items += _posts(release, user, where, split)
    note = "{} holds relaxed controls, who are in no split, and was not read: name this file to open it."
    return Loaded(items, notes=tuple(note.format(path.name) for path in extra))


def _posts(release: Release, user: Any, where: str, split: str | None) -> Iterator[Item]:
    if isinstance(user, list) and len(user) == 1:  # as in RSDD, the older set of the same owners
        user = user[0]
    if not isinstance(user, dict) or not isinstance(user.get("posts"), list):
        raise release.wrong("the line is not a user with a list of posts", where)
    author = user.get("id", user.get("user_id", user.get("author")))
    if not isinstance(author, str | int):
        raise release.wrong("the user has no id", where)
    labels = _labels(release, user.get("label", user.get("labels", user.get("diseases"))), where)
    for number, post in enumerate(user["posts"], start=1):
        time, text = _post(post)
        if text is None:
            raise release.wrong(f"post {number} is not a pair of a time and a text", where)
        yield Item(f"{author}-{number}", text, labels, author=str(author), time=time, split=split)


def _labels(release: Release, value: Any, where: str) -> dict[str, float | None]:
    named = [value] if isinstance(value, str) else value
    if not isinstance(named, list) or not all(isinstance(one, str) for one in named):
        raise release.wrong("the user has no list of labels", where)
    conditions = release.known.labels
    if not named or _CONTROL in named:
        return dict.fromkeys(conditions, 0.0)
    if unknown := set(named) - set(conditions):
        raise release.wrong(f"the user has {len(unknown)} labels that are not conditions of SMHD", where)
    return {condition: 1.0 if condition in named else None for condition in conditions}


def _post(post: Any) -> tuple[str | None, str | None]:
    """The time and the text of a post; no text if it is of another shape."""
    time = text = None
    if isinstance(post, str):
        text = post
    elif isinstance(post, list) and len(post) == 2:
        time, text = post
    elif isinstance(post, dict):
        time, text = post.get("created_utc", post.get("time")), post.get("text", post.get("body"))
    timed = isinstance(time, str | int | float) and str(time).strip()
    return str(time) if timed else None, text if isinstance(text, str) else None
