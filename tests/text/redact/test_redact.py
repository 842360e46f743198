import csv
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psycheck.text.redact import lists
from psycheck.text.redact.find import KINDS, find_personal, redact
from psycheck.text.redact.lists import FIRST_NAMES, everyday, words_of
from psycheck.text.redact.recogniser import Recogniser, load_recogniser

MARK = re.compile(r"\[\[(\w+)\|((?:[^\]]|\](?!\]))*)\]\]")
PIECES = """My name is Anna Will May told Mark I'm 34 34F yo sister Grace Dr. Okafor and Ravi in Leeds, UK
from Paris to Jordan 555-014-2297 +44 20 7946 0118 12 March 2019 03/04/91 a@b.example https://x.org/a
@some_one u/some_one 078-05-1120 [NAME] [AGE] [PHONE] [USER] [ ] , . ( ) 1 22 333 14 Willow Lane LS6
2QP CA 93701 University of York my uncle years old Street @ : / - ' ’s the born in 1987
thanks, New York City Saint Anne-Marie O'Brien Dr J JP van der Mrs. 李伟 Мария IBAN DE89 3704 0044 00 ext 22
case number 2019/4431 sort code 12-34-56 192.168.1.14 fe80::1 t.me/x dot at com 51.5074, -0.1278 Therapy Scale
12 Mar 87 snapchat name is wei zhang called"""
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


def marked(which: str, file_name: str = "redaction.csv") -> list[tuple[str, list[tuple[int, int, str]]]]:
    """The sentences of a set, with the places that are marked."""
    with (Path(__file__).parent / file_name).open(encoding="utf-8", newline="") as file:
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


def figures(
    which: str, file_name: str = "redaction.csv", recogniser: Recogniser | None = None
) -> tuple[Counter[str], Counter[str], float]:
    """How many of each kind were marked, how many of them covered, and the share of alarms that are right."""
    there, covered = Counter[str](), Counter[str]()
    total = right = 0
    for text, spans in marked(which, file_name):
        found = find_personal(text, recogniser)
        blotted = {place for one in found for place in range(one.start, one.end)}
        for start, end, kind in spans:
            there[kind] += 1
            covered[kind] += all(place in blotted or text[place].isspace() for place in range(start, end))
        total += len(found)
        right += sum(any(one.start < end and one.end > start for start, end, _ in spans) for one in found)
    return there, covered, right / total


