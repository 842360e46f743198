"""Whether a post says that its writer was diagnosed, and with what.

A self-report of a diagnosis ("I was diagnosed with …", "my psychiatrist diagnosed me …", "my doctor says I
have …") and a condition's keyword within 40 characters of it, in one sentence (PsySym 3.5, after SMHD).
Denials, suppositions, jokes, quotations and other people's diagnoses are left out: precision before recall.
So some reports are missed: `mentions_diagnosis` is the loose test for posts and controls that must hold none.
That somebody writes so is all that is known; it is no diagnosis. All patterns read text in linear time: whole
texts are scanned once, and what may look back and forth sees windows of bounded size.
"""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from psycheck.errors import BadInput, nearest

REACH = 40
"""How far a keyword may stand from the report of a diagnosis, in characters."""

_HERE = Path(__file__).parent
_AROUND = 300
_LOOSE_REACH = 80


def conditions() -> tuple[str, ...]:
    """The names of the conditions that can be looked for."""
    return tuple(_keywords()[0])


def known_conditions(names: tuple[str, ...]) -> tuple[str, ...]:
    """The conditions of these names, in their usual order; all of them where none is named."""
    for name in names:
        if name not in conditions():
            raise BadInput(f"there is no condition '{name}'", allowed=nearest(name, conditions()))
    return tuple(name for name in conditions() if not names or name in names)


def disclosed(text: str) -> frozenset[str]:
    """The conditions that the writer of this text says to have been diagnosed with."""
    low = text.lower()
    patterns = _patterns()
    if not any(stem in low for stem in patterns["stems"]):
        return frozenset()
    plain = patterns["quotation"].sub(_unquoted, patterns["quoted_line"].sub(" ", _straight(text)))
    return frozenset(
        name for sentence, question in _sentences(plain) for name in _in_sentence(sentence, question)
    )


def mentions_diagnosis(text: str) -> bool:
    """Whether the text names a diagnosis near a condition: anybody's, denied or not, in any wording."""
    low = text.lower()
    if "diagnos" not in low and "dx" not in low:
        return False
    plain, mention = _straight(text), _patterns()["mention"]
    return any(
        found.lastgroup != "never"
        and mention.search(plain, max(0, found.start() - _LOOSE_REACH), found.end() + _LOOSE_REACH)
        for found in _keywords()[1].finditer(plain)
    )


