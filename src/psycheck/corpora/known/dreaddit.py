"""Dreaddit: segments of Reddit posts, annotated for stress by crowd workers.

`dreaddit-train.csv` and `dreaddit-test.csv` have `text`, `label` (0 or 1), `confidence` (share of annotators
who agree), `subreddit`, and, as released, `id`, `post_id`, `sentence_range`, `social_timestamp` and many
computed columns that are not read.
"""

from psycheck.corpora.known.release import Item, Loaded, Release

_PARTS = {"train": "dreaddit-train.csv", "test": "dreaddit-test.csv"}


def load(release: Release) -> Loaded:
    """One text for each segment, with the split of its file."""
    items: list[Item] = []
    for split, pattern in _PARTS.items():
        if release.path.is_file() and not release.files(pattern):
            continue
        sheet = release.table(release.file(pattern), "text", "label", "subreddit")
        rows = zip(
            sheet.words("id"),
            sheet.texts("text"),
            sheet.marks("label"),
            sheet.words("subreddit"),
            sheet.words("social_timestamp"),
            strict=True,
        )
        items += [
            Item(
                f"{split}-{number or row}",
                text,
                {"stress": mark},
                time=time,
                split=split,
                groups={"subreddit": forum},
            )
            for row, (number, text, mark, forum, time) in enumerate(rows, start=1)
        ]
    if not items:
        raise release.missing(_PARTS["train"])
    return Loaded(items)
