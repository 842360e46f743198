import json
from pathlib import Path
from typing import Any

import pytest

from psycheck.corpora.known.opening import open_known
from psycheck.corpora.known.shen_twitter import anchors
from refusals import refused


def tweet(number: int, day: str, text: str, user: str = "") -> dict[str, Any]:
    said: dict[str, Any] = {"id_str": str(number), "text": text, "created_at": f"{day} 12:00:00 +0000 2016"}
    return said | ({"user": {"screen_name": user}} if user else {})


def put(folder: Path, name: str, *tweets: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("".join(json.dumps(one) + "\n" for one in tweets))


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    positive, negative = (tmp_path / "labeled" / side / "data" for side in ("positive", "negative"))
    anchor = tweet(5, "Wed Jun 15", "Today I was diagnosed with severe depression", "Anna")
    put(positive / "tweet", "5.json", anchor)
    put(
        positive / "timeline",
        "annacreated_at-100.json",
        tweet(1, "Sun May 01", "Too long ago to be of the month before"),
        tweet(2, "Tue May 17", "I can't sleep at all these long nights &amp; days"),
        tweet(3, "Tue Jun 14", "I'm so damn tired of everything in this town today"),
    )
    put(
        positive / "timeline",
        "annacreated_at-200.json",
        anchor,
        tweet(6, "Thu Jun 16", "After the anchor, I say"),
    )
    put(
        positive / "timeline",
        "Bobcreated_at-1.json",
        tweet(7, "Tue Jun 14", "My friend was diagnosed with it"),
    )
    put(negative / "tweet", "9.json", tweet(9, "Thu Jun 30", "What a day it was for me today", "cara"))
    put(
        negative / "timeline",
        "caracreated_at-1.json",
        *(
            tweet(20 + i, "Wed Jun 29", f"I walked my dog in the park for {i} hours today")
            for i in range(2, 6)
        ),
    )
    return tmp_path


def test_the_month_before_the_anchor_is_cleaned_and_balanced(archive: Path) -> None:
    corpus = open_known("shen-twitter", archive)
    told = dict(zip(corpus.ids, corpus.texts, strict=True))
    assert {name for name in told if int(name) < 20} == {"2", "3"}
    assert told["2"] == "I cannot sleep at all these long nights & days"
    assert "damn" not in told["3"]
    assert told["3"].startswith("I am so")
    assert corpus.table["label:depression"].to_list() == [1.0, 1.0, 0.0, 0.0]
    assert corpus.table["author"].to_list() == ["anna", "anna", "cara", "cara"]
    assert corpus.table["time"][0] == "2016-05-17T12:00:00+00:00"
    assert corpus.left_out == {
        "tweet not of the month before the anchor": 3,
        "user without an anchor tweet": 1,
        "drawn away to make the classes equally large": 2,
    }


def test_what_could_not_be_verified_is_said(archive: Path) -> None:
    assert "could not be verified" in open_known("shen-twitter", archive).notes[0]


def test_the_folder_of_the_classes_may_be_named_itself(archive: Path) -> None:
    whole = open_known("shen-twitter", archive).fingerprint()
    assert open_known("shen-twitter", archive / "labeled").fingerprint() == whole


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm diagnosed depression", True),
        ("i’ve been diagnosed with depression", True),
        ("Ive been diagnosed with major depression today", True),
        ("I was just diagnosed with depression", True),
        ("I am diagnosed as having depression", True),
        ("She was diagnosed with depression", False),
        ("I was diagnosed with the flu", False),
        ("I think I have depression", False),
        ("I was never told. They diagnosed my dog's depression", False),
    ],
)
def test_the_pattern_is_strict(text: str, expected: bool) -> None:
    assert anchors(text) is expected


def test_a_tweet_of_another_shape_is_named_by_file_and_row(archive: Path) -> None:
    path = archive / "labeled" / "negative" / "data" / "timeline" / "caracreated_at-1.json"
    with path.open("a") as file:
        file.write('{"id": 99, "text": "hidden words", "created_at": "yesterday"}\n')
    place = "caracreated_at-1.json, row 5, 'created_at'"
    with refused("release.not-a-time", where=place) as caught:
        open_known("shen-twitter", archive)
    assert "hidden" not in str(caught.value)
