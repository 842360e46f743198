from pathlib import Path

import pytest

from psycheck.corpora.known.opening import open_known
from refusals import refused

HEAD = "id,text,depression_label,anxiety_label\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    test, silver = tmp_path / "data" / "test", tmp_path / "data" / "silver_data"
    test.mkdir(parents=True)
    silver.mkdir()
    (test / "full_test.csv").write_text(HEAD + "a1,Both of them,1,1\na2,Neither,0,0\n")
    (silver / "silver_labels_gpt_3.5_turbo_train.csv").write_text(HEAD + "b1,Only worry,0,1\n")
    (silver / "silver_labels_gpt_3.5_turbo_validation.csv").write_text(HEAD + "b1,Only low,1,0\n")
    return tmp_path


def test_angst_is_one_test_split(folder: Path) -> None:
    assert open_known("angst", folder).table.to_dict(as_series=False) == {
        "id": ["test-a1", "test-a2"],
        "text": ["Both of them", "Neither"],
        "split": ["test", "test"],
        "label:depression": [1.0, 0.0],
        "label:anxiety": [1.0, 0.0],
    }


def test_silver_labels_have_a_train_and_a_dev_split(folder: Path) -> None:
    corpus = open_known("angst-silver", folder)
    assert corpus.table["split"].to_list() == ["train", "dev"]
    assert corpus.ids == ["train-b1", "dev-b1"]
    assert corpus.targets(["depression", "anxiety"]).tolist() == [[0, 1], [1, 0]]


def test_a_table_without_the_labels_is_refused(folder: Path) -> None:
    (folder / "data" / "test" / "full_test.csv").write_text("id,text\na1,Both of them\n")
    with refused("release.missing-column", what="'depression_label'"):
        open_known("angst", folder)
