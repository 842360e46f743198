import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psycheck.core.errors import MissingExtra
from psycheck.text.clean import PRESETS, STEPS, clean, settle

ANY_TEXT = st.text(st.characters())  # lone surrogates too
PIECES = """I feel so tired can't it's they’re dont :( xD 😢 ❤️ #FeelingDown #1 @someone u/some_one RT
&amp;amp; &lt; [removed] [ deleted ] [here](https://example.org/a) https://example.org/a?b=1. www.example.com
shit f*ck donâ€™t ([ ]) 3.5 10:30 ! … ’ & ; amp ] ( ["""
POSTS = st.lists(st.sampled_from([*PIECES.split(), "\n\n"])).map(" ".join)
TEXTS = st.one_of(ANY_TEXT, POSTS, st.lists(POSTS).map("".join))


@pytest.mark.parametrize(
    ("step", "before", "after"),
    [
        ("html", "salt &amp; pepper &lt;3", "salt & pepper <3"),
        ("html", "twice: &amp;amp;", "twice: &"),
        ("encoding", "I donâ€™t know", "I don’t know"),
        ("encoding", "she said “no” &amp; left", "she said “no” &amp; left"),
        ("removed", "[removed]", None),
        ("removed", " [Deleted by user] .", None),
        ("removed", "[removed] but I still see it", " but I still see it"),
        ("removed", "they removed [some] of it", "they removed [some] of it"),
        ("markdown-links", "see [my post](https://example.org/a_(b)) there", "see my post there"),
        ("markdown-links", "[a](no link) and [b]", "[a](no link) and [b]"),
        ("links", "read https://example.org/a?b=1, or www.example.com.", "read , or ."),
        ("links", "see [my blog](https://example.org/a_(b)) there", "see my blog there"),
        ("links", "[deep](https://example.org/a_(b_(c))d) and [x](/r/y)", "deep and [x](/r/y)"),
        ("links", "(see https://example.org/a_(b)), https://example.org/c).", "(see ), )."),
        ("links", "www.) and https://)", "www.) and https://)"),
        ("users", "RT @some_one: thanks u/half-awake and me@example.org", " thanks  and me@example.org"),
        ("hashtags", "#FeelingDown_again #2020 #ok2go", "Feeling Down again #2020 ok 2go"),
        ("no-hashtags", "bad day #FeelingDown #1", "bad day  #1"),
        ("apostrophes", "I don’t, it`s, rock ʼnʼ roll", "I don't, it's, rock 'n' roll"),
        ("contractions", "I can't, won't, don't.", "I cannot, will not, do not."),
        ("contractions", "It's been hard; it’s over.", "It has been hard; it is over."),
        ("contractions", "I'd better go, I'd like to.", "I had better go, I would like to."),
        ("contractions", "DON'T! Im tired, they're not.", "DO NOT! I am tired, they are not."),
        ("contractions", "Anna's dog ain't ill, were it its.", "Anna's dog ain't ill, were it its."),
        ("contractions", "I'd've gone, they couldn’t've.", "I would have gone, they could not have."),
        ("contractions", "CAN'T'VE, that's've, ain't've", "CANNOT HAVE, that's've, ain't've"),
        ("contractions", "IM injection", "IM injection"),
        ("emoji", "so tired 😢", "so tired  crying face "),
        ("emoji", "fine :) at 10:30 <3", "fine smile at 10:30 heart"),
        ("emoji", "http://a.b/:/ D:o", "http://a.b/:/ D:o"),
        ("no-emoji", "so tired 😢 :(", "so tired  "),
        ("curse-words", "what the Fuck is this bullshit", "what the  is this "),
        ("curse-words", "Scunthorpe, assess, dickens, hello", "Scunthorpe, assess, dickens, hello"),
        ("spaces", "  a\u00a0b \n\n c ", "a b c"),
        ("english", "I cannot sleep again and everything hurts", "I cannot sleep again and everything hurts"),
        ("english", "no puedo dormir otra vez, estoy agotada de todo", None),
        ("english", "мне очень грустно", None),
        ("english", "ugh monday", "ugh monday"),
    ],
)
def test_each_step_does_what_it_says(step: str, before: str, after: str | None) -> None:
    assert STEPS[step](before) == after


@pytest.mark.parametrize("name", STEPS)
@settings(max_examples=60, deadline=None)
@given(text=TEXTS)
def test_no_step_fails_on_any_text_and_twice_is_once(name: str, text: str) -> None:
    once = settle(text, [STEPS[name]])[0]
    assert once is None or settle(once, [STEPS[name]])[0] == once


@pytest.mark.parametrize("name", PRESETS)
@settings(max_examples=150, deadline=None)
@given(text=TEXTS)
def test_a_preset_twice_is_a_preset_once(name: str, text: str) -> None:
    steps = [step for step in PRESETS[name] if step in STEPS]
    once = clean(text, steps)
    assert once is None or clean(once, steps) == once


def test_links_leave_nothing_for_markdown_links_to_mend() -> None:
    text = "[my blog](https://example.org/a_(b)) helps"
    assert (
        clean(text, ["links", "markdown-links"])
        == clean(text, ["markdown-links", "links"])
        == "my blog helps"
    )


@pytest.mark.parametrize("step", ["links", "markdown-links", "contractions"])
@pytest.mark.parametrize(
    "piece", ["[a](http://a(", "http://a)", "http://a(", "www.", "[", "a'd've", "n't", ")"]
)
def test_a_step_comes_to_an_end_with_100_000_characters(step: str, piece: str) -> None:
    # A pattern that tried all ways to divide them would not end.
    assert settle(piece * (100_000 // len(piece)) + "!", [STEPS[step]]) is not None


def test_the_deck_preset_on_a_tweet() -> None:
    steps = [step for step in PRESETS["deck-tweets"] if step in STEPS]
    tweet = "@user I donâ€™t fucking know anymore &amp; I can’t sleep :( 😢"
    assert clean(tweet, steps) == "@user I do not know anymore & I cannot sleep sad crying face"


def test_settling_says_which_steps_changed_a_text_and_which_dropped_it() -> None:
    steps = [STEPS["html"], STEPS["links"], STEPS["spaces"]]
    assert settle("a &amp; b", steps) == ("a & b", {0}, None)
    # Nothing but a link: the step that takes it out drops the text.
    assert settle(" https://example.org ", steps) == (None, set(), 1)
    # White space that closes up makes no more work here, an entity made of two does.
    assert settle("&am<p;", [lambda text: text.replace("<", ""), STEPS["html"]]) == ("&", {0, 1}, None)


@pytest.mark.parametrize(
    ("module", "step", "text"),
    [
        ("ftfy", "encoding", "donâ€™t"),
        ("py3langid", "english", "what a day this has been"),
        ("emoji", "emoji", "😢"),
    ],
)
def test_a_step_without_its_library_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, module: str, step: str, text: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)  # as if it were not installed
    with pytest.raises(MissingExtra, match=r"psycheck\[clean\]"):
        STEPS[step](text)
    assert clean("salt &amp; pepper [here](https://example.org)", PRESETS["plain"]) == "salt & pepper here"
