import re

from hypothesis import given
from hypothesis import strategies as st

from psycheck.text.edits import Edited, append, replace_words

HE_TO_SHE = replace_words({"he": "she"})
SHE_TO_HE = replace_words({"she": "he"})
PLAIN_WORDS = st.sampled_from(
    ["the", "rain", "hello", "then", "mess", "Them-all", "sheet", "lunch,", "ok.", "ache"]
)


def test_append_adds_one_space_and_marks_the_sentence() -> None:
    edited = append("I feel down")("Long day. \n")
    assert edited == Edited("Long day. I feel down", ((10, 21),))


def test_append_to_nothing_is_the_sentence_alone() -> None:
    assert append("I feel down")("  ") == Edited("I feel down", ((0, 11),))


@given(st.text())
def test_append_keeps_the_text_as_a_prefix(text: str) -> None:
    edited = append("I have insomnia")(text)
    ((start, end),) = edited.spans
    assert edited.text.startswith(text.rstrip())
    assert edited.text[start:end] == "I have insomnia"
    assert edited.text[:start].rstrip() == text.rstrip()


def test_case_and_contractions_are_carried_over() -> None:
    edited = HE_TO_SHE("He said he's sad, and HE’LL stay; he'd cry.")
    assert edited.text == "She said she's sad, and SHE’LL stay; she'd cry."
    assert [edited.text[a:b] for a, b in edited.spans] == ["She", "she", "SHE", "she"]


def test_parts_of_words_handles_and_addresses_are_left_alone() -> None:
    text = "The shed, @he #he he-man http://he.org/he www.he.org"
    assert HE_TO_SHE(text) == Edited(text, ())


def test_words_that_name_both_are_left_alone() -> None:
    text = "s/he (s)he he/she she/he he / she; he or she, She or he."
    assert HE_TO_SHE(text) == Edited(text, ())
    assert SHE_TO_HE(text) == Edited(text, ())


def test_a_missing_space_after_a_full_stop_is_still_a_boundary() -> None:
    assert HE_TO_SHE("It was late.He left").text == "It was late.She left"


def test_words_with_an_apostrophe_match_both_kinds_and_give_back_the_kind_they_met() -> None:
    edit = replace_words({"can't": "won't"})
    assert edit("I can't, I CAN’T").text == "I won't, I WON’T"


def test_several_words_are_replaced_in_one_pass_so_that_a_swap_works() -> None:
    edit = replace_words({"mum": "dad", "dad": "mum"})
    assert edit("Mum told dad").text == "Dad told mum"


@given(st.lists(PLAIN_WORDS, max_size=12))
def test_without_the_word_the_text_is_unchanged(words: list[str]) -> None:
    text = " ".join(words)
    assert HE_TO_SHE(text) == Edited(text, ())


@given(
    st.lists(
        st.one_of(PLAIN_WORDS, st.sampled_from(["he", "He", "HE", "he's", "he’ll", "(he)", "he?"])),
        max_size=12,
    )
)
def test_there_and_back_gives_the_text_back(words: list[str]) -> None:
    text = " ".join(words)
    assert SHE_TO_HE(HE_TO_SHE(text).text).text == text


@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from("heHE '’-/.@#sS"))))
def test_any_text_is_edited_only_where_the_spans_say(text: str) -> None:
    edited = HE_TO_SHE(text)
    outside = _outside(edited)
    assert re.fullmatch("(?:he|He|HE|hE)".join(map(re.escape, outside)), text)


def _outside(edited: Edited) -> list[str]:
    ends = [0, *(end for _, end in edited.spans)]
    starts = [*(start for start, _ in edited.spans), len(edited.text)]
    return [edited.text[a:b] for a, b in zip(ends, starts, strict=True)]
