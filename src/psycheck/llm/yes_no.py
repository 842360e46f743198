"""Read yes or no for each label of a prompt: from fields, or from the words outside them."""

import math
import re
from collections.abc import Collection, Sequence
from typing import Final

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.llm.fields import Field
from psycheck.llm.prose import bare_answer, refuses, said_of
from psycheck.llm.reply_words import (
    KEYS,
    agreed,
    class_meaning,
    is_answer_key,
    key_words,
    meaning,
    names_of,
    words_of,
)
from psycheck.llm.sample import Sample

# Longer keys and values are prose; the limits also bound the time for a reply that repeats itself.
_WORDS_IN_KEY: Final = 8
_LONGEST_SUBJECT: Final = 80  # characters
_LONGEST_CLASS: Final = 200
_LONGEST_BOTH: Final = 100
# "0.83", ".83" or "83%"; a bare "1" or "0" is an answer, and "83" has no agreed meaning.
_PROBABILITY: Final = re.compile(r"\s*(?:(0?\.\d{1,17}|1\.0+)|(\d{1,2}(?:\.\d{1,9})?|100) ?%)\s*")
_ABOUT_ALL: Final = {"both": 1.0, "neither": 0.0}  # answers to all labels in one word


def read_yes_no(sample: Sample, labels: Sequence[str]) -> tuple[FloatArray, str]:
    """The score of each label, (k,), and where answers stood: json, lines, words or prose, or a refusal."""
    by_label = _fields_by_label(sample.fields, labels)
    if any(by_label):
        scores = np.full(len(labels), np.nan)
        for column, (fields, label) in enumerate(zip(by_label, labels, strict=True)):
            scores[column] = _score_of_fields(fields, label, sample)
        return scores, "json" if sample.has_json else "lines"

    # Before any sentence is read: a refusal often names the label that it will not judge.
    if refuses(sample.outside):
        return np.full(len(labels), np.nan), "refusal"
    if len(labels) > 1:
        return _answers_to_several(sample, labels)
    return _answer_to_one(sample, labels[0])


def _fields_by_label(fields: Sequence[Field], labels: Sequence[str]) -> list[list[Field]]:
    """The fields that answer each label; a field that names no label answers the only one."""
    subjects = _subjects(fields, labels)
    by_label: list[list[Field]] = []
    for label in labels:
        fields_of_label = [field for field in fields if _answers(field, label, subjects)]
        by_label.append(fields_of_label)

    # With several labels, an answer without a name could be that of any of them.
    if len(labels) == 1 and not by_label[0]:
        nameless_answers = [field for field in fields if _answers_without_name(field)]
        return [nameless_answers]
    return by_label


def _subjects(fields: Sequence[Field], labels: Sequence[str]) -> dict[int, str]:
    """The label that each object is about, by group."""
    subjects: dict[int, str] = {}
    in_objects = [field for field in fields if field.group]
    for field in in_objects:
        for label in labels:
            if _is_subject(field, label):
                subjects[field.group] = label
    return subjects


def _is_subject(field: Field, label: str) -> bool:
    """True if a field only says what its object is about, as in {"label": "anxiety", "answer": "no"}."""
    names_subject = KEYS["subject"].intersection(key_words(field.key))
    if not names_subject:
        return False
    subject = field.value[:_LONGEST_SUBJECT]
    return _is_key_of(subject, names_of(label))


def _is_key_of(key: str, names: Collection[str]) -> bool:
    """True if a key is one of these names, perhaps with words such as "clinical" beside it."""
    words = key_words(key)
    if len(words) > _WORDS_IN_KEY:
        return False
    without_numbers = [word for word in words if not word.isdecimal()]
    telling = [word for word in without_numbers if word not in KEYS["filler"]]
    return " ".join(telling) in names


