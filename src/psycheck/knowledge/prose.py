"""What the sentences of a reply say about a label, where it holds no field; in doubt, nothing."""

import re
from collections.abc import Sequence
from typing import Final

from psycheck.knowledge.words import UNSURE, WORDS, agreed, forms_of, meaning, negates, words_of

_SENTENCE: Final = re.compile(r"[^.!?;\n]++[.!?;\n]?")
_TOKENS: Final = re.compile(r"<\|[^|>]{1,40}\|>|</?s>")
_CUES: Final = frozenset(WORDS["prose"]["cue"])
_DOUBT: Final = UNSURE - {"or"} | frozenset(WORDS["prose"]["other"])
_JOINED: Final = frozenset(WORDS["prose"]["joined"])
_GENERIC: Final = frozenset(WORDS["keys"]["answer"]) | {"final", "my", "the", "is", "so", "therefore"}
_ANSWER_IS: Final = re.compile(r"\banswer is\b:?(.*)", re.DOTALL)
_REFUSALS: Final = tuple(WORDS["refusal"]["phrases"])


def refuses(text: str) -> bool:
    """True if the reply declines to answer."""
    plain = text.casefold().replace("’", "'")
    return any(phrase in plain for phrase in _REFUSALS)


def sentences_of(text: str, *, cut: bool) -> list[str]:
    """The sentences of a reply; the last one only if it is complete."""
    found = _SENTENCE.findall(_TOKENS.sub(" ", text))
    unfinished = cut and found and found[-1][-1] not in ".!?;\n" and len(found[-1].split()) > 1
    return [one for one in (found[:-1] if unfinished and len(found) > 1 else found) if words_of(one)]


def bare_answer(text: str, *, cut: bool) -> float | None:
    """The answer of a reply that starts with yes or no, ends in such a line, or says "the answer is …"."""
    sentences = sentences_of(text, cut=cut)
    whole = [meaning(one) for one in sentences]
    exact = [one for one, sentence in zip(whole, sentences, strict=True) if len(words_of(sentence)) < 3]
    named = [meaning(found[1]) for one in sentences if (found := _ANSWER_IS.search(one.casefold()))]
    if named or any(one is not None for one in exact):
        return agreed([one for one in exact if one is not None] + named)
    answers = [sentence for sentence in sentences if not _GENERIC.issuperset(words_of(sentence))]
    return agreed([meaning(answers[0])]) if answers else None


def said_of(label: str, labels: Sequence[str], text: str, *, cut: bool) -> float | None:
    """What the sentences that name a label say about it: 1, 0, or None in doubt."""
    nouns, adjectives = forms_of(label)
    others = {form for one in (*WORDS["forms"], *labels) for form in frozenset().union(*forms_of(one))}
    said = []
    for sentence in sentences_of(text, cut=cut):
        words = words_of(sentence)
        if (nouns | adjectives).intersection(words):
            said.append(_polarity(words, adjectives, others, question="?" in sentence))
    return agreed(said)


def _polarity(
    words: list[str], adjectives: frozenset[str], forms: set[str], *, question: bool
) -> float | None:
    """Whether one sentence affirms or denies; None in doubt."""
    cues = [i for i, word in enumerate(words) if word in _CUES]
    cues += [i for i, word in enumerate(words) if word in adjectives and {"is", "isn't"} & set(words[:i])]
    named = [i for i, word in enumerate(words) if word in forms]
    between = words[named[0] + 1 : named[-1]]
    if question or not cues or _DOUBT.intersection(words) or not (_JOINED | forms).issuperset(between):
        return None
    negations = [i for i, word in enumerate(words) if negates(word)]
    if not negations:
        return 1.0
    # A negation after the last cue denies something else: "shows depression, not anxiety".
    return 0.0 if len(negations) == 1 and negations[0] < max(cues) else None
