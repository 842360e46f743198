"""A page is drawn from the folder of its run as it was drawn from the run itself."""

from pathlib import Path

import pytest

from psycheck.corpora.distances import Comparing
from psycheck.demo.generate import generate
from psycheck.experiments.corpora_study import study_corpora
from psycheck.experiments.gender_study import study_gender
from psycheck.runs.folder import open_run
from psycheck.runs.pages import pages_of
from psycheck.verbs.compare import compare_corpora

QUICK = Comparing(parts=("words",), texts=60)


@pytest.mark.parametrize("verb", ["compare", "study corpora", "study gender"])
def test_a_folder_holds_what_its_pages_are_drawn_from(verb: str, tmp_path: Path) -> None:
    notes, tweets = generate("notes", 240, 21), generate("tweets", 120, 21)
    match verb:
        case "compare":
            compare_corpora([notes, tweets], encoder="tfidf", how=QUICK, out=tmp_path)
        case "study corpora":
            study_corpora([notes, tweets], encoder="tfidf", how=QUICK, out=tmp_path)
        case _:
            study_gender(notes, out=tmp_path, encoder="tfidf", names=["logistic"])
    opened = open_run(tmp_path)
    assert opened.plan["verb"] == verb
    drawn = pages_of(opened)
    assert drawn == {name: (tmp_path / name).read_text("utf-8") for name in drawn}
    assert drawn.keys() == {"report.html"} | ({"study.md"} if verb.startswith("study") else set())
