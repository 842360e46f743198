import json
from pathlib import Path

import pytest

from psycheck.corpora.known.opening import open_known
from refusals import refused

ANSWERS = [
    ["Feeling-bad-about-yourself-or-…", "yes"],
    ["Feeling-down-depressed-or-hopeless", "no"],
    ["Little-interest-or-pleasure-in-doing ", "yes"],
]


def put(folder: Path, content: object) -> Path:
    path = folder / "primate_dataset.json"
    path.write_text(json.dumps(content))
    return path


def test_answers_are_labels_and_what_was_not_asked_is_not_annotated(tmp_path: Path) -> None:
    put(tmp_path, [{"post_title": "A title", "post_text": "Some words", "annotations": ANSWERS}])
    corpus = open_known("primate2022", tmp_path)
    assert corpus.texts == ["A title\nSome words"]
    assert len(corpus.labels) == 9
    row = corpus.table.row(0, named=True)
    marks = [row[f"label:{label}"] for label in ("worth", "mood", "interest", "sleep")]
    assert marks == [1.0, 0.0, 1.0, None]


@pytest.mark.parametrize(
    ("content", "code", "place"),
    [
        ({"post_text": "hidden"}, "release.not-a-list", ".json"),
        ([{"post_title": "hidden"}], "release.missing-field", "post 1"),
        ([{"post_text": "hidden"}], "release.no-labels", "post 1"),
        ([{"post_text": "hidden", "annotations": [["hidden"]]}], "release.not-an-annotation", "post 1"),
        (
            [{"post_text": "hidden", "annotations": [["Feeling-down", "hidden"]]}],
            "release.not-an-annotation",
            "post 1",
        ),
    ],
)
def test_another_shape_is_named_by_post(tmp_path: Path, content: object, code: str, place: str) -> None:
    with refused(code, where=place, do="github.com/primate-mh") as caught:
        open_known("primate2022", put(tmp_path, content))
    assert "hidden" not in str(caught.value)


def test_broken_json_is_named_by_line(tmp_path: Path) -> None:
    (tmp_path / "primate_dataset.json").write_text('[\n{"post_text": "hidden"')
    with refused("release.not-json", where="line 2") as caught:
        open_known("primate2022", tmp_path)
    assert "hidden" not in str(caught.value)
