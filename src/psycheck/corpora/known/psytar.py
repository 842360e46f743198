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
    labels: list[dict[str, float | None]]
    if sheet.find("text"):
        marks = zip(*(sheet.marks(label) for label in _DISORDERS), strict=True)
        texts = sheet.texts("text")
        labels = [dict(zip(_DISORDERS, row, strict=True)) for row in marks]
    else:
        sheet.column("comment", "comments")
        effects = sheet.words("side-effect", "side_effect", "side effect")
        texts = list(map(joined, effects, sheet.words("comment", "comments")))
        labels = [disorders_in(word) for word in sheet.words(sheet.column("disorder"))]
    rows = zip(numbers, texts, labels, map(gender, sheet.words("gender")), strict=True)
    return Loaded([Item(*row[:3], groups={"gender": row[3], "drug": row[0].split(".")[0]}) for row in rows])


def load_sentences(release: Release) -> Loaded:
    """One text for each sentence, multi-label; the sentences of a review have one author."""
    kinds = release.known.labels
    sheet = release.table(_file(release, "Sentence_Labeling", "psytar_sentences.csv"), *kinds)
    rows = zip(
        sheet.keys("drug_id", "post_id"),
        sheet.words("sentence_index"),
        sheet.texts("sentences", "text"),
        zip(*(sheet.words(kind) for kind in kinds), strict=True),
        strict=True,
    )
    items = []
    for number, (review, place, text, marks) in enumerate(rows, start=1):
        id = f"{review}-{(place or str(number)).removesuffix('.0')}"
        labels = {kind: float(word not in (None, *_NO)) for kind, word in zip(kinds, marks, strict=True)}
        items.append(Item(id, text, labels, author=review, groups={"drug": review.split(".")[0]}))
    return Loaded(items)


def disorders_in(word: str | None) -> dict[str, float | None]:
    """Which disorders a writer names as what the drug was taken for; not annotated where nothing is named."""
    return {
        label: None if word is None else float(pattern.search(word) is not None)
        for label, pattern in _DISORDERS.items()
    }


def _file(release: Release, sheet: str, other: str) -> Path:
    if not release.files(f"{sheet}.csv", other) and (books := release.files("PsyTAR*.xlsx")):
        what = f"save the sheet '{sheet}' of the workbook as {sheet}.csv beside it"
        raise release.wrong(what, str(books[0]))
    return release.file(f"{sheet}.csv", other)
