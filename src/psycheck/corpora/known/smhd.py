"""SMHD and similar files: posts of users who report a diagnosis, and of control users.

`SMHD_train.jl.gz`, `SMHD_dev.jl.gz` and `SMHD_test.jl.gz` hold one JSON object per line: `id`, `label` (a
list of conditions, or "control") and `posts` (pairs of a time and a text), as public programs read version
1.1. `RC.jl.gz` beside them holds the relaxed controls, who belong to no split: it is opened only where it is
named itself. A user of another set may also have `posts` of strings or of objects with `text` and
`created_utc`.

A text is one post with the labels of its author. A control user is 0 for all nine conditions; a user who
reports a diagnosis is 1 for the conditions named and not annotated for the others.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from psycheck.corpora.known.release import Item, Loaded, Release

_ENDINGS = (".jl", ".jsonl", ".json", ".ndjson")
_SPLITS = {
    "train": "train",
    "dev": "dev",
    "valid": "dev",
    "test": "test",
}
_CONTROL = "control"
_RELAXED = "RC"  # the file of the relaxed controls
# As SMHD calls them, then as other sets of users and posts do.
_AUTHOR_KEYS = ("id", "user_id", "author")
_LABEL_KEYS = ("label", "labels", "diseases")


def load(release: Release) -> Loaded:
    """One text for each post, with its author and time."""
    paths = release.files(*(f"*{ending}" for ending in _ENDINGS))
    if not paths:
        raise release.missing("SMHD_train.jl.gz")

    relaxed = [path for path in paths if path.name.partition(".")[0].upper() == _RELAXED]
    if len(paths) == 1:  # the relaxed controls are read where the user names their file
        relaxed = []

    items: list[Item] = []
    for path in paths:
        if path in relaxed:
            continue
        split = _split_of_file(path.name)
        for where, user in release.json_lines(path):
            items += _posts(
                release=release,
                user=user,
                where=where,
                split=split,
            )

    note = "{} holds relaxed controls, who are in no split, and was not read: name this file to open it."
    return Loaded(items, notes=tuple(note.format(path.name) for path in relaxed))


def _split_of_file(name: str) -> str | None:
    """The split that a file's name contains."""
    for part, split in _SPLITS.items():
        if part in name.lower():
            return split
    return None


def _posts(
    release: Release,
    user: Any,
    where: str,
    split: str | None,
) -> Iterator[Item]:
    """The posts of one user, each with the user's labels."""
    if isinstance(user, list) and len(user) == 1:  # as in RSDD, the older set of the same owners
        user = user[0]
    if not isinstance(user, dict) or not isinstance(user.get("posts"), list):
        raise release.wrong(
            "the line is not a user with a list of posts",
            where,
            code="release.not-a-user",
        )

    author = _first_of(user, _AUTHOR_KEYS)
    if not isinstance(author, str | int):
        raise release.wrong("the user has no id", where, code="release.missing-field")

    labels = _labels(release, _first_of(user, _LABEL_KEYS), where)
    for number, post in enumerate(user["posts"], start=1):
        time, text = _time_and_text(post)
        if text is None:
            raise release.wrong(
                f"post {number} is not a pair of a time and a text",
                where,
                code="release.not-a-post",
            )
        yield Item(
            id=f"{author}-{number}",
            text=text,
            labels=labels,
            author=str(author),
            time=time,
            split=split,
        )


def _first_of(record: Mapping[str, Any], keys: Sequence[str]) -> Any:
    """The value of the first of these keys that a record has, or None."""
    for key in keys:
        if key in record:
            return record[key]
    return None


def _labels(release: Release, value: Any, where: str) -> dict[str, float | None]:
    """The labels of a user, from a list of conditions, or "control"."""
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise release.wrong("the user has no list of labels", where, code="release.no-labels")

    conditions = release.known.labels
    if not names or _CONTROL in names:
        return dict.fromkeys(conditions, 0.0)

    # Only their number is shown: a line of another file may hold anything in this place.
    unknown = set(names) - set(conditions)
    if unknown:
        raise release.wrong(
            f"the user has {len(unknown)} labels that are not conditions of SMHD",
            where,
            code="release.unknown-labels",
        )

    # Who does not report a condition may still have it: not annotated, not 0.
    labels: dict[str, float | None] = dict.fromkeys(conditions)
    labels |= dict.fromkeys(names, 1.0)
    return labels


def _time_and_text(post: Any) -> tuple[str | None, str | None]:
    """The time and the text of a post; no text if it is of another shape."""
    time = text = None
    if isinstance(post, str):
        text = post
    elif isinstance(post, list) and len(post) == 2:
        time, text = post
    elif isinstance(post, dict):
        time = _first_of(post, ("created_utc", "time"))
        text = _first_of(post, ("text", "body"))

    if not isinstance(text, str):
        text = None
    has_time = isinstance(time, str | int | float) and str(time).strip()
    return str(time) if has_time else None, text
