import csv
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psycheck.text import lists
from psycheck.text.lists import FIRST_NAMES, everyday, words_of
from psycheck.text.redact import KINDS, find_personal, redact

MARK = re.compile(r"\[\[(\w+)\|([^\]]*)\]\]")
PIECES = """My name is Anna Will May told Mark I'm 34 34F yo sister Grace Dr. Okafor and Ravi in Leeds, UK
from Paris to Jordan 555-014-2297 +44 20 7946 0118 12 March 2019 03/04/91 a@b.example https://x.org/a
@some_one u/some_one 078-05-1120 [NAME] [AGE] [PHONE] [USER] [ ] , . ( ) 1 22 333 14 Willow Lane LS6
2QP CA 93701 University of York my uncle years old Street @ : / - ' ’s the born in 1987
thanks, New York City Saint Anne-Marie O'Brien"""
WORDS = [*PIECES.split(), "\n"]
TEXTS = st.one_of(
    st.text(st.characters()),
    st.lists(st.sampled_from(WORDS)).map(" ".join),
    st.lists(st.sampled_from(WORDS)).map("".join),
    st.text(st.sampled_from("Aa1 .-+@/()[]'’NAME\n,:")),
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("My name is Anna.", "My name is [NAME]."),
        ("My name is not important.", "My name is not important."),
        ("I told Will, but will he come?", "I told [NAME], but will he come?"),
        ("Will you? May I? I hope so.", "Will you? May I? I hope so."),
        ("In May I saw Dr. Okafor.", "In May I saw Dr. [NAME]."),
        ("my sister Hope has no hope", "my sister [NAME] has no hope"),
        ("Anna's voice, and Ravi's", "[NAME]'s voice, and [NAME]'s"),
        ("He works in Jordan. Jordan told me.", "He works in [PLACE]. [NAME] told me."),
        ("I live in Reading. Reading helps.", "I live in [PLACE]. Reading helps."),
        ("I am 34, 34F, 34 yo, a 34-year-old.", "I am [AGE], [AGE], [AGE], a [AGE]."),
        ("I am 3 weeks sober and 5 minutes late", "I am 3 weeks sober and 5 minutes late"),
        ("mail a.b+c@example.co.uk or call 555-014-2297", "mail [EMAIL] or call [PHONE]"),
        ("@some_one see https://example.org/a?b=1.", "[USER] see [LINK]."),
        ("@user said so", "@user said so"),
        ("on 12 March 2019, 2018-11-04 and June 3rd", "on [DATE], [DATE] and [DATE]"),
        ("at 14 Willow Lane, LS6 2QP", "at [PLACE], [PLACE]"),
        ("ssn 078-05-1120, case no. 88213", "ssn [NUMBER], case no. [NUMBER]"),
        (
            "I scored 21 on the PHQ-9, took 50 mg, slept 3 of 24 h",
            "I scored 21 on the PHQ-9, took 50 mg, slept 3 of 24 h",
        ),
        ("My Therapist Says I Am Fine But I Am Not", "My Therapist Says I Am Fine But I Am Not"),
    ],
)
def test_personal_data_give_way_to_their_kind(before: str, after: str) -> None:
    assert redact(before).text == after


def test_what_is_found_is_said_by_place_and_kind_alone() -> None:
    assert redact("Call Anna on 555-014-2297").found == ((5, 9, "NAME"), (13, 25, "PHONE"))


@settings(max_examples=600, deadline=None)
@given(TEXTS)
def test_a_redacted_text_stays_as_it_is(text: str) -> None:
    once = redact(text)
    assert redact(once.text) == (once.text, ())


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_what_is_found_does_not_overlap_and_what_stands_between_is_kept(text: str) -> None:
    found = find_personal(text)
    ends = [0, *(one.end for one in found)]
    starts = [*(one.start for one in found), len(text)]
    assert all(end <= start for end, start in zip(ends, starts, strict=True))
    kept = "".join(text[end:start] for end, start in zip(ends, starts, strict=True))
    marks = sum(len(one.kind) + 2 for one in found)
    assert len(redact(text).text) == len(kept) + marks


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.sampled_from(["i", "feel", "so", "tired", "and", "nothing", "helps"]), max_size=8),
    st.sampled_from(
        [
            "rosa.lind82@example.org",
            "(555) 010-4821",
            "+44 20 7946 0118",
            "https://example.org/x",
            "04/07/1991",
            "Jessica",
        ]
    ),
    st.integers(0, 8),
)
def test_planted_data_are_always_found(words: list[str], planted: str, at: int) -> None:
    text = " ".join([*words[:at], planted, *words[at:]])
    assert planted not in redact(text).text
    assert len(find_personal(text)) == 1


def marked(which: str) -> list[tuple[str, list[tuple[int, int, str]]]]:
    """The sentences of a set, with the places that are marked."""
    with (Path(__file__).parent / "redaction.csv").open(encoding="utf-8", newline="") as file:
        rows = [row["marked"] for row in csv.DictReader(file) if row["set"] == which]
    out = []
    for row in rows:
        text, at, spans = "", 0, []
        for mark in MARK.finditer(row):
            text += row[at : mark.start()]
            spans.append((len(text), len(text) + len(mark[2]), mark[1]))
            text, at = text + mark[2], mark.end()
        out.append((text + row[at:], spans))
    return out


