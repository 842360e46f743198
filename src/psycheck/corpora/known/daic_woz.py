"""DAIC-WOZ: what the participant says in clinical interviews, annotated by the PHQ-8.

A folder holds session folders with `NNN_TRANSCRIPT.csv` (tab-separated: start_time, stop_time, speaker,
value) and the split files of AVEC 2017: `train_split_Depression_AVEC2017.csv` and `dev_split_…` with
PHQ8_Binary, PHQ8_Score and Gender (0 male, 1 female); `full_test_split.csv` calls them PHQ_Binary and
PHQ_Score; without it, `test_split_Depression_AVEC2017.csv` holds no scores, and its texts are not annotated.
As DECK 4.2 has it, a text is one utterance (`daic-woz`); `daic-woz-interviews` makes one text of all that a
participant says.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from psycheck.corpora.known.release import Item, Loaded, Release
from psycheck.corpora.labels import number_in
from psycheck.errors import counted

_TRANSCRIPT = "*_TRANSCRIPT.csv"
_UNSCORED = "test_split_Depression_AVEC2017.csv"
_BINARY = ("PHQ8_Binary", "PHQ_Binary")
_CUT_OFF = 10  # of the PHQ-8
_GENDERS = {"0": "male", "1": "female"}


def load(release: Release) -> Loaded:
    """One text for each utterance of a participant, or for each interview, one utterance per line."""
    whole = release.layout.get("whole", False)
    sessions, disagreeing = _sessions(release)
    paths = {path.name.split("_")[0]: path for path in release.files(_TRANSCRIPT)}
    if not paths:
        raise release.missing("NNN_P/NNN_TRANSCRIPT.csv")
    left_out = Counter(
        {
            "interview without a transcript": len(sessions.keys() - paths.keys()),
            "interview in no split file": len(paths.keys() - sessions.keys()),
        }
    )
    items: list[Item] = []
    for number in sorted(paths.keys() & sessions.keys()):
        spoken = list(_utterances(release, number, paths[number], left_out))
        texts = [(number, "\n".join(text for _, text in spoken))] if whole else spoken
        items += [replace(sessions[number], id=id, text=text) for id, text in texts]
    note = (
        f"PHQ8_Binary and PHQ8_Score ≥ {_CUT_OFF} disagree for {counted(disagreeing, 'interview')}; the"
        " label is PHQ8_Binary, as released."
    )
    return Loaded(items, left_out, (note,) if disagreeing else ())


def _sessions(release: Release) -> tuple[dict[str, Item], int]:
    """The interviews by participant, their texts still empty, and for how many the two scores disagree."""
    sessions: dict[str, Item] = {}
    disagreeing = 0
    for split, names in release.layout["files"].items():
        path = release.file(*names)
        sheet = release.table(path, "Participant_ID")
        scored = sheet.find(*_BINARY) or path.name != _UNSCORED
        rows = zip(
            sheet.keys("Participant_ID"),
            sheet.marks(*_BINARY) if scored else [None] * len(sheet),
            sheet.words("PHQ8_Score", "PHQ_Score"),
            sheet.words("Gender"),
            strict=True,
        )
        for number, mark, word, gender in rows:
            groups = {"gender": _GENDERS.get((gender or "").removesuffix(".0"))}
            sessions[number] = Item(number, "", {"depression": mark}, number, None, split, groups)
            score = None if word is None else number_in(word)
            if mark is not None and score is not None:
                disagreeing += (mark >= 0.5) != (score >= _CUT_OFF)
    return sessions, disagreeing


def _utterances(
    release: Release, number: str, path: Path, left_out: Counter[str]
) -> Iterator[tuple[str, str]]:
    """The id and the words of each utterance of the participant."""
    sheet = release.table(path, "speaker", "value", format="tsv")
    spoken = zip(sheet.words("speaker"), sheet.words("value"), strict=True)
    for row, (speaker, words) in enumerate(spoken, start=1):
        if (speaker or "").casefold() == "participant":
            if words is None:
                left_out["empty utterance"] += 1
            else:
                yield f"{number}-{row}", words
