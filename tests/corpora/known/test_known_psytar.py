from pathlib import Path

from psycheck.corpora.known.opening import open_known
from refusals import refused


def test_a_review_is_labelled_by_what_the_drug_was_taken_for(tmp_path: Path) -> None:
    (tmp_path / "Sample.csv").write_text(
        "drug_id,class,rating,disorder,side-effect,comment,gender,age\n"
        "lexapro.1,ssri,4,Depression / OCD,Dry mouth,It helped,F,30\n"
        "zoloft.2,ssri,1,panic attacks,,Never again,M,\n"
        "zoloft.3,ssri,1,,None,Fine,,\n"
    )
    corpus = open_known("psytar", tmp_path)
    assert corpus.texts == ["Dry mouth\nIt helped", "Never again", "None\nFine"]
    assert corpus.group("gender") == ["female", "male", None]
    assert corpus.group("drug") == ["lexapro", "zoloft", "zoloft"]
    rows = corpus.table.select(
        [f"label:{label}" for label in ("depression", "anxiety", "ocd", "ptsd")]
    ).rows()
    assert rows == [(1.0, 0.0, 1.0, 0.0), (0.0, 1.0, 0.0, 0.0), (None, None, None, None)]


def test_a_mark_of_any_kind_in_the_sentence_sheet_means_yes(tmp_path: Path) -> None:
    (tmp_path / "Sentence_Labeling.csv").write_text(
        "id,drug_id,sentence_index,sentences,ADR,WD,EF,INF,SSI,DI\n"
        "1,lexapro.1,1,It helped.,,,1.0,,,\n2,lexapro.1,2,But I shake.,*,!,0,,,\n"
    )
    corpus = open_known("psytar-sentences", tmp_path)
    assert (corpus.ids, corpus.table["author"].to_list()) == (
        ["lexapro.1-1", "lexapro.1-2"],
        ["lexapro.1"] * 2,
    )
    assert corpus.targets().tolist() == [[0, 0, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0]]


def test_tables_of_reviews_and_sentences(tmp_path: Path) -> None:
    (tmp_path / "psytar_posts.csv").write_text(
        "post_id,text,depression,anxiety,ocd,ptsd,gender\nlexapro.1,It helped,1,0,0,0,F\n"
    )
    (tmp_path / "psytar_sentences.csv").write_text(
        "post_id,sentence_index,text,ADR,WD,EF,INF,SSI,DI\nlexapro.1,1.0,It helped,0,0,1,0,0,0\n"
    )
    assert open_known("psytar", tmp_path).targets().tolist() == [[1, 0, 0, 0]]
    assert open_known("psytar-sentences", tmp_path).ids == ["lexapro.1-1"]


def test_the_workbook_itself_says_which_sheet_to_save(tmp_path: Path) -> None:
    (tmp_path / "PsyTAR_dataset.xlsx").write_bytes(b"PK\x03\x04")
    for name, sheet in (("psytar", "Sample"), ("psytar-sentences", "Sentence_Labeling")):
        with refused("release.sheet-not-saved", what=f"{sheet}.csv"):
            open_known(name, tmp_path)
