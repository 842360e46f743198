"""Self-reports of a diagnosis: our own sentences of every kind, with precision and recall."""

import csv
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psycheck.corpora.curate import disclosure
from psycheck.corpora.curate.disclosure import (
    REACH,
    conditions,
    disclosed,
    known_conditions,
    mentions_diagnosis,
)
from psycheck.corpora.curate.disclosure_patterns import keyword_pattern, patterns
from refusals import refused


def rows_of(name: str) -> list[dict[str, str]]:
    with (Path(__file__).parent / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="|", quoting=csv.QUOTE_NONE))


SENTENCES = rows_of("disclosure.csv")
UNSEEN = rows_of("disclosure_unseen.csv")
"""Written before the patterns were tuned: on the part "tune" alone; "held" was measured once, at the end."""


def test_precision_and_recall_over_our_own_sentences() -> None:
    wanted = {(row["sentence"], name) for row in SENTENCES for name in row["conditions"].split()}
    found = {(row["sentence"], name) for row in SENTENCES for name in disclosed(row["sentence"])}
    precision, recall = len(wanted & found) / len(found), len(wanted & found) / len(wanted)
    assert len(SENTENCES) >= 120
    assert precision >= 0.98, sorted(found - wanted)
    assert recall >= 0.85, sorted(wanted - found)


@pytest.mark.parametrize(("part", "expected"), [("tune", (41, 40, 40)), ("held", (41, 32, 32))])
def test_conditions_wanted_found_and_right_in_sentences_written_before_tuning(
    part: str, expected: tuple[int, int, int]
) -> None:
    rows = [row for row in UNSEEN if row["part"] == part]
    wanted = {(row["sentence"], name) for row in rows for name in row["conditions"].split()}
    found = {(row["sentence"], name) for row in rows for name in disclosed(row["sentence"])}
    assert len(rows) == 75
    assert (len(wanted), len(found), len(wanted & found)) == expected  # as docs/reference/curation.md has it


def test_every_kind_and_every_condition_is_among_them() -> None:
    kinds = Counter(row["kind"] for row in SENTENCES)
    assert min(kinds[k] for k in ("disclosing", "negated", "hypothetical", "other", "quoted", "joking")) >= 8
    named = {name for row in SENTENCES for name in row["conditions"].split()}
    assert named == set(conditions())
    assert len(named) == 9


@pytest.mark.parametrize("kind", ["negated", "hypothetical", "other", "quoted", "joking", "none"])
def test_what_is_no_disclosure_is_left_out_inside_a_longer_post_too(kind: str) -> None:
    for row in SENTENCES:
        if row["kind"] == kind:
            post = f"The week was long and I slept little.\n{row['sentence']}\nThanks for reading."
            assert disclosed(post) == frozenset(), row["sentence"]


def test_a_disclosure_counts_wherever_it_stands_in_a_post() -> None:
    alone = {row["sentence"]: disclosed(row["sentence"]) for row in SENTENCES if row["kind"] == "disclosing"}
    for sentence, names in alone.items():
        assert disclosed(f"Hello there.\n\n{sentence} It rained all day.") == names, sentence


@pytest.mark.parametrize(("gap", "found"), [(REACH, True), (REACH + 1, False)])
def test_a_keyword_counts_up_to_forty_characters_from_the_report(gap: int, found: bool) -> None:
    between = " with " + "x" * (gap - len(" with ") - 1) + " "
    assert len(between) == gap
    assert disclosed(f"I was diagnosed{between}depression.") == ({"depression"} if found else set())


def test_a_keyword_of_the_next_sentence_does_not_count() -> None:
    assert disclosed("I was diagnosed with asthma. Depression runs in films.") == frozenset()


def test_the_longest_keyword_names_the_condition() -> None:
    assert disclosed("I was diagnosed with bipolar depression.") == {"bipolar"}
    assert disclosed("I was diagnosed with obsessive-compulsive personality disorder.") == frozenset()
    assert disclosed("I was diagnosed with post-traumatic stress.") == {"ptsd"}


def test_a_clinicians_word_is_a_report_and_a_relatives_is_none() -> None:
    assert disclosed("My doctor says I have depression.") == {"depression"}
    assert disclosed("My sister says I have depression.") == frozenset()


def test_a_diagnosed_condition_is_the_writers_and_one_that_was_diagnosed_in_others_is_not() -> None:
    assert disclosed("I have diagnosed depression") == {"depression"}
    assert disclosed("I have diagnosed anxiety disorders in children.") == frozenset()


