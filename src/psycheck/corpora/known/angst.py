"""ANGST: posts annotated for depression and anxiety by psychologists; ANGST-SILVER: by a language model.

The repository of the study holds `data/test/full_test.csv` and
`data/silver_data/silver_labels_gpt_3.5_turbo_train.csv` and `…_validation.csv`, with the columns `id`,
`text`, `depression_label` and `anxiety_label` (0 or 1), as its own training program reads them. The copy on
the Hugging Face hub was not seen; it is read if its columns are called so, or without `_label`. ANGST is a
test set alone; ANGST-SILVER (A.1) has a train and a dev split.
"""

from pathlib import Path

from psycheck.corpora.known.release import Item, Loaded, Release

_SILVER = "silver_labels*"


def load(release: Release) -> Loaded:
    """The posts that psychologists annotated, as one test split."""
    path = release.file("full_test.csv", "angst.csv", "angst.jsonl", "angst.parquet", "test*.parquet")
    return Loaded(_items(release, path, "test"))


def load_silver(release: Release) -> Loaded:
    """The posts with silver labels, in a train and a dev split."""
    parts = {
        "train": release.files(f"{_SILVER}train.csv", "angst-silver-train.*", "train*.parquet"),
        "dev": release.files(f"{_SILVER}validation.csv", "angst-silver-validation.*", "validation*.parquet"),
    }
    if not any(parts.values()):
        raise release.missing("silver_labels_gpt_3.5_turbo_train.csv")
    return Loaded(
        [item for split, paths in parts.items() for path in paths for item in _items(release, path, split)]
    )


def _items(release: Release, path: Path, split: str) -> list[Item]:
    sheet = release.table(path, "text")
    depression = sheet.marks("depression_label", "depression")
    anxiety = sheet.marks("anxiety_label", "anxiety")
    rows = zip(sheet.words("id", "post_id"), sheet.texts("text"), depression, anxiety, strict=True)
    return [
        Item(
            f"{split}-{number or row}",
            text,
            {"depression": low, "anxiety": fear},
            split=split,
        )
        for row, (number, text, low, fear) in enumerate(rows, start=1)
    ]
