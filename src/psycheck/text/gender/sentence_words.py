"""The words of the sentence that goes on after a pronoun, read once from left to right."""

from collections.abc import Sequence
from re import Match
from typing import Final

from psycheck.text.edits import straight
from psycheck.text.gender.clause_words import LISTS, Word
from psycheck.text.redact.lists import compiled
from psycheck.text.surroundings import character_at
from psycheck.text.word_lists import read_toml

# A sentence without an end is read no further than this, so that long texts take time in proportion.
_REACH: Final = 600
FORMS: Final = compiled(read_toml("gender/patterns.toml")["they_verbs"])
_BRACKETS: Final = {"(": ")", "[": "]", "“": "”"}
_ENDS: Final = frozenset(";:!?\n)]”")
_ABBREVIATION_ENDS: Final = frozenset(word[-2:] for word in LISTS["abbreviated"])


def may_join_verb(text: str, end: int) -> bool:
    """True if a glance at the sentence after `end` shows a joining word and then a singular verb."""
    sentence_end = min(len(text), end + _REACH)
    for stop in FORMS["stop"].finditer(text, end, sentence_end):
        if _ends_sentence(text, stop.start()):
            sentence_end = stop.start()
            break

    joiner = FORMS["joiner"].search(text, end, sentence_end)
    if joiner is None:
        return False
    return FORMS["singular"].search(text, joiner.end(), sentence_end) is not None


def _ends_sentence(text: str, at: int) -> bool:
    """True if the mark at `at` ends a sentence; the full stop of "e.g. rest" does not."""
    if text[at] != ".":
        return True
    before_space = character_at(text, at + 1).isspace()
    word_end = text[at - 2 : at].lower()
    return before_space and word_end not in _ABBREVIATION_ENDS


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
        # What stands in brackets or quotation marks has subjects of its own.
        elif token in _BRACKETS or token == '"':
            read_to = _end_of_bracket(text, token, read_to, end + _REACH)
            if read_to < 0:
                break
        elif token != ".":
            mark = token if token in (",", "&") else "–"
            words.append(
                Word(
                    text=mark,
                    start=match.start(),
                    end=read_to,
                    capital=False,
                )
            )
    return words


def _is_end(
    text: str,
    token: str,
    at: int,
    words: Sequence[Word],
) -> bool:
    """True if a mark, which ends at `at`, ends the sentence."""
    if token == ".":
        return _full_stop(text, at, words)
    return token in _ENDS


def _is_next_pronoun(words: Sequence[Word]) -> bool:
    """True at the next "he" or "she": what follows is the business of that pronoun."""
    # A mark right behind the pronoun sets something off, which may have a "he" of its own.
    begins_with_mark = words[0].text in (",", "–")
    return words[-1].text in LISTS["he_or_she"] and not begins_with_mark


def _word(match: Match[str]) -> Word:
    """The word of a match; it has a capital if the other letters are small."""
    token = match[0]
    lowered = token.lower()
    return Word(
        text=straight(lowered),
        start=match.start(),
        end=match.end(),
        capital=token != lowered and token[1:] == lowered[1:],
    )


def _end_of_bracket(
    text: str,
    token: str,
    at: int,
    last: int,
) -> int:
    """Where a bracket or quotation that opens before `at` ends; -1 if it has no end, or closes one."""
    opens = token in _BRACKETS or text[at - 2 : at - 1].isspace()
    if not opens:
        return -1
    # A straight quotation mark closes what it opens.
    closing_mark = _BRACKETS.get(token, token)
    closing = text.find(closing_mark, at, last)
    if closing < 0:
        return -1
    return closing + 1


def _full_stop(text: str, at: int, words: Sequence[Word]) -> bool:
    """True if the full stop before `at` ends the sentence: not in "3.5 mg", not after "approx."."""
    following = character_at(text, at)
    if following.isalnum() and not following.isupper():
        return False
    if not words:
        return True
    last = words[-1]
    is_beside_word = last.end == at - 1
    return not is_beside_word or last.text not in LISTS["abbreviated"]
