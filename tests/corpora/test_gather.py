"""Curating a small village, counted by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from dumps_of_ours import BEGIN, line, village, words, write_dump
from psycheck.core.errors import BadInput
from psycheck.corpora.curate.disclosure import disclosed
from psycheck.corpora.curate.gather import Curated, Step, curate
from psycheck.corpora.curate.lexicons import holds_term, is_person, listed_subreddits, subreddits_of, words_in
from psycheck.corpora.curate.settings import Curating, split_of
from refusals import refused

SALT = b"a secret of the tests, 32 bytes."
SMALL: dict[str, Any] = {"min_words": 5, "min_posts": 2}


def made(place: Path, lines: list[Any] | None = None, *, files: int | None = None, **how: Any) -> Curated:
    work = place / "work"
    work.mkdir(exist_ok=True)
    (work / "posts.sqlite").unlink(missing_ok=True)
    dump = write_dump(place / "dump.zst", village() if lines is None else lines)
    return curate([dump], Curating(**{**SMALL, **how}), work=work, salt=SALT, files=files)


def steps(done: Curated, side: str) -> dict[str, tuple[int, int, int]]:
    """Posts left, authors left and posts before, by step."""
    return {step.name: (step.posts, step.authors, step.before) for step in done.steps if step.side == side}


def test_the_funnel_of_all_conditions_is_the_one_counted_by_hand(tmp_path: Path) -> None:
    done = made(tmp_path)
    both = steps(done, "both")
    assert both["posts"] == (19, 6, 22)
    assert both["subreddits"] == (19, 6, 19)
    assert steps(done, "disclosing") == {
        "disclosing": (11, 3, 19),  # Anna 6, Ben 2, Cleo 3
        "no_reports": (8, 3, 11),
        "min_words": (7, 3, 8),  # Anna's short one is gone
        "min_posts": (6, 2, 7),  # Ben has one post left
        "most_posts": (6, 2, 6),
        "near_duplicates": (6, 2, 6),
        "top_k": (6, 2, 6),
    }
    assert done.by_condition == {"depression": 1, "anxiety": 1, "adhd": 1}
    assert done.tally.left_out == {"deleted or automatic account": 2, "removed or empty text": 1}


def test_the_listed_subreddits_bound_disclosures_and_posts(tmp_path: Path) -> None:
    done = made(tmp_path, subreddits=("listed",))
    # In r/depression, r/ADHD and r/Anxiety: Anna 5, Cleo 2, Fay 1. Ben's report stands elsewhere.
    assert steps(done, "both")["subreddits"] == (8, 3, 8)
    assert steps(done, "disclosing")["disclosing"] == (7, 2, 8)
    assert sorted(done.corpus.ids) == ["t1_a0", "t1_a1", "t1_a2"]
    assert done.tally.left_out == {"in another subreddit": 14}  # not even parsed, whoever wrote them


def test_controls_never_post_in_listed_subreddits_and_hold_no_term(tmp_path: Path) -> None:
    done = made(tmp_path, controls=True)
    assert steps(done, "control") == {
        "never_listed": (5, 2, 19),  # Dora 3, Emil 2; Fay posts in r/Anxiety
        "no_mentions": (5, 2, 5),
        "control_long": (5, 2, 5),
        "control_authors": (5, 2, 5),
        "no_terms": (4, 2, 5),  # the therapist
        "min_posts": (4, 2, 4),
        "most_posts": (4, 2, 4),
        "english": (4, 2, 4),
        "near_duplicates": (4, 2, 4),
        "sample": (4, 2, 4),
    }
    table = done.corpus.table.sort("id")
    controls = table.filter(table["label:depression"] == 0)
    assert controls["id"].to_list() == ["t1_d0", "t1_d1", "t1_e0", "t1_e1"]


def test_whoever_mentions_a_diagnosis_is_not_a_control(tmp_path: Path) -> None:
    missed = "they wrote down depression as the diagnosis they settled on for me"
    assert disclosed(missed) == frozenset()
    done = made(tmp_path, [*village(), line("e2", "Emil", "hiking", missed)], controls=True)
    assert steps(done, "control")["never_listed"] == (6, 2, 20)
    assert steps(done, "control")["no_mentions"] == (3, 1, 6)  # Dora's
    assert not {"t1_e0", "t1_e1", "t1_e2"} & set(done.corpus.ids)


def test_posts_of_disclosing_authors_that_mention_a_diagnosis_are_left_out(tmp_path: Path) -> None:
    missed = "they wrote down depression as the diagnosis they settled on for me"
    done = made(tmp_path, [*village(), line("a9", "Anna", "cooking", missed)])
    assert steps(done, "disclosing")["no_reports"] == (8, 3, 12)  # three reports and this one
    assert next(step for step in done.steps if step.name == "no_reports").counts == {"mentions": 1}
    assert "t1_a9" not in done.corpus.ids


def test_controls_write_in_english_where_the_language_can_be_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    german = "gestern sind wir mit den Kindern an den See gefahren und haben dort lange gebadet"
    lines = [*village(), line("e2", "Emil", "hiking", german)]
    done = made(tmp_path, lines, controls=True)
    assert steps(done, "control")["english"] == (4, 2, 5)
    assert "t1_e2" not in done.corpus.ids
    strangers = [one for one in lines if one["author"] not in ("Dora", "Emil")]
    strangers += [line(f"e{k}", "Emil", "hiking", f"{german} {k}") for k in range(2)]
    with refused("curate.no-control-posts"):
        made(tmp_path, strangers, controls=True)
    monkeypatch.setattr("psycheck.corpora.curate.funnel.knows_languages", lambda: False)
    done = made(tmp_path, lines, controls=True)
    assert "english" not in steps(done, "control")
    assert "t1_e2" in done.corpus.ids


def test_labels_are_one_where_reported_zero_for_controls_and_else_not_annotated(tmp_path: Path) -> None:
    table = made(tmp_path, controls=True, conditions=("depression", "adhd")).corpus.table
    marks = {id_: (a, b) for id_, a, b in table.select("id", "label:depression", "label:adhd").iter_rows()}
    assert marks["t1_a0"] == (1.0, None)
    assert marks["t1_c1"] == (None, 1.0)
    assert marks["t1_e0"] == (0.0, 0.0)
    assert "label:anxiety" not in table.columns
    assert not any(id_.startswith("t1_b") for id_ in marks)  # Ben reports another condition: on neither side


def test_no_name_and_no_report_is_in_the_corpus(tmp_path: Path) -> None:
    done = made(
        tmp_path, [*village(), line("a9", "Anna", "cooking", f"{words(9)} thanks /u/Ben_99")], controls=True
    )
    told = done.corpus.table.write_csv().lower()
    for name in ("anna", "ben", "cleo", "dora", "emil", "diagnos"):
        assert name not in told
    assert set(done.corpus.group("subreddit")) == {"depression", "cooking", "ADHD", "hiking", "u_"}
    assert done.corpus.table["author"].n_unique() == 4
    assert all(len(author) == 20 for author in done.corpus.table["author"])


def test_the_salt_changes_names_and_nothing_else(tmp_path: Path) -> None:
    dump, work = write_dump(tmp_path / "dump.zst", village()), tmp_path / "work"
    tables = []
    for salt in (b"one secret, sixteen.", b"another secret, 16."):
        work.mkdir()
        tables.append(curate([dump], Curating(**SMALL), work=work, salt=salt).corpus.table)
        for path in work.iterdir():
            path.unlink()
        work.rmdir()
    one, other = tables
    assert one.drop("author").equals(other.drop("author"))
    assert set(one["author"]).isdisjoint(other["author"])


def crowd() -> list[dict[str, Any]]:
    """Forty authors who report and sixty who do not, five posts each, in a mixed order."""
    lines = []
    for who in range(100):
        reporting = who < 40
        place = "depression" if reporting else "cooking"
        for k in range(5):
            at = (who * 7919 + k * 104_729) % 100_003
            lines.append(line(f"{who}x{k}", f"p{who}", place, f"here {words(who * 10 + k)} you are", at=at))
        if reporting:
            lines.append(
                line(f"{who}r", f"p{who}", place, "I was diagnosed with depression and that is that")
            )
    return sorted(lines, key=lambda one: one["created_utc"])


def test_neither_the_number_of_files_nor_the_order_of_dumps_matters(tmp_path: Path) -> None:
    lines = crowd()
    how: dict[str, Any] = {"controls": True, "control_authors": 25, "top_k": 80, "sample": 50}
    how["control_posts"] = 60
    one = made(tmp_path, lines, files=1, **how)
    assert made(tmp_path, lines, files=7, **how).corpus.table.equals(one.corpus.table)
    half, rest = write_dump(tmp_path / "b.gz", lines[::2]), write_dump(tmp_path / "a.jsonl", lines[1::2])
    for k, order in enumerate(([half, rest], [rest, half])):
        work = tmp_path / f"work-{k}"
        work.mkdir()
        table = curate(order, Curating(**SMALL, **how), work=work, salt=SALT).corpus.table
        assert table.equals(one.corpus.table)
    assert steps(one, "control")["control_authors"] == (125, 25, 300)
    assert steps(one, "disclosing")["top_k"][0] == 80
    assert steps(one, "disclosing")["sample"][0] == 50
    assert steps(one, "control")["sample"][0] == 60


def test_splits_share_no_author_and_keep_both_sides(tmp_path: Path) -> None:
    table = made(tmp_path, crowd(), controls=True).corpus.table
    assert (table.group_by("author").n_unique()["split"] == 1).all()
    for mark in (0.0, 1.0):
        own = table.filter(table["label:depression"] == mark)
        held = {part: own["split"].to_list().count(part) for part in ("train", "dev", "test")}
        assert held == {"train": 100, "dev": 20, "test": 80}


def test_the_highest_ranks_are_kept(tmp_path: Path) -> None:
    lines = village()
    lines[0]["body"] += " sad afraid hopeless"
    lines[2]["body"] += " sad"
    assert sorted(made(tmp_path, lines, top_k=2).corpus.ids) == ["t1_a0", "t1_a2"]


def test_near_duplicates_leave_the_oldest(tmp_path: Path) -> None:
    lines = [*village(), line("a8", "Anna", "cooking", words(1, 40), at=70)]
    lines += [
        line("a9", "Anna", "cooking", f"{words(1, 40)} indeed", at=80),
        line("e9", "Emil", "hiking", words(1, 40), at=90),
    ]
    done = made(tmp_path, lines, controls=True)
    assert steps(done, "disclosing")["near_duplicates"] == (7, 2, 8)
    assert steps(done, "control")["near_duplicates"] == (4, 2, 5)
    assert "t1_a8" in done.corpus.ids
    assert not {"t1_a9", "t1_e9"} & set(done.corpus.ids)


def test_nothing_gets_in_that_was_not_searched_for_near_duplicates(tmp_path: Path) -> None:
    # 130 copies rank above the village's 6 posts. First 125 are searched (1.25 times 20, and 100) and all but
    # one are taken away, which leaves too few; so the other 11 are searched too.
    lines = [line(f"z{k:03}", "Anna", "cooking", "sad " * 20, at=100 + k) for k in range(130)]
    done = made(tmp_path, [*village(), *lines], top_k=20)
    searched = next(step for step in done.steps if step.name == "near_duplicates")
    assert (searched.before, searched.counts["looked_through"], searched.posts) == (136, 136, 7)
    assert sorted(done.corpus.ids) == ["t1_a0", "t1_a1", "t1_a2", "t1_a3", "t1_c0", "t1_c1", "t1_z000"]


def test_controls_are_searched_as_deep_as_it_takes(tmp_path: Path) -> None:
    # 8 are wanted of 154, and 110 are searched first (1.25 times 8, and 100): 5 at most are no copies.
    lines = [line(f"z{k:03}", "Emil", "hiking", "the stone was there " * 5, at=100 + k) for k in range(150)]
    done = made(tmp_path, [*village(), *lines], controls=True, control_posts=8)
    texts = [text for text in done.corpus.texts if text.startswith("the stone")]
    assert len(texts) == 1
    assert steps(done, "control")["sample"] == (5, 2, 5)  # Dora's 2, Emil's 2, and one copy


def test_the_earliest_posts_of_an_author_are_kept(tmp_path: Path) -> None:
    done = made(tmp_path, most_posts=2)
    assert sorted(done.corpus.ids) == ["t1_a0", "t1_a1", "t1_c0", "t1_c1"]


def test_a_repeated_id_is_counted_with_its_line(tmp_path: Path) -> None:
    done = made(tmp_path, [*village(), village()[0], village()[0]])
    assert done.tally.left_out["duplicate id"] == 2
    assert done.tally.places["duplicate id"] == ["dump.zst:23", "dump.zst:24"]
    assert steps(done, "both")["posts"][:2] == (19, 6)


def test_an_id_of_two_authors_is_taken_once(tmp_path: Path) -> None:
    done = made(tmp_path, [*village(), line("a0", "Cleo", "ADHD", words(70))])
    assert done.tally.left_out["duplicate id"] == 1
    assert done.corpus.ids.count("t1_a0") == 1


def test_half_a_surrogate_pair_does_no_harm(tmp_path: Path) -> None:
    raw = json.dumps(line("s", "Anna", "cooking", "\ud83d one two three four"))
    done = made(tmp_path, [*village(), raw.encode() + b"\n"])
    assert "? one two three four" in done.corpus.texts


def test_only_the_days_asked_for_are_taken(tmp_path: Path) -> None:
    later = [
        {**one, "created_utc": one["created_utc"] + 86_400 * 10, "id": "n" + one["id"]} for one in village()
    ]
    done = made(tmp_path, [*village(), *later], since="2019-01-01", until="2019-01-01")
    assert steps(done, "both")["posts"][0] == 19
    assert done.tally.left_out["outside the time"] == 19
    assert max(done.corpus.table["time"]) < "2019-01-02"
    assert BEGIN == 1_546_300_800


def test_time_splits_take_away_what_breaks_the_order(tmp_path: Path) -> None:
    done = made(tmp_path, crowd(), split_by=("author", "time"))
    posts, _, before = steps(done, "both")["split"]
    assert before == 200
    assert 0 < posts < 200
    assert len(done.corpus) == posts


def test_what_leaves_nothing_says_where_it_ended(tmp_path: Path) -> None:
    with refused("curate.no-disclosures", what="6 authors", where="conditions: ocd"):
        made(tmp_path, conditions=("ocd",))
    with refused("curate.no-disclosing-posts", what="3 disclosing", where="no_reports: 8 posts"):
        made(tmp_path, min_words=500)
    with refused("curate.no-posts", do="1 lines were read"):
        made(tmp_path, [line("x", "[deleted]", "a", "b")])
    with refused("curate.no-control-posts"):
        made(tmp_path, [one for one in village() if one["author"] not in ("Dora", "Emil")], controls=True)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"min_words": 0}, "'min_words' is out of range: 0"),
        ({"top_k": -1}, "'top_k' is out of range: -1"),
        ({"near": 0.0}, "'near' is out of range: 0"),
        ({"split_by": ("thread",)}, "unknown split_by 'thread'"),
    ],
)
def test_wrong_settings_are_named(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        Curating(**wrong)


def test_days_and_conditions_that_cannot_be_are_refused() -> None:
    with refused("curate.not-a-date", what="'yesterday'"):
        Curating(since="yesterday")
    with refused("curate.days-reversed", key="since", what="2020-01-02"):
        Curating(since="2020-01-02", until="2020-01-01")
    with refused("curate.unknown-condition", what="'sadness'"):
        Curating(conditions=("sadness",))


def test_shares_are_read() -> None:
    assert split_of("5:1:4") == {"train": 5, "dev": 1, "test": 4}
    assert split_of("8:2") == {"train": 8, "test": 2}
    for wrong in ("5", "a:b", "1:0:1", "1:2:3:4"):
        with refused("split.unreadable-shares", what=f"'{wrong}'"):
            split_of(wrong)


def test_words_terms_and_accounts() -> None:
    assert words_in("I’m SO tired—really, naïve café!") == [
        w.encode() for w in ["i'm", "so", "tired—really", "naïve", "café"]
    ]
    holds = holds_term()
    assert holds(words_in("My THERAPIST, again"))
    assert holds(words_in("an eating\ndisorder"))
    assert not holds(words_in("eating a disorderly lunch, therapistless"))
    person = is_person()
    assert person("anna")
    assert not person("automoderator")
    assert not person("helpful_bot")
    assert subreddits_of(["r/Cats", "/r/Dogs"]) == {"cats", "dogs"}
    assert subreddits_of(["listed", "cats"]) == listed_subreddits() | {"cats"}
    assert all(name == name.lower() for name in listed_subreddits())


def test_a_step_as_a_finding() -> None:
    found = Step("min_words", "disclosing", 7, 3, 10, {"more": 1}, ("a",)).finding()
    assert (found.measure, found.value, found.n) == ("funnel", 7.0, 10)
    assert found.where == {"step": "min_words", "side": "disclosing"}
    assert found.counts == {"posts": 7, "authors": 3, "removed": 3, "more": 1}
