from collections import Counter
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psycheck.corpora.known.opening import open_known
from psycheck.corpora.known.phm2017 import even_sample
from psycheck.corpora.known.release import Item
from refusals import refused

OTHERS = ("alzheimer", "cancer", "heart attack", "parkinson", "stroke")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Seven personal mentions of depression (one without a text), four of each other disease."""
    lines = [f"{i}\tdepression\t{2 + i % 2}" for i in range(7)] + ["90\tdepression\t1", "91\tdepression\t0"]
    lines += [f"{100 * k + i}\t{disease}\t3" for k, disease in enumerate(OTHERS, 1) for i in range(4)]
    (tmp_path / "PHM2017.txt").write_text("\n".join(lines) + "\n")
    ids = [line.split("\t")[0] for line in lines if not line.startswith("6\t")]
    (tmp_path / "tweets.csv").write_text("tweet_id,text\n" + "".join(f"{i},my tweet {i}\n" for i in ids))
    return tmp_path


def test_depression_and_equally_many_of_the_other_diseases(folder: Path) -> None:
    corpus = open_known("phm2017", folder)
    assert corpus.table["label:depression"].sum() == 6
    assert len(corpus) == 12
    drawn = Counter(corpus.group("disease")[6:])
    assert (set(drawn), sorted(drawn.values())) == (set(OTHERS), [1, 1, 1, 1, 2])
    assert corpus.left_out == {
        "no personal mention": 2,
        "tweet without a text": 1,
        "control beyond the number of depression tweets": 14,
    }
    assert all(text == f"my tweet {i}" for i, text in zip(corpus.ids, corpus.texts, strict=True))


def test_the_same_tweets_are_drawn_each_time(folder: Path) -> None:
    assert open_known("phm2017", folder).fingerprint() == open_known("phm2017", folder).fingerprint()


def test_a_fourth_field_holds_the_text(tmp_path: Path) -> None:
    path = tmp_path / "PHM2017.txt"
    path.write_text('1\tdepression\t3\tmy "own" words\n2\tstroke\t2\this words\n')
    assert open_known("phm2017", path).texts == ['my "own" words', "his words"]


def test_ids_without_texts_say_what_is_missing(folder: Path) -> None:
    (folder / "tweets.csv").unlink()
    with refused("release.missing-file", what="'tweets.csv", do="emory-irlab/PHM2017"):
        open_known("phm2017", folder)


def test_a_line_of_another_shape_is_named(folder: Path) -> None:
    (folder / "PHM2017.txt").write_text("1\tdepression\t3\n2,stroke,2\n")
    with refused("release.unreadable-lines", where="row 2"):
        open_known("phm2017", folder)


@given(st.dictionaries(st.text(max_size=3), st.integers(0, 9), max_size=5), st.integers(0, 30))
def test_a_sample_is_as_even_as_its_kinds_allow(sizes: dict[str, int], wanted: int) -> None:
    kinds = {kind: [Item(f"{kind}-{i}", kind, {}) for i in range(size)] for kind, size in sizes.items()}
    drawn = even_sample(kinds, wanted, Random(0))
    assert len({item.id for item in drawn}) == len(drawn) == min(wanted, sum(sizes.values()))
    shares = Counter(item.text for item in drawn)
    spare = [shares[kind] for kind, size in sizes.items() if shares[kind] < size]
    assert not spare or max(shares.values(), default=0) - min(spare) <= 1
