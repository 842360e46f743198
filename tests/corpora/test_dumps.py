"""Dumps as they come: compressed, broken, mixed up."""

import gzip
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zstandard import ZstdCompressionParameters, ZstdCompressor

from dumps_of_ours import line, packed, words, write_dump
from psycheck.core.errors import BadInput
from psycheck.corpora.curate.dumps import HOPELESS, LONGEST, Post, Tally, check_dump, lines_of, posts_of
from refusals import refused

THREE = [line(f"p{k}", "Ann", "cooking", words(k), at=k) for k in range(3)]


def read(path: Path) -> tuple[list[Post], Tally]:
    tally = Tally()
    return list(posts_of(path, tally)), tally


@pytest.mark.parametrize("name", ["d.jsonl", "d.jsonl.gz", "d.zst", "d"])
def test_each_compression_gives_the_same_posts(tmp_path: Path, name: str) -> None:
    posts, tally = read(write_dump(tmp_path / name, THREE))
    assert [(post.id, post.line, post.time) for post in posts] == [
        ("t1_p0", 1, 1_546_300_800), ("t1_p1", 2, 1_546_300_801), ("t1_p2", 3, 1_546_300_802)
    ]  # fmt: skip
    assert tally.lines == 3
    assert tally.left_out == {}


def test_a_post_has_its_title_and_a_comment_has_none(tmp_path: Path) -> None:
    post = line("p", "Ann", "cooking", "")
    del post["body"]
    several = [
        {**post, "id": "p1", "title": "A title", "selftext": "A text."},
        {**post, "id": "p2", "title": "Only a link", "selftext": ""},
        {**post, "id": "p3", "title": "Gone", "selftext": "[removed]"},
        {**post, "id": "t3_p4", "title": "Named in full", "selftext": "x", "created_utc": "1546300800"},
    ]
    posts, _ = read(write_dump(tmp_path / "d.zst", several))
    assert [(p.id, p.text) for p in posts] == [
        ("t3_p1", "A title\nA text."), ("t3_p2", ""), ("t3_p3", ""), ("t3_p4", "Named in full\nx")
    ]  # fmt: skip


def test_a_long_window_as_the_archives_use_it_is_read(tmp_path: Path) -> None:
    parameters = ZstdCompressionParameters(window_log=28, enable_ldm=True)
    path = tmp_path / "long.zst"
    with path.open("wb") as file, ZstdCompressor(compression_params=parameters).stream_writer(file) as out:
        out.write(packed(THREE))
    assert len(read(path)[0]) == 3


def test_several_frames_in_one_file_are_read(tmp_path: Path) -> None:
    path = tmp_path / "d.zst"
    path.write_bytes(b"".join(ZstdCompressor().compress(packed([one])) for one in THREE))
    assert len(read(path)[0]) == 3


@pytest.mark.parametrize("name", ["cut.zst", "cut.gz"])
def test_a_dump_that_is_cut_off_stops_with_the_line(tmp_path: Path, name: str) -> None:
    path = write_dump(tmp_path / name, [line(f"p{k}", "Ann", "cooking", words(k, 400)) for k in range(2_000)])
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with refused("dump.truncated", where=f"{path}, line "):
        read(path)


def test_a_damaged_dump_stops_with_the_line(tmp_path: Path) -> None:
    path = write_dump(
        tmp_path / "d.zst", [line(f"p{k}", "Ann", "cooking", words(k, 400)) for k in range(500)]
    )
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2 : len(raw) // 2 + 2_000] = bytes(2_000)
    path.write_bytes(raw)
    with pytest.raises(BadInput) as caught:
        read(path)
    assert caught.value.code in ("dump.damaged", "dump.truncated")


def test_bad_lines_are_counted_with_their_numbers_and_the_rest_is_read(tmp_path: Path) -> None:
    latin = json.dumps(line("l", "Ann", "cooking", "café"), ensure_ascii=False).encode("latin-1") + b"\n"
    lines: list[dict[str, Any] | bytes] = [
        THREE[0],
        b'{"id": "half", "author": "Ann", \n',
        latin,
        b"\n",
        b'{"id": "x", "author": "Ann", "subreddit": "cooking", "body": "no time"}\n',
        b"[1, 2]\n",
        b'{"id": 7, "author": "Ann", "subreddit": "c", "created_utc": 1, "body": "no id"}\n',
        b"null\n",
        THREE[1],
    ]
    posts, tally = read(write_dump(tmp_path / "d.zst", lines))
    assert [post.id for post in posts] == ["t1_p0", "t1_p1"]
    assert tally.lines == 9
    assert tally.left_out == {"not JSON": 1, "not UTF-8": 1, "a field is missing": 4}
    assert tally.places["not JSON"] == ["d.zst:2"]
    assert tally.places["not UTF-8"] == ["d.zst:3"]
    assert tally.places["a field is missing"] == ["d.zst:5", "d.zst:6", "d.zst:7", "d.zst:8"]


