from pathlib import Path

import pytest

from process import psycheck
from psycheck.corpora.known.opening import open_known
from refusals import refused

HEAD = "subreddit,post_id,sentence_range,text,id,label,confidence,social_timestamp,lex_liwc_WC\n"
WHAT = ("a walk", "a deadline")
MODEL = """
class _Model:
    labels = ("stress",)
    fingerprint = "fixed"
    def score(self, texts):
        import numpy as np
        return np.array([[0.9 if "deadline" in text else 0.1] for text in texts])

model = _Model()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    home = tmp_path / "dreaddit"
    home.mkdir()
    for split, count in (("train", 30), ("test", 20)):
        rows = [
            f'anxiety,p{i},"[{i}, {i + 5}]","Day {i}, {WHAT[i % 2]}",{i},{i % 2},0.8,15{i:08},9'
            for i in range(count)
        ]
        (home / f"dreaddit-{split}.csv").write_text(HEAD + "\n".join(rows) + "\n")
    return home


def test_both_files_with_their_split(folder: Path) -> None:
    corpus = open_known("dreaddit", folder)
    assert len(corpus) == 50
    row = corpus.table.row(31, named=True)
    assert row == {
        "id": "test-1",
        "text": "Day 1, a deadline",
        "time": "1500000001",
        "split": "test",
        "label:stress": 1.0,
        "group:subreddit": "anxiety",
    }
    assert len(open_known("dreaddit", folder, "test")) == 20


def test_one_file_of_it_can_be_named(folder: Path) -> None:
    assert len(open_known("dreaddit", folder / "dreaddit-train.csv")) == 30
    with refused("release.missing-file", what="'dreaddit-train.csv'"):
        open_known("dreaddit", Path(__file__))
    (folder / "dreaddit-test.csv").unlink()
    with refused("release.missing-file", what="'dreaddit-test.csv'"):
        open_known("dreaddit", folder)


def test_an_audit_takes_a_known_corpus_from_end_to_end(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "mymodel.py").write_text(MODEL)
    words = ("--split", "test", "--audit", "performance", "--out", "runs/a")
    done = psycheck(tmp_path, "audit", "python:mymodel:model", f"dreaddit:{folder}", *words)
    assert done.returncode == 0, done.stderr
    findings = (tmp_path / "runs/a/findings.jsonl").read_text()
    assert '"corpus": "dreaddit"' in findings
    accuracy = [line for line in findings.splitlines() if '"measure": "accuracy"' in line]
    assert '"value": 1.0' in accuracy[0]
    missing = psycheck(tmp_path, "audit", "python:mymodel:model", "dreaddit:nowhere")
    assert missing.returncode == 2
    assert "Dreaddit: there is nothing at this path" in missing.stderr
    assert "eturcan" in missing.stderr
