"""The demo without torch: TF–IDF on what is shipped."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from psycheck.commands import demo


@pytest.mark.slow
def test_a_second_demo_trains_and_scores_nothing_and_an_older_folder_does_not_stop_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "find_spec", lambda name: None if name == "torch" else find_spec(name))
    older = tmp_path / "tfidf"
    older.mkdir()
    (older / "training.json").write_text('{"key": "of another version"}', "utf-8")
    said: list[str] = []
    first = demo.run_demo(tmp_path, say=said.append)
    assert any(line.startswith("trained in") for line in said)
    made = (tmp_path / "findings.jsonl").read_bytes()
    said.clear()
    second = demo.run_demo(tmp_path, say=said.append)
    assert "already trained" in said
    assert [run.environment["texts"]["tfidf"]["scored"] > 0 for run in (first, second)] == [True, False]
    assert (tmp_path / "findings.jsonl").read_bytes() == made
    assert {str(c["name"]) for c in second.plan["corpora"]} == {"tweets", "interviews", "forum"}
    assert sorted(path.name for path in older.iterdir()) == ["training.json"]
