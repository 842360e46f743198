"""DAIC-WOZ: what the participant says in clinical interviews, annotated by the PHQ-8.

A folder holds session folders with `NNN_TRANSCRIPT.csv` (tab-separated: start_time, stop_time, speaker,
value) and the split files of AVEC 2017: `train_split_Depression_AVEC2017.csv` and `dev_split_…` with
PHQ8_Binary, PHQ8_Score and Gender (0 male, 1 female); `full_test_split.csv` calls them PHQ_Binary and
PHQ_Score; without it, `test_split_Depression_AVEC2017.csv` holds no scores, and its texts are not annotated.
As DECK 4.2 has it, a text is one utterance (`daic-woz`); `daic-woz-interviews` makes one text of all that a
participant says. Marks of synchronisation are no words; utterances that were scrubbed, or that fall into an
interruption of the session, are left out (`catalogue.toml` has the times).

E-DAIC has other split files and `NNN_Transcript.csv`, comma-separated: Start_Time, End_Time, Text and
Confidence, written by a recogniser, without speakers.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from psycheck.corpora.known.release import Item, Loaded, Release
from psycheck.corpora.labels import number_in
from psycheck.errors import counted

_TRANSCRIPT = "*_TRANSCRIPT.csv"
_UNSCORED = ("test_split_Depression_AVEC2017.csv", "test_split.csv")
_SYNC = re.compile(r"[<\[]synch?(?:ing)?[>\]]", re.I)
_SCRUBBED = "scrubbed_entry"
_NO_SPEAKER = "The transcripts name no speaker: words of the interviewer may be among them."
_BINARY = ("PHQ8_Binary", "PHQ_Binary")
_CUT_OFF = 10  # of the PHQ-8
_GENDERS = {"0": "male", "1": "female", "male": "male", "female": "female"}


def load(release: Release) -> Loaded:
    """One text for each utterance of a participant, or for each interview, one utterance per line."""
    whole = release.layout.get("whole", False)
    sessions, disagreeing = _sessions(release)
    paths = {path.name.split("_")[0]: path for path in release.files(_TRANSCRIPT)}
    if not paths:
        raise release.missing("NNN_P/NNN_TRANSCRIPT.csv")
    left_out = Counter({"interview without a transcript": len(sessions.keys() - paths.keys())})
    left_out["interview in no split file"] = len(paths.keys() - sessions.keys())
    items: list[Item] = []
    for number in sorted(paths.keys() & sessions.keys()):
        spoken = list(_utterances(release, number, paths[number], left_out))
        texts = [(number, "\n".join(text for _, text in spoken))] if whole else spoken
        items += [replace(sessions[number], id=id, text=text) for id, text in texts]
    note = (
        f"PHQ8_Binary and PHQ8_Score ≥ {_CUT_OFF} disagree for {counted(disagreeing, 'interview')}; the"
        " label is PHQ8_Binary, as released."
    )
    notes = {note: disagreeing > 0, _NO_SPEAKER: "speaker" not in release.layout["columns"]}
    return Loaded(items, left_out, tuple(one for one, holds in notes.items() if holds))


def _sessions(release: Release) -> tuple[dict[str, Item], int]:
    """The interviews by participant, their texts still empty, and for how many the two scores disagree."""
    sessions: dict[str, Item] = {}
    disagreeing = 0
    for split, names in release.layout["files"].items():
        path = release.file(*names)
        sheet = release.table(path, "Participant_ID")
        scored = sheet.find(*_BINARY) or path.name not in _UNSCORED
        rows = zip(
            sheet.keys("Participant_ID"),
            sheet.marks(*_BINARY) if scored else [None] * len(sheet),
            sheet.words("PHQ8_Score", "PHQ_Score"),
            sheet.words("Gender"),
            strict=True,
        )
        for number, mark, word, gender in rows:
            groups = {"gender": _GENDERS.get((gender or "").removesuffix(".0").casefold())}
            sessions[number] = Item(number, "", {"depression": mark}, number, None, split, groups)
            score = None if word is None else number_in(word)
            if mark is not None and score is not None:
                disagreeing += (mark >= 0.5) != (score >= _CUT_OFF)
    return sessions, disagreeing


def _utterances(
    release: Release, number: str, path: Path, left_out: Counter[str]
) -> Iterator[tuple[str, str]]:
    """The id and the words of each utterance of the participant."""
    columns = release.layout["columns"]
    sheet = release.table(path, *columns, format=release.layout["format"])
    begin, end = release.layout.get("interrupted", {}).get(number, (math.inf, -math.inf))
    speakers = sheet.words("speaker") if "speaker" in columns else ["participant"] * len(sheet)
    starts, stops = sheet.words("start_time"), sheet.words("stop_time", "end_time")
    spoken = zip(speakers, sheet.words(columns[-1]), starts, stops, strict=True)
    for row, (speaker, words, start, stop) in enumerate(spoken, start=1):
        if (speaker or "").casefold() != "participant":
            continue
        text = " ".join(_SYNC.sub(" ", words).split()) if words and _SYNC.search(words) else words
        times = number_in(start or ""), number_in(stop or "")
        if words is None:
            left_out["empty utterance"] += 1
        elif not text:
            left_out["mark of synchronisation"] += 1
        elif _SCRUBBED in text.casefold():
            left_out["scrubbed utterance"] += 1
        elif times[0] is not None and times[0] < end and (times[1] or times[0]) > begin:
            left_out["utterance during an interruption"] += 1
        else:
            yield f"{number}-{row}", text
