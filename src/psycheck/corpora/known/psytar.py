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

from psycheck.corpora.known.release import Item, Loaded, Release, Sheet, gender, joined

_DISORDERS = {
    "depression": re.compile(r"depress|\bmdd\b|dysthymi", re.I),
    "anxiety": re.compile(r"anxi|panic|\bgad\b", re.I),
    "ocd": re.compile(r"\bocd\b|obsessi", re.I),
    "ptsd": re.compile(r"\bptsd\b|post.?traumatic", re.I),
}
_NO = ("0", "0.0")  # in the sentence sheet, besides an empty cell


def load(release: Release) -> Loaded:
    """One text for each review, with its writer's gender."""
    sheet = release.table(_file(release, "Sample", "psytar_posts.csv"))
    reviews = sheet.keys("drug_id", "post_id")
    texts, labels = _texts_and_labels(sheet)
    rows = zip(
        reviews,
        texts,
        labels,
        map(gender, sheet.words("gender")),
        strict=True,
    )

    items = []
    for review, text, review_labels, writer_gender in rows:
        groups = {"gender": writer_gender, "drug": _drug(review)}
        items.append(
            Item(
                id=review,
                text=text,
                labels=review_labels,
                groups=groups,
            )
        )
    return Loaded(items)


def _texts_and_labels(sheet: Sheet) -> tuple[list[str], list[dict[str, float | None]]]:
    """The text and the labels of each review, from a table of ours or from the workbook's sheet."""
    if sheet.find("text"):
        marks_of_rows = zip(*(sheet.marks(label) for label in _DISORDERS), strict=True)
        labels = [dict(zip(_DISORDERS, marks, strict=True)) for marks in marks_of_rows]
        return sheet.texts("text"), labels

    # Either field may be empty: what a writer says is in one of them, or in both.
    comments = sheet.words(sheet.column("comment", "comments"))
    effects = sheet.words("side-effect", "side_effect", "side effect")
    texts = list(map(joined, effects, comments))

    named_disorders = sheet.words(sheet.column("disorder"))
    return texts, [disorders_in(word) for word in named_disorders]


def load_sentences(release: Release) -> Loaded:
    """One text for each sentence, multi-label; the sentences of a review have one author."""
    kinds = release.known.labels
    sheet = release.table(_file(release, "Sentence_Labeling", "psytar_sentences.csv"), *kinds)
    marks_of_rows = zip(*(sheet.words(kind) for kind in kinds), strict=True)
    rows = zip(
        sheet.keys("drug_id", "post_id"),
        sheet.words("sentence_index"),
        sheet.texts("sentences", "text"),
        marks_of_rows,
        strict=True,
    )
    items = []
    for number, (review, place, text, marks) in enumerate(rows, start=1):
        # Our own table has no sentence_index: then the row number makes the id unique.
        sentence = (place or str(number)).removesuffix(".0")
        labels = {kind: _is_marked(mark) for kind, mark in zip(kinds, marks, strict=True)}
        item = Item(
            id=f"{review}-{sentence}",
            text=text,
            labels=labels,
            author=review,
            groups={"drug": _drug(review)},
        )
        items.append(item)
    return Loaded(items)


def _is_marked(cell: str | None) -> float:
    """1 for a mark of any kind; 0 for an empty cell or a 0."""
    return float(cell is not None and cell not in _NO)


def _drug(review: str) -> str:
    """The drug of a review by its id, such as "lexapro.12"."""
    return review.split(".")[0]


def disorders_in(word: str | None) -> dict[str, float | None]:
    """Which disorders a writer names as what the drug was taken for; not annotated where nothing is named."""
    if word is None:
        return dict.fromkeys(_DISORDERS)
    marks: dict[str, float | None] = {}
    for label, pattern in _DISORDERS.items():
        is_named = pattern.search(word) is not None
        marks[label] = float(is_named)
    return marks


def _file(release: Release, sheet: str, our_table: str) -> Path:
    """The file of a sheet, or our table; an error that says what to do where there is only the workbook."""
    if not release.files(f"{sheet}.csv", our_table):
        workbooks = release.files("PsyTAR*.xlsx")
        if workbooks:
            raise release.wrong(
                f"save the sheet '{sheet}' of the workbook as {sheet}.csv beside it",
                str(workbooks[0]),
                code="release.sheet-not-saved",
            )
    return release.file(f"{sheet}.csv", our_table)
