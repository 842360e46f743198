"""What the sentences of a reply say about a label, where it holds no field; in doubt, nothing."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from psycheck.llm.reply_words import UNSURE, WORDS, agreed, forms_of, meaning, names_of, negates, words_of

# Possessive quantifiers (`++`, `*+`) never give back what they matched: hostile replies stay linear.
_SENTENCE: Final = re.compile(r"[^.!?;\n]++[.!?;\n]?")
_ANSWER_IS: Final = re.compile(r"\banswer is\b:?(.*)", re.DOTALL)
_QUOTED: Final = re.compile(r"\"[^\"\n]*+\"|“[^”\n]*+”")


def _refusal_pattern() -> re.Pattern[str]:
    """One of the phrases of a refusal, or "I cannot" before a verb of answering: "I cannot really say"."""
    alternatives = {kind: "|".join(map(re.escape, words)) for kind, words in WORDS["refusal"].items()}
    phrases = alternatives["phrases"]
    cannot = alternatives["cannot"]
    verbs = alternatives["verbs"]
    return re.compile(rf"{phrases}|(?:{cannot}) (?:\w+ )?(?:{verbs})\b")


_REFUSAL: Final = _refusal_pattern()

_PROSE: Final = {kind: frozenset(words) for kind, words in WORDS["prose"].items()}
_CUES: Final = _PROSE["cue"]
# "Or" joins names ("depression or anxiety") as often as it doubts, so it is judged at its place.
_DOUBT: Final = UNSURE - {"or"} | _PROSE["other"]
# Words of a heading such as "My final answer:", which answers nothing by itself.
_HEADING: Final = frozenset(WORDS["keys"]["answer"]) | {"final", "my", "the", "is", "so", "therefore"}
_SHORT: Final = 3  # a sentence of fewer words is an answer wherever it stands


def refuses(text: str) -> bool:
    """True if the reply declines to answer."""
    plain = text.casefold().replace("’", "'")
    # A post that is quoted may say "I can't tell anyone": that is not the model who refuses.
    unquoted = _QUOTED.sub("", plain)
    return _REFUSAL.search(unquoted) is not None


def sentences_of(text: str, *, cut: bool) -> list[str]:
    """The sentences of a reply; the last one only if it is complete."""
    sentences = _SENTENCE.findall(text)
    # What was cut may have gone on with "not": half a sentence can mean the opposite of the whole.
    if cut and sentences and _is_unfinished(sentences[-1]):
        sentences.pop()
    return [sentence for sentence in sentences if words_of(sentence)]


def _is_unfinished(sentence: str) -> bool:
    # A single word cannot be half a sentence: with a limit of one token it is the whole answer.
    has_end = sentence[-1] in ".!?;\n"
    return not has_end and len(sentence.split()) > 1


def bare_answer(text: str, *, cut: bool) -> float | None:
    """The answer of a reply that starts or ends with yes or no, or says "the answer is …"."""
    sentences = sentences_of(text, cut=cut) or sentences_of(text, cut=False)
    sentences = _without_numbers_and_headings(sentences)
    # A reply that asks something has not answered, or it continues the dialogue on its own.
    asks_back = any("?" in sentence for sentence in sentences)
    if not sentences or asks_back:
        return None

    stated = _stated_answers(sentences)
    at_the_ends = _readable([sentences[0], sentences[-1]])
    if not stated and not at_the_ends:
        return None

    # Short answers in the middle only contradict: alone, a "No." there may answer anything.
    short_sentences = [sentence for sentence in sentences if len(words_of(sentence)) < _SHORT]
    return agreed([*stated, *_readable(short_sentences), *at_the_ends])


def _without_numbers_and_headings(sentences: Sequence[str]) -> list[str]:
    """The sentences that may hold an answer: not the "1." of a list, which would mean yes, and no heading."""
    spoken = list(sentences)
    # A reply that is nothing but "1" is an answer.
    if len(spoken) > 1:
        spoken = [sentence for sentence in spoken if not _is_list_number(sentence)]
    return [sentence for sentence in spoken if not _HEADING.issuperset(words_of(sentence))]


def _stated_answers(sentences: Iterable[str]) -> list[float | None]:
    """What the sentences say that the answer is, also where that cannot be read."""
    answers: list[float | None] = []
    for sentence in sentences:
        statement = _ANSWER_IS.search(sentence.casefold())
        if statement:
            answers.append(meaning(statement[1]))
    return answers


def _is_list_number(sentence: str) -> bool:
    return sentence.strip(" \n\t*.)").isdecimal()


def _readable(sentences: Iterable[str]) -> list[float]:
    """The meanings of the sentences that have one."""
    meanings = [meaning(sentence) for sentence in sentences]
    return [answer for answer in meanings if answer is not None]


def said_of(
    label: str,
    labels: Sequence[str],
    text: str,
    *,
    cut: bool,
) -> float | None:
    """What the sentences that name a label say about it: 1, 0, or None in doubt."""
    names = names_of(label)
    _, adjectives = forms_of(label)

    # Other conditions count as names, too: in "no anxiety or depression" the negation reaches over both.
    names_of_all = frozenset[str]()
    for name in (*WORDS["forms"], *labels):
        names_of_all |= names_of(name)

    sentences = sentences_of(text, cut=cut)
    about_label = [sentence for sentence in sentences if names.intersection(words_of(sentence))]
    return agreed(_polarity(sentence, names_of_all, adjectives) for sentence in about_label)


@dataclass(frozen=True, slots=True)
class _Clause:
    """The clause of a sentence that names a label, and the places of its telling words.

    Only plain clauses are read: "The post (subject) does not (negation) show signs (cue) of (between)
    depression or anxiety (names) here (after)". Every word must be of a kind that may stand at its place.
    """

    words: list[str]
    names: list[int]
    cues: list[int]
    negations: list[int]

    @property
    def cue(self) -> int:
        """The place of the cue that is nearest before the names, else of the first one after them."""
        first_name = self.names[0]
        before = [place for place in self.cues if place <= first_name]
        return before[-1] if before else self.cues[0]

    @property
    def subject(self) -> list[str]:
        """The words before the cue and the names."""
        first_name = self.names[0]
        end = min(self.cue, first_name)
        return self.words[:end]

    @property
    def between(self) -> list[str]:
        """The words between the cue and the names, whichever comes first."""
        cue = self.cue
        first_name = self.names[0]
        if cue < first_name:
            return self.words[cue + 1 : first_name]

        # "Depression is not indicated": the cue follows the names.
        last_name = self.names[-1]
        return self.words[last_name + 1 : cue]

    @property
    def named(self) -> list[str]:
        """The words from the first name to the last one, without this one."""
        first_name = self.names[0]
        last_name = self.names[-1]
        return self.words[first_name:last_name]

    @property
    def after(self) -> list[str]:
        """The word after the last name, if there is one."""
        following = self.names[-1] + 1
        return self.words[following : following + 1]

    @property
    def denied(self) -> list[str]:
        """The words from the first negation to the cue that it denies, or to the names."""
        negation = self.negations[0]
        later_cues = [place for place in self.cues if place > negation]
        end = later_cues[0] if later_cues else self.names[0]
        return self.words[negation + 1 : end]


def _polarity(sentence: str, names: frozenset[str], adjectives: frozenset[str]) -> float | None:
    """1 if a sentence affirms what `names` stand for, 0 if it denies that, None in doubt."""
    clauses = [words_of(clause) for clause in sentence.split(",")]
    words = next(clause for clause in clauses if names.intersection(clause))
    other_clauses = [clause for clause in clauses if clause is not words]
    words_aside = list(chain.from_iterable(other_clauses))

    is_doubtful = "?" in sentence or bool(_DOUBT.intersection(words))
    if is_doubtful or _changes_the_meaning(words_aside, names):
        return None

    # Only a clause whose every word is known is read: elsewhere a negation has no certain reach.
    clause = _read_clause(words, names, adjectives)
    if not clause.cues or not _is_plain(clause, names):
        return None
    if not clause.negations:
        return 1.0
    return 0.0 if _is_plainly_denied(clause) else None


def _changes_the_meaning(words: Sequence[str], names: frozenset[str]) -> bool:
    """True if the other clauses of a sentence deny, doubt or name something."""
    if _DOUBT.intersection(words) or names.intersection(words):
        return True
    return any(negates(word) for word in words)


def _read_clause(words: list[str], names: frozenset[str], adjectives: frozenset[str]) -> _Clause:
    """Find the telling words of a clause that names something."""
    name_places = _places_of(words, names.__contains__)
    first_name = name_places[0]
    cue_places = _places_of(words, _CUES.__contains__)
    if words[first_name] in adjectives:  # "is depressed" needs no other cue
        cue_places = sorted({*cue_places, first_name})

    return _Clause(
        words=words,
        names=name_places,
        cues=cue_places,
        negations=_places_of(words, negates),
    )


def _places_of(words: Sequence[str], belongs: Callable[[str], bool]) -> list[int]:
    return [place for place, word in enumerate(words) if belongs(word)]


def _is_plain(clause: _Clause, names: frozenset[str]) -> bool:
    """True if every word of a clause may stand at its place."""
    # Between the first and the last name, only words that join names may stand.
    names_and_joints = names.union(_PROSE["joined"])
    return (
        _are(clause.subject, "subject", "between", "denied")
        and _are(clause.between, "between")
        and names_and_joints.issuperset(clause.named)
        and _are(clause.after, "after")
    )


def _is_plainly_denied(clause: _Clause) -> bool:
    """True if a clause has one negation, close to what it denies."""
    # Two negations may cancel each other or only stress: "does not show no signs".
    if len(clause.negations) > 1:
        return False
    negation = clause.words[clause.negations[0]]
    # "Neither" needs no cue near it: it denies every name that follows.
    return negation == "neither" or _are(clause.denied, "denied")


def _are(words: Sequence[str], *kinds: str) -> bool:
    """True if every word is of one of these kinds, a cue or a negation."""
    words_of_kinds = [_PROSE[kind] for kind in kinds]
    allowed = _CUES.union(*words_of_kinds)
    return all(word in allowed or negates(word) for word in words)
