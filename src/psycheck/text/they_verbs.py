"""The verbs of he or she that follow it to they: "she feels" → "they feel"."""

import re
from typing import Final

from psycheck.text.agreement import REGULAR, third_person, verb_joined, verbs_beside
from psycheck.text.edits import Change, carry_case, straight
from psycheck.text.gender_words import NOUNS, WORDS

# agreement.py goes from he to I and from I to they; these are the steps that differ in between.
_ARE: Final = {"is": "are", "isn't": "aren't", "isnt": "arent"}
_LEFT: Final = frozenset(("were", "weren't", "werent", "are", "aren't", "arent"))
_NO_VERBS: Final = frozenset(WORDS["no_verbs"].split())
_S_FORMS: Final = {third_person(verb): verb for verb in {*REGULAR, *WORDS["clinical_verbs"].split()}}
_HELPERS: Final = {
    **_ARE,
    "was": "were",
    "wasn't": "weren't",
    "has": "have",
    "hasn't": "haven't",
    "does": "do",
    "doesn't": "don't",
}
# What a later verb of the same subject may be; "she has nightmares and dreams" are no verbs.
_LATER: Final = _HELPERS | {
    form: verb for form, verb in _S_FORMS.items() if verb not in WORDS["nouns_and_verbs"].split()
}
_OTHER_SUBJECTS: Final = frozenset(WORDS["other_subjects"].split())
_ADVERBS = r"(?:(?:[a-z]+ly|also|never|always|still|often|now|then|just|only|ever)\s+)"
_VERB: Final = re.compile(rf"[^\S\n]+{_ADVERBS}{{0,2}}([a-z]+)(?![\w'’-])", re.I)
_JOINED: Final = re.compile(rf"(?:,|,?\s(?:and|but|or))\s+{_ADVERBS}?([a-z]+(?:n['’]t)?)(?![\w'’-])", re.I)
_SENTENCE: Final = re.compile(r"[^.!?;:()\n]*")
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’]\w+)?")
_LONG: Final = ("sses", "shes", "ches", "xes", "zzes", "oes")


def verbs_to_they(text: str, start: int, end: int) -> tuple[list[Change], list[Change]]:
    """The verbs before and after the he or she at `text[start:end]` that change with it to they."""
    to_i, to_they = (verbs_beside(text, start, end, to) for to in ("I", "they"))
    before, after = (_merged(text, one + other) for one, other in zip(to_i, to_they, strict=True))
    if before:
        return before, []
    after = after or _in_s(text, end)
    return [], after + _later(text, after[-1][1]) if after else []


def verbs_after_contraction(text: str, end: int, ending: str) -> list[Change]:
    """Further verbs after a contraction that ends here: "he's sad and doesn't" → "they're sad and don't"."""
    finite = ending.lower().endswith("re")
    joined = _merged(
        text, [verb for to in ("I", "they") if (verb := verb_joined(text, end, to, finite=finite))]
    )
    return joined or _later(text, end)


def _in_s(text: str, end: int) -> list[Change]:
    """The word in -s next to he or she, which is a verb also where no list has it."""
    verb = _VERB.match(text, end, end + 64)
    word = verb[1].lower() if verb else ""
    if (
        verb is None
        or len(word) < 4
        or word[-1] != "s"
        or word[-2] in "su"
        or word in _NO_VERBS
        or word in NOUNS
    ):
        return []
    plain = (
        word[:-3] + "y"
        if word.endswith("ies") and len(word) > 4
        else word[: -2 if word.endswith(_LONG) else -1]
    )
    return [(verb.start(1), verb.end(1), carry_case(verb[1], _S_FORMS.get(word, plain)))]


def _later(text: str, end: int) -> list[Change]:
    """Further verbs of the subject in its sentence: "reports poor sleep and denies pain".

    They end where another subject or a clause may begin, or another verb stands between.
    """
    rest = _SENTENCE.match(text, end)
    last = rest.end() if rest else end
    out: list[Change] = []
    for found in _JOINED.finditer(text, end, last):
        between = [straight(word.lower()) for word in _WORD.findall(text[end : found.start()])]
        if any(word in _OTHER_SUBJECTS or word in _S_FORMS or word in _HELPERS for word in between):
            break
        said = _LATER.get(straight(found[1].lower()))
        if said:
            said = said.replace("'", "’") if "’" in found[1] else said
            out.append((found.start(1), found.end(1), carry_case(found[1], said)))
            end = found.end(1)
    return out


def _merged(text: str, verbs: list[Change]) -> list[Change]:
    """One change for each verb, from those of he to I and of I to they."""
    out: dict[int, Change] = {}
    for start, end, said in verbs:
        word = text[start:end]
        plain = straight(word.lower())
        if plain in _ARE:
            said = carry_case(word, _ARE[plain].replace("'", "’") if "’" in word else _ARE[plain])
        if plain not in _LEFT:
            out[start] = (start, end, said)
    return [out[start] for start in sorted(out)]