def figures(which: str) -> tuple[Counter[str], Counter[str], float]:
    """How many of each kind were marked, how many of them covered, and the share of alarms that are right."""
    there, covered = Counter[str](), Counter[str]()
    said = right = 0
    for text, spans in marked(which):
        found = find_personal(text)
        blotted = {place for one in found for place in range(one.start, one.end)}
        for start, end, kind in spans:
            there[kind] += 1
            covered[kind] += all(place in blotted or text[place].isspace() for place in range(start, end))
        said += len(found)
        right += sum(any(one.start < end and one.end > start for start, end, _ in spans) for one in found)
    return there, covered, right / said


@pytest.mark.parametrize(
    ("which", "recall", "names", "places", "precision"),
    # The figures of docs/how-to/clean-and-redact.md, a little below what was measured.
    [
        ("tuned", 0.98, 0.98, 0.98, 0.98),
        ("unseen", 0.94, 0.94, 0.92, 0.94),
        ("seen", 0.92, 0.87, 0.83, 0.98),
        ("held", 0.97, 0.98, 0.87, 0.95),
        ("fresh", 0.98, 0.98, 0.92, 0.98),
    ],
)
def test_recall_and_precision_on_marked_sentences(
    which: str, recall: float, names: float, places: float, precision: float
) -> None:
    there, covered, right = figures(which)
    assert set(there) == set(KINDS)
    assert covered.total() / there.total() >= recall
    assert covered["NAME"] / there["NAME"] >= names
    assert covered["PLACE"] / there["PLACE"] >= places
    assert right >= precision
    for kind in ("EMAIL", "LINK", "USER", "DATE", "NUMBER"):
        assert covered[kind] == there[kind]


@pytest.mark.parametrize(
    ("which", "words", "most"), [("looked", 771, 4), ("unseen", 764, 14), ("later", 473, 10)]
)
def test_false_alarms_on_capitals_that_name_nobody(which: str, words: int, most: int) -> None:
    # Posts full of brands, titles, medicines and emphasis: figures of docs/how-to/clean-and-redact.md.
    with (Path(__file__).parent / "everyday_capitals.csv").open(encoding="utf-8", newline="") as file:
        texts = [row["text"] for row in csv.DictReader(file) if row["set"] == which]
    assert sum(len(text.split()) for text in texts) == words
    assert sum(len(find_personal(text)) for text in texts) <= most


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("We finished Quillon Tales", "We finished Quillon Tales"),
        ("I was organising Quillon cards", "I was organising Quillon cards"),
        ("I was with Quillon", "I was with [NAME]"),
        ("I saw because Quillon season two is out", "I saw because Quillon season two is out"),
        ("he said that Quillon never called", "he said that [NAME] never called"),
        ("some quillon, and with Quillon", "some quillon, and with Quillon"),
        ("I was with Deep Quillon all night", "I was with Deep Quillon all night"),
        ("I was with QuilLon and with McQuillon", "I was with QuilLon and with [NAME]"),
        ("that scene in Quillon", "that scene in Quillon"),
        ("that flat in Quillon", "that flat in [PLACE]"),
        ("he sold Netflix and Quillon", "he sold Netflix and Quillon"),
        ("NEVER ask GERD but ask KEVIN", "NEVER ask GERD but ask [NAME]"),
    ],
)
def test_things_are_told_from_persons(before: str, after: str) -> None:
    assert redact(before).text == after


def test_the_marked_sets_are_as_large_as_the_documentation_says() -> None:
    assert {which: len(marked(which)) for which in ("tuned", "unseen")} == {"tuned": 217, "unseen": 129}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I was nine when he left, ten of us stayed.", "I was [AGE] when he left, ten of us stayed."),
        ("At 43 I quit, at 7 I eat.", "At [AGE] I quit, at 7 I eat."),
        ("My sons are 4 and 6.", "My sons are [AGE] and [AGE]."),
        ("Seen on 3/14, MMSE 28/30.", "Seen on [DATE], MMSE 28/30."),
        ("Husband, Quillon, agrees.", "Husband, [NAME], agrees."),
        ("Yesterday Quillon laughed. Quillon's dog slept.", "Yesterday [NAME] laughed. [NAME]'s dog slept."),
        ("I took Quillon and watched Star Wars.", "I took Quillon and watched Star Wars."),
        ("Attending: K. Quillon, MD", "Attending: [NAME], MD"),
        ("honestly kevin is in chicago", "honestly [NAME] is in [PLACE]"),
        ("I am So Tired of Being Me on Monday", "I am So Tired of Being Me on Monday"),
        ("We speak Polish, eat Nutella and fear Mondays", "We speak Polish, eat Nutella and fear Mondays"),
        ("I am on Sertraline and Quetiapine", "I am on Sertraline and Quetiapine"),
        ("at Harbor View Clinic in Gary, Indiana", "at [PLACE] in [PLACE]"),
    ],
)
def test_context_tells_names_from_words(before: str, after: str) -> None:
    assert redact(before).text == after


def test_inflected_words_are_everyday_ones() -> None:
    assert all(map(everyday, ("Worries", "stopped", "Hoping", "slowly", "Self-Help", "couldn't", "unhappy")))
    assert not any(map(everyday, ("Quillon", "Swindon", "Ngozi")))


def test_no_list_takes_a_first_name_for_an_everyday_word() -> None:
    sure = FIRST_NAMES - words_of("names", "both")
    assert not {name.lower() for name in sure} & frozenset(_words())


def _words() -> list[str]:
    lines = (Path(lists.__file__).parent / "everyday_words.txt").read_text("utf-8").splitlines()
    return [word for line in lines if not line.startswith("#") for word in line.split()]
