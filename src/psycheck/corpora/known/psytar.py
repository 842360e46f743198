"""PsyTAR: patients' reviews of four antidepressants (`psytar`), and their sentences (`psytar-sentences`).

The release is the workbook `PsyTAR_dataset.xlsx`; its sheets "Sample" (drug_id, disorder, side-effect,
comment, gender, …) and "Sentence_Labeling" (drug_id, sentence_index, sentences, ADR, WD, EF, INF, SSI, DI, …)
are read when saved as `Sample.csv` and `Sentence_Labeling.csv`. Their columns were checked against public
programs that read the workbook. Tables called `psytar_posts.csv` and `psytar_sentences.csv` with `post_id`,
`text` and one column a label are read too.

A review's labels are our own pattern match on what its writer took the drug for. In the sentence sheet a mark
of any kind means yes and an empty cell no, because every sentence was annotated for all six.
"""

import re
from pathlib import Path

from psycheck.corpora.known.release import Item, Loaded, Release, gender, joined

KINDS = ("ADR", "WD", "EF", "INF", "SSI", "DI")
_DISORDERS = {
    "depression": re.compile(r"depress|\bmdd\b|dysthymi", re.I),
    "anxiety": re.compile(r"anxi|panic|\bgad\b", re.I),
    "ocd": re.compile(r"\bocd\b|obsessi", re.I),
    "ptsd": re.compile(r"\bptsd\b|post.?traumatic", re.I),
}
_NO = ("0", "0.0")


def load(release: Release) -> Loaded:
    """One text for each review, with its writer's gender."""
    sheet = release.table(_file(release, "Sample", "psytar_posts.csv"))
    numbers = sheet.keys("drug_id", "post_id")
    genders = [gender(word) for word in sheet.words("gender")]
    if sheet.find("text"):
        marks = {label: sheet.marks(label) for label in _DISORDERS}
        texts = sheet.texts("text")
        labels = [{label: marks[label][row] for label in marks} for row in range(len(sheet))]
    else:
        sheet.column("comment", "comments")
        parts = zip(
            sheet.words("side-effect", "side_effect", "side effect"),
            sheet.words("comment", "comments"),
            strict=True,
        )
        texts = [joined(*both) for both in parts]
        labels = [disorders_in(word) for word in sheet.words(sheet.column("disorder"))]
    rows = zip(numbers, texts, labels, genders, strict=True)
    return Loaded([Item(*row[:3], groups={"gender": row[3], "drug": row[0].split(".")[0]}) for row in rows])


def load_sentences(release: Release) -> Loaded:
    """One text for each sentence, multi-label; the sentences of a review have one author."""
    sheet = release.table(_file(release, "Sentence_Labeling", "psytar_sentences.csv"), *KINDS)
    reviews = sheet.keys("drug_id", "post_id")
    places = sheet.words("sentence_index")
    marks = {kind: [_marked(word) for word in sheet.words(kind)] for kind in KINDS}
    texts = sheet.texts("sentences", "text")
    return Loaded(
        [
            Item(
                f"{review}-{(place or str(row + 1)).removesuffix('.0')}",
                text,
                {kind: marks[kind][row] for kind in KINDS},
                author=review,
                groups={"drug": review.split(".")[0]},
            )
            for row, (review, place, text) in enumerate(zip(reviews, places, texts, strict=True))
        ]
    )


def disorders_in(word: str | None) -> dict[str, float | None]:
    """Which disorders a writer names as what the drug was taken for; not annotated where nothing is named."""
    return {
        label: None if word is None else float(pattern.search(word) is not None)
        for label, pattern in _DISORDERS.items()
    }


def _marked(word: str | None) -> float:
    return float(word is not None and word not in _NO)


def _file(release: Release, sheet: str, other: str) -> Path:
    if not release.files(f"{sheet}.csv", other) and (books := release.files("PsyTAR*.xlsx")):
        raise release.wrong(
            f"save the sheet '{sheet}' of the workbook as {sheet}.csv beside it", str(books[0])
        )
    return release.file(f"{sheet}.csv", other)
