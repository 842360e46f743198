"""The words of the pages: every language has every key, with the same places to fill in."""

import re
from string import Formatter

import pytest

from psycheck.annotate.web.pages import HERE
from psycheck.annotate.web.texts import languages, preferred_language, texts_in

_KEY = re.compile(r"""\bt\("([\w.\-]+)"[,)]""")
_COUNTED = re.compile(r"""(?:t|words)\.counted\("([\w.\-]+)",""")


def places(words: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(words) if name}


@pytest.mark.parametrize("language", languages()[1:])
def test_another_language_has_the_same_keys_and_places(language: str) -> None:
    english, other = texts_in("en").words, texts_in(language).words
    # Only the words of errors may be missing in English: the errors bring them.
    assert {key for key in other if not key.startswith("code.")} == set(english)
    assert {key: places(words) for key, words in other.items() if key in english} == {
        key: places(words) for key, words in english.items()
    }


def test_pages_use_keys_that_exist() -> None:
    english = texts_in("en").words
    used = set()
    for template in (HERE / "templates").glob("*.j2"):
        text = template.read_text("utf-8")
        used |= set(_KEY.findall(text))
        used |= {f"{key}.{number}" for key in _COUNTED.findall(text) for number in ("one", "other")}
    assert len(used) > 100
    assert used - set(english) == set()


@pytest.mark.parametrize(
    ("chosen", "accepted", "language"),
    [
        ("", "", "en"),
        ("", "de-AT,de;q=0.9,en;q=0.8", "de"),
        ("", "fr,en;q=0.5", "en"),
        ("", "fr;q=0.9, DE;q=0.5", "de"),
        ("en", "de", "en"),
        ("xx", "de", "de"),
        ("../secrets", "*", "en"),
    ],
)
def test_the_language_is_the_chosen_one_or_the_first_that_the_browser_takes(
    chosen: str, accepted: str, language: str
) -> None:
    assert preferred_language(chosen, accepted) == language


def test_numbers_have_their_words() -> None:
    assert texts_in("en").counted("age.day", 1) == "1 day"
    assert texts_in("en").counted("age.day", 1_200) == "1,200 days"
