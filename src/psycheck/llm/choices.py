"""Read the letter that a reply chooses, for prompts whose answers are lettered: "Answer: B"."""

import re
from collections.abc import Iterable
from typing import Final

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.llm.fields import Field
from psycheck.llm.prompts import Prompt
from psycheck.llm.reply_words import KEYS, is_answer_key, key_words
from psycheck.llm.sample import Sample

# "B", "(B)", "**B**", "B) no": a letter that words follow directly is a word, as in "A post about …".
_LETTER: Final = re.compile(r"[\W_]*([A-Za-z])(?:[\W_]*|[).:][^\n]*)")
# "The answer is B.", "\boxed{B}"
_STATED: Final = re.compile(r"\banswer is:?\s+([^\n]{1,20})|\\boxed\{([^}\n]{1,20})\}", re.IGNORECASE)
_LONGEST_VALUE: Final = 200  # characters; a longer value is not a letter


def read_choice(sample: Sample, prompt: Prompt) -> tuple[FloatArray, str]:
    """The scores of the labels, (k,), by the letter that is chosen, and where it stood; else NaN."""
    scores = np.full(len(prompt.labels), np.nan)
    in_fields = _letters([field.value for field in sample.fields if _holds_choice(field)], prompt)
    where = "json" if sample.has_json else "lines"

    letters = in_fields
    if not letters:
        where = "words"
        letters = _letters(_places_of_answers(sample.text), prompt)

    if len(letters) == 1:
        (letter,) = letters
        positive_labels = prompt.choices[letter]
        scores[:] = [label in positive_labels for label in prompt.labels]
    return scores, where


def _holds_choice(field: Field) -> bool:
    return is_answer_key(field.key) or bool(KEYS["choice"].intersection(key_words(field.key)))


def _places_of_answers(text: str) -> list[str]:
    """Where a letter may stand in prose: where the reply states its answer, else its first and last line."""
    stated = [match[1] or match[2] for match in _STATED.finditer(text)]
    if stated:
        return stated
    lines = [line for line in text.splitlines() if line.strip()]
    return [*lines[:1], *lines[-1:]]


def _letters(values: Iterable[str], prompt: Prompt) -> set[str]:
    """The distinct letters among values; none if one of them is not offered by the prompt."""
    letters: set[str] = set()
    for value in values:
        letter = _LETTER.fullmatch(value[:_LONGEST_VALUE].strip())
        if letter:
            letters.add(letter[1].upper())
    if letters.issubset(prompt.choices):
        return letters
    return set()