@pytest.mark.parametrize(
    ("which", "recall", "names", "places", "precision"),
    # The figures of docs/benchmarks/redaction.md, a little below what was measured.
    [
        ("tuned", 0.98, 0.98, 0.98, 0.98),
        ("unseen", 0.94, 0.94, 0.92, 0.94),
        ("seen", 0.92, 0.87, 0.83, 0.98),
        ("held", 0.97, 0.98, 0.87, 0.95),
        ("fresh", 0.98, 0.98, 0.92, 0.98),
        ("letters", 0.98, 0.96, 0.98, 0.97),
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
    ("half", "sentences", "marks", "least"),
    # Written before the rules of this round: "open" was looked at, "held" measured once. The rules before
    # them covered 94 of 147 and 108 of 147. "later" was written before the next round and its
    # failures were not looked at: 55 of 68 before.
    [("open", 196, 147, 143), ("held", 196, 147, 138), ("later", 69, 68, 61)],
)
def test_recall_and_precision_on_sentences_written_before_the_rules(
    half: str, sentences: int, marks: int, least: int
) -> None:
    assert len(marked(half, "unseen.csv")) == sentences
    there, covered, right = figures(half, "unseen.csv")
    assert there.total() == marks
    assert covered.total() >= least
    assert right >= 0.99


@pytest.mark.parametrize("prefix", ["", "presidio:"])
def test_the_real_recognisers_keep_recall_and_precision(prefix: str, spacy_pipeline: str) -> None:
    # The figures of docs/benchmarks/redaction.md on our held sentences, a little below what was measured.
    if prefix:
        pytest.importorskip("presidio_analyzer", reason="presidio-analyzer is not installed")
    there, covered, right = figures("held", "unseen.csv", load_recogniser(prefix + spacy_pipeline))
    assert covered.total() / there.total() >= 0.93
    assert right >= 0.93


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Hey Jack, you are not alone", "Hey [NAME], you are not alone"),
        ("Hey Guys, hello Everyone, hey Siri", "Hey Guys, hello Everyone, hey Siri"),
        ("so proud of you, Quillon xx", "so proud of you, [NAME] xx"),
        ("it was uncle ray", "it was uncle [NAME]"),
        ("my friend T.J. and Ms. Q", "my friend [NAME] and Ms. [NAME]"),
        ("near St Cloud MN", "near [PLACE]"),
        ("Redondo Beach is far", "[PLACE] is far"),
        ("I work at Quillon & Sons", "I work at [PLACE]"),
        ("looking in Wagga Wagga", "looking in [PLACE]"),
        ("I was 13 or 14, he is in his 70s", "I was [AGE], he is in his [AGE]"),
        ("I was 5 to 10 minutes late in the late 90s", "I was 5 to 10 minutes late in the late 90s"),
        ("call 1-800-273-TALK or text HOME to 741741", "call [PHONE] or text HOME to [PHONE]"),
        ("I ate 800 CALORIES", "I ate 800 CALORIES"),
        ("#Brighton #RIPKevin #JusticeForQuillon", "[PLACE] [NAME] [NAME]"),
        ("#depression #MentalHealthAwareness", "#depression #MentalHealthAwareness"),
        ("Policy # ZX99310442", "Policy # [NUMBER]"),
    ],
)
def test_vocatives_places_ages_vanity_numbers_and_hashtags(before: str, after: str) -> None:
    assert redact(before).text == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Bob is here, and Alexandra Green too", "[NAME] is here, and [NAME] too"),
        ("we stand behind Kowalski", "we stand behind [NAME]"),
        ("Deborahs mum left", "[NAME] mum left"),
        ("Dexter came, and I sat by dexter", "[NAME] came, and I sat by [NAME]"),
        ("our teacher, Frank, rang", "our teacher, [NAME], rang"),
        ("Quillon or Anna", "[NAME] or [NAME]"),
        ("my ex K is back, let's call her M", "my ex [NAME] is back, let's call her [NAME]"),
        ("Vitamin D helped, plan B worked", "Vitamin D helped, plan B worked"),
        ("We are Christian now. Christian told me.", "We are Christian now. [NAME] told me."),
        ("in Chula Vista... or Duluth", "in [PLACE]... or [PLACE]"),
        ("a clinic called Charity house", "a clinic called [PLACE]"),
        ("a QXU psychology student", "a [PLACE] psychology student"),
        ("greetings from #Quillon", "greetings from [PLACE]"),
        ("it began at 15, alone since 16", "it began at [AGE], alone since [AGE]"),
        ("meet at 14, pulse at 72, rated at 15", "meet at 14, pulse at 72, rated at 15"),
        ("a 9-day-old and a 30-something", "a [AGE] and a [AGE]"),
        ("sons 9 and 12 years old, kids (4, 6 and 9)", "sons [AGE], kids ([AGE])"),
        ("EDIT 6/14: seen in 4/87 and 11/2003", "EDIT [DATE]: seen in [DATE] and [DATE]"),
        ("dial 988, not 911; a helpline (13 11 14)", "dial [PHONE], not 911; a helpline ([PHONE])"),
        ("0800 55 44 33", "[PHONE]"),
        ("because of Wellbutrn, Zolofd and Trazodane", "because of Wellbutrn, Zolofd and Trazodane"),
    ],
)
def test_how_people_write_names_places_ages_dates_and_crisis_lines(before: str, after: str) -> None:
    assert redact(before).text == after


def test_recall_and_precision_on_letters_whose_failures_were_not_looked_at() -> None:
    there, covered, right = figures("letters-unseen")
    assert there.total() == 41
    assert covered.total() >= 38
    assert covered["NAME"] >= 17
    assert right >= 0.98


