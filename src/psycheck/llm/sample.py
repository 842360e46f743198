"""One sample of a reply, taken apart: its fields, the words outside them, and its token probabilities."""

import re
from dataclasses import dataclass
from itertools import islice
from typing import Final

from psycheck.llm.confidence import Tokens, confidence_of, tokens_of
from psycheck.llm.fields import MOST_FIELDS, Field, fields_of, line_fields
from psycheck.llm.reply_words import KEYS, WORDS, key_words, words_of

# Chat templates leave these in the text of a server that does not strip them.
_CONTROL_TOKEN: Final = re.compile(r"<\|[^|>]{1,40}\|>|</?s>")
_OPENING_READ: Final = 80  # characters in which an untagged thought shows itself


def _marks_of_thoughts() -> re.Pattern[str]:
    """The marks of thoughts of all families of models; the group `end` holds those that end one."""
    alternatives = {
        kind: "|".join(re.escape(mark) for mark in WORDS["thought"][kind]) for kind in ("begin", "end")
    }
    return re.compile(rf"(?P<end>{alternatives['end']})|(?:{alternatives['begin']})", re.IGNORECASE)


_THOUGHT: Final = _marks_of_thoughts()


@dataclass(frozen=True, slots=True)
class Sample:
    """What a model replied once.

    `text` is the reply with its thoughts blanked out, `outside` the same without what stands in braces and
    brackets. `fields` are those that are complete. `is_cut` if the reply ended at its maximal length,
    `is_thought` if it holds nothing but a thought.
    """

    text: str
    outside: str
    fields: list[Field]
    has_json: bool
    is_cut: bool
    is_thought: bool
    tokens: Tokens | None

    @property
    def reasons(self) -> str:
        """What the fields give as the reason of the answer."""
        reasons: list[str] = []
        for field in self.fields:
            if KEYS["reason"].intersection(key_words(field.key)):
                reasons.append(field.value)
        return " ".join(reasons).strip()

    def confidence(self, answer: float, start: int, end: int) -> float:
        """The probability of yes where an answer (0 or 1) stands, else the answer itself."""
        return confidence_of(
            answer,
            tokens=self.tokens,
            text=self.text,
            start=start,
            end=end,
        )


def take_apart(text: str, finish: str, logprobs: str = "") -> Sample | None:
    """Find the fields of a reply; None if there are more than any answer has."""
    is_cut = finish == "length"
    spoken = _spoken(text, is_cut=is_cut)
    in_braces, outside = fields_of(spoken)
    in_lines = islice(line_fields(outside), MOST_FIELDS)
    fields = [*in_braces, *in_lines]
    if len(fields) > MOST_FIELDS:
        return None

    # Half a value is no answer: "no" may be the beginning of "not sure".
    complete = [field for field in fields if not _may_be_cut(field, finish)]
    return Sample(
        text=spoken,
        outside=outside,
        fields=complete,
        has_json=bool(in_braces),
        is_cut=is_cut,
        is_thought=not spoken.strip(),
        tokens=tokens_of(text, logprobs),
    )


def _spoken(text: str, *, is_cut: bool) -> str:
    """A reply without its thoughts and control tokens; places in the text stay the same."""
    spoken = _without_thoughts(text)
    # A template may hold back both marks: a thought that was cut then looks like an answer in prose.
    if is_cut and _begins_like_a_thought(spoken):
        spoken = " " * len(text)
    return _CONTROL_TOKEN.sub(lambda token: " " * len(token[0]), spoken)


def _begins_like_a_thought(text: str) -> bool:
    beginning = " ".join(words_of(text.lstrip()[:_OPENING_READ]))
    return any(f"{beginning} ".startswith(f"{words} ") for words in WORDS["thought"]["openings"])


def _without_thoughts(text: str) -> str:
    """Blank out what a model thought before it answered."""
    marks = list(_THOUGHT.finditer(text))
    closings = [mark.end() for mark in marks if mark["end"]]
    openings = [mark.start() for mark in marks if not mark["end"]]
    # All before the last end mark is thought: a chat template may hold the opening mark back.
    start = max(closings, default=0)
    # Thoughts that begin later and have no end go on to the end of the reply.
    unended = [opening for opening in openings if opening >= start]
    end = min(unended, default=len(text))

    # Token probabilities are found by place, so blanks stand for what is taken out.
    blank_before = " " * start
    blank_after = " " * (len(text) - end)
    return blank_before + text[start:end] + blank_after


def _may_be_cut(field: Field, finish: str) -> bool:
    """True if the value of a field may be only the beginning of one."""
    # A model that stopped by itself may forget a closing quote; one that was cut had no time for it.
    if field.cut == "open":
        return finish != "stop"
    return field.cut == "end" and finish == "length"
