"""What the sentences of a reply say about a label, where it holds no field; in doubt, nothing."""

import re
from collections.abc import Sequence
from typing import Final

from psycheck.knowledge.words import UNSURE, WORDS, agreed, forms_of, meaning, negates, words_of

_SENTENCE: Final = re.compile(r"[^.!?;\n]++[.!?;\n]?")
_TOKENS: Final = re.compile(r"<\|[^|>]{1,40}\|>|</?s>")
_PROSE: Final = {kind: frozenset(words) for kind, words in WORDS["prose"].items()}
_CUES: Final = _PROSE["cue"]
_DOUBT: Final = UNSURE - {"or"} | _PROSE["other"]
_GENERIC: Final = frozenset(WORDS["keys"]["answer"]) | {"final", "my", "the", "is", "so", "therefore"}
_ANSWER_IS: Final = re.compile(r"\banswer is\b:?(.*)", re.DOTALL)
_QUOTED: Final = re.compile(r"\"[^\"\n]*+\"|“[^”\n]*+”")
_REFUSAL: Final = re.compile(
    "{phrases}|(?:{cannot}) (?:\\w+ )?(?:{verbs})\\b".format(
        **{kind: "|".join(map(re.escape, words)) for kind, words in WORDS["refusal"].items()}
    )
)


def refuses(text: str) -> bool:
    """True if the reply declines to answer."""
    return _REFUSAL.search(_QUOTED.sub("", text.casefold().replace("’", "'"))) is not None


def sentences_of(text: str, *, cut: bool) -> list[str]:
    """The sentences of a reply; the last one only if it is complete."""
    found = _SENTENCE.findall(_TOKENS.sub(" ", text))
    unfinished = cut and found and found[-1][-1] not in ".!?;\n" and len(found[-1].split()) > 1
    return [one for one in (found[:-1] if unfinished else found) if words_of(one)]


def bare_answer(text: str, *, cut: bool) -> float | None:
    """The answer of a reply that starts or ends with yes or no, or says "the answer is …"."""
    sentences = sentences_of(text, cut=cut) or sentences_of(text, cut=False)
    if len(sentences) > 1:  # the number of a list is not an answer
        sentences = [one for one in sentences if not one.strip(" \n\t*.)").isdecimal()]
    sentences = [one for one in sentences if not _GENERIC.issuperset(words_of(one))]
    named = [meaning(found[1]) for one in sentences if (found := _ANSWER_IS.search(one.casefold()))]
    if not sentences or "?" in "".join(sentences):
        return None
    exact = [said for one in sentences if len(words_of(one)) < 3 and (said := meaning(one)) is not None]
    ends = [said for one in (sentences[0], sentences[-1]) if (said := meaning(one)) is not None]
    return agreed([*named, *exact, *ends]) if named or ends else None


def said_of(label: str, labels: Sequence[str], text: str, *, cut: bool) -> float | None:
    """What the sentences that name a label say about it: 1, 0, or None in doubt."""
    nouns, adjectives = forms_of(label)
    forms = frozenset(form for one in (*WORDS["forms"], *labels) for part in forms_of(one) for form in part)
    said = [
        _polarity(sentence, forms, adjectives)
        for sentence in sentences_of(text, cut=cut)
        if (nouns | adjectives).intersection(words_of(sentence))
    ]
    return agreed(said)


def _polarity(sentence: str, forms: frozenset[str], adjectives: frozenset[str]) -> float | None:
    """Whether one sentence affirms or denies what `forms` name; None in doubt."""
    clauses = [words_of(clause) for clause in sentence.split(",")]
    words = next(clause for clause in clauses if forms.intersection(clause))
    others = [word for clause in clauses if clause is not words for word in clause]
    if "?" in sentence or any(map(negates, others)) or (_DOUBT | forms).intersection(others):
        return None
    named = [i for i, word in enumerate(words) if word in forms]
    first, last = named[0], named[-1]
    cues = [i for i, word in enumerate(words) if word in _CUES or (i == first and word in adjectives)]
    if not cues or _DOUBT.intersection(words):
        return None
    cue = max((i for i in cues if i <= first), default=cues[0])
    between = words[cue + 1 : first] if cue < first else words[last + 1 : cue]
    subject = words[: min(cue, first)]
    negations = [i for i, word in enumerate(words) if negates(word)]
    if not (
        _fits(subject, "subject", "between", "denied")
        and _fits(between, "between")
        and (_PROSE["joined"] | forms).issuperset(words[first:last])
        and _fits(words[last + 1 : last + 2], "after")
    ):
        return None
    if not negations:
        return 1.0
    no = negations[0]
    following = min((i for i in cues if i > no), default=first)
    close = words[no] == "neither" or _fits(words[no + 1 : following], "denied")
    return 0.0 if len(negations) == 1 and close else None


def _fits(words: Sequence[str], *kinds: str) -> bool:
    """True if every word is of one of these kinds, a cue or a negation."""
    return all(
        word in _CUES or negates(word) or any(word in _PROSE[kind] for kind in kinds) for word in words
    )
