"""SDCNL: Reddit posts of r/SuicideWatch and of r/depression.

`training-set.csv` and `testing-set.csv` have `selftext` and `is_suicide`: 1 if the post stands in
r/SuicideWatch, 0 if in r/depression, as the study's own programs read them; an `author` column is used where
there is one. The label says in which forum a post stands; nobody annotated its content, and posts of
r/SuicideWatch are not annotated for depression.
"""

from psycheck.corpora.known.release import Item, Loaded, Release

_PARTS = {"train": "training-set.csv", "test": "testing-set.csv"}


def load(release: Release) -> Loaded:
    """One text for each post, with the split of its file."""
    items: list[Item] = []
    for split, pattern in _PARTS.items():
        if release.path.is_file() and not release.files(pattern):
            continue
        sheet = release.table(release.file(pattern), "selftext", "is_suicide")
        rows = zip(sheet.texts("selftext"), sheet.marks("is_suicide"), sheet.words("author"), strict=True)
        items += [
            Item(f"{split}-{row}", text, {"suicide": mark}, author=author, split=split)
            for row, (text, mark, author) in enumerate(rows, start=1)
        ]
    if not items:
        raise release.missing(_PARTS["train"])
    return Loaded(items)