@pytest.mark.parametrize(
    ("said", "time"),
    [
        (1_546_300_800, 1_546_300_800),
        ("1546300800", 1_546_300_800),
        (1_546_300_800.5, 1_546_300_800),
        (1_546_300_800_999, 1_546_300_800),  # milliseconds
        ("1546300800999", 1_546_300_800),
        ("2019-01-01", 1_546_300_800),
        ("2019-01-01T00:01:00Z", 1_546_300_860),
        ("2019-01-01 01:00:00+01:00", 1_546_300_800),
        (253_402_300_799, 253_402_300_799),  # the last second of 9999
    ],
)
def test_a_time_in_seconds_milliseconds_or_as_an_iso_date_is_read(
    tmp_path: Path, said: object, time: int
) -> None:
    posts, tally = read(write_dump(tmp_path / "d.zst", [{**THREE[0], "created_utc": said}]))
    assert [post.time for post in posts] == [time]
    assert tally.left_out == {}


@pytest.mark.parametrize(
    "said", [-5, 253_402_300_800, 10**13, 1e300, float("nan"), True, "spring", "1900-01-01", []]
)
def test_what_is_no_time_has_its_own_reason(tmp_path: Path, said: object) -> None:
    posts, tally = read(write_dump(tmp_path / "d.zst", [THREE[0], {**THREE[1], "created_utc": said}]))
    assert len(posts) == 1
    assert tally.left_out == {"created_utc is not a time": 1}
    assert tally.places["created_utc is not a time"] == ["d.zst:2"]


def test_no_time_at_all_is_a_missing_field(tmp_path: Path) -> None:
    _, tally = read(write_dump(tmp_path / "d.zst", [{**THREE[0], "created_utc": None}]))
    assert tally.left_out == {"a field is missing": 1}


def test_a_line_of_50_megabytes_is_passed_over(tmp_path: Path) -> None:
    huge = b'{"id": "huge", "body": "' + b"x" * 50_000_000 + b'"}\n'
    posts, tally = read(write_dump(tmp_path / "d.zst", [THREE[0], huge, THREE[1]]))
    assert [(post.id, post.line) for post in posts] == [("t1_p0", 1), ("t1_p1", 3)]
    assert tally.left_out == {"line too long": 1}
    assert tally.places["line too long"] == ["d.zst:2"]


@pytest.mark.parametrize(("length", "read_"), [(LONGEST, True), (LONGEST + 1, False)])
def test_the_longest_line(tmp_path: Path, length: int, read_: bool) -> None:
    path = tmp_path / "d.jsonl"
    path.write_bytes(b"x" * length + b"\nend")
    found = [None if one is None else len(one) for one in lines_of(path, Tally())]
    assert found == [length if read_ else None, 3]


def test_a_file_that_is_no_dump_stops_early(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text("name,text\n" * 5_000, "utf-8")
    with refused("dump.not-posts", what=f"{HOPELESS:,}", where="lines 1 to 1000"):
        read(path)


def test_utf16_stops_early_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_bytes("\n".join(json.dumps(THREE[0]) for _ in range(2_000)).encode("utf-16"))
    with refused("dump.not-posts", what="not UTF-8"):
        read(path)


def test_a_wrong_ending_and_an_empty_file_are_refused_before_any_work(tmp_path: Path) -> None:
    plain = tmp_path / "d.zst"
    plain.write_bytes(packed(THREE))
    with refused("dump.wrong-extension", what="'.zst'", do="remove the extension"):
        check_dump(plain)
    hidden = tmp_path / "d.jsonl"
    hidden.write_bytes(gzip.compress(packed(THREE)))
    with refused("dump.wrong-extension", do="add '.gz'"):
        check_dump(hidden)
    empty = tmp_path / "e.zst"
    empty.touch()
    with refused("dump.empty", where="e.zst"):
        check_dump(empty)
    with refused("dump.unreadable", where="nowhere.zst"):
        check_dump(tmp_path / "nowhere.zst")


@given(st.lists(st.binary(max_size=40).filter(lambda raw: b"\n" not in raw), max_size=20), st.booleans())
def test_lines_are_those_of_the_file(lines: list[bytes], ended: bool) -> None:
    raw = b"\n".join(lines) + (b"\n" if ended else b"")
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "d.zst"
        path.write_bytes(b"".join(ZstdCompressor().compress(raw[k : k + 7]) for k in range(0, len(raw), 7)) or
                         ZstdCompressor().compress(b""))  # fmt: skip
        found = list(lines_of(path, Tally()))
    whole = raw.split(b"\n")
    assert found == (whole[:-1] if whole[-1] == b"" else whole)
