"""Dictionaries as LIWC and MeSH have them."""

from pathlib import Path

import pytest

from psycheck.corpora.word_dictionaries import read_dictionary
from refusals import refused

LIWC = "%\n1\tnegemo\n2\tsad\n3\tsocial\n%\ncry*\t1\t2\nfear\t1\nfriend*\t3\nbroken heart\t1\n"


@pytest.fixture
def liwc(tmp_path: Path) -> Path:
    path = tmp_path / "ours.dic"
    path.write_text(LIWC)
    return path


def test_a_category_of_liwc_is_words_beginnings_and_phrases(liwc: Path) -> None:
    negemo = read_dictionary(f"{liwc}#negemo")
    assert negemo.name == "ours.dic#negemo"
    assert negemo.holds("I was CRYING again")
    assert negemo.holds("full of fear")
    assert not negemo.holds("I was fearless")  # without an asterisk the word is whole
    assert negemo.holds("with a broken heart, again")
    assert not negemo.holds("a heart, broken")
    assert not negemo.holds("my friends")
    assert not read_dictionary(f"{liwc}#sad").holds("full of fear")
    assert read_dictionary(liwc).holds("my friends")


def test_a_list_of_terms_has_aliases(tmp_path: Path) -> None:
    path = tmp_path / "mesh.txt"
    path.write_text("Insomnia|Sleeplessness\tChronic insomnia\nFatigue\n")
    mesh = read_dictionary(path)
    assert mesh.holds("sleeplessness for weeks")
    assert mesh.holds("fatigue")
    assert not mesh.holds("I sleep well")


def test_what_is_no_dictionary_is_refused(liwc: Path, tmp_path: Path) -> None:
    with refused("dictionary.unknown-category", allowed="negemo"):
        read_dictionary(f"{liwc}#negmo")
    plain = tmp_path / "plain.dic"
    plain.write_text("cry\n")
    with refused("dictionary.not-liwc"):
        read_dictionary(plain)
    with refused("dictionary.unreadable"):
        read_dictionary(tmp_path / "nowhere.dic")
    terms = tmp_path / "terms.txt"
    terms.write_text("cry\n")
    with refused("dictionary.no-categories"):
        read_dictionary(f"{terms}#sad")
