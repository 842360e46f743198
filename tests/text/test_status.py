import pytest
from hypothesis import given
from hypothesis import strategies as st

from psycheck.text.status import Status, parts_of, plain, status_of


@pytest.mark.parametrize(
    ("sentence", "status"),
    [
        ("I can't sleep and I have no energy", Status.PRESENT),
        ("I dont enjoy anything anymore", Status.PRESENT),  # what is lost is present
        ("I can't stop crying", Status.PRESENT),
        ("I have never been so depressed", Status.PRESENT),
        ("I lost my appetite and gained 20 pounds", Status.PRESENT),
        ("I used to love painting", Status.PRESENT),  # a loss of interest
        ("I have been anxious since high school", Status.PRESENT),
        ("no panic attacks", Status.DENIED),
        ("I don't feel depressed", Status.DENIED),
        ("I’m not anxious", Status.DENIED),  # a curly apostrophe
        ("havent had any nightmares", Status.DENIED),
        ("my appetite is fine", Status.DENIED),
        ("I sleep really well", Status.DENIED),
        ("I no longer have panic attacks", Status.PAST),
        ("I used to cry every night", Status.PAST),
        ("I don't have panic attacks anymore", Status.PAST),
        ("The headaches went away", Status.PAST),
        ("As a teenager I was scared of everything", Status.PAST),
        ("The first week I was very nauseous", Status.PAST),
        ("It helped me with my anxiety", Status.PAST),
        ("It worked wonders for my anxiety", Status.PAST),
        ("It keeps the dark thoughts at bay", Status.PAST),
        ("nausea the first few days", Status.PAST),
        ("In the past I've had panic attacks", Status.PAST),
        ("I attempted suicide", Status.PAST),
        ("I tried to kill myself yesterday", Status.PRESENT),  # a single occasion within the last days
        ("I did have headaches in the beginning", Status.PAST),
        ("first three days nausea", Status.PAST),
        ("initial dizziness", Status.PAST),
        ("headaches, dizziness, which all subsided", Status.PAST),
        ("I vomited all night", Status.PAST),
        ("I genuinely wanted to be dead", Status.PAST),
        ("I tried killing myself", Status.PAST),
        # Not the past, but its last month.
        ("I was so anxious in the past month that I still shake", Status.PRESENT),
        ("I couldn't care less whether I die", Status.PRESENT),
        ("I have nothing to be sad about", Status.DENIED),
        ("I really want to live", Status.DENIED),
        ("I have not gained any weight", Status.DENIED),
        ("It has not helped my depression", Status.PRESENT),
        ("Why am I so tired?", Status.PRESENT),  # who asks why says that it is so
        ("How do I stop worrying?", Status.PRESENT),
        ("How do I stop someone from worrying?", Status.UNCERTAIN),
        ("Can this drug cause insomnia?", Status.UNCERTAIN),
        ("I'm afraid that I might panic", Status.UNCERTAIN),
        ("If I lost my job I would be so depressed", Status.UNCERTAIN),
        ("not sure if I'm depressed", Status.UNCERTAIN),
    ],
)
def test_the_words_of_a_sentence_tell_its_status(sentence: str, status: Status) -> None:
    assert status_of(sentence) == status


@pytest.mark.parametrize(
    ("sentence", "parts"),
    [
        ("I'm not suicidal, just very tired.", ["I'm not suicidal", "just very tired."]),
        ("No panic attacks but I can't sleep", ["No panic attacks", "I can't sleep"]),
        # Both parts hold now: nothing is gained by reading them apart.
        ("I can't sleep, but I can't stay up either", ["I can't sleep, but I can't stay up either"]),
        # The beginning tells when the rest was.
        ("When I was 15, I cut myself", ["When I was 15, I cut myself"]),
        ("I'm tired", ["I'm tired"]),
    ],
)
def test_a_sentence_is_cut_where_its_status_changes(sentence: str, parts: list[str]) -> None:
    assert parts_of(sentence) == parts


@given(st.text(max_size=200))
def test_parts_are_pieces_of_the_sentence_in_their_order(text: str) -> None:
    end = 0
    for part in parts_of(text):
        start = text.find(part, end)
        assert start >= end
        end = start + len(part)


def test_apostrophes_that_people_leave_out_are_put_back() -> None:
    assert plain("I dont  know,\nIM tired") == "i don't know, i'm tired"