@pytest.mark.parametrize(
    ("which", "words", "most"),
    [
        ("looked", 771, 4),
        ("unseen", 764, 14),
        ("later", 473, 10),
        ("field", 602, 1),
        ("field-unseen", 294, 1),
    ],
)
def test_false_alarms_on_capitals_that_name_nobody(which: str, words: int, most: int) -> None:
    # Posts full of brands, titles, medicines and emphasis: figures of docs/benchmarks/redaction.md.
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
    assert {which: len(marked(which)) for which in ("tuned", "unseen", "letters", "letters-unseen")} == {
        "tuned": 217,
        "unseen": 129,
        "letters": 60,
        "letters-unseen": 30,
    }


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


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Seen by Dr J Smith today.", "Seen by Dr [NAME] today."),
        ("Consultant: Dr P Walsh", "Consultant: Dr [NAME]"),
        ("Under the care of Dr S N Banerjee", "Under the care of Dr [NAME]"),
        ("Mr A Khan attended clinic", "Mr [NAME] attended clinic"),
        ("D/W Dr A Patel, Prof O Ivanov", "D/W Dr [NAME], Prof [NAME]"),
        ("Dr JP Ramanathan and Dr J-P Moreau", "Dr [NAME] and Dr [NAME]"),
        ("Mrs. van der Berg, Mr el-Sayed", "Mrs. [NAME], Mr [NAME]"),
        ("I saw Dr Brown and Mrs W Green.", "I saw Dr [NAME] and Mrs [NAME]."),
        ("I saw the Dr. He said no.", "I saw the Dr. He said no."),
        ("Dr. Do you know? Miss A Lot.", "Dr. Do you know? Miss A Lot."),
        ("GP: A Quillon", "GP: [NAME]"),
        ("Consultant: P Green", "Consultant: [NAME]"),
        ("Consultant: Young", "Consultant: Young"),
        ("Kevin J Smith rang", "[NAME] rang"),
        ("Vitamin D Deficiency", "Vitamin D Deficiency"),
    ],
)
def test_initials_and_particles_stand_before_a_surname(before: str, after: str) -> None:
    assert redact(before).text == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("IBAN DE89 3704 0044 0532 0130 00", "IBAN [NUMBER]"),
        ("IBAN GB29 NWBK 6016 1331 9268 19", "IBAN [NUMBER]"),
        ("my case number is 2019/4431", "my case number is [NUMBER]"),
        ("reference ABC/2019/123, insurance ID: XYZ-123-456", "reference [NUMBER], insurance ID: [NUMBER]"),
        ("sort code 12-34-56", "sort code [NUMBER]"),
        ("NI number QQ 12 34 56 C", "NI number [NUMBER]"),
        ("DOB 12 Mar 87", "DOB [DATE]"),
        ("on 12 March 20 people came", "on [DATE] 20 people came"),
        ("(415) 555-0134 ext 22", "[PHONE]"),
        ("0044 20 7946 0958", "[PHONE]"),
        ("Tel.: 030/1234567", "Tel.: [PHONE]"),
        ("from 192.168.1.14 or 2001:db8::8a2e:7334", "from [NUMBER] or [NUMBER]"),
        ("at 12:30:45, version 1.2.3.4", "at 12:30:45, version 1.2.3.4"),
        ("t.me/x bit.ly/3xYz linktr.ee/foo", "[LINK] [LINK] [LINK]"),
        ("discord.gg/abc youtu.be/abc and/or e.g./i.e.", "[LINK] [LINK] and/or e.g./i.e."),
        ("jane dot doe at gmail dot com", "[EMAIL]"),
        ("snapchat me at lonelyboy17", "snapchat me at [USER]"),
        ("I was at 51.5074, -0.1278 again", "I was at [PLACE] again"),
        ("losses 0.6931, 0.5012", "losses 0.6931, 0.5012"),
        ("I'm 5'4 and 120 lbs", "I'm 5'4 and 120 lbs"),
    ],
)
def test_an_identifier_is_covered_whole_and_by_its_kind(before: str, after: str) -> None:
    assert redact(before).text == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I told 李伟 everything.", "I told [NAME] everything."),
        ("my name is 李伟", "my name is [NAME]"),
        ("Then Мария called me.", "Then [NAME] called me."),
        ("the word тоска means longing", "the word тоска means longing"),
        ("мне очень грустно, Мария", "мне очень грустно, Мария"),
        ("name is wei zhang and i am tired", "name is [NAME] and i am tired"),
        ("a girl named thandeka called", "a girl named [NAME] called"),
        (
            "the brand name is xelvora, someone called again",
            "the brand name is xelvora, someone called again",
        ),
    ],
)
def test_names_in_other_scripts_and_in_lower_case(before: str, after: str) -> None:
    assert redact(before).text == after


