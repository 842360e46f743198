import sys
from time import process_time

import pytest

from made_words import clean, corpus, names
from psycheck.commands.compare import compare_corpora
from psycheck.core.corpus import Corpus
from psycheck.corpora.cautions import cheap_cautions, not_searched, warnings_of
from psycheck.corpora.suspicious_figures import LIMITS
from psycheck.demo.opening import open_demo
from refusals import refused
from tools.demo_corpora.domains import generate
from tools.demo_corpora.files import SHIPPED_N

SLOW = {"personal_data", "author_folds", "label_noise"}


def test_a_clean_corpus_has_no_caution() -> None:
    assert warnings_of(corpus(clean())) == ()


@pytest.mark.parametrize("name", SHIPPED_N)
def test_the_demo_corpora_have_no_caution(name: str) -> None:
    assert warnings_of(open_demo(name)) == ()


def test_planted_names_are_found() -> None:
    made = clean()
    made["text"] = [str(text).replace("feng", "fern") for text in made["text"]]  # the one name among THINGS
    for i in range(0, 300, 30):
        made["text"][i] = f"{made['text'][i]} and my sister Ngozi left"
    (caution,) = warnings_of(corpus(made), called="posts.csv")
    assert (caution.name, caution.figure, caution.n) == ("personal_data", 10 / 300, 300)
    assert caution.ids == tuple(str(i + 1) for i in range(0, 300, 30))
    assert caution.command == "psycheck redact posts.csv --out mended.csv"
    assert "Ngozi" not in caution.sentence


def test_splits_and_labels_need_not_be_there() -> None:
    assert warnings_of(Corpus.of("bare", ["a b", "c d"])) == ()
    assert cheap_cautions(Corpus.of("few", ["a", "b"], labels={"low": [1, 0]})) == ()


def test_cheap_cautions_need_no_extra_and_the_others_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("rensa", "cleanlab", "cleanlab.filter"):
        monkeypatch.setitem(sys.modules, module, None)
    assert cheap_cautions(corpus(clean())) == ()
    with refused("extra.missing", what="'compare'"):
        warnings_of(corpus(clean()))


def test_cheap_cautions_are_quick() -> None:
    big = generate("tweets", 5_000, 1)
    cheap_cautions(big)
    started = process_time()
    cheap_cautions(big)
    # A tenth of a millisecond per text for near-duplicates, and a second for all else.
    assert process_time() - started < 3


def test_cheap_cautions_leave_out_only_what_is_slow() -> None:
    made = clean()
    made["author"] = ["a0"] * 300
    for i, mark in enumerate(made["label"]):
        if mark:
            made["text"][i] = f"{made['text'][i]} zebra"
    for i in range(0, 300, 30):
        made["text"][i] = f"{made['text'][i]} and my sister Ngozi left"
    every = set(names(warnings_of(corpus(made))))
    assert every - set(names(cheap_cautions(corpus(made)))) == {"personal_data"} <= SLOW


def test_what_is_not_looked_for_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not_searched(corpus(clean())) == []
    monkeypatch.setitem(sys.modules, "rensa", None)
    (note,) = not_searched(corpus(clean()))
    assert "near-duplicates" in note
    assert "'compare'" in note
    monkeypatch.setitem(LIMITS, "texts", 100)
    assert "100 of 300 texts" in not_searched(corpus(clean()))[1]


def test_a_caution_is_a_finding_of_the_run() -> None:
    made = clean()
    made["author"] = ["a0"] * 300
    run = compare_corpora([corpus(made)], warn=True)
    (finding,) = run.findings
    assert finding.measure == "caution"
    assert finding.where["caution"] == "authors_across_splits"
    assert finding.value == 1
    assert finding.where["sentence"].startswith("100.0 % of the 100 texts outside train")
    assert len(run.tables["cautions"]) == len(finding.examples) == 50
