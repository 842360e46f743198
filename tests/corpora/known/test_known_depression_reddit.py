from pathlib import Path

from psycheck.corpora.known.opening import open_known
from refusals import refused


def test_a_table_with_splits(tmp_path: Path) -> None:
    path = tmp_path / "depression_reddit.csv"
    path.write_text("text,depression,split\nLow,1,train\nWell,0,valid\n  ,0,test\n")
    corpus = open_known("depression-reddit", tmp_path)
    assert corpus.table["split"].to_list() == ["train", "dev"]
    assert corpus.table["label:depression"].to_list() == [1.0, 0.0]
    assert corpus.left_out == {"empty text": 1}


def test_one_file_a_post_in_two_folders(tmp_path: Path) -> None:
    home = tmp_path / "Data_Collector"
    for folder, name, content in (
        ("reddit_depression", "writer_a.txt", b"I am low\n"),
        ("reddit_non_depression", "writer_b.txt", "I like cafés\n".encode("latin-1")),
    ):
        (home / folder).mkdir(parents=True)
        (home / folder / name).write_bytes(content)
    corpus = open_known("depression-reddit", tmp_path)
    assert corpus.table.to_dict(as_series=False) == {
        "id": ["reddit_depression/writer_a", "reddit_non_depression/writer_b"],
        "text": ["I am low", "I like cafés"],
        "author": ["writer_a", "writer_b"],
        "label:depression": [1.0, 0.0],
        "group:source": ["reddit_depression", "reddit_non_depression"],
    }
    (home / "reddit_depression" / "writer_a.txt").unlink()
    with refused("release.missing-file", what="'reddit_depression/*.txt'"):
        open_known("depression-reddit", tmp_path)
