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
from dataclasses import dataclass
from pathlib import Path

from psycheck.corpora.known.release import Item, Loaded, Release
from psycheck.errors import counted

_SPLITS = (
    ("train", ("train_split_Depression_AVEC2017.csv",)),
    ("dev", ("dev_split_Depression_AVEC2017.csv",)),
    ("test", ("full_test_split.csv", "test_split_Depression_AVEC2017.csv")),
)
_TRANSCRIPT = "*_TRANSCRIPT.csv"
_CUT_OFF = 10  # of the PHQ-8
_GENDERS = {"0": "male", "1": "female"}


@dataclass(frozen=True, slots=True)
class _Session:
    """One interview as the split files describe it."""

    split: str
    depression: float | None
    gender: str | None


def utterances(release: Release) -> Loaded:
    """One text for each utterance of a participant."""
    return _loaded(release, whole=False)


def interviews(release: Release) -> Loaded:
    """One text for each interview: all that the participant says, one utterance per line."""
    return _loaded(release, whole=True)


def _loaded(release: Release, whole: bool) -> Loaded:
    sessions, disagreeing = _sessions(release)
    paths = {path.name.split("_")[0]: path for path in release.files(_TRANSCRIPT)}
    if not paths:
        raise release.missing("NNN_P/NNN_TRANSCRIPT.csv")
    left_out: Counter[str] = Counter()
    left_out["interview without a transcript"] = len(sessions.keys() - paths.keys())
    left_out["interview in no split file"] = len(paths.keys() - sessions.keys())
    items: list[Item] = []
    for number in sorted(paths.keys() & sessions.keys()):
        session = sessions[number]
        spoken = list(_utterances(release, paths[number], left_out))
        texts = [(number, "\n".join(text for _, text in spoken))] if whole else spoken
        items += [
            Item(
                number if whole else f"{number}-{row}",
                text,
                {"depression": session.depression},
                author=number,
                split=session.split,
                groups={"gender": session.gender},
            )
            for row, text in texts
        ]
    notes: tuple[str, ...] = ()
    if disagreeing:
        notes = (
            f"PHQ8_Binary and PHQ8_Score ≥ {_CUT_OFF} disagree for {counted(disagreeing, 'interview')}; the"
            " label is PHQ8_Binary, as released.",
        )
    return Loaded(items, {why: n for why, n in left_out.items() if n}, notes)


def _sessions(release: Release) -> tuple[dict[str, _Session], int]:
    """The interviews by participant, and for how many of them the two scores disagree."""
    sessions: dict[str, _Session] = {}
    disagreeing = 0
    for split, names in _SPLITS:
        path = release.file(*names)
        sheet = release.table(path, "Participant_ID")
        scored = sheet.find("PHQ8_Binary", "PHQ_Binary") is not None
        if not scored and path.name != _SPLITS[2][1][1]:
            sheet.column("PHQ8_Binary", "PHQ_Binary")
        marks = sheet.marks("PHQ8_Binary", "PHQ_Binary") if scored else [None] * len(sheet)
        rows = zip(
            sheet.keys("Participant_ID"),
            marks,
            sheet.words("PHQ8_Score", "PHQ_Score"),
            sheet.words("Gender"),
            strict=True,
        )
        for number, mark, score, gender in rows:
            sessions[number] = _Session(split, mark, _GENDERS.get((gender or "").removesuffix(".0")))
            if mark is not None and score is not None and _number(score) is not None:
                disagreeing += (mark >= 0.5) != ((_number(score) or 0) >= _CUT_OFF)
    return sessions, disagreeing


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _utterances(release: Release, path: Path, left_out: Counter[str]) -> Iterator[tuple[str, str]]:
    """The row and the words of each utterance of the participant."""
    sheet = release.table(path, "speaker", "value", format="tsv")
    for row, (speaker, words) in enumerate(
        zip(sheet.words("speaker"), sheet.words("value"), strict=True), start=1
    ):
        if (speaker or "").casefold() != "participant":
            continue
        if words is None:
            left_out["empty utterance"] += 1
        else:
            yield str(row), words
