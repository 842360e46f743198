"""PsySym: sentences annotated for 38 symptoms of 7 diseases, and for how sure their status is.

`symp_data/` or `symp_data_w_control/` holds `train.csv`, `val.csv` and `test.csv` with `subreddit_id`,
`post_id`, `sentence_id`, `disease`, `sentence`, one column a symptom, and `uncertain`, the share of
annotators who found the status uncertain (3.4). The columns were checked against the study's own programs;
the files are given out on request only. A symptom that was not asked about in a disease's queue is -1 in
them: not annotated, never negative. `more_talktive` is read as `more_talkative`.
"""

from pathlib import Path

from psycheck.corpora.known.release import Item, Loaded, Release

_SPLITS = {"train": "train.csv", "dev": "val.csv", "test": "test.csv"}
_SPELLED = {"more_talkative": "more_talktive"}
_UNKNOWN = ("-1", "-1.0")
STATUS = "uncertain"


def load(release: Release) -> Loaded:
    """One text for each sentence, with the symptoms and the status that its file has."""
    items: list[Item] = []
    for split, path in _parts(release).items():
        items += _items(release, path, split)
    return Loaded(items)


def _parts(release: Release) -> dict[str, Path]:
    """The three files of one folder; the sentences with controls where both sets are there."""
    if release.path.is_file():
        names = {name: split for split, name in _SPLITS.items()}
        return {names.get(release.path.name, "test"): release.path}
    for folder in ("", "symp_data_w_control", "data/symp_data_w_control", "symp_data", "data/symp_data"):
        if all((release.path / folder / name).is_file() for name in _SPLITS.values()):
            return {split: release.path / folder / name for split, name in _SPLITS.items()}
    raise release.missing("symp_data/train.csv (beside val.csv and test.csv)")


def _items(release: Release, path: Path, split: str) -> list[Item]:
    sheet = release.table(path, "sentence", "disease")
    symptoms = {
        name: sheet.marks(column, unknown=_UNKNOWN)
        for name in release.known.labels
        if (column := sheet.find(name, _SPELLED.get(name, name)))
    }
    if not symptoms.keys() - {STATUS}:
        raise release.wrong("no column is called like one of the 38 symptoms", str(path))
    places = zip(sheet.words("subreddit_id"), sheet.words("post_id"), sheet.words("sentence_id"), strict=True)
    rows = zip(places, sheet.texts("sentence"), sheet.words("disease"), strict=True)
    return [
        Item(
            "-".join([split, *(str(part) for part in place if part)]) if all(place) else f"{split}-{row + 1}",
            sentence,
            {name: marks[row] for name, marks in symptoms.items()},
            split=split,
            groups={"disease": disease},
        )
        for row, (place, sentence, disease) in enumerate(rows)
    ]
