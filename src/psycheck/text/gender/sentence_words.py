"""The words of the sentence that goes on after a pronoun, read once from left to right."""

from collections.abc import Sequence
from re import Match
from typing import Final

from psycheck.text.edits import straight
from psycheck.text.gender.clause_words import LISTS, Word
from psycheck.text.redact.lists import compiled
from psycheck.text.word_lists import read_toml

# A sentence without an end is read no further than this, so that long texts take time in proportion.
_REACH: Final = 600
FORMS: Final = compiled(read_toml("gender/patterns.toml")["they_verbs"])
_BRACKETS: Final = {"(": ")", "[": "]", "“": "”"}
_ENDS: Final = frozenset(";:!?\n)]”")
_ABBREVIATION_ENDS: Final = frozenset(word[-2:] for word in LISTS["abbreviated"])


def may_join_verb(text: str, end: int) -> bool:
    """True if a glance at the sentence after `end` shows a joining word and then a singular verb."""
    last = min(len(text), end + _REACH)
    for stop in FORMS["stop"].finditer(text, end, last):
        if _ends_sentence(text, stop.start()):
            last = stop.start()
            break

    joiner = FORMS["joiner"].search(text, end, last)
    return joiner is not None and FORMS["singular"].search(text, joiner.end(), last) is not None


def _ends_sentence(text: str, at: int) -> bool:
    """True if the mark at `at` ends a sentence; the full stop of "e.g. rest" does not."""
    if text[at] != ".":
        return True
    before_space = text[at + 1 : at + 2].isspace()
    return before_space and text[at - 2 : at].lower() not in _ABBREVIATION_ENDS


def words_after(text: str, end: int) -> list[Word]:
    """The words of the sentence that goes on at `end`, and its commas, without brackets and quotations."""
    words: list[Word] = []
    read_to = end
    for match in FORMS["token"].finditer(text, end, end + _REACH):
        if match.start() < read_to:
            continue  # inside a bracket that was skipped
        token = match[0]
        read_to = match.end()

        if token[0].isalnum():
            words.append(_word(match))
            if _is_next_pronoun(words):
                break
        elif _is_end(text, token, read_to, words):
            break
        elif token in _BRACKETS or token == '"':
            read_to = _end_of_bracket(text, token, read_to, end + _REACH)
            if read_to < 0:
                break
        elif token != ".":
            mark = token if token in (",", "&") else "–"
            words.append(Word(text=mark, start=match.start(), end=read_to, capital=False))
    return words


def _is_end(text: str, token: str, at: int, words: Sequence[Word]) -> bool:
    """True if a mark, which ends at `at`, ends the sentence."""
    return token in _ENDS or (token == "." and _full_stop(text, at, words))


def _is_next_pronoun(words: Sequence[Word]) -> bool:
    """True at the next "he" or "she": what follows is the business of that pronoun."""
    return words[-1].text in LISTS["he_or_she"] and words[0].text not in (",", "–")


def _word(match: Match[str]) -> Word:
    token = match[0]
    lowered = token.lower()
    return Word(
        text=straight(lowered),
        start=match.start(),
        end=match.end(),
        capital=token != lowered and token[1:] == lowered[1:],
    )


def _end_of_bracket(text: str, token: str, at: int, last: int) -> int:
    """Where a bracket or quotation that opens before `at` ends; -1 if it has no end, or closes one."""
    opens = token in _BRACKETS or text[at - 2 : at - 1].isspace()
    if not opens:
        return -1
    closing = text.find(_BRACKETS.get(token, token), at, last)
    return closing + 1 if closing >= 0 else -1


def _full_stop(text: str, at: int, words: Sequence[Word]) -> bool:
    """True if the full stop before `at` ends the sentence: not in "3.5 mg", not after "approx."."""
    following = text[at : at + 1]
    if following.isalnum() and not following.isupper():
        return False
    if not words:
        return True
    last = words[-1]
    return last.end != at - 1 or last.text not in LISTS["abbreviated"]