def test_the_opposite_of_a_condition_is_none() -> None:
    assert disclosed("I was diagnosed with the opposite of depression") == frozenset()


def test_add_is_a_condition_only_in_capitals() -> None:
    assert disclosed("I was diagnosed with ADD.") == {"adhd"}
    assert disclosed("I was diagnosed, I should add, far too late.") == frozenset()


def test_an_unknown_condition_is_named_with_the_known_ones() -> None:
    assert known_conditions(("anxiety", "depression")) == ("depression", "anxiety")
    assert known_conditions(()) == conditions()
    with refused("curate.unknown-condition", allowed="did you mean 'anxiety'"):
        known_conditions(("anxeity",))


@given(st.text(max_size=300))
def test_any_text_is_read_without_a_fault(text: str) -> None:
    assert disclosed(text) <= set(conditions())
    assert disclosed(f"{text} diagnosed {text}") <= set(conditions())


def test_a_post_without_full_stops_is_read_in_bounded_time() -> None:
    often = "I got just just just " * 4_000
    assert disclosed(f"{often} diagnosed with depression {often}") == {"depression"}
    assert disclosed(f"{'and then this ' * 300} I was diagnosed with OCD {'and then that ' * 300}") == {"ocd"}
    far = "and then this " * 300
    assert disclosed(f"{far} my diagnosis took long {far} I was diagnosed with PTSD") == {"ptsd"}


@pytest.mark.parametrize(
    ("sentence", "names"),
    [
        ("I wasn't diagnosed with ADHD until I was 30.", {"adhd"}),
        ("I (27F) was diagnosed with PTSD.", {"ptsd"}),
        ("The clinic gave me a diagnosis of bipolar disorder.", {"bipolar"}),
        ("Diagnosed with ADHD and my depression got better.", {"adhd"}),
        ("I was diagnosed with ADHD and depression and anxiety.", {"adhd", "depression", "anxiety"}),
        ("I won't be diagnosed with ADHD until March.", set()),
        ("I can't get diagnosed with ADHD until I stop drinking.", set()),
        ("My brother wasn't diagnosed with ADHD until he was 30.", set()),
        ("I have a brother who drank and was diagnosed with bipolar.", set()),
        ("I'm a nurse, diagnosed bipolar patients are my job.", set()),
        ("I thought my doctor would have given me a depression diagnosis.", set()),
        ("My doctor diagnosed depression in my husband.", set()),
    ],
)
def test_reports_in_other_words_and_their_neighbours(sentence: str, names: set[str]) -> None:
    assert disclosed(sentence) == names
    assert mentions_diagnosis(sentence)


def test_a_mention_is_a_form_of_diagnose_near_a_condition() -> None:
    assert mentions_diagnosis("Depression. That was the diagnosis.")
    assert not mentions_diagnosis("The mechanic's diagnosis was a dead battery.")
    assert not mentions_diagnosis("Depression is common.")
    assert not mentions_diagnosis(f"Depression {'x' * 80} diagnosis")
    assert not mentions_diagnosis("The Great Depression was a diagnosis of its time.")


def test_no_repeated_branch_shares_a_word_with_another() -> None:
    raw = tomllib.loads(Path(disclosure.__file__).with_name("disclosure.toml").read_text("utf-8"))
    assert not set(raw["when"]) & set(raw["official"])


@pytest.mark.parametrize("unit", ["I was diagnosed with ", "I was diagnosed with OCD ", "dx ", "!", "major "])
def test_the_work_grows_no_faster_than_the_text(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pattern = keyword_pattern()
    work = 0

    class Counting:
        def finditer(self, text: str) -> Iterator[re.Match[str]]:
            nonlocal work
            work += len(text)
            return pattern.finditer(text)

    monkeypatch.setattr(disclosure, "keyword_pattern", Counting)

    def characters(copies: int) -> int:
        nonlocal work
        work = 0
        disclosed(unit * copies + "x diagnosed")
        return work

    # A window has 600 characters and begins at least 150 after the last one.
    assert characters(2_000) <= 4 * (len(unit) * 2_000 + 600)
    assert characters(4_000) <= 4 * (len(unit) * 4_000 + 600)


def test_a_run_of_marks_ends_a_sentence_once() -> None:
    ends = patterns().sentence.finditer("So?!? no!!x end...")
    assert [end.span() for end in ends] == [(2, 5), (15, 18)]
