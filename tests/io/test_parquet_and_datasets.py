import json
from datetime import datetime
from pathlib import Path

import datasets
import polars as pl
import pytest

from psycheck.core.errors import BadInput
from psycheck.io import frames
from psycheck.io.tables import read_table
from refusals import refused

datasets.disable_progress_bars()


def refusal(path: Path) -> str:
    with pytest.raises(BadInput) as caught:
        read_table(path)
    return str(caught.value)


def dataset(texts: list[str | None], labels: list[int]) -> datasets.Dataset:
    features = datasets.Features(
        {
            "text": datasets.Value("string"),
            "label": datasets.ClassLabel(names=["depressed", "control"]),
            "vector": datasets.List(datasets.Value("float32")),
        }
    )
    vectors = [[0.5]] * len(texts)
    return datasets.Dataset.from_dict({"text": texts, "label": labels, "vector": vectors}, features=features)


def saved(path: Path) -> Path:
    dataset(["a", "b"], [0, 1]).save_to_disk(path)
    return path


def test_parquet_gives_its_single_values_and_names_the_rest(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "text": ["a", None],
            "label": [True, None],
            "kind": pl.Series(["x", "y"], dtype=pl.Categorical),
            "time": [datetime(2020, 1, 2), None],
            "vector": [[1.0], [2.0]],
            "record": [{"a": 1}, {"a": 2}],
            "raw": [b"a", b"b"],
        }
    )
    frame.write_parquet(tmp_path / "a.parquet")
    table = read_table(tmp_path / "a.parquet")
    assert table.columns["text"] == ["a", None]
    assert table.columns["label"] == [True, None]
    assert table.columns["kind"] == ["x", "y"]
    assert table.columns["time"] == [datetime(2020, 1, 2), None]
    assert table.unread == {"vector": "lists", "record": "records", "raw": "bytes"}
    assert table.where(1, "text") == f"{tmp_path / 'a.parquet'}, row 2, column 'text'"


def test_class_numbers_become_the_names_that_datasets_keeps(tmp_path: Path) -> None:
    data = dataset(["a", "b", None], [1, 0, -1])
    data.to_parquet(tmp_path / "a.parquet")
    data.save_to_disk(tmp_path / "folder")
    for path in (tmp_path / "a.parquet", tmp_path / "folder"):
        table = read_table(path)
        assert table.columns == {"text": ["a", "b", None], "label": ["control", "depressed", None]}
        assert table.unread == {"vector": "lists"}


def test_a_dataset_in_several_files_is_read_whole(tmp_path: Path) -> None:
    dataset([str(i) for i in range(10)], [0] * 10).save_to_disk(tmp_path / "d", num_shards=3)
    assert read_table(tmp_path / "d").columns["text"] == [str(i) for i in range(10)]


def test_the_parts_of_a_dataset_dict_become_splits(tmp_path: Path) -> None:
    parts = {"train": dataset(["a", "b"], [0, 1]), "validation": dataset(["c"], [1])}
    datasets.DatasetDict(parts).save_to_disk(tmp_path / "d")
    table = read_table(tmp_path / "d")
    assert table.columns["text"] == ["a", "b", "c"]
    assert table.columns["split"] == ["train", "train", "validation"]
    assert table.where(2, "text") == f"{tmp_path / 'd' / 'validation'}, row 1, column 'text'"


def test_the_folders_splits_win_over_a_column_and_it_is_said(tmp_path: Path) -> None:
    part = datasets.Dataset.from_dict({"split": ["x"], "text": ["a"]})
    datasets.DatasetDict(test=part).save_to_disk(tmp_path / "d")
    table = read_table(tmp_path / "d")
    assert table.columns == {"split": ["test"], "text": ["a"]}
    assert "splits replace its column 'split'" in table.notes[0]


def test_splits_with_other_columns_are_refused(tmp_path: Path) -> None:
    one, two = datasets.Dataset.from_dict({"text": ["a"]}), datasets.Dataset.from_dict({"body": ["a"]})
    datasets.DatasetDict(train=one, test=two).save_to_disk(tmp_path / "d")
    with refused("dataset.unequal-columns", what="'test'"):
        read_table(tmp_path / "d")


def test_a_file_that_is_no_parquet_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_text("text,label\na,1\n")
    with refused("parquet.other-content"):
        read_table(tmp_path / "a.parquet")


def test_a_parquet_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    pl.DataFrame({"text": ["a"] * 1_000}).write_parquet(tmp_path / "a.parquet")
    content = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "a.parquet").write_bytes(content[: len(content) // 2])
    with refused("parquet.damaged"):
        read_table(tmp_path / "a.parquet")


def test_parquet_without_rows_or_without_single_values_is_refused(tmp_path: Path) -> None:
    pl.DataFrame({"text": []}, schema={"text": pl.String}).write_parquet(tmp_path / "a.parquet")
    with refused("table.no-rows"):
        read_table(tmp_path / "a.parquet")
    pl.DataFrame({"vector": [[1.0]]}).write_parquet(tmp_path / "a.parquet")
    with refused("table.no-single-values", what="lists"):
        read_table(tmp_path / "a.parquet")


def test_a_cell_that_is_too_long_is_refused_with_its_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "LONGEST", 5)
    pl.DataFrame({"text": ["short", "too long"]}).write_parquet(tmp_path / "a.parquet")
    assert "row 2, column 'text'" in refusal(tmp_path / "a.parquet")


def test_a_folder_that_is_no_dataset_is_refused_with_its_files(tmp_path: Path) -> None:
    (tmp_path / "posts.csv").write_text("text\na\n")
    said = refusal(tmp_path)
    assert "not a saved dataset" in said
    assert "posts.csv" in said


@pytest.mark.parametrize("keep", [10, -8])
def test_a_dataset_file_that_is_cut_off_is_refused(tmp_path: Path, keep: int) -> None:
    file = next(saved(tmp_path / "d").glob("*.arrow"))
    file.write_bytes(file.read_bytes()[:keep])
    assert str(file) in refusal(tmp_path / "d")


def test_a_dataset_file_that_is_missing_is_refused(tmp_path: Path) -> None:
    next(saved(tmp_path / "d").glob("*.arrow")).unlink()
    with refused("dataset.file-missing"):
        read_table(tmp_path / "d")


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ("{", "dataset.description-unreadable"),
        ("[]", "dataset.description-unreadable"),
        ("{}", "dataset.no-files"),
        (json.dumps({"_data_files": [{"filename": "../secret.arrow"}]}), "dataset.no-files"),
        (
            json.dumps({"_data_files": [{"filename": "a"}], "_indices_files": [{"filename": "i"}]}),
            "dataset.selection",
        ),
    ],
)
def test_a_broken_description_of_a_dataset_is_refused(tmp_path: Path, state: str, code: str) -> None:
    (saved(tmp_path / "d") / "state.json").write_text(state)
    with refused(code):
        read_table(tmp_path / "d")
