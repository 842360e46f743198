from pathlib import Path

from psycheck.core.corpus import CorpusSource
from psycheck.corpora.columns import Columns
from psycheck.corpora.known.opening import open_known
from psycheck.corpora.opening import corpus_plan, open_corpus
from refusals import refused


def test_the_forum_is_the_label(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "training-set.csv").write_text("selftext,is_suicide\nOne,1\nTwo,0\n")
    (data / "testing-set.csv").write_text("selftext,is_suicide\nThree,0\n,1\n")
    corpus = open_known("sdcnl", tmp_path)
    assert corpus.table.to_dict(as_series=False) == {
        "id": ["train-1", "train-2", "test-1"],
        "text": ["One", "Two", "Three"],
        "split": ["train", "train", "test"],
        "label:suicide": [1.0, 0.0, 0.0],
    }
    assert corpus.left_out == {"empty text": 1}
    named = open_corpus(corpus_plan(f"mine=sdcnl:{tmp_path}", Columns(), "test"))
    assert (named.name, named.ids) == ("mine", ["test-1"])
    assert named.source == CorpusSource(f"sdcnl:{tmp_path}", split="test")
    (data / "testing-set.csv").write_text("selftext\nThree\n")
    with refused("release.missing-column", what="'is_suicide'"):
        open_known("sdcnl", tmp_path)
