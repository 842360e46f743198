import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from psycheck.corpora.known.opening import open_known
from refusals import refused


def put(path: Path, *users: Any) -> Path:
    path.write_bytes(gzip.compress("".join(json.dumps(user) + "\n" for user in users).encode()))
    return path


def test_a_post_has_the_labels_of_its_author(tmp_path: Path) -> None:
    user = {
        "id": 7,
        "label": ["depression", "ptsd"],
        "posts": [[1350000000, "First"], [1350000001, "Second"]],
    }
    put(tmp_path / "SMHD_train.jl.gz", user)
    put(tmp_path / "SMHD_dev.jl.gz", {"id": 8, "label": ["control"], "posts": [[1350000002, "Third"]]})
    corpus = open_known("smhd", tmp_path)
    assert sorted(corpus.ids) == ["7-1", "7-2", "8-1"]
    rows = {row["id"]: row for row in corpus.table.iter_rows(named=True)}
    assert (rows["7-2"]["author"], rows["7-2"]["time"], rows["7-2"]["split"]) == ("7", "1350000001", "train")
    assert (rows["7-1"]["label:depression"], rows["7-1"]["label:ptsd"]) == (1.0, 1.0)
    assert rows["7-1"]["label:adhd"] is None
    assert [rows["8-1"][f"label:{label}"] for label in corpus.labels] == [0.0] * 9
    assert len(open_known("smhd", tmp_path, "dev")) == 1


def test_posts_may_be_strings_or_objects(tmp_path: Path) -> None:
    users = [
        {"author": "a", "labels": "anxiety", "posts": ["One", {"text": "Two", "created_utc": 5}]},
        [{"id": "b", "label": "control", "posts": [[6, "Three"]]}],
    ]
    corpus = open_known("smhd", put(tmp_path / "users.jsonl.gz", *users))
    assert corpus.texts == ["One", "Two", "Three"]
    assert corpus.table["time"].to_list() == [None, "5", "6"]


@pytest.mark.parametrize(
    ("user", "code"),
    [
        ({"id": 1, "label": ["control"]}, "release.not-a-user"),
        ({"label": ["control"], "posts": []}, "release.missing-field"),
        ({"id": 1, "posts": [[1, "hidden"]]}, "release.no-labels"),
        ({"id": 1, "label": ["hidden"], "posts": []}, "release.unknown-labels"),
        ({"id": 1, "label": ["ocd"], "posts": [[1, "hidden"], ["hidden"]]}, "release.not-a-post"),
    ],
)
def test_a_user_of_another_shape_is_named_by_row(tmp_path: Path, user: object, code: str) -> None:
    path = put(tmp_path / "SMHD_test.jl.gz", {"id": 0, "label": ["ocd"], "posts": [[1, "Fine"]]}, user)
    with refused(code, where="row 2") as caught:
        open_known("smhd", path)
    assert "hidden" not in str(caught.value)


def test_the_relaxed_controls_are_read_by_their_own_name_only(tmp_path: Path) -> None:
    put(tmp_path / "SMHD_train.jl.gz", {"id": 7, "label": ["ocd"], "posts": [[1, "First"]]})
    extra = put(tmp_path / "RC.jl.gz", {"id": 9, "label": ["control"], "posts": [[2, "Second"]]})
    corpus = open_known("smhd", tmp_path)
    assert (corpus.ids, corpus.table["split"].to_list()) == (["7-1"], ["train"])
    assert any("RC.jl.gz holds relaxed controls" in note for note in corpus.notes)
    assert open_known("smhd", extra).ids == ["9-1"]