def named_conditions(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """The conditions that a text names, whoever has them, and where; in order."""
    for found in _keywords()[1].finditer(text):
        if found.lastgroup != "never":
            yield str(found.lastgroup), found.span()


def _straight(text: str) -> str:
    return text.replace("’", "'").replace("‘", "'").replace("&amp;", "&")


def _unquoted(found: re.Match[str]) -> str:
    """A quotation that itself reports a diagnosis is somebody's words; any other is only emphasis."""
    inner = found[1].lower()
    return " " if any(stem in inner for stem in _patterns()["stems"]) else f" {found[1]} "


def _sentences(text: str) -> Iterator[tuple[str, bool]]:
    """The sentences that hold a stem, long ones in pieces, and whether each is a question."""
    patterns = _patterns()
    text = patterns["abbreviation"].sub(r"\1", text)
    start = 0
    for end in [*patterns["sentence"].finditer(text), None]:
        stop = len(text) if end is None else end.start()
        sentence = " ".join(text[start:stop].split())
        question = end is not None and "?" in end[0]
        # A post without full stops is one sentence: only what is around a stem is looked at, in bounded time.
        seen = 0
        for found in patterns["stem"].finditer(sentence):
            if found.start() >= seen:
                yield sentence[max(0, found.start() - _AROUND) : found.start() + _AROUND], question
                seen = found.start() + (_AROUND // 2 if len(sentence) > _AROUND else len(sentence))
        start = stop if end is None else end.end()


def _in_sentence(sentence: str, question: bool) -> Iterator[str]:
    patterns = _patterns()
    for pattern, by in patterns["rewritten"]:
        sentence = pattern.sub(by, sentence)
    # Looked for once in a window, however many reports it holds.
    keywords = [found for found in _keywords()[1].finditer(sentence) if found.lastgroup != "never"]
    if not keywords or patterns["anywhere"].search(sentence):
        return
    for anchor in patterns["anchors"]:
        for found in anchor.finditer(sentence):
            left_out_person = anchor.pattern.startswith("^")
            if left_out_person and (question or re.search(r"\byou(?:r|'re)?\b", sentence, re.I)):
                continue
            # "that" and "when" do not end what a denial or a supposition reaches: "I wish that I was …".
            cuts = patterns["clause"].finditer(sentence, 0, found.start())
            clause = max((cut.end() for cut in cuts if cut[0].lower() not in ("that", "when")), default=0)
            if not patterns["before"].search(sentence[clause : found.start()]):
                names = set(_near(sentence, found, keywords))
                yield from names
                keywords = [keyword for keyword in keywords if keyword.lastgroup not in names]
            if not keywords:
                return


def _near(sentence: str, found: re.Match[str], keywords: list[re.Match[str]]) -> Iterator[str]:
    """The conditions named in the report itself, or at most `REACH` characters before or after it."""
    patterns = _patterns()
    for keyword in keywords:
        # "I have OCD and was …" is one thing; "depression is bad, I was diagnosed with asthma" another.
        if keyword.end() <= found.start() and patterns["own_object"].match(sentence, found.end()):
            continue
        gap = sentence[found.end() : keyword.start()] or sentence[keyword.end() : found.start()]
        far = len(gap) > REACH or patterns["between"].search(gap)
        if not far and not patterns["after"].match(sentence[keyword.end() :]):
            yield str(keyword.lastgroup)


@cache
def _keywords() -> tuple[dict[str, tuple[str, ...]], re.Pattern[str]]:
    """The keywords of each condition, and one pattern that finds the longest at a place, named by group."""
    raw = tomllib.loads((_HERE / "conditions.toml").read_text("utf-8"))
    never = raw.pop("never")
    words = {name: tuple(entry["keywords"]) for name, entry in raw.items()}
    # Conditions whose keywords hold those of another stand first: bipolar before depression.
    order = ["bipolar", *(name for name in words if name != "bipolar")]
    groups = [("never", never), *((name, words[name]) for name in order)]
    branches = "|".join(f"(?P<{name}>{_alternatives(tuple(some))})" for name, some in groups)
    return words, re.compile(rf"(?<![\w'])(?:{branches})(?!\w)", re.I)


def _alternatives(words: tuple[str, ...]) -> str:
    longest = sorted(words, key=len, reverse=True)
    return "|".join(word.replace(" ?", r"[\s-]?").replace(" ", r"[\s-]+") for word in longest)


@cache
def _patterns() -> dict[str, Any]:
    raw = tomllib.loads((_HERE / "disclosure.toml").read_text("utf-8"))
    words, _ = _keywords()
    every = _alternatives(tuple(word for some in words.values() for word in some))
    words_of = {name: f"(?:{'|'.join(raw[name])})" for name in ("when", "official", "clinicians")}
    one = f"(?:{every})(?!\\w)"
    listed = rf"{one}(?:(?:,|,? and|,? &|/|\s?\+) ?{one}){{0,3}}"

    def compiled(pattern: str) -> re.Pattern[str]:
        filled = pattern.replace("{when}", words_of["when"]).replace("{official}", words_of["official"])
        filled = filled.replace("{clinician}", words_of["clinicians"])
        spaced = filled.replace(" ?", r"\s?").replace(" ", r"\s+")
        return re.compile(spaced.replace("{conditions}", listed).replace("{condition}", one), re.I)

    either = {part: compiled("|".join(raw[part])) for part in ("before", "anywhere", "between", "after")}
    return {
        "stems": tuple(raw["stems"]),
        "stem": compiled("|".join(raw["stems"])),
        "mention": re.compile(raw["mention"], re.I),
        "rewritten": [(compiled(one["find"]), one["by"]) for one in raw["rewritten"]],
        "anchors": [compiled(one) for one in raw["anchors"]],
        **{name: re.compile(pattern) for name, pattern in raw["forms"].items()},
        **either,
    }
