import json
from pathlib import Path

import pytest

from psycheck.corpora.known.open import open_known
from psycheck.errors import BadInput

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
    ("content", "said"),
    [
        ({"post_text": "hidden"}, "not a list of posts"),
        ([{"post_title": "hidden"}], "post 1"),
        ([{"post_text": "hidden"}], "no list of annotations"),
        ([{"post_text": "hidden", "annotations": [["hidden"]]}], "annotation 1 is not a pair"),
        ([{"post_text": "hidden", "annotations": [["Feeling-down", "hidden"]]}], "with yes or no"),
    ],
)
def test_another_shape_is_named_by_post(tmp_path: Path, content: object, said: str) -> None:
    with pytest.raises(BadInput, match=said) as caught:
        open_known("primate2022", put(tmp_path, content))
    assert "hidden" not in str(caught.value)
    assert "github.com/primate-mh" in str(caught.value)


def test_broken_json_is_named_by_line(tmp_path: Path) -> None:
    (tmp_path / "primate_dataset.json").write_text('[\n{"post_text": "hidden"')
    with pytest.raises(BadInput, match="line 2") as caught:
        open_known("primate2022", tmp_path)
    assert "hidden" not in str(caught.value)