@pytest.mark.parametrize(
    "text",
    [
        "Cognitive Behavioral Therapy worked",
        "Dialectical Behavior Therapy helped and Electroconvulsive Therapy did not",
        "Transcranial Magnetic Stimulation for Seasonal Affective Disorder",
        "The Edinburgh Postnatal Depression Scale was high",
        "because Quillon Exposure Therapy and Quillon Syndrome are made up",
    ],
)
def test_terms_of_the_field_are_no_persons(text: str) -> None:
    assert find_personal(text) == ()


def test_a_place_before_a_team_is_still_a_place() -> None:
    assert redact("the Leeds Crisis Team and Anna").text == "the [PLACE] Crisis Team and [NAME]"


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "A",
        "1",
        "a.",
        "com.",
        "Dr A ",
        "van der ",
        "00",
        "12/",
        "1:",
        "a:",
        "::",
        "case number 1/",
        "a dot ",
        "Мa",
        "李",
        "DE89",
        "O'",
        "A.A.",
        "Aa ",
        "@a",
        "[",
        "(",
        "()",
        " ",
        "\n",
        "#Aa",
        "8-",
        "hey ",
        "you, ",
        "13 or ",
        "St ",
        "work at A",
        "claim 1-",
        "case number",
        "a at 14 ",
        "12, ",
        "kid, 4, ",
        "a clinic called A ",
        "QXU psychology ",
        "dexter ",
        "Quillon and ",
        "Dexter B ",
        "0800 ",
        "Lake ",
    ],
)
def test_redaction_comes_to_an_end_with_100_000_characters(piece: str) -> None:
    # A pattern that tried all ways to divide them would not end.
    once = redact(piece * (100_000 // len(piece)) + "!").text
    assert redact(once).found == ()


@pytest.mark.parametrize(
    "head",
    [
        "case number",
        "claim",
        "call",
        "I was",
        "my friend",
        "work at",
        "snap",
        "Dr",
        "started at",
        "clinic called",
    ],
)
def test_white_space_of_any_length_is_searched_once(head: str) -> None:
    # 100,000 spaces behind a word that opens a pattern: in every division, they would take hours.
    assert redact(head + " " * 100_000 + "x").found == ()
    assert redact("[(" * 25_000 + head + ")]" * 25_000).found == ()


def test_inflected_words_are_everyday_ones() -> None:
    assert all(map(everyday, ("Worries", "stopped", "Hoping", "slowly", "Self-Help", "couldn't", "unhappy")))
    assert not any(map(everyday, ("Quillon", "Swindon", "Ngozi")))


def test_no_list_takes_a_first_name_for_an_everyday_word() -> None:
    sure = FIRST_NAMES - words_of("names", "both")
    assert not {name.lower() for name in sure} & frozenset(_words())


def _words() -> list[str]:
    folder = Path(lists.__file__).parent
    files = [folder / "everyday_words.txt", folder / "common_words.txt"]
    lines = [line for file in files for line in file.read_text("utf-8").splitlines()]
    return [word for line in lines if not line.startswith("#") for word in line.split()]
