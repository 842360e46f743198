import re
from pathlib import Path

import pytest

from psycheck.audits.suite import Expectation, read_suite, shipped_suites
from psycheck.core.errors import BadInput
from refusals import refused

HEAD = 'name = "mine"\ntitle = "Mine"\nsource = "us"\nlabel = "depression"\n'
GOOD = """
[[check]]
id = "A1"
kind = "DIR"
title = "adds: poor sleep"
edit = { append = ["I cannot sleep", "I lie awake"] }
expect = { not_down = 0.1 }
tags = { symptom = "sleep" }
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_both_deck_suites_are_shipped() -> None:
    assert {"deck", "deck-grammatical"} <= set(shipped_suites())


def test_every_shipped_suite_reads() -> None:
    for name in shipped_suites():
        suite = read_suite(name)
        assert suite.name == name
        assert suite.checks


def test_deck_is_as_published_in_table_2() -> None:
    checks = {check.id: check for check in read_suite("deck").checks}
    assert list(checks) == [f"T{n}" for n in range(1, 24)]
    kinds = [check.kind for check in checks.values()]
    assert (kinds.count("INV"), kinds.count("MFT"), kinds.count("DIR")) == (2, 4, 17)
    by_category = {
        category: [id_ for id_, check in checks.items() if check.tags.get("category") == category]
        for category in ("COG", "SOM", "SUI")
    }
    assert by_category == {
        "COG": ["T7", "T8", "T9", "T10", "T16", "T17", "T18", "T19"],
        "SOM": ["T11", "T12", "T13", "T14", "T15", "T20", "T21"],
        "SUI": ["T22", "T23"],
    }
    absence = {id_ for id_, check in checks.items() if check.tags.get("polarity") == "absence"}
    assert absence == {"T8", "T10", "T13", "T15", "T17", "T19", "T21", "T23"}
    for id_, check in checks.items():
        if check.kind == "DIR":
            assert check.expect == Expectation("not_up" if id_ in absence else "not_down", by=0.1)
            assert check.gold is None
    items = [checks[f"T{n}"].tags["item"] for n in range(7, 24)]
    assert items == ["1", "1", "2", "2", "3", "4", "4", "5", "5", "6", "6", "7", "7", "8", "8", "9", "9"]
    assert [len(check.sentences) for check in checks.values()][6:] == [
        *(1, 1, 3, 1, 4, 2, 1, 5, 1, 3, 1, 1, 3, 4, 1, 2, 3)
    ]
    assert "I cannot stop eating" in checks["T14"].sentences
    assert "I have been very slow lately" in checks["T20"].sentences
    assert not re.search("[’“”]", "".join(s for check in checks.values() for s in check.sentences))


def test_deck_subsets_and_labels_of_the_pronoun_tests() -> None:
    checks = {check.id: check for check in read_suite("deck").checks}
    assert {id_: (checks[id_].gold, checks[id_].expect.label) for id_ in ("T2", "T3", "T4", "T5", "T6")} == {
        "T2": (None, None),
        "T3": (0, 0),
        "T4": (0, 0),
        "T5": (0, 0),
        "T6": (1, 1),
    }


def test_deck_is_literal_and_its_twin_grammatical() -> None:
    literal, repaired = read_suite("deck"), read_suite("deck-grammatical")
    assert [check.id for check in literal.checks] == [check.id for check in repaired.checks]
    assert literal.fingerprint != repaired.fingerprint
    (they,), (they_agreeing,) = literal.checks[2].edits, repaired.checks[2].edits
    assert they("I am tired").text == "They am tired"
    assert they_agreeing("I am tired").text == "They are tired"
    (she,) = repaired.checks[0].edits
    assert she("He is tired").text == "She is tired"


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    suite = read_suite(write(tmp_path, HEAD + GOOD))
    (check,) = suite.checks
    assert (check.id, check.label, check.each, check.gold) == ("A1", "depression", True, None)
    assert [edit("Hm.").text for edit in check.edits] == ["Hm. I cannot sleep", "Hm. I lie awake"]
    assert check.sentences == ("I cannot sleep", "I lie awake")


def test_the_fingerprint_follows_the_content_and_not_the_comments(tmp_path: Path) -> None:
    first = read_suite(write(tmp_path, HEAD + GOOD))
    commented = read_suite(write(tmp_path, "# a remark\n" + HEAD + GOOD))
    changed = read_suite(write(tmp_path, HEAD + GOOD.replace("awake", "sleepless")))
    assert first == commented
    assert first.fingerprint != changed.fingerprint


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('kind = "DIR"', 'kind = "DIRR"', "did you mean 'DIR'"),
        ('kind = "DIR"', 'kind = "INV"', "INV checks cannot expect 'not_down'"),
        ('id = "A1"', 'id = ""', "'id' is empty"),
        ('id = "A1"\n', "", "'id' is missing"),
        ("tags =", "tagz =", "did you mean 'tags'"),
        ("append =", "apend =", "did you mean 'append'"),
        ("not_down =", "not_dwn =", "did you mean 'not_down'"),
        ("not_down = 0.1", "not_down = 1.5", "key 'expect.not_down'"),
        ("not_down = 0.1", 'not_down = "much"', "key 'expect.not_down'"),
        ("expect = { not_down = 0.1 }\n", "", "expectation is missing"),
        ('"I lie awake"', '" "', "sentence 2 is empty"),
        ('"I lie awake"', '"I cannot sleep"', "sentence 2 is a duplicate"),
        ('["I cannot sleep", "I lie awake"]', "[]", "no sentences to append"),
        ('append = ["I cannot sleep", "I lie awake"]', 'replace = { he = "he" }', "changes nothing"),
        ('append = ["I cannot sleep", "I lie awake"]', 'replace = { "-" = "he" }', "is not a word"),
        ('append = ["I cannot sleep", "I lie awake"]', 'person = "we"', "they, he, she, I"),
        ('"I lie awake"]', '"I lie awake"], agreement = true', "applies only to a shift of person"),
        ('"I lie awake"]', '"I lie awake"], person = "he"', "has 2 edits"),
        ("tags =", "gold = 2\ntags =", "unknown gold '2'"),
        ("tags =", 'variants = "all"\ntags =', "allowed: each, one"),
        ('symptom = "sleep"', "symptom = 3", "'tags.symptom' must be a string"),
    ],
)
def test_a_mistake_in_a_check_says_where(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in GOOD
    path = write(tmp_path, HEAD + GOOD.replace(old, new))
    with pytest.raises(BadInput) as raised:
        read_suite(path)
    message = str(raised.value)
    assert said in message
    assert str(path) in message
    assert "check" in message


def test_mistakes_of_the_whole_file(tmp_path: Path) -> None:
    for text, said in [
        (HEAD + GOOD + GOOD, "two checks have the id 'A1'"),
        (HEAD, "has no checks"),
        ("", "has no checks"),
        (HEAD + "nmae = 1\n" + GOOD, "did you mean 'name'"),
        (HEAD.replace('label = "depression"\n', "") + GOOD, "has no label"),
        (HEAD + "check = 3\n", "'check' must be a list of tables"),
        (HEAD + "oops\n", "line 5"),
    ]:
        with pytest.raises(BadInput, match=re.escape(said)):
            read_suite(write(tmp_path, text))


def test_files_that_are_no_suites(tmp_path: Path) -> None:
    with refused("suite.unknown", allowed="did you mean 'deck'?"):
        read_suite("dek")
    with refused("suite.no-file"):
        read_suite(tmp_path / "none.toml")
    with refused("suite.no-file"):
        read_suite(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b'name = "\xe9"')
    with pytest.raises(BadInput, match="not UTF-8"):
        read_suite(tmp_path / "latin.toml")


@pytest.mark.parametrize("name", ["model", "corpus", "check", "suite", "kind", "label", "by", "value"])
def test_a_tag_may_not_take_the_place_of_what_findings_say_themselves(tmp_path: Path, name: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'label = "depression"\n[[check]]\nid = "L1"\nkind = "DIR"\nedit = { append = ["I am alone"] }\n'
        f'expect = {{ not_down = 0.1 }}\ntags = {{ {name} = "x" }}\n'
    )
    with refused("suite.reserved-tag", where=f"check 'L1', key 'tags.{name}'"):
        read_suite(path)
