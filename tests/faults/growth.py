"""Repeat hostile pieces up to 40,000 characters: no edit or pattern may take more than linear time."""

import random
import warnings
from collections.abc import Callable
from functools import partial
from time import process_time
from typing import Any, get_args

from faults.attack import Count, script
from psycheck.corpora.curate.disclosure import disclosed, mentions_diagnosis
from psycheck.corpora.curate.lexicons import words_in
from psycheck.text.clean import STEPS, split_sentences
from psycheck.text.edits import replace_words
from psycheck.text.gender.edits import gender_of, scope_of, swap
from psycheck.text.gender.neutral import neutralise
from psycheck.text.noise import Noise, noise
from psycheck.text.person import shift_person
from psycheck.text.redact.find import find_personal
from psycheck.text.words import plain_text, shingles

SHORT, FACTOR = 10_000, 4
GROWTH = 8  # four times the text in less than eight times the time; 16 would be quadratic
NOISE = 0.1  # seconds of CPU time below which a ratio says nothing
PIECES = (
    *"()[]{}<>@#:;.,!?'’\"“”-–_/\\&*|~=+$%^` \n\r\t0aAßé😀\u200d\u0301",
    *(
        "](",
        "[a](",
        "[](http://",
        "((",
        ":(",
        "a(",
        "@a",
        "a@",
        "a@b.",
        "#a",
        "#A",
        "# ",
        "&amp;",
        "&#",
        "&lt",
    ),
    *(
        "http://",
        "http://a.",
        "www.",
        "www.a",
        "u/",
        "/u/a",
        "RT @",
        "a.",
        "a-",
        "a'",
        "a’",
        "n't ",
        "'s ",
        ". ",
    ),
    *(
        "1-",
        "1 ",
        "1.",
        "1/",
        "+1 ",
        "12:",
        "(1",
        "1,",
        "$1",
        "555-",
        "é ",
        "A.",
        "A. ",
        "A ",
        "Aa ",
        "aA",
        "\n\n",
    ),
    *(
        "he ",
        "she ",
        "his ",
        "her ",
        "him/",
        "he/she ",
        "Mr. ",
        "Mrs ",
        "Dr ",
        "Anna ",
        "anna ",
        "Anna, ",
        "of ",
    ),
    *(
        "I ",
        "i ",
        "I am ",
        "I'm ",
        "my ",
        "me and ",
        "they ",
        "theirs ",
        "myself ",
        "really ",
        "never ",
        "and ",
    ),
    *(
        "I was diagnosed with ",
        "diagnosed ",
        "diagnosed with depression ",
        "I have ",
        "dx ",
        "not ",
        "my doctor ",
    ),
    *(
        "my name is ",
        "named ",
        "St. ",
        "in ",
        "from ",
        "Lake ",
        "New ",
        "North ",
        "the ",
        "born in ",
        "aged ",
    ),
    *(
        "mother ",
        "father's ",
        "woman ",
        "husband and ",
        "her mother ",
        "she's ",
        "he'd ",
        "so ",
        "soo",
        "lol ",
    ),
    *(
        '"',
        '"a',
        "'a' ",
        "“a",
        "> ",
        ">a\n",
        "[removed]",
        "[ ",
        "<3",
        "<a ",
        "\x00",
        "\ud800",
        " .",
        " -",
        "--",
    ),
)

EDITS: dict[str, Callable[[str], Any]] = {
    **{f"noise {name}": noise(name) for name in get_args(Noise)},
    **{f"clean {name}": step for name, step in STEPS.items()},
    "sentences": split_sentences,
    "redact": find_personal,
    "disclosed": disclosed,
    "mentions diagnosis": mentions_diagnosis,
    "words": words_in,
    "plain text": plain_text,
    "shingles": shingles,
    "replaced words": replace_words({"sad": "low", "very sad": "down"}),
    **{
        f"person {to} {verbs}": shift_person(to, agreement=verbs)
        for to in ("they", "he", "I")
        for verbs in (False, True)
    },
    **{
        f"{how} {words} {person}": made
        for words in ("pronouns", "pronouns,nouns,titles,names")
        for person in ("all", "main")
        for how, made in (
            ("swap", swap(scope_of(words.split(","), person))),
            ("neutral", neutralise(scope_of(words.split(","), person))),
            ("gender", partial(gender_of, scope=scope_of(words.split(","), person))),
        )
    },
}


def attack(dice: random.Random, tries: int) -> Count:
    """Measure how the time of each edit grows with a text of one repeated piece, or of two."""
    count = Count("hostile pieces repeated in a text: time at 40,000 against 10,000 characters")
    every = [(name, piece) for name in EDITS for piece in (*PIECES, *_pairs(dice))]
    for edit in EDITS.values():  # what is read once must not count
        edit("She was diagnosed with depression.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, piece in dice.sample(every, min(tries, len(every))):
            count.add(f"{name} of {piece!r}", slow(EDITS[name], piece))
    return count


def _pairs(dice: random.Random) -> list[str]:
    return ["".join(dice.sample(PIECES, 2)) for _ in range(100)]


def slow(edit: Callable[[str], Any], piece: str) -> str:
    """How the time grows, if it grows faster than the text.

    It is measured twice before it is believed, and must go on growing from 40,000 to 160,000 characters:
    where 10,000 happen to end before an edit has much to do, one step alone looks like growth.
    """
    for _ in range(2):
        short = _seconds(edit, piece, SHORT)
        if short > 10:
            return f"{short:.1f} s for {SHORT:,} characters"
        long = _seconds(edit, piece, SHORT * FACTOR)
        if long < NOISE or long / short < GROWTH:
            return ""
    longest = long if long > 10 else _seconds(edit, piece, SHORT * FACTOR**2)
    return f"{short:.2f} s, then {long:.2f} s" if long > 10 or longest / long >= GROWTH else ""


def _seconds(edit: Callable[[str], Any], piece: str, length: int) -> float:
    text = (piece * (length // len(piece) + 1))[:length] + "x"
    begin = process_time()
    edit(text)
    return max(process_time() - begin, 1e-6)


if __name__ == "__main__":
    script(attack, 100_000)