def _answers(field: Field, label: str, subjects: dict[int, str]) -> bool:
    """True if a field holds the answer of a label: by its own key, its object, or the key above it."""
    names = names_of(label)
    if _is_key_of(field.key, names):
        return True
    if field.key and not is_answer_key(field.key):
        return False
    if subjects.get(field.group) == label and not _is_subject(field, label):
        return True
    # Only the nearest key: one further up may hold the answers to several labels.
    return any(_is_key_of(key, names) for key in field.above[:1])


def _answers_without_name(field: Field) -> bool:
    """True if a field holds an answer and its keys name nothing."""
    keys = [key for key in (field.key, *field.above) if key]
    # Without any key, only what stands in braces or brackets was meant as a field: ["yes"].
    may_answer = bool(keys) or field.group > 0
    return may_answer and all(is_answer_key(key) for key in keys)


def _score_of_fields(fields: Sequence[Field], label: str, sample: Sample) -> float:
    """The score of one label from the fields that answer it; NaN if they contradict each other."""
    meanings = [_meaning_of_field(field, label) for field in fields]
    answer = agreed(meanings)
    if answer is None:
        says_nothing = all(field_meaning is None for field_meaning in meanings)
        if says_nothing:
            return _stated_probability(fields, label)
        return math.nan
    source = fields[meanings.index(answer)]
    return sample.confidence(answer, source.start, source.end)


def _stated_probability(fields: Sequence[Field], label: str) -> float:
    """The probability of yes that fields state as a number; NaN if none does, or not all the same."""
    stated = set()
    for field in fields:
        number = _PROBABILITY.fullmatch(field.value)
        if number is None or not _may_state_probability(field, label):
            continue
        share, percent = number.groups()
        stated.add(float(share) if share else float(percent) / 100)
    if len(stated) == 1:
        return stated.pop()
    return math.nan


def _may_state_probability(field: Field, label: str) -> bool:
    """True if a number is about yes: under the label, or a key such as "probability"; never a severity."""
    names_probability = KEYS["probability"].intersection(key_words(field.key))
    return bool(names_probability) or _is_key_of(field.key, names_of(label))


def _meaning_of_field(field: Field, label: str) -> float | None:
    answer = meaning(field.value)
    if answer is not None:
        return answer
    # {"label": "depression"} names a class, {"answer": "depression"} may only repeat the topic.
    holds_class = bool(KEYS["class"].intersection(key_words(field.key)))
    return class_meaning(field.value, label, nouns=holds_class)


def _answers_to_several(sample: Sample, labels: Sequence[str]) -> tuple[FloatArray, str]:
    """What the words outside fields say about several labels."""
    phrase = " ".join(words_of(sample.outside[:_LONGEST_BOTH]))
    if phrase in _ABOUT_ALL:
        return np.full(len(labels), _ABOUT_ALL[phrase]), "words"

    scores = np.full(len(labels), np.nan)
    for column, label in enumerate(labels):
        answer = said_of(label, labels, sample.outside, cut=sample.is_cut)
        if answer is not None:
            scores[column] = answer
    return scores, "prose"


def _answer_to_one(sample: Sample, label: str) -> tuple[FloatArray, str]:
    """What the words outside fields say about the only label; NaN if sentences contradict a bare answer."""
    in_sentences = said_of(label, [label], sample.outside, cut=sample.is_cut)
    bare = bare_answer(sample.outside, cut=sample.is_cut)
    if bare is None:
        bare = class_meaning(sample.outside[:_LONGEST_CLASS], label, nouns=False)

    if bare is None:
        score = math.nan if in_sentences is None else in_sentences
        return np.array([score]), "prose"

    contradicts = in_sentences == 1 - bare
    score = math.nan if contradicts else _confidence_at_start(bare, sample)
    return np.array([score]), "words"


def _confidence_at_start(answer: float, sample: Sample) -> float:
    """The probability of yes if the reply is nothing but the answer, else the answer itself."""
    # Further words may hold the answer at another place than the first token.
    if meaning(sample.outside) is None:
        return answer
    start = len(sample.outside) - len(sample.outside.lstrip())
    return sample.confidence(answer, start, len(sample.text))
