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

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from psycheck.core.errors import counted
from psycheck.corpora.known.release import Item, Loaded, Release
from psycheck.corpora.label_values import number_in

_TRANSCRIPT = "*_TRANSCRIPT.csv"
_UNSCORED = ("test_split_Depression_AVEC2017.csv", "test_split.csv")
_SYNC = re.compile(r"[<\[]synch?(?:ing)?[>\]]", re.I)
# Said in place of names and other details that the owners removed.
_SCRUBBED = "scrubbed_entry"
_NO_SPEAKER = "The transcripts name no speaker: words of the interviewer may be among them."
_BINARY = ("PHQ8_Binary", "PHQ_Binary")
_CUT_OFF = 10  # of the PHQ-8: from here on the binary label is 1
_GENDERS = {
    "0": "male",
    "1": "female",
    "male": "male",
    "female": "female",
}


def load(release: Release) -> Loaded:
    """One text for each utterance of a participant, or for each interview, one utterance per line."""
    sessions, disagreeing = _sessions(release)
    transcripts = {path.name.split("_")[0]: path for path in release.files(_TRANSCRIPT)}
    if not transcripts:
        raise release.missing("NNN_P/NNN_TRANSCRIPT.csv")

    left_out = Counter[str]()
    left_out["interview without a transcript"] = len(sessions.keys() - transcripts.keys())
    left_out["interview in no split file"] = len(transcripts.keys() - sessions.keys())
    items: list[Item] = []
    for participant in sorted(transcripts.keys() & sessions.keys()):
        utterances = _utterances(
            release=release,
            participant=participant,
            path=transcripts[participant],
            left_out=left_out,
        )
        texts = dict(utterances)
        if release.layout.get("whole", False):
            texts = {participant: "\n".join(texts.values())}

        # The session has the labels, the split and the gender: each text is a copy of it.
        session = sessions[participant]
        items += [replace(session, id=id_, text=text) for id_, text in texts.items()]
    return Loaded(
        items=items,
        left_out=left_out,
        notes=tuple(_notes(release, disagreeing)),
    )


def _notes(release: Release, disagreeing: int) -> Iterator[str]:
    if disagreeing:
        yield (
            f"PHQ8_Binary and PHQ8_Score ≥ {_CUT_OFF} disagree for {counted(disagreeing, 'interview')}; the"
            " label is PHQ8_Binary, as released."
        )
    if "speaker" not in release.layout["columns"]:
        yield _NO_SPEAKER


def _sessions(release: Release) -> tuple[dict[str, Item], int]:
    """The interviews by participant, their texts still empty, and for how many the two scores disagree."""
    sessions: dict[str, Item] = {}
    disagreeing = 0
    for split, names in release.layout["files"].items():
        path = release.file(*names)
        sheet = release.table(path, "Participant_ID")
        # The test split of AVEC 2017 was released without scores.
        has_scores = sheet.find(*_BINARY) or path.name not in _UNSCORED
        binary_labels: list[float | None] = [None] * len(sheet)
        if has_scores:
            binary_labels = sheet.marks(*_BINARY)

        rows = zip(
            sheet.keys("Participant_ID"),
            binary_labels,
            sheet.words("PHQ8_Score", "PHQ_Score"),
            sheet.words("Gender"),
            strict=True,
        )
        for participant, mark, score_word, gender in rows:
            gender_key = (gender or "").removesuffix(".0").casefold()
            sessions[participant] = Item(
                id=participant,
                text="",
                labels={"depression": mark},
                author=participant,
                split=split,
                groups={"gender": _GENDERS.get(gender_key)},
            )
            if _disagree(mark, score_word):
                disagreeing += 1
    return sessions, disagreeing


def _disagree(mark: float | None, score_word: str | None) -> bool:
    """Whether the binary label and the score of the PHQ-8 say different things."""
    score = None if score_word is None else number_in(score_word)
    if mark is None or score is None:
        return False
    return (mark >= 0.5) != (score >= _CUT_OFF)


def _utterances(
    release: Release,
    participant: str,
    path: Path,
    left_out: Counter[str],
) -> Iterator[tuple[str, str]]:
    """The id and the words of each utterance of the participant; what is left out is counted."""
    columns = release.layout["columns"]
    sheet = release.table(path, *columns, format=release.layout["format"])
    # E-DAIC names no speaker: everything counts as the participant's, with a note in the corpus.
    speakers: list[str | None] = ["participant"] * len(sheet)
    if "speaker" in columns:
        speakers = sheet.words("speaker")

    interruption = release.layout.get("interrupted", {}).get(participant)
    rows = zip(
        speakers,
        sheet.words(columns[-1]),
        sheet.words("start_time"),
        sheet.words("stop_time", "end_time"),
        strict=True,
    )
    for row, (speaker, words, start, stop) in enumerate(rows, start=1):
        if (speaker or "").casefold() != "participant":
            continue

        # The row of the file is part of the id, so that an utterance can be found in its transcript.
        text = _without_sync_marks(words or "")
        if words is None:
            left_out["empty utterance"] += 1
        elif not text:
            left_out["mark of synchronisation"] += 1
        elif _SCRUBBED in text.casefold():
            left_out["scrubbed utterance"] += 1
        elif interruption and _overlaps(start, stop, interruption):
            left_out["utterance during an interruption"] += 1
        else:
            yield f"{participant}-{row}", text


def _without_sync_marks(words: str) -> str:
    """What is said, without marks of synchronisation; other utterances keep their white space."""
    if not _SYNC.search(words):
        return words
    return " ".join(_SYNC.sub(" ", words).split())


def _overlaps(start_word: str | None, stop_word: str | None, interruption: tuple[float, float]) -> bool:
    """Whether an utterance, by its times as written in the file, falls into an interruption."""
    start = number_in(start_word or "")
    stop = number_in(stop_word or "")
    if start is None:
        return False
    # An utterance without an end counts as a moment.
    interrupted_from, interrupted_to = interruption
    return start < interrupted_to and (stop or start) > interrupted_from
