"""Ranking by words of emotion."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

from psycheck.corpora.curate import lexicons
from psycheck.corpora.curate.lexicons import joined, lexicon_scores, rankings
from refusals import refused


def test_our_words_are_a_share_of_all_words() -> None:
    (score,) = rankings(["words"])
    assert score("I am sad and AFRAID, so it is.") == 2 / 8
    assert score("a stone") == 0
    assert score("") == 0


def test_empath_is_the_sum_of_its_categories() -> None:
    from empath import Empath

    (score,) = rankings(["empath"])
    text = "the sad man felt fear and pain in the dark"
    held = Empath().analyze(text, normalize=True)
    data = tomllib.loads((Path(lexicons.__file__).parent / "emotions.toml").read_text("utf-8"))
    wanted = data["empath"]["categories"]
    assert score(text) == pytest.approx(sum(held[name] for name in wanted))
    assert score(text) > 0


def test_the_nrc_lexicon_is_read_from_its_own_file(tmp_path: Path) -> None:
    path = tmp_path / "nrc.txt"
    path.write_text("abandon\tfear\t1\nabandon\tsadness\t1\nabandon\tjoy\t1\nchair\tfear\t0\n", "utf-8")
    (score,) = rankings(["nrc"], path)
    assert score("abandon chair abandon it") == 4 / 4  # two emotions each
    with refused("curate.no-nrc-file", do="research use only"):
        rankings(["nrc"])
    path.write_text("nothing here", "utf-8")
    with refused("curate.no-nrc-words", where="nrc.txt", allowed="fear"):
        rankings(["nrc"], path)
    with refused("curate.unreadable-nrc-file", where="nowhere"):
        rankings(["nrc"], tmp_path / "nowhere")


def test_an_unknown_ranking_is_named() -> None:
    with refused("curate.unknown-ranking", what="'liwc'", allowed="words, empath, nrc"):
        rankings(["liwc"])


def test_several_rankings_are_joined_by_the_mean_of_ranks() -> None:
    one, other = np.array([0.0, 5.0, 9.0]), np.array([1.0, 1.0, 0.0])
    assert joined([one]).tolist() == [0, 5, 9]
    assert joined([one, other]).tolist() == [0.5, 0.75, 0.5]


def test_a_total_adds_up_what_a_share_divides() -> None:
    (share,), (total,) = rankings(["words"]), rankings(["words"], score_by="total")
    text = "I am sad and AFRAID, so it is."
    assert (share(text), total(text)) == (2 / 8, 2)


def test_words_of_the_intensity_lexicon_count_by_their_intensity(tmp_path: Path) -> None:
    path = tmp_path / "intensity.txt"
    path.write_text(
        "word\temotion\tscore\ndread\tfear\t0.75\nloss\tsadness\t0.5\nloss\tfear\t0.25\n", "utf-8"
    )
    scores = lexicon_scores(["dread of a loss", "a chair"], ["nrc"], path)
    # Table 7 has a column per emotion, and their sum.
    assert scores["nrc_fear"] == [1.0, 0.0]
    assert scores["nrc_sadness"] == [0.5, 0.0]
    assert scores["nrc_total"] == [1.5, 0.0]
    assert scores["nrc_share"] == [1.5 / 4, 0.0]
    assert scores["nrc_anger"] == [0.0, 0.0]
